// The report of `forestcoll bound`.
#pragma once

#include <optional>
#include <string>

#include "bound/answer.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {

/// A table of the rates, and below it what bounds them.
[[nodiscard]] std::string bound_in_words(const BoundAnswer& answer,
                                         const std::optional<BestAllreduce>& allreduce,
                                         const std::optional<QuickAlltoall>& alltoall,
                                         const Fabric& fabric, const BoundArguments& options);
/// The format forestcoll-bound, version 1.
[[nodiscard]] Json bound_to_json(const BoundAnswer& answer,
                                 const std::optional<BestAllreduce>& allreduce,
                                 const std::optional<QuickAlltoall>& alltoall, const Fabric& fabric,
                                 const BoundArguments& options);

}  // namespace forestcoll::cli
