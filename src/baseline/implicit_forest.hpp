// Trees by rule: how an algorithm says what it does, whether or not a Forest can hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/path_finder.hpp"
#include "forestcoll/baseline.hpp"

namespace forestcoll::baseline {

/// Data over a path, from the rank at its beginning to the rank at its end.
struct Hop {
  Path path;              ///< empty: the hop is not used
  std::int64_t load = 0;  ///< multiplicities of all tree edges that take it
};

/// Out-trees that span all ranks.
struct ImplicitForest {
  std::vector<Forest::Tree> trees;  ///< their heights are not looked at
  std::vector<Hop> hops;
  /// Which hop brings the data of a tree to a rank other than its root.
  std::function<std::size_t(std::size_t tree, Rank child)> hop_into;
  std::int64_t rings = 0;
  std::string note = {};
};

/// What a baseline is asked for.
struct Request {
  const Topology& topology;
  const Network& network;
  Collective collective;
  std::optional<Rank> root;
  const BaselineOptions& options;
  /// All ranks, or the root alone.
  [[nodiscard]] std::vector<Rank> roots() const;
};

/// Makes the out-trees of an algorithm on `network`: the request's, or that turned round.
using ImplicitForestMaker = std::function<Expected<ImplicitForest>(const Network& network)>;

/// What the reduce phase of an allreduce takes on a fabric that is the same both ways.
enum class Reduce {
  same_trees,  ///< those of the broadcast phase, walked backwards
  own_trees,   ///< what the maker makes of the fabric turned round
};

/// Carries out the request's collective: out-trees for its broadcast phase; for its reduce phase
/// those of the fabric turned round, walked backwards. The result has no forest where hops pass
/// through ranks, or beyond 2^25 tree edges; the note then says so, or B10 where trees are wanted.
/// Error E14.
[[nodiscard]] Expected<BaselineResult> carry_out(const Request& request,
                                                 const ImplicitForestMaker& make,
                                                 Reduce how = Reduce::same_trees);

[[nodiscard]] Diagnostic too_large(std::string message,
                                   std::string remedy = "compare with another algorithm");
/// B04 above 512 ranks, of what takes too long there.
[[nodiscard]] Expected<void> refuse_many_ranks(const Request& request, std::string_view algorithm);

/// B10, where `BaselineOptions::with_trees` asks for some.
[[nodiscard]] Diagnostic no_trees();

/// "rank 3 (box0/gpu3)".
[[nodiscard]] std::string name_of(const Topology& topology, Rank rank);

}  // namespace forestcoll::baseline
