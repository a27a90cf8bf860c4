// Figures by generation of GPU. Where each comes from stands in `source`; what nobody has published
// is said to be assumed there. Step and message together, with the two links of 0.7 µs through a
// switch that the bundled topologies have, or one of xGMI of 0.5 µs, are the latency of one step of
// a ring in the communication library's own cost model; a message between boxes, with two links of
// 1.5 µs, that of a step over the network. What a threadblock moves is that model's limit of one
// channel.
#include "simulate/gpus.hpp"

#include <array>

namespace forestcoll::simulate {
namespace {

constexpr std::array<GpuParameters, 8> kGpus = {{
    {"a100", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "a100",
  "source": "steps, messages and threadblocks: cost model of NCCL 2.19 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Ampere 24 GB/s a channel in Simple, 20 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 108 multiprocessors",
  "threadblocks": 108,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.0, "network_message_us": 10.0, "threadblock_gbs": 24, "reduction_gbs": 20, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 6, "reduction_gbs": 6, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.1, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 20, "reduction_gbs": 18, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"h100", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "h100",
  "source": "steps, messages and threadblocks: cost model of NCCL 2.19 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Hopper 38.7 GB/s a channel in Simple, 36.7 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 132 multiprocessors; NVLS of 8 GPUs measured at 475 to 480 GB/s busbw, of 5 to 7 at 420 to 460, of 700 and 600 to 675 by the links",
  "threadblocks": 132,
  "in_network_efficiency": 0.68,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.0, "network_message_us": 10.0, "threadblock_gbs": 38.7, "reduction_gbs": 32, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 9, "reduction_gbs": 9, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.1, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 36.7, "reduction_gbs": 30, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"h200", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "h200",
  "source": "steps, messages and threadblocks: those of an H100, for NCCL 2.30 plans alike for all GPUs of compute capability 9.0 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Hopper 38.7 GB/s a channel in Simple, 36.7 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 132 multiprocessors; NVLS: as measured on H100",
  "threadblocks": 132,
  "in_network_efficiency": 0.68,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.0, "network_message_us": 10.0, "threadblock_gbs": 38.7, "reduction_gbs": 32, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 9, "reduction_gbs": 9, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.1, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 36.7, "reduction_gbs": 30, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"b200", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "b200",
  "source": "steps, messages and threadblocks: cost model of NCCL 2.30 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Blackwell 70 GB/s a channel in Simple, 40 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 148 multiprocessors; NVLS of 8 GPUs measured at 830 GB/s busbw, of 1400 by the links",
  "threadblocks": 148,
  "in_network_efficiency": 0.59,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.0, "network_message_us": 10.0, "threadblock_gbs": 70, "reduction_gbs": 58, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 15, "reduction_gbs": 15, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.1, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 40, "reduction_gbs": 33, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"gb200", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "gb200",
  "source": "steps, messages and threadblocks: cost model of NCCL 2.30 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Blackwell 70 GB/s a channel in Simple, 40 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 148 multiprocessors that a B200 has, which a GB200 is assumed to share; its NVLink across boards is taken to be as quick as within one: assumed; NVLS of 72 GPUs measured at 847 GB/s busbw, of 1751 by the links",
  "threadblocks": 148,
  "in_network_efficiency": 0.48,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.0, "network_message_us": 10.0, "threadblock_gbs": 70, "reduction_gbs": 58, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 15, "reduction_gbs": 15, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.1, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 40, "reduction_gbs": 33, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"v100", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "v100",
  "source": "steps, messages and threadblocks: cost model of NCCL 2.19 (src/graph/tuning.cc: NVLink ring 0.6, 1.9, 3.4 us, network ring 2.7, 4.0, 14.0 us, Volta 26.5 GB/s a channel in Simple, 20 in LL128), as far as latencies of links leave room; LL's threadblock and all reductions: assumed; at most one threadblock is resident on each of the 80 multiprocessors",
  "threadblocks": 80,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 1.7, "network_message_us": 10.0, "threadblock_gbs": 26.5, "reduction_gbs": 20, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.2, "message_us": 0, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 6, "reduction_gbs": 6, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.4, "message_us": 0.8, "network_message_us": 0.6, "efficiency": 0.9375, "threadblock_gbs": 20, "reduction_gbs": 18, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"mi250", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "mi250",
  "source": "steps and messages: cost model of RCCL (src/graph/tuning.cc: xGMI ring 1.5, 1.5, 4.5 us, network ring 2.0, 2.0, 24.1 us), as far as latencies of links leave room; threadblocks and reductions: assumed; LL128 is not in use there; at most one threadblock is resident on each of the 104 compute units of a die",
  "threadblocks": 104,
  "protocols": {
    "Simple": { "step_us": 1.5, "message_us": 2.5, "network_message_us": 19.6, "threadblock_gbs": 20, "reduction_gbs": 16, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.5, "message_us": 0.5, "network_message_us": 0, "efficiency": 0.5, "threadblock_gbs": 6, "reduction_gbs": 6, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.5, "message_us": 0.5, "network_message_us": 0, "efficiency": 0.9375, "threadblock_gbs": 16, "reduction_gbs": 14, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
    {"mi300x", R"json({
  "format": "forestcoll-simulation-parameters", "version": 1, "name": "mi300x",
  "source": "steps and messages: cost model of RCCL (src/graph/tuning.cc, the model of MI300X: xGMI ring 0.8 us in LL, 2.1 in Simple; network tree 10.5, 25.0 us, as its ring's 320 us in Simple is a fit of bandwidth), as far as latencies of links leave room; threadblocks and reductions: assumed; LL128 is not in use there, its figures are those of LL; at most one threadblock is resident on each of the 304 compute units",
  "threadblocks": 304,
  "protocols": {
    "Simple": { "step_us": 1.0, "message_us": 0.6, "network_message_us": 21.0, "threadblock_gbs": 24, "reduction_gbs": 20, "pass_bytes": 2097152, "slots": 2 },
    "LL": { "step_us": 0.3, "message_us": 0, "network_message_us": 7.2, "efficiency": 0.5, "threadblock_gbs": 6, "reduction_gbs": 6, "pass_bytes": 32768, "slots": 8 },
    "LL128": { "step_us": 0.3, "message_us": 0, "network_message_us": 7.2, "efficiency": 0.9375, "threadblock_gbs": 20, "reduction_gbs": 16, "pass_bytes": 245760, "slots": 8 }
  }
})json"},
}};

}  // namespace

std::span<const GpuParameters> gpu_parameters() {
  return kGpus;
}

}  // namespace forestcoll::simulate
