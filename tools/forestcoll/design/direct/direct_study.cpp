#include "design/direct/direct_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "common/report/report.hpp"
#include "design/each_at_once.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::cli {
namespace {

Expected<StudiedWiring> studied(const std::string& expression,
                                const WiringFiguresOptions& options) {
  const auto wiring = make_wiring(expression);
  if (!wiring) return wiring.errors();
  auto figures = wiring_figures(*wiring, options);
  if (!figures) return figures.errors();
  return StudiedWiring{expression, *std::move(figures), closed_form(expression),
                       is_two_way(*wiring)};
}

// What the user names, as wirings are called.
Expected<std::vector<std::string>> names_of(const std::vector<std::string>& also,
                                            const DirectRequest& request) {
  std::vector<std::string> names;
  for (const std::string& expression : also) {
    const auto wiring = make_wiring(expression);
    if (!wiring) return wiring.errors();
    if (wiring->nodes != request.nodes || wiring->ports != request.ports) {
      return make_error(Code::K01,
                        fmt::format("--also {}: {} nodes of {} ports, not {} of {}", expression,
                                    wiring->nodes, wiring->ports, request.nodes, request.ports),
                        "leave it out, or ask for its nodes and ports");
    }
    names.push_back(wiring->name);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<WiringFigures> figures_of(const DirectStudy& study) {
  std::vector<WiringFigures> figures;
  for (const StudiedWiring& wiring : study.wirings) figures.push_back(wiring.figures);
  return figures;
}

void mark_fronts(DirectStudy& study) {
  const std::vector<WiringFigures> figures = figures_of(study);
  const auto front = pareto_front(figures, study.aim);
  const auto bfb = pareto_front(figures, DirectAim::bfb);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    study.wirings[i].on_front = front[i];
    study.wirings[i].on_bfb_front = bfb[i];
  }
}

// All-to-all is solved whatever its size.
constexpr WiringFiguresOptions kWhateverSize{.alltoall_flows = std::size_t{1} << 40};

// Better figures change who may be on the front, which is asked again until all of those have them.
// `also` are solved in any case.
Expected<void> solve_front(DirectStudy& study, const std::vector<std::string>& also, int threads,
                           const Console& console) {
  std::vector<bool> solved(study.wirings.size(), false);
  while (true) {
    const std::vector<bool> perhaps = perhaps_on_front(figures_of(study), study.aim);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < solved.size(); ++i) {
      const StudiedWiring& wiring = study.wirings[i];
      const bool asked = perhaps[i] || contains(also, wiring.expression);
      if (asked && !solved[i] && !wiring.figures.alltoall.is_exact()) open.push_back(i);
    }
    if (open.empty()) return {};
    std::vector<std::optional<Expected<StudiedWiring>>> found(open.size());
    each_at_once(open.size(), threads, "solving the front", console, [&](std::size_t i) {
      found[i] = studied(study.wirings[open[i]].expression, kWhateverSize);
    });
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!*found[i]) return found[i]->errors();
      study.wirings[open[i]] = std::move(**found[i]);
      solved[open[i]] = true;
    }
  }
}

}  // namespace

Expected<DirectStudy> study_direct(const DirectRequest& request,
                                   const std::vector<std::string>& also, DirectAim aim,
                                   bool thorough, int threads, const Console& console) {
  const auto named = names_of(also, request);
  if (!named) return named.errors();
  auto names =
      at_work("listing the topologies", console, [&] { return direct_candidates(request); });
  if (!names) return names.errors();
  for (const std::string& name : *named) {
    if (!contains(*names, name)) names->push_back(name);
  }
  std::vector<std::optional<Expected<StudiedWiring>>> found(names->size());
  each_at_once(names->size(), threads, "solving", console,
               [&](std::size_t i) { found[i] = studied((*names)[i], {}); });
  DirectStudy study{request.nodes, request.ports, aim, {}};
  for (auto& one : found) {
    if (!*one) return one->errors();
    study.wirings.push_back(std::move(**one));
  }
  if (thorough) {
    if (const auto done = solve_front(study, *named, threads, console); !done) return done.errors();
  }
  std::ranges::stable_sort(study.wirings, {}, [](const StudiedWiring& w) {
    // What ordinary cables can build leads: a cable goes both ways.
    return std::tuple(!w.two_way, w.figures.steps, w.figures.allgather, w.figures.alltoall.most);
  });
  mark_fronts(study);
  return study;
}

}  // namespace forestcoll::cli
