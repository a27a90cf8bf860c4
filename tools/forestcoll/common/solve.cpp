#include "common/solve.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/branching_forest.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t kLargestKOfTradeoff = 16;

}  // namespace

Expected<std::optional<AnyForest>> load_previous(const std::string& path,
                                                 const Topology& topology) {
  if (path.empty()) return std::optional<AnyForest>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  auto previous = parse_any_forest(*text, display_name(path), topology);
  if (!previous) return previous.errors();
  return std::optional(*std::move(previous));
}

Expected<Tradeoff> find_tradeoff(const Fabric& fabric, SynthesizeOptions asked,
                                 const SolverRequest& request, const TimeLimit& limit,
                                 const Console& console) {
  Tradeoff found;
  ProgressBar bar("rates by k", console);
  auto by_k =
      rate_by_k(fabric.network, asked.collective, asked.root, kLargestKOfTradeoff, limit.token());
  if (!by_k && !was_stopped(by_k.errors())) return by_k.errors();
  if (by_k) found.by_k = *std::move(by_k);
  bar.update("rates by height", std::nullopt);
  asked.packing = {.progress = [&bar](std::string_view stage,
                                      std::optional<double> done) { bar.update(stage, done); },
                   .stop = limit.token(),
                   .effort = request.effort,
                   .threads = request.threads};
  auto by_height = rate_by_height(fabric.network, asked);
  if (!by_height && !was_stopped(by_height.errors())) return by_height.errors();
  if (by_height) found.by_height = *std::move(by_height);
  found.stopped = limit.token().stop_requested();
  return found;
}

}  // namespace forestcoll::cli
