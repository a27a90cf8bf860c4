// Faster links between boxes: nothing that is fast without them may be missing among what is tried.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "forestcoll/fastest.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

double best_seconds(const std::string& machine, const std::string& nic_bandwidth) {
  Topology boxes =
      test::generated_topology(machine, {{"boxes", "2"}, {"nic-bandwidth", nic_bandwidth}});
  const auto fabric = make_fabric(std::move(boxes), Metadata{});
  EXPECT_TRUE(fabric);
  FastestOptions options;
  options.compile.synthesis.collective = Collective::allreduce;
  options.sizes = {std::int64_t{1} << 24};
  const auto found = fastest_schedule(*fabric, options);
  EXPECT_TRUE(found);
  return found ? found->choice.seconds : 0;
}

// What was made for slower NICs is no slower with faster ones. At this size messages count: trees
// that use all of the faster NICs' bandwidth send more of them.
TEST(NarrowerLong, FasterNicsMakeNothingSlower) {
  EXPECT_LE(best_seconds("dgx-a100", "400 Gb/s"), best_seconds("dgx-a100", "200 Gb/s"));
}

// Here the trees that are faster load all links as others do that are slower.
TEST(NarrowerLongest, FasterNicsMakeNothingSlowerWhereTreesLoadLinksAlike) {
  EXPECT_LE(best_seconds("dgx-1v", "400 Gb/s"), best_seconds("dgx-1v", "200 Gb/s"));
}

}  // namespace
}  // namespace forestcoll
