#include "common/synthesis/beside/beside_rings.hpp"

#include <fmt/format.h>

#include "common/report/progress_bar.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

// Of the rings as XML, made as ours is; nothing where they do not fit the target.
std::optional<double> seconds_of_rings(const CollectiveForest& rings, const Fabric& fabric,
                                       const CompileOptions& options, const std::stop_token& stop) {
  const auto schedule = lower(rings, options.lowering);
  if (!schedule) return std::nullopt;
  return large_message_time(to_msccl_xml(*schedule, rings, fabric.topology, options.xml), fabric,
                            stop);
}

}  // namespace

std::optional<BesideRings> beside_rings(const Fabric& fabric, const Compilation& compiled,
                                        const std::stop_token& stop, const Console& console) {
  const CollectiveForest& forest = compiled.chosen.synthesis.forest;
  const Verdict& verdict = compiled.verdict;
  if (stop.stop_requested()) return std::nullopt;
  const bool loses = verdict.algbw && *verdict.algbw < forest.optimum;
  if (compiled.options.format != Format::msccl || !loses) return std::nullopt;
  const ProgressBar bar("comparing with NCCL's rings", console);
  const auto made = make_baseline("nccl-ring", fabric.topology, fabric.network, forest.collective,
                                  forest.root, {});
  if (!made || !(*verdict.algbw < made->algbw)) return std::nullopt;
  BesideRings beside{made->algbw, *verdict.algbw, made->note, {}, {}};
  if (!made->forest) return beside;
  beside.rings_seconds = seconds_of_rings(*made->forest, fabric, compiled.options, stop);
  if (beside.rings_seconds) beside.our_seconds = large_message_time(compiled.text, fabric, stop);
  return beside;
}

std::string in_words(const BesideRings& beside) {
  std::string line = fmt::format("  below nccl-ring on the links, {} against {} GB/s ({})",
                                 number(beside.ours), number(beside.rings), beside.whose);
  if (!beside.rings_seconds || !beside.our_seconds) return line;
  const bool faster = *beside.our_seconds < *beside.rings_seconds;
  return line + fmt::format(
                    "; by time {}: {:.2f} ms for 1 GiB against {:.2f} ms (model, not "
                    "measurement){}",
                    faster ? "ahead all the same" : "behind as well", *beside.our_seconds * 1e3,
                    *beside.rings_seconds * 1e3,
                    faster ? "" : ": --algorithm nccl-ring makes them");
}

Json to_json(const BesideRings& beside) {
  Json json = {{"rings", exact(beside.rings)},
               {"ours", exact(beside.ours)},
               {"note", beside.whose},
               {"estimate", "model, not measurement"}};
  if (beside.rings_seconds) json["rings_seconds"] = *beside.rings_seconds;
  if (beside.our_seconds) json["our_seconds"] = *beside.our_seconds;
  return json;
}

}  // namespace forestcoll::cli
