#include "common/allreduce_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forestcoll::cli {
namespace {

// GB/s above the two phases; 0 exactly where the optimum is theirs. `value` can be rounded.
double gap(double value, const Ratio& two_phases) {
  return std::max(value - two_phases.to_double(), 0.0);
}

// "31.25 %", and no zero for what is more than that.
std::string gain(const AllreduceOptimum& optimum, const Ratio& two_phases) {
  constexpr double percent = 100, least_with_two_decimals = 0.01;
  const double more = gap(optimum.upper.to_double(), two_phases) / two_phases.to_double() * percent;
  return more < least_with_two_decimals ? fmt::format("{:.2g} %", more)
                                        : fmt::format("{:.2f} %", more);
}

}  // namespace

Json to_json(const Expected<AllreduceOptimum>& optimum, const Ratio& two_phases) {
  if (!optimum) return {{"not_computed", to_json(optimum.errors().front())}};
  Json json = {{"at_most", exact(optimum->upper)}};
  if (optimum->split) json["exact"] = optimum->upper.to_string();
  if (optimum->value) {
    json["value"] = *optimum->value;
    json["gap"] = gap(*optimum->value, two_phases);
  }
  return json;
}

std::string in_words(const Expected<AllreduceOptimum>& optimum, const Ratio& two_phases) {
  constexpr const char* subject = "best allreduce by trees:";
  constexpr const char* others = "reduce_scatter, then allgather";
  if (!optimum) {
    const Diagnostic& error = optimum.errors().front();
    return fmt::format("{} not computed: {} [{}]\n", subject, error.message, error.code);
  }
  if (!optimum->value) {
    return fmt::format("{} between {} GB/s, by {}, and {}: floating point fails beyond this\n",
                       subject, number(two_phases), others, number(optimum->upper));
  }
  if (!optimum->split) {
    return fmt::format("{} about {} GB/s, beside {} of {}; proved is no more than {} GB/s\n",
                       subject, number(*optimum->value), number(two_phases), others,
                       number(optimum->upper));
  }
  if (optimum->upper == two_phases) {
    return fmt::format("{} {} GB/s, no more than {}\n", subject, number(optimum->upper), others);
  }
  return fmt::format("{} {} GB/s, {} more than {}: both at the same time\n", subject,
                     number(optimum->upper), gain(*optimum, two_phases), others);
}

}  // namespace forestcoll::cli
