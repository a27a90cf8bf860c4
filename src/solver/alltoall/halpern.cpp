#include "solver/alltoall/halpern.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace forestcoll::solver::alltoall {
namespace {

// A flow is in two equations and one capacity; a third would be the most, but where the operator's
// norm is 1 then, mirrored steps need not settle.
constexpr float kFlowStep = 0.3F;

// Restart where a step is so much shorter than the first one since the last restart; where it is a
// little shorter and grows; or after such a part of all iterations (PDLP's and Lu and Yang's).
constexpr double kMuchShorter = 0.2, kShorter = 0.8, kLongRun = 0.36;
constexpr int kLeastRun = 6, kLeastLongRun = 30;

template <class Lanes>
float sum_of(const Lanes& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0.0F);
}

// Squared distance between where an iterate is and its anchor.
template <class Iterate, class Weight>
double distance(const Iterate& iterate, Weight&& weight) {
  double sum = 0;
  for (std::size_t i = 0; i < iterate.now.size(); ++i) {
    float part = 0;
    for (std::size_t lane = 0; lane < iterate.now[i].size(); ++lane) {
      const float moved = iterate.now[i][lane] - iterate.anchor[i][lane];
      part += moved * moved;
    }
    sum += static_cast<double>(part) * weight(i);
  }
  return sum;
}

}  // namespace

Halpern::Halpern(const Folded& folded, int threads)
    : folded_(folded),
      threads_(std::clamp(threads, 1, tbb::info::default_concurrency())),
      blocks_((folded.source.size() + kLanes - 1) / kLanes) {
  scale();
  add_sources();
  start();
}

void Halpern::scale() {
  degree_.assign(folded_.graph.node_count(), 0);
  for (const Arc& arc : folded_.graph.arcs()) {
    ++degree_[arc.tail.index()];
    ++degree_[arc.head.index()];
  }
  double needs = 0, receivers = 0;
  for (const auto& of_source : folded_.needs) {
    for (const double need : of_source) {
      needs += need;
      receivers += need > 0 ? 1 : 0;
    }
  }
  need_scale_ = receivers / needs;
  const auto& capacity = folded_.capacity;
  capacity_scale_ = static_cast<double>(folded_.graph.arc_count()) /
                    std::accumulate(capacity.begin(), capacity.end(), 0.0);
  for (const double of_row : capacity) capacity_.push_back(of_row * capacity_scale_);
  capacity_.push_back(folded_.fixed_capacity * capacity_scale_);
  // SIMD lanes without a source count as sources that need nothing: mirrored lengths can be
  // negative, and then something flows there, too.
  const auto lanes = static_cast<double>(blocks_.size() * kLanes);
  std::vector<double> arcs(capacity.size(), 0);
  for (const std::size_t row : folded_.row) ++arcs[row];
  for (const double of_row : arcs) length_step_.push_back(1 / (of_row * lanes));
  length_step_.push_back(1 / lanes);
}

void Halpern::add_sources() {
  const std::size_t nodes = folded_.graph.node_count(), arcs = folded_.graph.arc_count();
  for (Block& block : blocks_) {
    block.flow.now.assign(arcs, Lanes{});
    block.potential.now.assign(nodes, Lanes{});
    block.need.assign(nodes, Lanes{});
    block.lack.assign(nodes, Lanes{});
    block.load.assign(folded_.capacity.size(), 0);
  }
  for (std::size_t k = 0; k < folded_.source.size(); ++k) {
    auto& need = blocks_[k / kLanes].need;
    double all = 0;
    for (std::size_t v = 0; v < nodes; ++v) {
      need[v][k % kLanes] = static_cast<float>(folded_.needs[k][v] * need_scale_);
      all += folded_.needs[k][v] * need_scale_;
    }
    need[folded_.source[k]][k % kLanes] -= static_cast<float>(all);
  }
}

// All links as long, distances as potentials, and nothing flows. The first balance is that between
// these distances and the flows that would cover them, spread over all arcs.
void Halpern::start() {
  const double all = std::accumulate(capacity_.begin(), capacity_.end() - 1, 0.0);
  point_.assign(capacity_.size(), 1 / all);
  point_.back() = 0;
  const auto length = static_cast<float>(1 / all);
  double potentials = 0, covered = 0;
  for (std::size_t k = 0; k < folded_.source.size(); ++k) {
    Block& block = blocks_[k / kLanes];
    std::vector<std::size_t> reached{folded_.source[k]};
    std::vector<float> hops(degree_.size(), -1);
    hops[reached.front()] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const NodeId v(reached[i]);
      for (ArcId a = folded_.graph.first_out(v); a != folded_.graph.last_out(v); ++a.value) {
        const std::size_t w = folded_.graph.head(a).index();
        if (hops[w] >= 0) continue;
        hops[w] = hops[v.index()] + 1;
        reached.push_back(w);
      }
    }
    for (const std::size_t v : reached) {
      const float potential = hops[v] * length;
      block.potential.now[v][k % kLanes] = potential;
      potentials += static_cast<double>(potential * potential * degree_[v]);
      covered += folded_.needs[k][v] * need_scale_ * static_cast<double>(hops[v]);
    }
  }
  const auto flows = static_cast<double>(folded_.source.size() * folded_.graph.arc_count());
  weight_ = std::sqrt(potentials * flows * static_cast<double>(kFlowStep)) / covered;
  for (Block& block : blocks_) {
    block.flow.anchor = block.flow.now;
    block.potential.anchor = block.potential.now;
  }
  anchor_ = point_;
}

void Halpern::iterate(int iterations, const std::stop_token& stop) {
  tbb::task_arena arena(threads_);
  arena.execute([&] {
    for (int i = 0; i < iterations && !stop.stop_requested(); ++i) step();
  });
}

void Halpern::step() {
  const double keep = (since_restart_ + 1.0) / (since_restart_ + 2.0);
  point_now_.assign(point_.begin(), point_.end());
  tbb::parallel_for(
      std::size_t{0}, blocks_.size(),
      [&](std::size_t b) {
        step_flows(blocks_[b], static_cast<float>(keep));
        step_potentials(blocks_[b], static_cast<float>(keep));
      },
      tbb::simple_partitioner());
  double flows = 0, prices = step_lengths(keep);
  for (const Block& block : blocks_) {
    flows += block.flow_step;
    prices += block.potential_step;
  }
  ++since_restart_;
  ++iterations_;
  if (is_due(std::sqrt(flows / static_cast<double>(kFlowStep) * weight_ + prices / weight_))) {
    restart();
  }
}

// A step to t, mirrored: r = 2t − f is what loads and lacks are of, and what is kept of it, with
// the rest of the anchor, is the next point.
void Halpern::step_flows(Block& block, float keep) const {
  const auto step = static_cast<float>(static_cast<double>(kFlowStep) / weight_);
  const auto& arcs = folded_.graph.arcs();
  std::ranges::fill(block.load, 0.0F);
  block.lack = block.need;
  Lanes squares{};
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const float length = point_now_[folded_.row[a]];
    const Lanes& from = block.potential.now[arcs[a].tail.index()];
    const Lanes& to = block.potential.now[arcs[a].head.index()];
    const Lanes& anchor = block.flow.anchor[a];
    Lanes& tail_lack = block.lack[arcs[a].tail.index()];
    Lanes& head_lack = block.lack[arcs[a].head.index()];
    Lanes& flow = block.flow.now[a];
    Lanes mirrored;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float next = std::max(0.0F, flow[i] + step * (to[i] - from[i] - length));
      const float moved = next - flow[i];
      mirrored[i] = next + moved;
      squares[i] += moved * moved;
      head_lack[i] -= mirrored[i];
      tail_lack[i] += mirrored[i];
      flow[i] = keep * mirrored[i] + (1 - keep) * anchor[i];
    }
    block.load[folded_.row[a]] += sum_of(mirrored);
  }
  block.flow_step = static_cast<double>(sum_of(squares));
}

void Halpern::step_potentials(Block& block, float keep) const {
  double squares = 0;
  for (std::size_t v = 0; v < degree_.size(); ++v) {
    const float step = static_cast<float>(weight_) / degree_[v];
    const Lanes& lack = block.lack[v];
    const Lanes& anchor = block.potential.anchor[v];
    Lanes& potential = block.potential.now[v];
    Lanes square;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float moved = step * lack[i];
      square[i] = moved * moved;
      potential[i] = keep * (potential[i] + 2 * moved) + (1 - keep) * anchor[i];
    }
    squares += static_cast<double>(sum_of(square) * degree_[v]);
  }
  block.potential_step = squares;
}

// Returns the square of the step.
double Halpern::step_lengths(double keep) {
  std::vector<double> next = point_;
  for (std::size_t row = 0; row + 1 < next.size(); ++row) {
    double load = 0;
    for (const Block& block : blocks_) load += static_cast<double>(block.load[row]);
    next[row] += weight_ * length_step_[row] * load;
  }
  next.back() += weight_ * length_step_.back() * folded_.fixed_load * need_scale_;
  project(next);
  double squares = 0;
  for (std::size_t row = 0; row < next.size(); ++row) {
    const double moved = next[row] - point_[row];
    squares += moved * moved / length_step_[row];
    point_[row] = keep * (next[row] + moved) + (1 - keep) * anchor_[row];
  }
  lengths_ = std::move(next);
  return squares;
}

// To the nearest lengths in the metric of the steps with Σ capacity · ℓ = 1, none negative: rows
// that would be are set to 0, and the others share what is over, until there are none (Michelot
// 1986).
void Halpern::project(std::vector<double>& lengths) const {
  std::vector<bool> positive(lengths.size(), true);
  const auto pull = [&](std::size_t row) { return length_step_[row] * capacity_[row]; };
  double excess = 0;  // per unit of pull
  for (bool changed = true; changed;) {
    double over = -1, pulls = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      if (!positive[row]) continue;
      over += capacity_[row] * lengths[row];
      pulls += capacity_[row] * pull(row);
    }
    excess = over / pulls;
    changed = false;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      if (!positive[row] || lengths[row] > excess * pull(row)) continue;
      positive[row] = false;
      changed = true;
    }
  }
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    lengths[row] = positive[row] ? lengths[row] - excess * pull(row) : 0;
  }
}

bool Halpern::is_due(double moved) {
  if (since_restart_ == 1) first_moved_ = moved;
  const bool grows = moved > std::exchange(last_moved_, moved);
  if (since_restart_ < kLeastRun) return false;
  return moved <= kMuchShorter * first_moved_ || (moved <= kShorter * first_moved_ && grows) ||
         since_restart_ >= std::max(kLongRun * iterations_, 1.0 * kLeastLongRun);
}

void Halpern::restart() {
  double flows = 0, prices = 0;
  for (Block& block : blocks_) {
    flows += distance(block.flow, [](std::size_t) { return 1 / static_cast<double>(kFlowStep); });
    prices +=
        distance(block.potential, [&](std::size_t v) { return static_cast<double>(degree_[v]); });
    block.flow.anchor = block.flow.now;
    block.potential.anchor = block.potential.now;
  }
  for (std::size_t row = 0; row < point_.size(); ++row) {
    const double moved = point_[row] - anchor_[row];
    prices += moved * moved / length_step_[row];
  }
  anchor_ = point_;
  since_restart_ = 0;
  // Half-way, on a logarithmic scale, to where both sides would have moved as far.
  const double balance = std::sqrt(std::sqrt(prices / flows) * weight_);
  if (std::isfinite(balance) && balance > 0) weight_ = balance;
}

}  // namespace forestcoll::solver::alltoall
