// Workloads of OptCCL: a list of collectives over GPUs that are named by node and component.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/ratio.hpp"
#include "topology/job/files/workload.hpp"

namespace forestcoll::topology {
namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kFormat = "optccl-workload-spec";
const Ratio kBytesOfOne(1'000'000'000);  // demands are in GB
constexpr const char* kOfOptccl = "docs/jobs.md says what is read of a workload of OptCCL's";

// The name of a component in parts: ["g", 2] of node 1 is 1, g, 2. Numbers are before words.
struct Component {
  std::vector<std::pair<std::int64_t, std::string>> parts;
  auto operator<=>(const Component&) const = default;
};

// What OptCCL calls it, ours, and the keys of its first member, if that is its root, and of others.
struct KnownType {
  std::string_view name;
  Collective collective;
  const char* root;
  const char* others;
  bool is_divided;  // its demand is of one member's part of the buffer
};
constexpr KnownType kTypes[] = {
    {"all_gather", Collective::allgather, nullptr, "participants", true},
    {"reduce_scatter", Collective::reduce_scatter, nullptr, "participants", true},
    {"all_to_all", Collective::alltoall, nullptr, "participants", true},
    {"all_reduce", Collective::allreduce, nullptr, "participants", true},
    {"gather", Collective::broadcast, "source", "sinks", false},
    {"reduce", Collective::reduce, "sink", "sources", false},
    {"point_to_point", Collective::broadcast, "source", "sink", false},
};

struct Entry {
  const KnownType* type = nullptr;
  std::string group;
  std::vector<Component> members;
  std::int64_t bytes = 0;
};

class OptcclReader {
 public:
  OptcclReader(std::string_view file, std::size_t ranks) : file_(file), ranks_(ranks) {}

  Expected<Job> read(const JsonValue& document) {
    const Place root;
    const Place place(root, "collectives");
    const JsonValue* list = document.find("collectives");
    if (list == nullptr || list->kind != Kind::array || list->items.empty()) {
      return wrong(place, "expected a list of collectives");
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      auto entry = read_entry(list->items[i], Place(place, i));
      if (!entry) return entry.errors();
      entries_.push_back(*std::move(entry));
    }
    if (auto numbered = number_gpus(); !numbered) return numbered.errors();
    Job job{{JobStep{"all collectives", 1, operations()}}, {}, {}};
    for (const JobOperation& operation : job.steps.front().operations) {
      if (auto good = check_operation(operation, ranks_, at(place)); !good) return good.errors();
    }
    job.notes.emplace_back(
        "all collectives of the workload go at once, as OptCCL's mode joint has them; its GPUs, by "
        "node and then by name, are the fabric's ranks in order");
    return job;
  }

 private:
  [[nodiscard]] ErrorPlace at(const Place& place) const {
    return {std::string(file_), place.pointer()};
  }
  [[nodiscard]] Diagnostics wrong(const Place& place, std::string message) const {
    return {no_workload(std::move(message), kOfOptccl, at(place))};
  }

  Expected<Entry> read_entry(const JsonValue& value, const Place& place) const {
    if (value.kind != Kind::object) return wrong(place, "expected a collective, an object");
    Entry entry;
    const JsonValue* type = value.find("type");
    for (const KnownType& known : kTypes) {
      if (type != nullptr && type->text == known.name) entry.type = &known;
    }
    if (entry.type == nullptr) {
      return wrong(Place(place, "type"),
                   fmt::format("expected a type such as \"all_gather\", found {}",
                               type == nullptr ? "none" : describe(*type)));
    }
    const JsonValue* group = value.find("group");
    entry.group = group != nullptr && group->kind == Kind::string ? group->text : type->text;
    if (entry.type->root != nullptr) {
      if (auto added = add_members(value, entry.type->root, true, place, entry); !added) {
        return added.errors();
      }
    }
    const bool is_one = entry.type->others == std::string_view("sink");
    if (auto added = add_members(value, entry.type->others, is_one, place, entry); !added) {
      return added.errors();
    }
    if (entry.members.size() < 2) {
      return make_error(Code::O05,
                        "the collective has fewer than two GPUs: there is nothing to move",
                        "name at least two GPUs, or leave it out", at(place));
    }
    if (auto counted = count_bytes(value, place, entry); !counted) return counted.errors();
    return entry;
  }

  Expected<void> add_members(const JsonValue& value, const char* key, bool is_one,
                             const Place& parent, Entry& entry) const {
    const Place place(parent, key);
    const JsonValue* members = value.find(key);
    if (members == nullptr || (!is_one && members->kind != Kind::array)) {
      return wrong(place, is_one ? "expected a GPU" : "expected a list of GPUs");
    }
    const auto list = is_one ? std::span(members, 1) : std::span(members->items);
    for (const JsonValue& each : list) {
      Component component;
      if (!add_parts(each, component)) {
        return wrong(
            place, fmt::format("expected GPUs such as [0, [\"g\", 1]], found {}", describe(each)));
      }
      if (std::ranges::find(entry.members, component) != entry.members.end()) {
        return make_error(Code::O04,
                          fmt::format("the GPU {} is twice in one collective", name_of(each)),
                          "name each GPU once", at(place));
      }
      entry.members.push_back(std::move(component));
    }
    return {};
  }

  static bool add_parts(const JsonValue& value, Component& component) {
    if (value.kind == Kind::array) {
      return !value.items.empty() && std::ranges::all_of(value.items, [&](const JsonValue& each) {
        return add_parts(each, component);
      });
    }
    if (value.kind == Kind::string) {
      component.parts.emplace_back(-1, value.text);
      return true;
    }
    const auto number = value.kind == Kind::number ? parse_whole(value.text) : std::nullopt;
    if (number) component.parts.emplace_back(*number, "");
    return number.has_value();
  }

  // As the file writes it: [0, ["g", 1]].
  static std::string name_of(const JsonValue& value) {
    if (value.kind != Kind::array) return describe(value);
    return fmt::format("[{}]", listed(value.items, &OptcclReader::name_of));
  }

  // Of the whole buffer, as algbw counts it, in whole bytes: a third of a GB has none.
  Expected<void> count_bytes(const JsonValue& value, const Place& place, Entry& entry) const {
    const JsonValue* demand = value.find("demand");
    const auto amount = demand != nullptr && demand->kind == Kind::number
                            ? parse_ratio(demand->text)
                            : std::nullopt;
    const auto members = static_cast<std::int64_t>(entry.members.size());
    auto bytes = amount && *amount > 0 ? checked_mul(*amount, kBytesOfOne) : std::nullopt;
    if (bytes && entry.type->is_divided) bytes = checked_mul(*bytes, Ratio(members));
    if (!bytes) {
      return wrong(Place(place, "demand"),
                   fmt::format("expected a positive number of GB, found {}",
                               demand == nullptr ? "none" : describe(*demand)));
    }
    entry.bytes = bytes->num() / bytes->den() + (bytes->num() % bytes->den() == 0 ? 0 : 1);
    return {};
  }

  Expected<void> number_gpus() {
    std::set<Component> named;
    for (const Entry& entry : entries_) named.insert(entry.members.begin(), entry.members.end());
    if (named.size() != ranks_) {
      return make_error(
          Code::O03,
          fmt::format("the workload names {} GPUs, the fabric has {}", named.size(), ranks_),
          "use a fabric of as many GPUs, such as that of the workload's own topology",
          {std::string(file_), "/collectives"});
    }
    for (const Component& component : named) rank_of_.emplace(component, Rank(rank_of_.size()));
    return {};
  }

  // What differs in nothing but its members is one operation of several groups, as far as these
  // share none.
  [[nodiscard]] std::vector<JobOperation> operations() const {
    std::vector<JobOperation> all;
    std::vector<std::set<Rank>> taken;
    std::vector<const Entry*> like;
    for (const Entry& entry : entries_) {
      std::vector<Rank> group;
      for (const Component& member : entry.members) group.push_back(rank_of_.at(member));
      std::size_t at = 0;
      while (at < all.size() && !joins(entry, group, *like[at], taken[at])) ++at;
      if (at == all.size()) {
        all.push_back({entry.group + ": " + std::string(entry.type->name),
                       entry.type->collective,
                       {},
                       entry.bytes});
        if (entry.type->root != nullptr) all.back().root = 0;
        taken.emplace_back();
        like.push_back(&entry);
      }
      taken[at].insert(group.begin(), group.end());
      all[at].groups.push_back(std::move(group));
    }
    return all;
  }

  static bool joins(const Entry& entry, const std::vector<Rank>& group, const Entry& like,
                    const std::set<Rank>& taken) {
    return entry.type == like.type && entry.group == like.group && entry.bytes == like.bytes &&
           entry.members.size() == like.members.size() &&
           std::ranges::none_of(group, [&](Rank rank) { return taken.contains(rank); });
  }

  std::string_view file_;
  std::size_t ranks_;
  std::vector<Entry> entries_;
  std::map<Component, Rank> rank_of_;
};

}  // namespace

bool is_optccl_workload(const JsonValue& document) {
  const JsonValue* format = document.find("format");
  return format != nullptr && format->text == kFormat;
}

Expected<Job> read_optccl_workload(const JsonValue& document, std::string_view file,
                                   std::size_t ranks) {
  return OptcclReader(file, ranks).read(document);
}

}  // namespace forestcoll::topology
