#include "forestcoll/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/words.hpp"
#include "baseline/makers.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"

namespace forestcoll {
namespace {

using baseline::Request;

struct Entry {
  BaselineInfo info;
  Expected<BaselineResult> (*make)(const Request&);
};

const std::vector<Collective>& all_collectives() {
  static const std::vector<Collective> all = {Collective::allgather, Collective::reduce_scatter,
                                              Collective::allreduce, Collective::broadcast,
                                              Collective::reduce};
  return all;
}

const std::vector<Collective>& without_root() {
  static const std::vector<Collective> some = {Collective::allgather, Collective::reduce_scatter,
                                               Collective::allreduce};
  return some;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"nccl-ring",
        "NCCL rings",
        "NVIDIA NCCL, src/graph/search.cc",
        all_collectives(),
        {.picked_by_nccl = true, .nccl = "ring", .for_large = true, .has_box_rings = true}},
       baseline::nccl_ring},
      {{"ring", "ring in rank order", "Patarasuk and Yuan, JPDC 2009", all_collectives()},
       baseline::naive_ring},
      {{"double-tree",
        "double binary tree",
        "Sanders, Speck, Träff, Parallel Computing 2009",
        {Collective::allreduce},
        {.picked_by_nccl = true, .nccl = "tree", .for_large = true, .has_box_rings = true}},
       baseline::double_tree},
      {{"double-tree-direct",
        "double binary tree over boxes, direct within",
        "Sanders, Speck, Träff, Parallel Computing 2009",
        {Collective::allreduce},
        {.for_many = true, .has_box_rings = true}},
       baseline::double_tree_direct},
      {{"double-tree-binomial",
        "double binary tree over boxes, binomial within",
        "Sanders, Speck, Träff, Parallel Computing 2009",
        {Collective::allreduce},
        {.for_many = true, .has_box_rings = true}},
       baseline::double_tree_binomial},
      {{"nvls",
        "NVLink SHARP",
        "NVIDIA NCCL 2.17",
        {Collective::allreduce},
        {.picked_by_mscclpp = true, .nccl = "nvls"}},
       baseline::nvls},
      {{"halving-doubling", "recursive halving and doubling",
        "Thakur, Rabenseifner, Gropp, IJHPCA 2005", without_root()},
       baseline::halving_doubling},
      {{"bruck", "Bruck", "Bruck et al., IEEE TPDS 1997", without_root(), {.for_one_box = true}},
       baseline::bruck},
      {{"multitree", "MultiTree", "Huang et al., ISCA 2021", without_root(), {.takes_long = true}},
       baseline::multitree},
      {{"bfb",
        "breadth-first broadcast",
        "Zhao et al., NSDI 2025",
        without_root(),
        {.takes_long = true}},
       baseline::bfb},
      {{"hierarchical",
        "two levels of rings",
        "Cho et al. (BlueConnect), 2019",
        without_root(),
        {.for_large = true, .has_box_rings = true}},
       baseline::hierarchical},
      {{"greedy",
        "greedy matching",
        "Won et al. (TACOS), MICRO 2024",
        without_root(),
        {.takes_long = true}},
       baseline::greedy},
      {{"pat", "parallel aggregated trees", "NVIDIA NCCL 2.23", all_collectives(), {.nccl = "pat"}},
       baseline::pat},
      {{"swing", "Swing", "De Sensi et al., NSDI 2024", without_root()}, baseline::swing},
      {{"bine", "Bine trees", "De Sensi et al., SC 2025", all_collectives()}, baseline::swing},
      {{"one-shot",
        "direct exchange in one shot",
        "AMD RCCL and Microsoft MSCCL, all-pairs schedules",
        {Collective::allgather, Collective::reduce_scatter, Collective::broadcast,
         Collective::reduce},
        {.picked_by_mscclpp = true}},
       baseline::direct},
      {{"two-shot",
        "direct exchange in two shots",
        "AMD RCCL and Microsoft MSCCL, all-pairs schedules",
        {Collective::allreduce},
        {.picked_by_mscclpp = true}},
       baseline::direct},
      {{"two-level",
        "direct exchange in two levels",
        "Microsoft MSCCL, hierarchical all-pairs schedules",
        all_collectives(),
        {.for_large = true}},
       baseline::two_level_direct},
      {{"rail-pat",
        "parallel aggregated trees along rails",
        "NVIDIA NCCL 2.23, trees over boxes",
        all_collectives(),
        {.for_many = true}},
       baseline::rail_pat},
      {{"two-level-pat",
        "parallel aggregated trees in two levels",
        "Bienz, Gautam, Kharel, EuroMPI 2022",
        all_collectives(),
        {.for_many = true}},
       baseline::two_level_pat},
  };
  return all;
}

const Entry* find_entry(std::string_view name) {
  const auto at = std::find_if(entries().begin(), entries().end(),
                               [&](const Entry& entry) { return entry.info.name == name; });
  return at == entries().end() ? nullptr : &*at;
}

Diagnostic unknown(std::string_view name) {
  return make_error(Code::B09, fmt::format("there is no algorithm \"{}\"", name.substr(0, 40)),
                    "the algorithms are " + listed(baselines(), &BaselineInfo::name));
}

Diagnostic unsupported(const BaselineInfo& info, Collective collective) {
  return make_error(
      Code::B06, fmt::format("{} has no {} of its own", info.name, to_string(collective)),
      "it serves " + listed(info.supported, [](Collective c) { return to_string(c); }));
}

Diagnostic unequal_shares(std::string_view name, std::string_view why) {
  return make_error(Code::B05,
                    fmt::format("the ranks own unequal shares of the data, and {} {}", name, why),
                    "leave the weights out of the topology");
}

// The same trees, each as wide as its root's share: as MPI's collectives of unequal blocks do.
Expected<BaselineResult> widened(BaselineResult made, std::string_view name,
                                 const Network& network) {
  if (!made.forest) return unequal_shares(name, "has no trees here that could be made wider");
  CollectiveForest& forest = *made.forest;
  forest.weight = network.weight;
  IdVector<Rank, std::int64_t> owed;
  for (const std::int64_t weight : network.weight) owed.push_back(forest.k * weight);
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) *phase = (*phase)->spread_over(owed);
  }
  const auto algbw = congestion_algbw(forest, network);
  if (!algbw) return unequal_shares(name, "has a rate that exact arithmetic does not hold");
  made.algbw = forest.algbw = *algbw;
  return made;
}

// Who makes an algorithm looks at the links alone.
Expected<BaselineResult> rated_by_limits(Expected<BaselineResult> made, const Network& network) {
  if (!made || network.limits.empty() || !made->forest) return made;
  const auto algbw = congestion_algbw(*made->forest, network);
  if (!algbw) return inexact("the rate within the limits does not fit 64 bits");
  made->algbw = made->forest->algbw = *algbw;
  return made;
}

}  // namespace

std::span<const BaselineInfo> baselines() {
  static const std::vector<BaselineInfo> all = [] {
    std::vector<BaselineInfo> infos;
    for (const Entry& entry : entries()) infos.push_back(entry.info);
    return infos;
  }();
  return all;
}

bool supports(const BaselineInfo& info, Collective collective) {
  return std::ranges::find(info.supported, collective) != info.supported.end();
}

const BaselineInfo* find_baseline(std::string_view name) {
  const Entry* entry = find_entry(name);
  return entry == nullptr ? nullptr : &entry->info;
}

Expected<BaselineResult> make_baseline(std::string_view name, const Topology& topology,
                                       const Network& network, Collective collective,
                                       std::optional<Rank> root, const BaselineOptions& options) {
  FORESTCOLL_CHECK(root.has_value() == is_rooted(collective), "a root exactly where one is needed");
  const Entry* entry = find_entry(name);
  if (entry == nullptr) return unknown(name);
  if (!supports(entry->info, collective)) return unsupported(entry->info, collective);
  if (!has_unequal_shares(network, collective)) {
    return rated_by_limits(entry->make({topology, network, collective, root, options}), network);
  }
  if (*std::ranges::min_element(network.weight) == 0) {
    return unequal_shares(name, "is for ranks that all own some");
  }
  auto made = entry->make({topology, network, collective, root, options});
  if (!made) return made.errors();
  return widened(*std::move(made), name, network);
}

}  // namespace forestcoll
