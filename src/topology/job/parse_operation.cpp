// An operation in one line.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/spelling.hpp"
#include "forestcoll/text.hpp"
#include "topology/job/groups.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

constexpr std::string_view kRoot = "root=", kWeight = "weight=";

Diagnostic no_operation(std::string_view text, const ErrorPlace& place) {
  return make_error(
      Code::O07,
      fmt::format("expected a collective and its groups, found {}", topology::quote(text)),
      "write COLLECTIVE GROUPS [BYTES] [root=R] [weight=W], such as \"allgather tp 64M\", "
      "\"allreduce MOD 8 1G\" or \"broadcast [[0,1],[2,3]] 1M root=0\"",
      place);
}

// "root=gpu0"
Diagnostic no_number(std::string_view word, const ErrorPlace& place) {
  return make_error(Code::O07, fmt::format("expected a number, found {}", topology::quote(word)),
                    word.starts_with(kRoot) ? "a root is given by its rank within the group, from 0"
                                            : "a weight is a whole number from 1 to 1000",
                    place);
}

// Takes the last word off the text.
std::string_view take_last_word(std::string_view& text) {
  const std::size_t blank = text.find_last_of(" \t");
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin);
  text = trimmed(text.substr(0, begin));
  return word;
}

// A number behind the name of a colour is the colour's.
bool is_of_colour(std::string_view before) {
  const std::string name = upper_case(take_last_word(before));
  constexpr std::string_view kNames[] = {"MOD", "DIV", "AND", "OR", "%", "/", "&", "|"};
  return std::ranges::count(kNames, name) > 0;
}

// "-64M", "1.5M", "0x40"
bool is_meant_as_bytes(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  constexpr std::string_view kDigits = "0123456789", kOfGroups = "[](){},";
  return !word.empty() && kDigits.find(word.front()) != std::string_view::npos &&
         word.find_first_of(kOfGroups) == std::string_view::npos;
}

}  // namespace

Expected<JobOperation> parse_operation(std::string_view text, std::size_t ranks, const Mesh* mesh,
                                       const ErrorPlace& place) {
  std::string_view rest = trimmed(text);
  const std::size_t blank = rest.find_first_of(" \t");
  if (blank == std::string_view::npos) return no_operation(text, place);
  const std::string_view name = rest.substr(0, blank);
  const auto collective = parse_spelling(name);
  if (!collective) return topology::unknown_collective(name, place);
  JobOperation operation{std::string(rest), *collective, {}, {}, {}, {}};
  rest = trimmed(rest.substr(blank));

  std::string_view before = rest;
  std::string_view last = take_last_word(before);
  for (; last.starts_with(kRoot) || last.starts_with(kWeight); last = take_last_word(before)) {
    const auto number = parse_whole(last.substr(last.find('=') + 1));
    if (!number) return no_number(last, place);
    if (last.starts_with(kRoot)) {
      operation.root = static_cast<std::size_t>(*number);
    } else {
      operation.weight = *number;
    }
    rest = before;
  }
  if (is_meant_as_bytes(last) && !before.empty() && !is_of_colour(before)) {
    const auto bytes = parse_size(last);
    if (!bytes) {
      return make_error(Code::O07,
                        fmt::format("expected bytes, found {}, of {}", topology::quote(last),
                                    topology::quote(text)),
                        "write a whole number of bytes, 1 or more, or one with K, M, G or T such "
                        "as 64M",
                        place);
    }
    operation.bytes = *bytes;
    rest = before;
  }
  if (rest.empty()) return no_operation(text, place);
  auto groups = parse_groups(rest, ranks, mesh, place);
  if (!groups) return groups.errors();
  operation.groups = *std::move(groups);
  if (auto good = check_operation(operation, ranks, place); !good) return good.errors();
  return operation;
}

}  // namespace forestcoll
