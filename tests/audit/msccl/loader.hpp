// The runtimes' loader in miniature: it reads a schedule character by character, as they do, and
// says what a GPU would be given to run. It is no XML parser, and unaware of the verifier.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/algo.hpp"

namespace audit_test {

/// What a runtime holds and takes.
struct Runtime {
  std::string name;
  std::string reduce_scatter;
  std::string operations;  ///< accepted types, each between spaces
  bool research = false;   ///< microsoft/msccl
  int channels = 32, threadblocks = 1024, steps = 64;
  bool counts_parts = false;  ///< divides the count of one rank by the chunks
};

inline const std::vector<Runtime>& runtimes() {
  static const std::string every = " s r rcs rrs rrc rrcs cpy re nop ";
  static const std::vector<Runtime> all = {
      {"azure", "reducescatter", every, false, 32, 1024, 64},
      {"rccl-5.7", "reducescatter", every, false, 32, 1024, 64, true},
      {"rccl-6", "reducescatter", " s r re cpy nop ", false, 64, 64, 64, true},
      {"rccl-6.2", "reducescatter", " s r re cpy nop ", false, 64, 64, 64, true},
      {"rccl-6.3", "reducescatter", " s r re cpy nop ", false, 128, 64, 64},
      {"msccl", "reduce_scatter", every, true, 32, 216, 256}};
  return all;
}

/// Thrown where a load fails, or where it leaves something broken behind.
struct LoadError {
  std::string why;
};

/// The characters and words of the file.
class Characters {
 public:
  struct Node {
    enum class Type { none, open, single, close } type = Type::none;
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;  // the first 16
  };

  explicit Characters(const std::string& text) : text_(text) {}

  Node next() {
    Node node;
    char c = ' ';
    while (c == ' ' || c == '\n' || c == '\r') {
      if (at_ == text_.size()) return node;
      c = text_[at_++];
    }
    if (c != '<') throw LoadError{"expecting <"};
    c = word(node.name, nullptr);
    if (node.name.starts_with("!--")) {
      skip_comment(node.name.substr(3) + c);
      return next();
    }
    if (node.name.empty() && c == '/') {
      node.type = Node::Type::close;
      if (word(node.name, nullptr) != '>') throw LoadError{"trailing in a closing tag"};
      return node;
    }
    node.type = Node::Type::open;
    while (c == ' ') {
      std::pair<std::string, std::string> attribute;
      c = word(attribute.first, &attribute.second);
      if (node.attributes.size() < 16) node.attributes.push_back(attribute);
    }
    if (c == '/') {
      node.type = Node::Type::single;
      std::string rest;
      c = word(rest, nullptr);
    }
    if (c != '>') throw LoadError{"expected >"};
    return node;
  }

 private:
  char get() {
    if (at_ == text_.size()) throw LoadError{"end of file"};
    return text_[at_++];
  }

  // Reads up to a space, '>', '/' or a line break, which it returns; behind a '=' up to the quote.
  char word(std::string& name, std::string* value) {
    while (true) {
      const char c = get();
      if (c == '=') {
        if (value == nullptr) throw LoadError{"unexpected value"};
        return quoted(*value);
      }
      if (name.size() == 254) throw LoadError{"name too long"};
      if (c == ' ' || c == '>' || c == '/' || c == '\n' || c == '\r') return c;
      name += c;
    }
  }

  char quoted(std::string& value) {
    const char quote = get();
    if (quote != '"' && quote != '\'') throw LoadError{"expected quote"};
    for (char c = get(); c != '"'; c = get()) value += c;
    if (value.size() > 254) throw LoadError{"beyond the 256 bytes of a value"};
    return get();
  }

  void skip_comment(const std::string& begun) {
    std::string end = "..." + begun;
    while (!end.ends_with("-->")) end += get();
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

class Loader {
 public:
  Loader(const std::string& text, const Runtime& runtime) : text_(text), runtime_(runtime) {}

  /// The program that would run.
  Algo load() {
    while (true) {
      const Node node = text_.next();
      if (node.type == Node::Type::none) break;
      if (node.type == Node::Type::close || node.name != "algo" || seen_) {
        throw LoadError{"not one algo"};
      }
      seen_ = true;
      read_algo(node);
    }
    if (!seen_) throw LoadError{"no algo"};
    return finish();
  }

 private:
  using Node = Characters::Node;

  static const std::string& text_of(const Node& node, const std::string& key) {
    for (const auto& [name, value] : node.attributes) {
      if (name == key) return value;
    }
    throw LoadError{"no attribute " + key};
  }
  static bool has(const Node& node, const std::string& key) {
    for (const auto& [name, value] : node.attributes) {
      if (name == key) return true;
    }
    return false;
  }
  static long long_of(const Node& node, const std::string& key) {
    return std::strtol(text_of(node, key).c_str(), nullptr, 0);
  }
  static int int_of(const Node& node, const std::string& key) {
    return static_cast<int>(long_of(node, key));  // the upper half is lost
  }

  // The next node within `parent`; nothing at its end. Elements that nobody reads end with any tag.
  std::optional<Node> child_of(const Node& parent, bool is_read) {
    if (parent.type == Node::Type::single) return std::nullopt;
    Node node = text_.next();
    if (node.type == Node::Type::none) throw LoadError{"unterminated " + parent.name};
    if (node.type != Node::Type::close) return node;
    if (is_read && node.name != parent.name) throw LoadError{"mismatch"};
    return std::nullopt;
  }

  void skip(const Node& node) {
    while (const auto child = child_of(node, false)) skip(*child);
  }

  // Hands each child of that name to `read`; others are passed over with all that is in them.
  template <class Read>
  void children(const Node& parent, const std::string& name, Read read) {
    int count = 0;
    while (const auto child = child_of(parent, true)) {
      if (child->name != name) {
        skip(*child);
      } else if (++count > 1024) {
        throw LoadError{"beyond the 1024 children"};
      } else {
        read(*child);
      }
    }
  }

  void read_algo(const Node& node) {
    if (runtime_.research && text_of(node, "name").size() > 63) throw LoadError{"name too long"};
    algo_.proto = text_of(node, "proto");
    algo_.coll = text_of(node, "coll");
    algo_.nchannels = int_of(node, "nchannels");
    algo_.nchunks = int_of(node, "nchunksperloop");
    ranks_ = int_of(node, "ngpus");
    algo_.inplace = int_of(node, "inplace");
    algo_.outofplace = runtime_.research ? 1 - algo_.inplace : int_of(node, "outofplace");
    const bool window = !runtime_.research;
    algo_.min_bytes = window || has(node, "minBytes") ? long_of(node, "minBytes") : 0;
    algo_.max_bytes = window || has(node, "maxBytes") ? long_of(node, "maxBytes") : 1L << 27;
    if (runtime_.research && has(node, "nthreads") && int_of(node, "nthreads") % 32 != 0) {
      throw LoadError{"nthreads"};
    }
    check_header();
    children(node, "gpu", [this](const Node& gpu) { read_gpu(gpu); });
  }

  void check_header() {
    if (algo_.proto != "Simple" && algo_.proto != "LL" && algo_.proto != "LL128") {
      throw LoadError{"proto"};
    }
    if (algo_.coll == runtime_.reduce_scatter) {
      algo_.coll = "reducescatter";
    } else if (algo_.coll != "allreduce" && algo_.coll != "allgather" && algo_.coll != "reduce" &&
               algo_.coll != "broadcast" && algo_.coll != "alltoall") {
      throw LoadError{"coll"};
    }
    if (algo_.nchunks <= 0 || ranks_ <= 0 || ranks_ > 1024) throw LoadError{"nothing to run"};
    if (algo_.nchannels <= 0 || algo_.nchannels > runtime_.channels) throw LoadError{"channels"};
  }

  void read_gpu(const Node& node) {
    const int id = int_of(node, "id");
    Gpu gpu{int_of(node, "i_chunks"), int_of(node, "o_chunks"), int_of(node, "s_chunks"), {}};
    if (id < 0 || gpu.i_chunks < 0 || gpu.o_chunks < 0 || gpu.s_chunks < 0) {
      throw LoadError{"negative"};
    }
    int nodes = 0;
    std::map<int, Tb> tbs;
    children(node, "tb", [&](const Node& tb) {
      ++nodes;
      read_tb(tb, id, gpu, tbs, nodes);
    });
    for (auto& [bid, tb] : tbs) {
      if (bid != static_cast<int>(gpu.tbs.size())) throw LoadError{"threadblocks are not dense"};
      gpu.tbs.push_back(std::move(tb));
    }
    nodes_[id] = nodes;
    if (!gpus_.emplace(id, std::move(gpu)).second) throw LoadError{"gpu twice"};
  }

  void read_tb(const Node& node, int rank, const Gpu& gpu, std::map<int, Tb>& tbs, int& nodes) {
    const int id = int_of(node, "id");
    Tb tb{int_of(node, "send"), int_of(node, "recv"), int_of(node, "chan"), {}};
    if (id < 0 || id >= runtime_.threadblocks) throw LoadError{"threadblocks"};
    if (tb.send < -1 || tb.recv < -1 || tb.send == rank || tb.recv == rank) {
      throw LoadError{"peers"};
    }
    if (tb.chan < 0 || tb.chan >= algo_.nchannels) throw LoadError{"a channel that is not set up"};
    children(node, "step", [&](const Node& step) {
      ++nodes;
      tb.steps.push_back(read_step(step, gpu));
      if (child_of(step, true)) throw LoadError{"a crash: nothing reads what is in a step"};
    });
    if (static_cast<int>(tb.steps.size()) > runtime_.steps) throw LoadError{"steps"};
    if (!tbs.emplace(id, std::move(tb)).second) throw LoadError{"threadblock twice"};
  }

  Step read_step(const Node& node, const Gpu& gpu) {
    const int s = int_of(node, "s");
    if (s < 0 || s >= runtime_.steps) throw LoadError{"step number"};
    Step step;
    step.type = text_of(node, "type");
    if (step.type.empty() || step.type.find(' ') != std::string::npos ||
        runtime_.operations.find(" " + step.type + " ") == std::string::npos) {
      throw LoadError{"type"};
    }
    step.srcbuf = buffer_of(text_of(node, "srcbuf"));
    step.dstbuf = buffer_of(text_of(node, "dstbuf"));
    const bool is_nop = step.type == "nop";  // its offsets are read, and not looked at
    step.srcoff = is_nop ? int_of(node, "srcoff") : offset_of(node, "srcoff", gpu, step.srcbuf);
    step.dstoff = is_nop ? int_of(node, "dstoff") : offset_of(node, "dstoff", gpu, step.dstbuf);
    step.cnt = int_of(node, "cnt");
    if (step.cnt < 0 || step.cnt >= 72) throw LoadError{"cnt"};
    if (step.cnt == 0 && step.type != "nop") throw LoadError{"corrupts: nothing is moved"};
    step.depid = static_cast<signed char>(long_of(node, "depid"));
    step.deps = static_cast<short>(long_of(node, "deps"));
    if (step.depid < -1) throw LoadError{"out of bounds: depid"};
    step.hasdep = int_of(node, "hasdep") != 0 ? 1 : 0;
    return step;
  }

  static char buffer_of(const std::string& name) {
    if (name != "i" && name != "o" && name != "s") throw LoadError{"buffer"};
    return name[0];
  }
  static int offset_of(const Node& node, const std::string& key, const Gpu& gpu, char buffer) {
    const int chunks = buffer == 'i' ? gpu.i_chunks : buffer == 'o' ? gpu.o_chunks : gpu.s_chunks;
    const int offset = int_of(node, key);
    if (offset < -1 || offset >= chunks) throw LoadError{"offset"};
    return static_cast<short>(offset);
  }

  Algo finish() {
    for (int r = 0; r < ranks_; ++r) {
      algo_.gpus.push_back(gpus_[r]);  // one that is missing does nothing
      if (1 + static_cast<int>(gpus_.size()) + nodes_[r] > 4095) throw LoadError{"nodes"};
    }
    return algo_;
  }

  Characters text_;
  const Runtime& runtime_;
  Algo algo_;
  bool seen_ = false;
  int ranks_ = 0;
  std::map<int, Gpu> gpus_;
  std::map<int, int> nodes_;
};

/// Whether some call selects it, in whatever placement it claims.
inline bool is_selected(const Algo& algo, const Runtime& runtime) {
  if (algo.inplace != 1 && algo.outofplace != 1) return false;
  const bool divided =
      algo.coll == "allgather" || algo.coll == "reducescatter" || algo.coll == "alltoall";
  const bool unlimited = algo.max_bytes == 0 && !runtime.research;
  const long last = algo.max_bytes - (runtime.research ? 1 : 0);
  // Buffers of one-byte elements: the smallest multiple of all chunks, and of all ranks' counts.
  long unit = algo.nchunks;
  while (divided && unit % algo.ranks() != 0) unit += algo.nchunks;
  if (divided && runtime.counts_parts) unit = static_cast<long>(algo.nchunks) * algo.ranks();
  const long fewest = algo.min_bytes > 0 ? (algo.min_bytes - 1) / unit + 1 : 1;
  return unlimited || fewest <= last / unit;
}

}  // namespace audit_test
