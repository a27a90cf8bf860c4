#include "topology/draw/limit_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "forestcoll/topology_text.hpp"
#include "topology/draw/labels.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMostMarks = 6;

// "mem" of "box0/mem", and "on gpu2 -> sw1, …" of "on box0/gpu2 -> box0/sw1, …".
std::string within_box(const SharedLimit& limit, const Topology& topology) {
  std::string name = name_of(limit, topology);
  const std::string& box = topology.nodes[limit.uses.front().src].box;
  if (box.empty()) return name;
  const std::string prefix = box + "/";
  for (std::size_t at = 0; (at = name.find(prefix, at)) != std::string::npos;) {
    name.erase(at, prefix.size());
  }
  return name;
}

}  // namespace

LimitMarks::LimitMarks(const Topology& topology) {
  std::map<std::tuple<std::string, Ratio, std::size_t>, std::size_t> known;
  for (const SharedLimit& limit : topology.limits) {
    if (limit.uses.empty()) continue;
    const std::string name = within_box(limit, topology);
    const auto [at, is_new] =
        known.try_emplace({name, limit.bandwidth, limit.uses.size()}, names_.size());
    const std::size_t mark = at->second;
    if (is_new) names_.push_back(fmt::format("{}, {} GB/s", name, short_number(limit.bandwidth)));
    if (mark >= kMostMarks) continue;
    for (const SharedLimit::Use& use : limit.uses) add_marks(marks_[{use.src, use.dst}], {mark});
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
