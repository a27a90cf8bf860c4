// What each file of this folder measures.
#pragma once

#include "cases.hpp"

namespace benchmark {
class State;
}

namespace forestcoll::bench {

/// The optimal rate, compared with the case's.
void rate_of(benchmark::State& state, Fabric& fabric);
/// A forest at that rate, checked outside the timing. Counters: what it holds and what it took.
void pack_of(benchmark::State& state, Fabric& fabric, bool symmetry);

/// One pass of a library's maximum flows to every rank, from supplies of one unit at every rank.
void lemon_flows_of(benchmark::State& state, Fabric& fabric);
void boost_flows_of(benchmark::State& state, Fabric& fabric);

}  // namespace forestcoll::bench
