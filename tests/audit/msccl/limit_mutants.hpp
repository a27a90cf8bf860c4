// Schedules at the limits of a runtime: one below, at it, and one beyond.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "audit/msccl/text_mutants.hpp"

namespace audit_test {

inline constexpr int kMostChunks = 32'838;  // that steps can reach with offsets of 16 bits

/// With the collective's name, and a size, that the runtime takes.
inline std::string text_for(Algo algo, const Runtime& runtime) {
  if (algo.coll == "reducescatter") algo.coll = runtime.reduce_scatter;
  if (runtime.research) algo.max_bytes = std::min(algo.max_bytes, 1L << 30);
  return to_xml(algo);
}

class LimitMutants {
 public:
  explicit LimitMutants(const Runtime& runtime) : runtime_(runtime) {}

  std::vector<TextMutant> all() {
    for (const int over : {-1, 0, 1}) {
      threadblocks(over);
      channels(over);
      elements(over);
      chunks(over);
      sizes(over);
      header(over);
    }
    words();
    return std::move(mutants_);
  }

 private:
  static constexpr int kManySms = 4096;

  static Algo ring() { return ring_allgather(3, 1, false, true); }

  void add(const std::string& rule, const Algo& algo, int sms = kManySms) {
    add_text(rule, text_for(algo, runtime_), sms);
  }
  void add_text(const std::string& rule, const std::string& text, int sms = kManySms) {
    mutants_.push_back({rule, text, runtime_.name, sms});
  }

  void threadblocks(int over) {
    Algo steps = ring();
    steps.gpus[0].tbs[0].steps.resize(static_cast<std::size_t>(runtime_.steps + over),
                                      copy('o', 0, 'o', 0, 1));
    add("steps of a threadblock", steps);
    Algo blocks = ring();
    blocks.gpus[0].tbs.resize(static_cast<std::size_t>(runtime_.threadblocks + over));
    add("threadblocks", blocks);
    add("threadblocks and SMs", blocks, runtime_.threadblocks);
    Algo few = ring();
    few.gpus[1].tbs.resize(static_cast<std::size_t>(16 + over));
    add("SMs", few, 16);
  }

  void channels(int over) {
    Algo last = ring();
    for (Gpu& gpu : last.gpus) {
      for (Tb& tb : gpu.tbs) tb.chan = runtime_.channels - 1 + over;
    }
    Algo unset = finished(last);
    add("channels", unset);
    --unset.nchannels;
    add("a channel that is not set up", unset);
    Algo more = ring();
    more.nchannels = runtime_.channels + over;
    add("more channels than are used", more);
  }

  // One algo, three gpus, two threadblocks and three steps stand already.
  void elements(int over) {
    Algo algo = ring();
    algo.max_bytes = 1L << 20;
    Gpu& gpu = algo.gpus[0];
    for (int left = 4095 - 9 + over; left > 0; left -= 41) {
      const int own = gpu.s_chunks++;
      gpu.tbs.push_back({-1, -1, 0, {}});
      gpu.tbs.back().steps.resize(static_cast<std::size_t>(std::min(left, 41) - 1),
                                  copy('i', 0, 's', own, 1));
    }
    add("elements of a rank", algo);
  }

  void chunks(int over) {
    add("chunks of a step", low_latency(doubling_allreduce(1, 71 + over, true)));
    Algo scratch = low_latency(doubling_allreduce(1, 1, true));
    scratch.max_bytes = 1L << 16;
    scratch.gpus[0].s_chunks = kMostChunks + over;
    add("scratch", scratch);
  }

  void sizes(int over) {
    Algo window = direct_alltoall(2, 2);  // 4 chunks, a half of them to each rank
    const long unit = runtime_.counts_parts ? 8 : 4;
    window.max_bytes = unit + over;
    add_text("largest size", to_xml(window));
    window.min_bytes = unit + 1;
    window.max_bytes = 2 * unit + over;
    add_text("window of sizes", to_xml(window));
  }

  void header(int over) {
    std::string named = text_for(ring(), runtime_);
    const std::string name(static_cast<std::size_t>(63 + over), 'n');
    add_text("name", named.replace(named.find("test"), 4, name));
    std::string threads = text_for(ring(), runtime_);
    add_text("threads", threads.insert(6, fmt::format("nthreads=\"{}\" ", 512 + over)));
  }

  void words() {
    for (const char* proto : {"LL", "LL128", "ll", "SIMPLE", ""}) {
      Algo algo = ring();
      algo.proto = proto;
      add("protocol", algo);
    }
    for (const char* coll : {"reducescatter", "reduce_scatter", "allgather", "AllGather", ""}) {
      for (const bool fused : {true, false}) {
        Algo algo = ring_reduce_scatter(3, 1, fused, true);
        algo.coll = coll;
        add_text("collective", to_xml(algo));
      }
    }
    for (const int in : {0, 1, 2}) {
      for (const int out : {0, 1, 2}) {
        Algo algo = ring();
        algo.inplace = in;
        algo.outofplace = out;
        add("placement", algo);
      }
    }
  }

  const Runtime& runtime_;
  std::vector<TextMutant> mutants_;
};

}  // namespace audit_test
