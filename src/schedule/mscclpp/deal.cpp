// A place is a segment of one rank with all its images. Places are taken in groups, and of each
// group there is one list for each of some sets of ranks that the symmetry exchanges: so it
// exchanges lists, too. With few sets, the segments of a list have many roots, and all ranks have
// about as much to do for it; with one list for each root, its own rank would do most.
#include "schedule/mscclpp/deal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace forestcoll::schedule {
namespace {

// Of what the busiest threadblock has to do, for symmetric lists.
constexpr double kMostWork = 1.25;

using Lists = std::vector<std::vector<std::int32_t>>;

// Segments of one size.
class Dealer {
 public:
  Dealer(const PlanContext& context, std::vector<std::int32_t> numbers)
      : context_(context), views_(context.views), numbers_(std::move(numbers)) {}

  [[nodiscard]] Dealt deal(std::size_t share) {
    Dealt dealt{in_turn(share), false};
    if (!views_.move_all_ranks() || !find_places()) return dealt;
    auto most = static_cast<std::size_t>(kMostWork * static_cast<double>(work(dealt.lists)));
    for (std::size_t sets = 1; sets <= views_.images(); ++sets) {
      if (views_.images() % sets != 0) continue;
      auto symmetric = in_groups(share, sets);
      if (!symmetric) continue;
      const std::size_t busiest = work(*symmetric);
      if (busiest > most) continue;
      most = busiest - 1;
      dealt = {*std::move(symmetric), true};
    }
    return dealt;
  }

 private:
  [[nodiscard]] Lists in_turn(std::size_t share) const {
    Lists lists(share);
    for (std::size_t i = 0; i < numbers_.size(); ++i) lists[i % share].push_back(numbers_[i]);
    return lists;
  }

  // False: not all images of some segment are among these, as their trees are of other sizes.
  [[nodiscard]] bool find_places() {
    std::map<Place, std::vector<std::int32_t>> by_place;
    std::vector<Transfer> transfers;
    for (const std::int32_t number : numbers_) {
      const Segment& each = segment(number);
      by_place[seen_from(each.root, each, views_)].push_back(number);
      transfers.clear();
      (void)append_transfers(context_.group_of(each), each, number, transfers);
      auto& ends = ends_[number];
      for (const Transfer& transfer : transfers) {
        ends.push_back(transfer.src);
        ends.push_back(transfer.dst);
      }
    }
    for (auto& [place, numbers] : by_place) {
      if (numbers.size() != views_.images()) return false;
      places_.push_back(std::move(numbers));
    }
    return true;
  }

  // As few places in a group as up to `share` lists have room for, and fewer in the last one.
  [[nodiscard]] std::optional<Lists> in_groups(std::size_t share, std::size_t sets) const {
    const std::size_t size = (places_.size() * sets + share - 1) / share;
    const std::size_t whole = places_.size() / size, left = places_.size() % size;
    std::size_t last_sets = left > 0 ? 1 : 0;
    while (left * sets > size * last_sets || (last_sets > 0 && views_.images() % last_sets != 0)) {
      ++last_sets;
    }
    if (whole == 0 || whole * sets + last_sets > share) return std::nullopt;
    Lists lists(whole * sets + last_sets);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const std::size_t group = p / size, of_group = group < whole ? sets : last_sets;
      for (const std::int32_t number : places_[p]) {
        lists[group * sets + views_.set_of(segment(number).root, of_group)].push_back(number);
      }
    }
    return lists;
  }

  // The most ends of transfers that a list has at one rank.
  [[nodiscard]] std::size_t work(const Lists& lists) const {
    std::size_t most = 0;
    IdVector<Rank, std::size_t> at(context_.box_of.size());
    for (const auto& list : lists) {
      std::ranges::fill(at, 0);
      for (const std::int32_t number : list) {
        for (const Rank rank : ends_.at(number)) most = std::max(most, ++at[rank]);
      }
    }
    return most;
  }

  [[nodiscard]] const Segment& segment(std::int32_t number) const {
    return context_.segments[static_cast<std::size_t>(number)];
  }

  const PlanContext& context_;
  const Views& views_;
  std::vector<std::int32_t> numbers_;               // of the segments, in their order
  std::vector<std::vector<std::int32_t>> places_;   // numbers of all images of each
  std::map<std::int32_t, std::vector<Rank>> ends_;  // of the transfers, by number
};

}  // namespace

Dealt deal(const PlanContext& context, std::size_t threadblocks) {
  const std::vector<Segment>& segments = context.segments;
  std::map<std::int64_t, std::vector<std::int32_t>> by_size;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    by_size[segments[s].count].push_back(static_cast<std::int32_t>(s));
  }
  Dealt dealt;
  for (const auto& [size, list] : by_size) {
    const std::size_t share = std::max<std::size_t>(
        1, list.size() * threadblocks / std::max(segments.size(), threadblocks));
    Dealt of_size = Dealer(context, list).deal(share);
    for (auto& each : of_size.lists) dealt.lists.push_back(std::move(each));
    dealt.are_symmetric = dealt.are_symmetric && of_size.are_symmetric;
  }
  return dealt;
}

}  // namespace forestcoll::schedule
