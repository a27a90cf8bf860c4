#include "topology/readers/links.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace forestcoll::importing {
namespace {

using Ids = std::vector<std::string>;

// What links must share to stand in one entry.
auto attributes(const FlatLink& link) {
  return std::tuple(link.bandwidth.num(), link.bandwidth.den(), link.count, link.kind,
                    link.full_duplex, link.latency);
}

LinkText entry(const FlatLink& like, std::string src, std::string dst, bool zip) {
  return {.src = std::move(src),
          .dst = std::move(dst),
          .bandwidth = exact_text(like.bandwidth),
          .kind = like.kind,
          .zip = zip,
          .count = like.count,
          .latency = like.latency ? exact_text(*like.latency) : "",
          .full_duplex = like.full_duplex};
}

// EndGroups of one end, each with the other ends, in the order of appearance.
class EndGroups {
 public:
  void add(const std::string& key, const std::string& other) {
    const auto [at, is_new] = index_.emplace(key, keys_.size());
    if (is_new) {
      keys_.push_back(key);
      others_.emplace_back();
    }
    others_[at->second].push_back(other);
  }
  [[nodiscard]] const Ids& keys() const { return keys_; }
  [[nodiscard]] const std::vector<Ids>& others() const { return others_; }

 private:
  std::map<std::string, std::size_t> index_;
  Ids keys_;
  std::vector<Ids> others_;
};

bool all_distinct(const Ids& ids) {
  return std::set<std::string>(ids.begin(), ids.end()).size() == ids.size();
}

// One to one: gpu[0-7] to nic[0-7].
bool append_pairs(const std::vector<FlatLink>& links, std::vector<LinkText>& entries) {
  Ids src, dst;
  for (const FlatLink& link : links) {
    src.push_back(link.src);
    dst.push_back(link.dst);
  }
  if (links.size() < 2 || !all_distinct(src) || !all_distinct(dst)) return false;
  const Ids sources = compress_ids(src), targets = compress_ids(dst);
  if (sources.size() != 1 || targets.size() != 1) return false;
  entries.push_back(entry(links.front(), sources[0], targets[0], true));
  return true;
}

// An entry for each list of others that several keys share. `source`: the keys are sources.
void append_groups(const FlatLink& like, const EndGroups& groups, bool source,
                   std::vector<LinkText>& entries) {
  std::map<Ids, std::size_t> index;
  std::vector<std::pair<Ids, Ids>> blocks;  // keys, and the others of each
  for (std::size_t i = 0; i < groups.keys().size(); ++i) {
    const auto [at, is_new] = index.emplace(groups.others()[i], blocks.size());
    if (is_new) blocks.emplace_back(Ids{}, groups.others()[i]);
    blocks[at->second].first.push_back(groups.keys()[i]);
  }
  for (const auto& [keys, others] : blocks) {
    for (const std::string& key : compress_ids(keys)) {
      for (const std::string& other : compress_ids(others)) {
        entries.push_back(source ? entry(like, key, other, false) : entry(like, other, key, false));
      }
    }
  }
}

// Links that differ in their ends alone.
void append_alike(const std::vector<FlatLink>& links, std::vector<LinkText>& entries) {
  if (append_pairs(links, entries)) return;
  std::map<std::string, std::size_t> from, to;
  for (const FlatLink& link : links) {
    ++from[link.src];
    ++to[link.dst];
  }
  // Each link stands with the end that has more of them: a star is one line from either side.
  EndGroups by_source, by_target;
  for (const FlatLink& link : links) {
    if (to[link.dst] > from[link.src]) {
      by_target.add(link.dst, link.src);
    } else {
      by_source.add(link.src, link.dst);
    }
  }
  append_groups(links.front(), by_source, true, entries);
  append_groups(links.front(), by_target, false, entries);
}

}  // namespace

std::vector<FlatLink> join_directions(const std::vector<FlatLink>& links) {
  using Key = std::tuple<std::string, std::string, decltype(attributes(links.front()))>;
  std::map<Key, std::vector<std::size_t>> waiting;  // one-way links without their counterpart
  std::vector<FlatLink> joined;
  for (const FlatLink& link : links) {
    if (!link.full_duplex) {
      const auto back = waiting.find(Key(link.dst, link.src, attributes(link)));
      if (back != waiting.end() && !back->second.empty()) {
        joined[back->second.back()].full_duplex = true;
        back->second.pop_back();
        continue;
      }
      waiting[Key(link.src, link.dst, attributes(link))].push_back(joined.size());
    }
    joined.push_back(link);
  }
  return joined;
}

std::vector<LinkText> compact(const std::vector<FlatLink>& links) {
  std::map<decltype(attributes(links.front())), std::size_t> group_of;
  std::vector<std::vector<FlatLink>> groups;
  for (const FlatLink& link : links) {
    const auto [at, is_new] = group_of.emplace(attributes(link), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(link);
  }
  std::vector<LinkText> entries;
  for (const auto& group : groups) append_alike(group, entries);
  return entries;
}

}  // namespace forestcoll::importing
