#include "topology/draw/limit_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "topology/draw/labels.hpp"
#include "topology/model/alike_limits.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMostMarks = 6;

}  // namespace

LimitMarks::LimitMarks(const Topology& topology) {
  for (const std::vector<std::size_t>& limits : alike_limits(topology)) {
    const SharedLimit& first = topology.limits[limits.front()];
    const std::size_t mark = names_.size();
    names_.push_back(fmt::format("{}, {} GB/s", name_within_box(first, topology),
                                 short_number(first.bandwidth)));
    if (mark >= kMostMarks) continue;
    for (const std::size_t limit : limits) {
      for (const SharedLimit::Use& use : topology.limits[limit].uses) {
        add_marks(marks_[{use.src, use.dst}], {mark});
      }
    }
  }
}

std::vector<std::size_t> LimitMarks::of(NodeId src, NodeId dst) const {
  const auto at = marks_.find({src, dst});
  return at == marks_.end() ? std::vector<std::size_t>() : at->second;
}

std::string LimitMarks::note_with(bool letters) const {
  if (names_.empty()) return "";
  std::string text = letters ? "limits that links share, by letter: " : "limits that links share: ";
  for (std::size_t mark = 0; mark < std::min(kMostMarks, names_.size()); ++mark) {
    if (mark > 0) text += "; ";
    if (letters) text += letters_of({mark}) + " ";
    text += names_[mark];
  }
  if (names_.size() > kMostMarks) text += fmt::format("; {} more", names_.size() - kMostMarks);
  return text;
}

std::string LimitMarks::note() const {
  return note_with(true);
}

std::string LimitMarks::note_without_letters() const {
  return note_with(false);
}

std::string letters_of(const std::vector<std::size_t>& marks) {
  std::string letters;
  for (const std::size_t mark : marks) {
    if (!letters.empty()) letters += ", ";
    letters += static_cast<char>('a' + mark);
  }
  return letters;
}

void add_marks(std::vector<std::size_t>& marks, const std::vector<std::size_t>& more) {
  std::vector<std::size_t> all;
  std::ranges::set_union(marks, more, std::back_inserter(all));
  marks = std::move(all);
}

}  // namespace forestcoll::topology
