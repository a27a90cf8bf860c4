#include "fastest/runtime_choice.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/baseline.hpp"

namespace forestcoll::fastest {
namespace {

std::optional<Selector> find_selector(const Contest& contest, const Fabric& fabric,
                                      std::string_view name) {
  std::vector<Selector> all = selectors(contest, fabric);
  const auto found = std::ranges::find(all, name, &Selector::name);
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

// Between programs of NCCL's algorithms; none where it has none here.
std::shared_ptr<Contest> contest_of_nccl(const Contest& plans, const Fabric& fabric) {
  FastestOptions options = plans.options();
  options.compile.format = Format::msccl;
  options.compile.xml = {};
  options.compile.lowering = {};
  options.few_variants = false;
  options.algorithms.clear();
  for (const BaselineInfo& info : baselines()) {
    if (info.traits.picked_by_nccl) options.algorithms.emplace_back(info.name);
  }
  auto contest = Contest::hold(fabric, options);
  return contest ? std::make_shared<Contest>(*std::move(contest)) : nullptr;
}

}  // namespace

bool runs_with(const Contest& contest, std::size_t contender, std::int64_t buffer_bytes) {
  const std::int64_t needed = contest.contenders()[contender].buffer_bytes;
  return needed == 0 || needed == buffer_bytes;
}

RuntimeChoice::RuntimeChoice(Contest& files, const Fabric& fabric) : files_(&files) {
  if (files.of_plans()) selector_ = find_selector(files, fabric, kMscclppPick);
  const bool has_paths = files.candidates().front().routes.has_value();
  if (files.of_plans() && !selector_ && !has_paths) own_ = contest_of_nccl(files, fabric);
  if (!files.of_plans() || own_) selector_ = find_selector(contest(), fabric, kNcclPick);
}

Contest::Takes RuntimeChoice::takes(std::int64_t bytes,
                                    std::optional<std::int64_t> buffer_bytes) const {
  if (!selector_) return [](std::size_t) { return false; };
  if (own_) buffer_bytes.reset();
  return [&contest = contest(), buffer_bytes,
          picked = fastest::takes(contest(), *selector_, bytes)](std::size_t c) {
    return picked(c) && (!buffer_bytes || runs_with(contest, c, *buffer_bytes));
  };
}

std::optional<Winner> RuntimeChoice::winner(std::int64_t bytes,
                                            std::optional<std::int64_t> buffer_bytes) const {
  return contest().winner(bytes, takes(bytes, buffer_bytes), Contest::Of::all);
}

bool RuntimeChoice::is_same_pick(std::int64_t first, std::int64_t last) const {
  return !selector_ || selector_->pick(first) == selector_->pick(last);
}

}  // namespace forestcoll::fastest
