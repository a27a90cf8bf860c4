// A schedule as plain data, to be written as XML, mutated and executed by tests. It shares nothing
// with the library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace audit_test {

struct Step {
  std::string type = "nop";
  char srcbuf = 'i';
  int srcoff = 0;
  char dstbuf = 'i';
  int dstoff = 0;
  int cnt = 1;
  int depid = -1, deps = -1;
  int hasdep = 0;

  [[nodiscard]] bool sends() const {
    return type == "s" || type == "rcs" || type == "rrs" || type == "rrcs";
  }
  [[nodiscard]] bool receives() const {
    return type == "r" || type == "rcs" || type == "rrs" || type == "rrc" || type == "rrcs";
  }
  [[nodiscard]] bool reads_src() const {
    return type == "s" || type == "rrs" || type == "rrc" || type == "rrcs" || type == "cpy" ||
           type == "re";
  }
  [[nodiscard]] bool writes_dst() const {
    return type == "r" || type == "rcs" || type == "rrc" || type == "rrcs" || type == "cpy" ||
           type == "re";
  }
};

struct Tb {
  int send = -1, recv = -1, chan = 0;
  std::vector<Step> steps;
};

struct Gpu {
  int i_chunks = 0, o_chunks = 0, s_chunks = 0;
  std::vector<Tb> tbs;
};

struct Algo {
  std::string proto = "Simple", coll = "allgather";
  int nchannels = 1, nchunks = 1;
  int inplace = 1, outofplace = 0;
  int root = 0;  ///< of a broadcast or reduce; files do not say it
  long min_bytes = 0, max_bytes = 1L << 40;
  std::vector<Gpu> gpus;

  [[nodiscard]] int ranks() const { return static_cast<int>(gpus.size()); }
};

/// Where the own parts of the ranks begin in the whole buffer, and where the last ends: as an
/// allgather's inputs or a reduce-scatter's outputs say, where they fill it; else equal parts.
inline std::vector<int> parts_of(const Algo& algo) {
  std::vector<int> begin = {0};
  for (const Gpu& gpu : algo.gpus) {
    begin.push_back(begin.back() + (algo.coll == "allgather" ? gpu.i_chunks : gpu.o_chunks));
  }
  const bool declares = algo.coll == "allgather" || algo.coll == "reducescatter";
  if (declares && begin.back() == algo.nchunks) return begin;
  for (int r = 0; r <= algo.ranks(); ++r) {
    begin[static_cast<std::size_t>(r)] = r * (algo.nchunks / algo.ranks());
  }
  return begin;
}

inline bool has_equal_parts(const Algo& algo) {
  const auto begin = parts_of(algo);
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
    if (begin[r + 1] - begin[r] != begin[1]) return false;
  }
  return true;
}

/// Sets nchannels, hasdep and the sizes of the buffers.
inline Algo finished(Algo algo) {
  const int n = algo.ranks();
  algo.nchannels = 1;
  for (Gpu& gpu : algo.gpus) {
    gpu.i_chunks = algo.coll == "allgather" ? algo.nchunks / n : algo.nchunks;
    gpu.o_chunks = algo.coll == "reducescatter" ? algo.nchunks / n : algo.nchunks;
    for (Tb& tb : gpu.tbs) {
      algo.nchannels = std::max(algo.nchannels, tb.chan + 1);
      for (Step& step : tb.steps) {
        if (step.depid < 0) continue;
        gpu.tbs[static_cast<std::size_t>(step.depid)]
            .steps[static_cast<std::size_t>(step.deps)]
            .hasdep = 1;
      }
    }
  }
  return algo;
}

inline std::string step_text(int s, const Step& x) {
  return fmt::format(
      "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" "
      "cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
      s, x.type, x.srcbuf, x.srcoff, x.dstbuf, x.dstoff, x.cnt, x.depid, x.deps, x.hasdep);
}

inline std::string to_xml(const Algo& algo) {
  std::string text = fmt::format(
      "<algo name=\"test\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\">\n",
      algo.proto, algo.nchannels, algo.nchunks, algo.ranks(), algo.coll, algo.inplace,
      algo.outofplace, algo.min_bytes, algo.max_bytes);
  for (int g = 0; g < algo.ranks(); ++g) {
    const Gpu& gpu = algo.gpus[static_cast<std::size_t>(g)];
    text += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", g,
                        gpu.i_chunks, gpu.o_chunks, gpu.s_chunks);
    for (std::size_t t = 0; t < gpu.tbs.size(); ++t) {
      const Tb& tb = gpu.tbs[t];
      text += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", t, tb.send,
                          tb.recv, tb.chan);
      for (std::size_t s = 0; s < tb.steps.size(); ++s) {
        text += step_text(static_cast<int>(s), tb.steps[s]);
      }
      text += "    </tb>\n";
    }
    text += "  </gpu>\n";
  }
  return text + "</algo>\n";
}

}  // namespace audit_test
