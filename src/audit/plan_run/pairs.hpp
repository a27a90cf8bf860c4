// Who waits for whom: signals and waits, arrivals at barriers, semaphores.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// What the nodes of a graph do that others wait for, each list in the order of the program.
struct PlanPairs {
  /// A round of a pipeline is told from another by what it loops over.
  using Loop = std::pair<std::int64_t, std::int64_t>;

  /// A node, and the loop that it stands in.
  struct InLoop {
    std::int32_t node = -1;
    Loop loop;
  };
  using Nodes = std::vector<InLoop>;
  struct Uses {
    Nodes signals, waits;    ///< of a semaphore: releases, acquisitions
    std::int32_t peer = -1;  ///< the rank that a channel leads to
  };
  struct Arrival {
    std::int32_t block, arrived, left;
    std::int64_t participants;
    Loop loop;
  };

  /// By kind, rank, peer and which of their channels: what the rank does there. Where ranks stand
  /// for others, by kind, name of the end and of the other one, and 0.
  std::map<std::tuple<ChannelKind, std::int32_t, std::int32_t, std::int32_t>, Uses> channels;
  /// By rank and number.
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Arrival>> arrivals;
  std::map<std::pair<std::int32_t, std::int64_t>, Uses> semaphores;

  /// Adds the edges, and a node for every barrier; what has no counterpart is a finding.
  void connect(const PlanFile& plan, PlanGraph& graph, Findings& findings) const;
};

}  // namespace forestcoll::audit
