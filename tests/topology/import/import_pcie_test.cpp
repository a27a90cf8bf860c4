// PCIe trees that no machine should have, and some dump all the same.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

/// Two GPUs on NVLink; the first stands in `first`, a text with {} where it goes.
std::string two_gpus(const std::string& first) {
  const auto gpu = [](int dev, const char* peer) {
    return fmt::format(
        R"(<gpu dev="{0}" sm="80" rank="{0}" gdr="1"><nvlink target="{1}" count="4" )"
        R"(tclass="0x030200"/></gpu>)",
        dev, peer);
  };
  return R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" )"
         R"(familyid="143" modelid="49">)" +
         fmt::format(fmt::runtime(first), gpu(0, "0000:03:00.0")) +
         R"(<pci busid="0000:03:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">)" +
         gpu(1, "0000:02:00.0") + "</pci></cpu></system>";
}

constexpr const char* kPorts = R"(<nic><net name="a" dev="0" speed="200000" port="1"/>)"
                               R"(<net name="b" dev="1" speed="200000" port="1"/></nic>)";

TEST(ImportPcie, ADeviceThatIsAGpuAndANicIsRefused) {
  const std::string card =
      R"(<pci busid="0000:02:00.0" class="0x030200" link_speed="16 GT/s" link_width="8">{})" +
      std::string(kPorts) + "</pci>";
  EXPECT_THAT(import_errors(Source::nccl, two_gpus(card)), Contains(HasSubstr("I03")));
}

TEST(ImportPcie, AGpuWithoutASlotIsGuessedAt) {
  const std::string text = two_gpus("{}" + std::string(kPorts));
  const ImportOptions options{.boxes = 2, .fabric = "rail"};
  EXPECT_THAT(arcs_of(import_fabric(Source::nccl, text, options)),
              Contains("box0/gpu0 -> box0/cpu_out0 12"));
  EXPECT_THAT(import_valid(Source::nccl, text, options).report.guesses,
              ElementsAre("the PCIe link of GPU 0 has no slot in the file: assumed 12 GB/s"));
}

}  // namespace
}  // namespace forestcoll::testing
