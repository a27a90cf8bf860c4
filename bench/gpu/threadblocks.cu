// Measures on one GPU what the simulator assumes of it: how fast persistent threadblocks pass data
// to one another through global memory in the protocols Simple, LL and LL128, what one step and one
// hand-over cost, and what barriers, fences and launches cost. Of every row the data of the last
// run are checked.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "protocols.cuh"

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(4);                                                                       \
    }                                                                                     \
  } while (false)

namespace {

const char* const kProtocols[] = {"Simple", "LL", "LL128"};
constexpr int kSmallBytes[] = {128, 128, 1920};

enum Local { kBarrier, kFence, kStoreFence };
__global__ void __launch_bounds__(640, 1) local_kernel(Local what, int steps, uint4* buffer) {
  for (int s = 0; s < steps; ++s) {
    if (what == kStoreFence) store(buffer + threadIdx.x, {unsigned(s), 1, 2, 3});
    __syncthreads();
    if (what != kBarrier && threadIdx.x == 0) {
      __threadfence_system();
      publish(reinterpret_cast<unsigned long long*>(buffer + 1024), s);
    }
  }
}
__global__ void empty_kernel() {}

// Whole numbers below 1024, so that sums are exact and every order gives the same.
__device__ float value_at(std::size_t i, unsigned seed) {
  unsigned x = unsigned(i) * 2654435761u + seed * 40503u;
  x ^= x >> 15;
  return float((x * 2246822519u) >> 22);
}
__global__ void fill_kernel(float* data, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    data[i] = value_at(i, seed);
  }
}
__global__ void check_kernel(const float* data, std::size_t count, unsigned seed, unsigned other,
                             unsigned long long* wrong) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    if (data[i] != value_at(i, seed) + (other ? value_at(i, other) : 0)) atomicAdd(wrong, 1ull);
  }
}

struct Shape {
  const char* name;
  std::vector<int> parts;  // of the threadblocks of a chain
};

constexpr int kMostChains = 44;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

struct Memory {
  std::vector<char*> inputs, outputs;  // of every threadblock
  Connection* connections;
  Block* blocks;
  unsigned long long* wrong;
  cudaEvent_t begin, end;
};

// Launches `repetitions` times after one that is not counted; returns seconds, sorted.
template <typename Prepare, typename Launch>
std::vector<double> time_runs(const Memory& memory, int repetitions, Prepare prepare,
                              Launch launch) {
  std::vector<double> seconds;
  for (int r = 0; r <= repetitions; ++r) {
    prepare();
    CHECK(cudaEventRecord(memory.begin));
    launch();
    CHECK(cudaEventRecord(memory.end));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(memory.end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, memory.begin, memory.end));
    if (r > 0) seconds.push_back(ms * 1e-3);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// Prints a line of the table: GB/s of data where `rate` is set, else microseconds.
void row(const char* what, const char* protocol, const char* operation, int threads, int chains,
         const std::vector<double>& seconds, double scale, bool rate, unsigned long long wrong) {
  const double best = seconds.front(), median = seconds[seconds.size() / 2];
  std::printf("%-6s %-8s %-25s %5d %6d %10.3f %10.3f %-5s %llu\n", what, protocol, operation,
              threads, chains, rate ? scale / median : median * scale,
              rate ? scale / best : best * scale, rate ? "GB/s" : "us", wrong);
}

// One row: `chains` chains of threadblocks, or a ring of them, with `steps` slices of `bytes`.
template <Protocol P>
void pass(const Memory& memory, const char* what, const Shape& shape, int threads, int chains,
          int steps, int bytes, bool advance) {
  const int length = int(shape.parts.size());
  const bool ring = !advance && shape.parts[0] == 0;
  std::vector<Block> blocks;
  for (int c = 0; c < chains; ++c) {
    for (int i = 0; i < length; ++i) {
      const int at = c * length + i;
      Connection* to = memory.connections + (ring && i + 1 == length ? c * length : at + 1);
      blocks.push_back(
          {shape.parts[i], memory.inputs[at], memory.outputs[at], memory.connections + at, to});
    }
  }
  const std::size_t moved = advance ? std::size_t(steps) * bytes : bytes;
  CHECK(cudaMemcpy(memory.blocks, blocks.data(), blocks.size() * sizeof(Block),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemset(memory.wrong, 0, sizeof(unsigned long long)));
  const auto prepare = [&] {
    CHECK(cudaMemset(memory.connections, 0, (blocks.size() + 1) * sizeof(Connection)));
    for (const Block& block : blocks) CHECK(cudaMemset(block.output, 0xff, moved));
  };
  const std::vector<double> seconds = time_runs(memory, advance ? 5 : 9, prepare, [&] {
    pass_kernel<P><<<unsigned(blocks.size()), threads>>>(memory.blocks, steps, bytes, advance);
  });
  for (int c = 0; c < chains; ++c) {
    unsigned added = 0;  // what the chain has added so far; no chain adds twice
    for (int i = 0; i < length; ++i) {
      const int at = c * length + i;
      if ((shape.parts[i] & kReceive) && (shape.parts[i] & kLoad)) added = at + 1;
      if (shape.parts[i] != 0 && !(shape.parts[i] & kStore)) continue;
      check_kernel<<<264, 512>>>(reinterpret_cast<float*>(memory.outputs[at]), moved / 4,
                                 c * length + 1, added, memory.wrong);
    }
  }
  unsigned long long wrong = 0;
  CHECK(cudaMemcpy(&wrong, memory.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  const bool rate = advance && bytes == kSliceBytes[P];
  const double scale = rate ? moved * 1e-9 : 1e6 / steps / (ring ? length : 1);
  row(what, kProtocols[P], shape.name, threads, chains, seconds, scale, rate, wrong);
}

template <Protocol P>
void measure(const Memory& memory) {
  constexpr int kForward = kReceive + kSend + kStore;
  const std::vector<Shape> shapes = {
      {"copy", {kLoad + kStore}},
      {"send, receive", {kLoad + kSend, kReceive + kStore}},
      {"receive-send", {kLoad + kSend, kReceive + kSend, kReceive + kStore}},
      {"receive-copy-send", {kLoad + kSend, kForward, kReceive + kStore}},
      {"receive-reduce-copy", {kLoad + kSend, kReceive + kLoad + kStore}},
      {"receive-reduce-send", {kLoad + kSend, kReceive + kLoad + kSend, kReceive + kStore}},
      {"receive-reduce-copy-send", {kLoad + kSend, kForward + kLoad, kReceive + kStore}}};
  const std::size_t bytes = P == kLL ? kMostBytes / 8 : kMostBytes;
  constexpr int kUsual = P == kLL128 ? 640 : 512;  // threads
  for (const Shape& shape : shapes) {
    for (const int threads : {256, 512, 640}) {
      for (const int chains : {1, 4, 16, 32, kMostChains}) {
        if (threads != kUsual && chains != 1 && chains != 16) continue;
        pass<P>(memory, "rate", shape, threads, chains, int(bytes / kSliceBytes[P]), kSliceBytes[P],
                true);
      }
    }
    pass<P>(memory, "step", shape, kUsual, 1, 2000, kSmallBytes[P], true);
  }
  for (const int length : {2, 8}) {
    Shape ring = {length == 2 ? "hop, ring of 2" : "hop, ring of 8",
                  std::vector<int>(length, kForward)};
    ring.parts[0] = 0;
    for (const int threads : {64, kUsual}) {
      pass<P>(memory, "hop", ring, threads, 1, 2000, kSmallBytes[P], false);
    }
  }
}

void measure_local(const Memory& memory) {
  constexpr int kSteps = 10000;
  const char* const names[] = {"barrier", "barrier, fence, flag", "store, barrier, fence"};
  for (const Local what : {kBarrier, kFence, kStoreFence}) {
    for (const int threads : {512, 640}) {
      const auto seconds = time_runs(
          memory, 9, [] {},
          [&] {
            local_kernel<<<1, threads>>>(what, kSteps, reinterpret_cast<uint4*>(memory.outputs[0]));
          });
      row("local", "-", names[what], threads, 1, seconds, 1e6 / kSteps, false, 0);
    }
  }
  for (const int blocks : {1, 16, 132}) {
    const auto queued = time_runs(
        memory, 9, [] {},
        [&] {
          for (int i = 0; i < 1000; ++i) empty_kernel<<<blocks, 512>>>();
        });
    row("launch", "-", "queued", 512, blocks, queued, 1e3, false, 0);
    const auto alone = time_runs(
        memory, 9, [] {},
        [&] {
          for (int i = 0; i < 1000; ++i) {
            empty_kernel<<<blocks, 512>>>();
            CHECK(cudaDeviceSynchronize());
          }
        });
    row("launch", "-", "launched and waited for", 512, blocks, alone, 1e3, false, 0);
  }
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  Memory memory;
  for (int i = 0; i < 3 * kMostChains; ++i) {
    char *input, *output;
    CHECK(cudaMalloc(&input, kMostBytes));
    CHECK(cudaMalloc(&output, kMostBytes));
    fill_kernel<<<264, 512>>>(reinterpret_cast<float*>(input), kMostBytes / 4, unsigned(i + 1));
    memory.inputs.push_back(input);
    memory.outputs.push_back(output);
  }
  CHECK(cudaMalloc(&memory.connections, (3 * kMostChains + 1) * sizeof(Connection)));
  CHECK(cudaMalloc(&memory.blocks, 3 * kMostChains * sizeof(Block)));
  CHECK(cudaMalloc(&memory.wrong, sizeof(unsigned long long)));
  CHECK(cudaEventCreate(&memory.begin));
  CHECK(cudaEventCreate(&memory.end));
  std::printf("# %s, %d multiprocessors, L2 %d MiB\n", device.name, device.multiProcessorCount,
              device.l2CacheSize >> 20);
  std::printf("%-6s %-8s %-25s %5s %6s %10s %10s %-5s %s\n", "what", "proto", "operation", "thr",
              "chains", "median", "best", "unit", "wrong");
  measure_local(memory);
  measure<kSimple>(memory);
  measure<kLL>(memory);
  measure<kLL128>(memory);
}
