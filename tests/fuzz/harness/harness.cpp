// The entry point of libFuzzer; FUZZ_TARGET names the function of fuzz/targets.hpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::FUZZ_TARGET(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
