#include "audit/common/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "forestcoll/codes.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kKept = 10'000;

static_assert(static_cast<int>(Code::V26) - static_cast<int>(Code::V01) ==
              static_cast<int>(Rule::too_large) - static_cast<int>(Rule::unreadable));

Code code_of(Rule rule) {
  return static_cast<Code>(static_cast<int>(Code::V01) + static_cast<int>(rule) -
                           static_cast<int>(Rule::unreadable));
}

Fault fault_of(Rule rule) {
  switch (rule) {
    case Rule::lexical:
    case Rule::limit:
      return Fault::refused;
    case Rule::never_selected:
      return Fault::unused;
    case Rule::fabric:
      return Fault::misplaced;
    case Rule::claim:
      return Fault::claim;
    default:
      return Fault::wrong;
  }
}

bool lets_the_program_run(Rule rule) {
  return fault_of(rule) == Fault::refused || fault_of(rule) == Fault::unused;
}

}  // namespace

std::string to_string(const Place& place) {
  std::string text;
  const auto append = [&](const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (place.rank >= 0) append(fmt::format("rank {}", place.rank));
  if (place.threadblock >= 0) append(fmt::format("threadblock {}", place.threadblock));
  if (place.step >= 0) append(fmt::format("step {}", place.step));
  if (!place.chunk.empty()) append(place.chunk);
  if (place.line > 0) {
    const bool alone = text.empty();
    text += fmt::format("{}line {}{}", alone ? "" : " (", place.line, alone ? "" : ")");
  }
  return text;
}

void Findings::add(Rule rule, const Place& place, std::string message, std::string remedy) {
  keep(rule, place, to_string(place), std::move(message), std::move(remedy));
}

void Findings::add(Rule rule, std::string where, std::string message, std::string remedy) {
  keep(rule, Place{}, std::move(where), std::move(message), std::move(remedy));
}

void Findings::add(const Findings& others) {
  count_ += others.count_;
  kinds_ |= others.kinds_;
  blocked_ = blocked_ || others.blocked_;
  const std::size_t room = kKept - std::min(kKept, entries_.size());
  const auto taken = static_cast<std::ptrdiff_t>(std::min(room, others.entries_.size()));
  entries_.insert(entries_.end(), others.entries_.begin(), others.entries_.begin() + taken);
}

void Findings::keep(Rule rule, const Place& place, std::string where, std::string message,
                    std::string remedy) {
  ++count_;
  kinds_ |= std::uint64_t{1} << static_cast<unsigned>(rule);
  if (!lets_the_program_run(rule)) blocked_ = true;
  if (entries_.size() >= kKept) return;
  entries_.push_back({rule, place,
                      make_error(code_of(rule), std::move(message), std::move(remedy),
                                 {.file = file_, .where = std::move(where)})});
}

std::vector<const Findings::Entry*> Findings::in_order(std::size_t most) const {
  std::vector<const Entry*> order;
  order.reserve(entries_.size());
  for (const Entry& entry : entries_) order.push_back(&entry);
  const auto key = [](const Entry* e) {
    return std::tuple(e->rule, e->place.rank, e->place.threadblock, e->place.step);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Entry* a, const Entry* b) { return key(a) < key(b); });
  order.resize(std::min(order.size(), most));
  return order;
}

Diagnostics Findings::sorted(std::size_t most) const {
  Diagnostics result;
  for (const Entry* entry : in_order(most)) result.push_back(entry->diagnostic);
  return result;
}

std::vector<Fault> Findings::faults(std::size_t most) const {
  std::vector<Fault> result;
  for (const Entry* entry : in_order(most)) result.push_back(fault_of(entry->rule));
  return result;
}

Diagnostic file_error(std::string_view file, std::string where, std::string message,
                      std::string remedy) {
  return make_error(code_of(Rule::unreadable), std::move(message), std::move(remedy),
                    {.file = std::string(file), .where = std::move(where)});
}

}  // namespace forestcoll::audit
