#include "schedule/mscclpp/class_plan.hpp"

#include <cstddef>

#include "schedule/mscclpp/blocks.hpp"

namespace forestcoll::schedule {
namespace {

// Which list has the image of a list.
class ListImages {
 public:
  ListImages(const PlanContext& context, std::span<const std::vector<std::int32_t>> lists)
      : context_(context), lists_(lists) {
    for (std::size_t l = 0; l < lists.size(); ++l) {
      for (const std::int32_t number : lists[l]) {
        const Segment& each = segment(number);
        of_place_[{each.root, each.reduce, each.broadcast, each.turn}] =
            static_cast<std::int32_t>(l);
      }
    }
  }

  // As the rank sees it; −1: there is none.
  [[nodiscard]] std::int32_t seen(Rank from, std::int32_t list) const {
    const std::int32_t first = lists_[static_cast<std::size_t>(list)].front();
    const auto at = of_place_.find(seen_from(from, segment(first), context_.views));
    return at == of_place_.end() ? -1 : at->second;
  }

 private:
  [[nodiscard]] const Segment& segment(std::int32_t number) const {
    return context_.segments[static_cast<std::size_t>(number)];
  }

  const PlanContext& context_;
  std::span<const std::vector<std::int32_t>> lists_;
  std::map<Place, std::int32_t> of_place_;
};

}  // namespace

void FirstRanks::name_ends(const PlanContext& context,
                           std::span<const std::vector<std::int32_t>> lists) {
  const ListImages images(context, lists);
  const Views& views = context.views;
  std::map<BlockChannelEnd, std::int32_t> names;
  for (const auto& [end, channel] : channels) {
    names.emplace(end, static_cast<std::int32_t>(names.size()));
  }
  ends = ChannelEnds(context.box_of.size());
  for (const auto& [end, channel] : channels) {
    const Rank peer = end.peer;
    const auto other = names.find({views.seen(peer, peer), views.seen(peer, end.rank),
                                   images.seen(peer, end.list), end.other_place, end.place});
    are_enough = are_enough && other != names.end();
    if (!are_enough) return;
    auto& of_kind = ends[end.rank][static_cast<std::size_t>(channel.first)];
    const auto place = static_cast<std::size_t>(channel.second);
    if (of_kind.size() <= place) of_kind.resize(place + 1);
    of_kind[place] = {names.at(end), other->second};
  }
}

bool keep_boxes(const Views& views, const IdVector<Rank, std::int32_t>& box_of) {
  for (std::size_t i = 0; i < views.images(); ++i) {
    std::map<std::int32_t, std::int32_t> image;
    for (std::size_t r = 0; r < box_of.size(); ++r) {
      const std::int32_t box = box_of[Rank(r)], other = box_of[views.image(i, Rank(r))];
      if ((box < 0) != (other < 0)) return false;
      if (box >= 0 && image.emplace(box, other).first->second != other) return false;
    }
  }
  return true;
}

}  // namespace forestcoll::schedule
