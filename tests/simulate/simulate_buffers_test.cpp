// Buffers that a file names, times that nobody wants to know, latencies for nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "forestcoll/verify.hpp"
#include "simulate/simulate_testing.hpp"

namespace audit_test {
namespace {

constexpr std::int64_t kSmall = 512 * 1024, kBuffersMiB = 1 << 20;

std::string with_attribute(std::string xml, const std::string& attribute) {
  return xml.replace(xml.find("<algo "), 6, "<algo " + attribute + " ");
}

std::string chain(const std::string& protocol) {
  Algo algo = chain_reduce(4, 1, true);
  algo.proto = protocol;
  return to_xml(algo);
}

SimulationParameters with_steps() {
  SimulationParameters parameters;
  parameters.simple.step_us = parameters.ll.step_us = 2;
  return parameters;
}

// A pass of a quarter of a mebibyte fills the chain sooner than one of two.
TEST(SimulateBuffers, AreThoseThatTheFileNames) {
  const std::int64_t size = 16 * kBuffersMiB;
  const double by_default = seconds_for(chain("Simple"), star_fabric(4), size, with_steps());
  const double small = seconds_for(with_attribute(chain("Simple"), "buffsize=\"524288\""),
                                   star_fabric(4), size, with_steps());
  EXPECT_LT(small, 0.9 * by_default);
  EXPECT_EQ(small, seconds_for(chain("Simple"), star_fabric(4), size,
                               forestcoll::with_buffers(with_steps(), kSmall)));
  EXPECT_EQ(forestcoll::with_buffers(with_steps(), 0).simple.pass_bytes,
            SimulationParameters().simple.pass_bytes);
}

TEST(SimulateBuffers, AreOfSimpleAlone) {
  const std::string named = with_attribute(chain("LL"), "buffsize=\"524288\"");
  EXPECT_EQ(seconds_for(named, star_fabric(4), kBuffersMiB, with_steps()),
            seconds_for(chain("LL"), star_fabric(4), kBuffersMiB, with_steps()));
}

TEST(SimulateBuffers, HaveAPositiveSize) {
  for (const char* size : {"0", "-1", "much"}) {
    const auto named = with_attribute(chain("Simple"), std::string("buffsize=\"") + size + "\"");
    const auto verdict = forestcoll::verify(named, "named.xml", nullptr, {});
    ASSERT_TRUE(verdict);
    EXPECT_FALSE(verdict->ok);
    EXPECT_EQ(verdict->findings.front().code, Code::V03) << size;
    EXPECT_THAT(verdict->findings.front().message, ::testing::HasSubstr("buffsize"));
  }
}

TEST(SimulateMost, WhatTakesLongerTakesForEver) {
  const std::string xml = chain("Simple");
  const double taken = seconds_for(xml, star_fabric(4), 16 * kBuffersMiB, with_steps());
  SimulationOptions options;
  options.most_seconds = 1.001 * taken;
  EXPECT_EQ(seconds_for(xml, star_fabric(4), 16 * kBuffersMiB, with_steps(), options), taken);
  options.most_seconds = 0.999 * taken;
  EXPECT_TRUE(
      std::isinf(seconds_for(xml, star_fabric(4), 16 * kBuffersMiB, with_steps(), options)));
  // Other sizes in the same run have their times.
  const auto both =
      simulated(xml, star_fabric(4), {kBuffersMiB, 1024 * kBuffersMiB}, with_steps(), options);
  EXPECT_EQ(both.times[0].seconds, seconds_for(xml, star_fabric(4), kBuffersMiB, with_steps()));
  EXPECT_TRUE(std::isinf(both.times[1].seconds));
}

TEST(SimulateLatency, CountsInPart) {
  auto topology = star_fabric(4);
  for (auto& link : topology.links) link.latency = forestcoll::Ratio(3);
  SimulationParameters parameters = with_steps();
  const double all = seconds_for(chain("Simple"), topology, 4, parameters);
  parameters.link_latency_part = 0;
  const double none = seconds_for(chain("Simple"), topology, 4, parameters);
  EXPECT_NEAR(all - none, 3 * 2 * 3e-6, 1e-9);  // three messages over two links
}

}  // namespace
}  // namespace audit_test
