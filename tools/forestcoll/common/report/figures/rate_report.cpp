#include "common/report/figures/rate_report.hpp"

#include <fmt/format.h>

#include "common/report/flags.hpp"

namespace forestcoll::cli {
namespace {

Json not_computed(const Diagnostics& errors) {
  return {{"not_computed", to_json(errors.front())}};
}

std::string why(const Diagnostics& errors) {
  const Diagnostic& error = errors.front();
  return fmt::format("not computed: {} [{}]", with_flags(error.message), name_of(error.code));
}

}  // namespace

Json to_json(const Expected<RateFigure>& figure) {
  if (!figure) return not_computed(figure.errors());
  Json json = exact(figure->at_most);
  if (!figure->is_exact()) json["at_least"] = exact(figure->at_least);
  return json;
}

Json to_json(const Expected<Ratio>& reached) {
  return reached ? exact(*reached) : not_computed(reached.errors());
}

void put_figures(Json& json, const ThreeFigures& figures) {
  json["optimum"] = to_json(figures.rates.optimum);
  json["optimum_by_trees"] = to_json(figures.rates.by_trees);
  json["reached"] = to_json(figures.reached);
}

std::string in_words(const Expected<RateFigure>& figure) {
  if (!figure) return why(figure.errors());
  if (figure->is_exact()) return number(figure->at_most);
  return fmt::format("{} to {}", number(figure->at_least), number(figure->at_most));
}

std::string in_words(const Expected<Ratio>& reached) {
  return reached ? number(*reached) : why(reached.errors());
}

std::string of_optimum(const Ratio& algbw, const Expected<RateFigure>& optimum) {
  if (!optimum) return "the optimum is " + why(optimum.errors());
  if (optimum->is_exact()) return of_optimum(algbw, optimum->at_most);
  return of_optimum(algbw, optimum->at_most, optimum->at_least);
}

bool differ(const RateFigures& figures) {
  if (!figures.optimum || !figures.by_trees) {
    return static_cast<bool>(figures.optimum) != static_cast<bool>(figures.by_trees);
  }
  return *figures.optimum != *figures.by_trees;
}

std::string change_in_words(const Ratio& before, const Ratio& after) {
  if (after == Ratio(0)) return "cut off";
  constexpr double kPercent = 100;
  return fmt::format("{:+.1f} %", (after.to_double() / before.to_double() - 1) * kPercent);
}

}  // namespace forestcoll::cli
