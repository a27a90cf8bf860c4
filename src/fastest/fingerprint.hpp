// Which programs are the same.
#pragma once

#include <compare>
#include <cstddef>

#include "audit/common/program.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::fastest {

/// Programs of which both are the same are the same program, whatever trees it was made of.
struct Fingerprint {
  std::size_t size = 0, hash = 0;  ///< number of steps, and of all that they say
  auto operator<=>(const Fingerprint&) const = default;
};

[[nodiscard]] Fingerprint fingerprint_of(const audit::Program& program);
/// Whatever it is called.
[[nodiscard]] Fingerprint fingerprint_of(const audit::PlanFile& plan);

}  // namespace forestcoll::fastest
