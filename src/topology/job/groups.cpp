#include "topology/job/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/nearest.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::JsonValue;

constexpr const char* kGroupsRemedy =
    "write a colour such as \"MOD 8\", \"DIV 8\", \"AND 0x7\" or \"OR 0x7\", axes of the mesh such "
    "as \"tp\" or \"dp-cp\", \"all\", or lists of ranks such as \"[[0,1],[2,3]]\"";

// An operator of NCCL_TESTS_SPLIT with its number.
struct Colour {
  char kind = '%';
  std::int64_t number = 1;

  [[nodiscard]] std::int64_t of(std::int64_t rank) const {
    switch (kind) {
      case '%':
        return rank % number;
      case '/':
        return rank / number;
      case '&':
        return rank & number;
      default:
        return rank | number;
    }
  }
};

std::optional<Colour> parse_colour(std::string_view text) {
  const std::string upper = upper_case(text);
  constexpr std::pair<std::string_view, char> kNames[] = {{"MOD", '%'}, {"DIV", '/'}, {"AND", '&'},
                                                          {"OR", '|'},  {"%", '%'},   {"/", '/'},
                                                          {"&", '&'},   {"|", '|'}};
  for (const auto& [name, kind] : kNames) {
    if (!upper.starts_with(name)) continue;
    const bool divides = kind == '%' || kind == '/';
    const auto number = parse_whole(trimmed(text.substr(name.size())));
    if (!number || (divides && *number == 0)) return std::nullopt;
    return Colour{kind, *number};
  }
  return std::nullopt;
}

template <class Key>
Groups grouped(std::size_t ranks, const Key& key_of) {
  std::map<std::int64_t, std::vector<Rank>> by_key;
  for (std::size_t r = 0; r < ranks; ++r) {
    by_key[key_of(static_cast<std::int64_t>(r))].push_back(Rank(r));
  }
  Groups groups;
  for (auto& entry : by_key) groups.push_back(std::move(entry.second));
  return groups;
}

// Ranks that differ along the axes `varies` alone.
Groups along_axes(const Mesh& mesh, const std::vector<bool>& varies, std::size_t ranks) {
  return grouped(ranks, [&](std::int64_t rank) {
    std::int64_t key = 0, stride = 1;
    for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
      if (!varies[i]) key += rank % mesh.axes[i].size * stride;
      stride *= mesh.axes[i].size;
      rank /= mesh.axes[i].size;
    }
    return key;
  });
}

std::string names_of_axes(const Mesh& mesh) {
  return listed(mesh.axes, &MeshAxis::name);
}

Expected<Groups> groups_along(std::string_view text, std::size_t ranks, const Mesh* mesh,
                              const ErrorPlace& place) {
  if (mesh == nullptr) {
    return make_error(Code::O02,
                      fmt::format("expected groups, found {}, and no mesh whose axes it could name",
                                  topology::quote(text)),
                      std::string(kGroupsRemedy) + "; axes need a mesh, such as tp=8,dp=4", place);
  }
  std::vector<bool> varies(mesh->axes.size(), false);
  for (const std::string_view name : parts_between(text, '-')) {
    const auto at = std::ranges::find(mesh->axes, name, &MeshAxis::name);
    if (at == mesh->axes.end()) {
      return make_error(Code::O06,
                        fmt::format("the mesh has no axis {}, of {}", topology::quote(name),
                                    topology::quote(text)),
                        fmt::format("its axes are {}", names_of_axes(*mesh)), place);
    }
    varies[static_cast<std::size_t>(at - mesh->axes.begin())] = true;
  }
  return along_axes(*mesh, varies, ranks);
}

// A rank that is beyond all fabrics is one that this fabric does not have.
std::optional<Rank> rank_of_json(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::number) return std::nullopt;
  const auto number = parse_whole(value.text);
  if (!number) return std::nullopt;
  constexpr std::int64_t kMostRank = (std::int64_t{1} << 31) - 1;
  return Rank(static_cast<std::int32_t>(std::min(*number, kMostRank)));
}

Expected<Groups> lists_of_json(const JsonValue& value, const ErrorPlace& place) {
  Groups groups;
  for (std::size_t g = 0; g < value.items.size(); ++g) {
    const JsonValue& list = value.items[g];
    const std::string key = value.kind == JsonValue::Kind::object
                                ? topology::pointer_token(value.keys[g])
                                : std::to_string(g);
    const ErrorPlace here{place.file, fmt::format("{}/{}", place.where, key)};
    if (list.kind != JsonValue::Kind::array) {
      return make_error(Code::O02, "expected a list of ranks, found " + topology::describe(list),
                        kGroupsRemedy, here);
    }
    auto& group = groups.emplace_back();
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const auto rank = rank_of_json(list.items[i]);
      if (!rank) {
        return make_error(Code::O02, "expected a rank, found " + topology::describe(list.items[i]),
                          kGroupsRemedy, {here.file, fmt::format("{}/{}", here.where, i)});
      }
      group.push_back(*rank);
    }
  }
  return groups;
}

}  // namespace

Diagnostic topology::unknown_collective(std::string_view name, const ErrorPlace& place) {
  constexpr Collective kAll[] = {Collective::allgather, Collective::reduce_scatter,
                                 Collective::allreduce, Collective::broadcast,
                                 Collective::reduce,    Collective::alltoall,
                                 Collective::scatter,   Collective::gather};
  const auto name_of_one = [](Collective collective) { return to_string(collective); };
  const std::string meant = nearest_word(name, kAll, name_of_one);
  return make_error(Code::O07, fmt::format("unknown collective {}", quote(name)),
                    meant.empty() ? "there are " + listed(kAll, name_of_one)
                                  : fmt::format("did you mean {}?", quote(meant)),
                    place);
}

Diagnostic topology::not_groups(std::string_view text, const Findings& findings, std::string remedy,
                                ErrorPlace place) {
  const Diagnostics errors = findings.all();
  if (place.where.empty() && !place.file.empty()) place.where = errors.front().where;
  return make_error(
      Code::O02, fmt::format("expected groups, found {}: {}", quote(text), errors.front().message),
      std::move(remedy), place);
}

Expected<Groups> topology::groups_of_json(const JsonValue& value, std::size_t ranks,
                                          const Mesh* mesh, const ErrorPlace& place) {
  switch (value.kind) {
    case JsonValue::Kind::string:
      return parse_groups(value.text, ranks, mesh, place);
    case JsonValue::Kind::array:
    case JsonValue::Kind::object:
      return lists_of_json(value, place);
    default:
      return make_error(Code::O02, "expected groups, found " + topology::describe(value),
                        kGroupsRemedy, place);
  }
}

Expected<Groups> parse_groups(std::string_view text, std::size_t ranks, const Mesh* mesh,
                              const ErrorPlace& place) {
  const std::string_view words = trimmed(text);
  if (words == "all") return grouped(ranks, [](std::int64_t) { return 0; });
  if (words.starts_with('[') || words.starts_with('{')) {
    topology::Findings findings(place.file);
    const auto document = topology::parse_json(words, findings);
    if (!document || findings.has_errors()) {
      return topology::not_groups(words, findings, kGroupsRemedy, place);
    }
    return topology::groups_of_json(*document, ranks, mesh, place);
  }
  const bool is_axis =
      mesh != nullptr && std::ranges::find(mesh->axes, words, &MeshAxis::name) != mesh->axes.end();
  if (const auto colour = is_axis ? std::nullopt : parse_colour(words)) {
    return grouped(ranks, [&](std::int64_t rank) { return colour->of(rank); });
  }
  return groups_along(words, ranks, mesh, place);
}

}  // namespace forestcoll
