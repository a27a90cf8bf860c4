// Chakra execution traces: what depends on what, with collectives of communicators among it.
#include "forestcoll/chakra_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/format/json_value.hpp"
#include "topology/job/files/chakra_nodes.hpp"
#include "topology/job/files/workload.hpp"
#include "topology/job/groups.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

using Numbers = std::vector<std::int64_t>;
using Communicator = std::pair<std::string, Numbers>;  // name and ranks

constexpr const char* kOfCommunicators =
    "`groups`: the file of communicators that ASTRA-sim is given, {\"1\":[0,1],\"2\":[2,3]}";
constexpr std::int64_t kMostCommSize = std::int64_t{1} << 50;

// CollectiveCommType of the schema; nothing for a barrier.
std::optional<Collective> collective_of_chakra(std::int64_t type) {
  constexpr std::array kByType = {
      Collective::allreduce, Collective::reduce,         Collective::allgather,
      Collective::gather,    Collective::scatter,        Collective::broadcast,
      Collective::alltoall,  Collective::reduce_scatter, Collective::reduce_scatter};
  if (type < 0 || type >= std::ssize(kByType)) return std::nullopt;
  return kByType[static_cast<std::size_t>(type)];
}

constexpr std::int64_t kBarrier = 9;

Numbers numbers_of(const std::vector<Rank>& group) {
  Numbers numbers;
  for (const Rank rank : group) numbers.push_back(static_cast<std::int64_t>(rank.index()));
  return numbers;
}

// How far the ranks of a group are from its first.
Numbers offsets_of(const Numbers& group) {
  Numbers offsets;
  for (const std::int64_t rank : group) offsets.push_back(rank - group.front());
  return offsets;
}

// Collectives that must have ended before each node may begin, along the longest chain of
// dependencies. Nothing where these go round in a circle.
std::optional<std::vector<std::int32_t>> collectives_before(const std::vector<ChakraNode>& nodes) {
  std::unordered_map<std::uint64_t, std::size_t> at;
  for (std::size_t i = 0; i < nodes.size(); ++i) at.emplace(nodes[i].id, i);
  std::vector<std::vector<std::size_t>> next(nodes.size());
  std::vector<std::size_t> open(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint64_t id : nodes[i].depends) {
      const auto found = at.find(id);
      if (found == at.end()) continue;  // of another trace, or left out by whoever cut this one
      next[found->second].push_back(i);
      ++open[i];
    }
  }
  std::vector<std::int32_t> before(nodes.size(), 0);
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (open[i] == 0) ready.push_back(i);
  }
  std::size_t done = 0;
  for (; !ready.empty(); ready.pop_front(), ++done) {
    const std::size_t i = ready.front();
    const std::int32_t after = before[i] + (nodes[i].type == ChakraNode::collective ? 1 : 0);
    for (const std::size_t n : next[i]) {
      before[n] = std::max(before[n], after);
      if (--open[n] == 0) ready.push_back(n);
    }
  }
  if (done < nodes.size()) return std::nullopt;
  return before;
}

class ChakraReader {
 public:
  ChakraReader(std::string_view file, std::size_t ranks) : file_(file), ranks_(ranks) {}

  Expected<void> read_communicators(std::string_view text, std::string_view groups_file) {
    if (text.empty()) return {};
    const ErrorPlace place{std::string(groups_file), ""};
    Findings findings(groups_file);
    const auto document = parse_json(trimmed(text), findings);
    if (findings.has_errors()) return not_groups(trimmed(text), findings, kOfCommunicators, place);
    if (!document || document->kind != JsonValue::Kind::object) {
      return make_error(Code::O02, "expected communicators by name", kOfCommunicators, place);
    }
    const auto groups = groups_of_json(*document, ranks_, nullptr, place);
    if (!groups) return groups.errors();
    for (std::size_t g = 0; g < groups->size(); ++g) {
      const ErrorPlace here{place.file, "/" + pointer_token(document->keys[g])};
      if (auto done = add_communicator(document->keys[g], numbers_of((*groups)[g]), here); !done) {
        return done;
      }
    }
    return {};
  }

  Expected<Job> read(const std::vector<ChakraNode>& nodes) {
    for (const ChakraNode& node : nodes) {
      if (auto done = read_process_groups(node); !done) return done.errors();
    }
    const auto before = collectives_before(nodes);
    if (!before) {
      return {{no_workload("nodes of the trace depend on one another in a circle",
                           "give a trace whose dependencies have an order", at({}))}};
    }
    std::map<std::int32_t, JobStep> steps;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (auto done = read_node(nodes[i], steps[(*before)[i]]); !done) return done.errors();
    }
    StepCounter counter;
    for (auto& [number, step] : steps) counter.add(std::move(step));
    Job job{std::move(counter).take(), {}, {}};
    if (job.steps.empty()) {
      return {{no_workload("the trace has no collective of more than one rank",
                           "give the trace of a rank that communicates", at({}))}};
    }
    say_what_was_taken(job);
    return job;
  }

 private:
  [[nodiscard]] ErrorPlace at(const std::string& where) const {
    return {std::string(file_), where};
  }
  [[nodiscard]] Diagnostics wrong(const ChakraNode& node, std::string message) const {
    return {no_workload(std::move(message), "docs/jobs.md says what is read of a Chakra trace",
                        at(node.where))};
  }

  Expected<void> add_communicator(const std::string& name, Numbers group, const ErrorPlace& place) {
    if (group.empty()) {
      return make_error(Code::O05, fmt::format("communicator {} has no rank", quote(name)),
                        kOfCommunicators, place);
    }
    for (const std::int64_t rank : group) {
      if (rank >= 0 && rank < static_cast<std::int64_t>(ranks_)) continue;
      return make_error(Code::O03,
                        fmt::format("communicator {} has rank {}, the fabric has {} ranks",
                                    quote(name), rank, ranks_),
                        "use a fabric of as many GPUs", place);
    }
    if (const auto twice = repeated_rank(group)) {
      return make_error(Code::O04,
                        fmt::format("communicator {} has rank {} twice", quote(name), *twice),
                        "name each rank once", place);
    }
    communicators_.emplace_back(name, std::move(group));
    return {};
  }

  // PyTorch's own list of its process groups, among the inputs of a node: "['[{"pg_name": …}]']".
  Expected<void> read_process_groups(const ChakraNode& node) {
    if (node.inputs.find("\"pg_name\"") == std::string::npos) return {};
    const std::size_t begin = node.inputs.find("[{"), end = node.inputs.rfind("}]");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
    Findings findings(file_);
    const auto list =
        parse_json(std::string_view(node.inputs).substr(begin, end + 2 - begin), findings);
    if (!list) return wrong(node, "a list of process groups that is no JSON");
    for (const JsonValue& item : list->items) {
      const JsonValue* name = item.find("pg_name");
      const JsonValue* ranks = item.find("ranks");
      if (name == nullptr || ranks == nullptr || has_communicator(name->text)) continue;
      Numbers group;
      for (const JsonValue& rank : ranks->items) {
        group.push_back(parse_whole(rank.text).value_or(-1));
      }
      if (group.empty()) group = all_ranks();  // as PyTorch writes its first one
      if (auto done = add_communicator(name->text, std::move(group), at(node.where)); !done) {
        return done;
      }
    }
    return {};
  }

  [[nodiscard]] Numbers all_ranks() const {
    Numbers all;
    for (std::size_t r = 0; r < ranks_; ++r) all.push_back(static_cast<std::int64_t>(r));
    return all;
  }

  [[nodiscard]] bool has_communicator(const std::string& name) const {
    return std::ranges::find(communicators_, name, &Communicator::first) != communicators_.end();
  }

  static std::string attribute_of(const ChakraNode& node, std::string_view name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? std::string() : found->second;
  }

  Expected<void> read_node(const ChakraNode& node, JobStep& step) {
    if (node.type == ChakraNode::send || node.type == ChakraNode::receive) ++messages_;
    if (node.type != ChakraNode::collective || attribute_of(node, "is_cpu_op") == "true") return {};
    const auto type = parse_whole(attribute_of(node, "comm_type"));
    if (type == kBarrier) return {};
    const auto collective = type ? collective_of_chakra(*type) : std::nullopt;
    if (!collective) {
      return wrong(node, fmt::format("comm_type: expected a number from 0 to 9, found {}",
                                     quote(attribute_of(node, "comm_type"))));
    }
    auto group = group_of(node);
    if (!group) return group.errors();
    const auto size = parse_whole(attribute_of(node, "comm_size"));
    if (!size || *size > kMostCommSize) {
      return wrong(node, fmt::format("comm_size: expected a number of bytes up to 2^50, found {}",
                                     quote(attribute_of(node, "comm_size"))));
    }
    if (group->size() < 2 || *size == 0) return {};
    const bool is_part = *collective == Collective::allgather || *collective == Collective::gather;
    has_parts_ = has_parts_ || is_part;
    JobOperation operation{node.name.empty() ? std::string(to_string(*collective)) : node.name,
                           *collective, with_others(*group),
                           *size * (is_part ? std::ssize(*group) : 1)};
    if (is_rooted(*collective)) operation.root = 0;
    has_roots_ = has_roots_ || is_rooted(*collective);
    if (auto good = check_operation(operation, ranks_, at(node.where)); !good) return good;
    if (step.operations.empty()) step.name = operation.name;
    step.operations.push_back(std::move(operation));
    return {};
  }

  Expected<Numbers> group_of(const ChakraNode& node) {
    const std::string name = attribute_of(node, "pg_name");
    if (name.empty()) return all_ranks();
    const auto found = std::ranges::find(communicators_, name, &Communicator::first);
    if (found != communicators_.end()) return found->second;
    return make_error(Code::O02,
                      fmt::format("pg_name: there is no communicator {}{}", quote(name),
                                  communicators_.empty() ? "; none is given" : ""),
                      kOfCommunicators, at(node.where));
  }

  // The named communicators of as many ranks, as far apart; where there is no other, all that there
  // can be.
  Groups with_others(const Numbers& group) {
    std::vector<Numbers> alike = {group};
    std::vector<bool> is_taken(ranks_, false);
    const auto take = [&](const Numbers& ranks) {
      for (const std::int64_t rank : ranks) is_taken[static_cast<std::size_t>(rank)] = true;
    };
    take(group);
    const Numbers offsets = offsets_of(group);
    for (const auto& [name, other] : communicators_) {
      const bool is_free = std::ranges::none_of(other, [&](std::int64_t rank) {
        return static_cast<bool>(is_taken[static_cast<std::size_t>(rank)]);
      });
      if (!is_free || offsets_of(other) != offsets) continue;
      take(other);
      alike.push_back(other);
    }
    has_others_ = has_others_ || group.size() < ranks_;
    if (alike.size() == 1) {
      if (auto all = groups_like(group, ranks_)) return *std::move(all);
      has_single_ = true;
    }
    std::ranges::sort(alike);
    Groups groups;
    for (const Numbers& each : alike) {
      auto& own = groups.emplace_back();
      for (const std::int64_t rank : each) own.emplace_back(static_cast<std::size_t>(rank));
    }
    return groups;
  }

  void say_what_was_taken(Job& job) const {
    job.notes.emplace_back(
        "collectives before which equally many others have to end, by the trace's dependencies, "
        "are a step");
    if (has_others_) {
      job.notes.emplace_back(
          "the trace is of one rank: other communicators of as many ranks, as far apart, do the "
          "same at the same time");
    }
    if (has_single_) {
      job.notes.emplace_back(
          "where there is no other communicator like it, and its ranks are not evenly apart, it "
          "runs alone");
    }
    if (has_parts_) {
      job.notes.emplace_back(
          "comm_size is what each rank puts in: what is gathered is as much from every rank");
    }
    if (has_roots_) job.notes.emplace_back("the first rank of a communicator is taken as its root");
    if (messages_ > 0) {
      job.notes.push_back(fmt::format("{} messages between two ranks are left out", messages_));
    }
  }

  std::string_view file_;
  std::size_t ranks_;
  std::vector<Communicator> communicators_;
  std::size_t messages_ = 0;
  bool has_others_ = false, has_single_ = false, has_parts_ = false, has_roots_ = false;
};

}  // namespace
}  // namespace forestcoll::topology

namespace forestcoll {

bool is_chakra_trace(std::string_view text) {
  return topology::is_chakra_stream(text) || topology::is_chakra_json(text);
}

Expected<Job> parse_chakra_job(std::string_view text, std::string_view file,
                               std::string_view communicators, std::string_view groups_file,
                               std::size_t ranks) {
  topology::ChakraReader reader(file, ranks);
  if (auto done = reader.read_communicators(communicators, groups_file); !done) {
    return done.errors();
  }
  const auto nodes = topology::read_chakra_nodes(text, file);
  if (!nodes) return nodes.errors();
  return reader.read(*nodes);
}

}  // namespace forestcoll
