// What a runtime has by itself, which files are compared with.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "fastest/contest.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::fastest {
namespace {

// Rings of 64 GPUs have more steps than other programs may have, and those of 256 more XML elements
// than a file: all the same they are what files are compared with.
TEST(RuntimeOwnLong, IsTimedWhateverItsSteps) {
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  for (const char* boxes : {"8", "32"}) {
    const auto document = generate("dgx-a100", {{"boxes", boxes}, {"fabric", "rail"}});
    ASSERT_TRUE(document);
    const Fabric fabric = test::fabric_of(to_topology_json(*document));
    FastestOptions options = test::options_for(Collective::allgather, {kSize});
    options.algorithms = {"nccl-ring"};
    options.few_variants = true;
    auto contest = Contest::hold(fabric, options);
    ASSERT_TRUE(contest) << to_string(contest.errors().front());
    const auto all = [](std::size_t) { return true; };
    const auto own = contest->winner(kSize, all, Contest::Of::all);
    ASSERT_TRUE(own) << boxes;
    // No faster than the NICs: each of 8 carries what 8 boxes less one have.
    EXPECT_GT(own->seconds, kSize * 0.875 / 8 / 25e9) << boxes;
    const bool is_built_in = contest->program(own->contender).built_in;
    EXPECT_EQ(is_built_in, std::string(boxes) == "32");
    EXPECT_EQ(contest->winner(kSize, all, Contest::Of::files).has_value(), !is_built_in);
  }
}

}  // namespace
}  // namespace forestcoll::fastest
