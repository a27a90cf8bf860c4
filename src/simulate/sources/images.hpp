// Programs that stand for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "forestcoll/id.hpp"

namespace forestcoll::simulate {

/// Where the programs of some ranks stand for those of all: each has `count` images, itself the
/// first, under a group that moves all ranks but for the identity.
struct Images {
  std::size_t count = 1;
  /// Where the image of that number has a rank.
  std::function<Rank(std::size_t number, Rank rank)> of = {};
  /// A connection (sender, receiver) of one of these senders whose image the given one is.
  std::function<std::pair<std::int32_t, std::int32_t>(std::pair<std::int32_t, std::int32_t>)> seen =
      {};
};

}  // namespace forestcoll::simulate
