#include "solver/alltoall/halpern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace forestcoll::solver::alltoall {
namespace {

constexpr double kFlowStep = 1.0 / 3;  // a flow is in two equations and one capacity

}  // namespace

Halpern::Halpern(const Folded& folded, int threads) : folded_(folded), threads_(threads) {
  const std::size_t n = folded.graph.node_count(), m = folded.graph.arc_count();
  const std::size_t rows = folded.capacity.size();
  degree_.assign(n, 0);
  for (const Arc& arc : folded.graph.arcs()) {
    ++degree_[arc.tail.index()];
    ++degree_[arc.head.index()];
  }
  // needs near 1
  double sum = 0; std::size_t count = 0;
  for (const auto& needs : folded.needs) for (double x : needs) if (x > 0) { sum += x; ++count; }
  need_scale_ = static_cast<double>(count) / sum;
  double all = 0;
  for (double c : folded.capacity) all += c;
  capacity_scale_ = static_cast<double>(m) / all;
  for (double c : folded.capacity) capacity_.push_back(c * capacity_scale_);
  capacity_.push_back(1);
  fixed_ = folded.fixed_load * need_scale_ / capacity_scale_;
  sigma_.assign(rows + 1, 0);
  for (const std::size_t row : folded.row) sigma_[row] += static_cast<double>(folded.source.size());
  for (double& s : sigma_) s = s > 0 ? 1 / s : 1;
  const std::size_t blocks = (folded.source.size() + kLanes - 1) / kLanes;
  blocks_.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    Block& block = blocks_[b];
    block.flow.assign(m, Lanes{});
    block.potential.assign(n, Lanes{});
    block.need.assign(n, Lanes{});
    block.lack.assign(n, Lanes{});
    block.load.assign(rows, 0);
    for (std::size_t l = 0; l < kLanes && b * kLanes + l < folded.source.size(); ++l) {
      const std::size_t k = b * kLanes + l;
      double total = 0;
      for (std::size_t v = 0; v < n; ++v) {
        const double need = folded.needs[k][v] * need_scale_;
        block.need[v][l] = static_cast<float>(need);
        total += need;
      }
      block.need[folded.source[k]][l] -= static_cast<float>(total);
    }
  }
  start();
}

// Equal lengths, their distances, and shortest paths.
void Halpern::start() {
  const std::size_t rows = folded_.capacity.size();
  double all = 0;
  for (const std::size_t row : folded_.row) (void)row;
  for (std::size_t r = 0; r < rows; ++r) all += capacity_[r];
  point_.assign(rows + 1, 1 / all);
  point_.back() = 0;
  const float l = static_cast<float>(1 / all);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const std::size_t n = degree_.size();
    for (auto& p : block.potential) p.fill(1e30F);
    for (std::size_t i = 0; i < kLanes && b * kLanes + i < folded_.source.size(); ++i) block.potential[folded_.source[b * kLanes + i]][i] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t a = 0; a < folded_.graph.arc_count(); ++a) {
        const auto& arc = folded_.graph.arcs()[a];
        for (std::size_t i = 0; i < kLanes; ++i) {
          const float d = block.potential[arc.tail.index()][i] + l;
          if (d < block.potential[arc.head.index()][i]) { block.potential[arc.head.index()][i] = d; changed = true; }
        }
      }
    }
    for (auto& p : block.potential) for (float& x : p) if (x > 1e29F) x = 0;
    (void)n;
  }
  // balance: potentials and lengths against flows
  double dual = 0, primal = 0;
  for (const Block& block : blocks_) for (std::size_t v = 0; v < degree_.size(); ++v) for (std::size_t i = 0; i < kLanes; ++i) {
    dual += static_cast<double>(block.potential[v][i]) * block.potential[v][i] * degree_[v];
    primal += std::abs(block.need[v][i]) * block.potential[v][i] / l;
  }
  // flows: total volume spread evenly
  const double volume = primal, flows = static_cast<double>(folded_.source.size() * folded_.graph.arc_count());
  primal = volume * volume / flows / kFlowStep;
  weight_ = std::sqrt(dual / primal);
  if (const char* w = std::getenv("W0")) weight_ = std::atof(w);
  std::fprintf(stderr, "initial weight %g fixed %g\n", weight_, fixed_);
  for (Block& block : blocks_) {
    block.flow_anchor = block.flow;
    block.potential_anchor = block.potential;
  }
  anchor_ = length_ = point_;
}

__attribute__((target_clones("avx512f","avx2", "default")))
void Halpern::step_block(Block& block, float keep) {
  const float tau = static_cast<float>(kFlowStep / weight_);
  const auto& arcs = folded_.graph.arcs();
  std::fill(block.load.begin(), block.load.end(), 0.F);
  block.lack = block.need;
  const float back = 1 - keep;
  Lanes moved{};
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const std::size_t u = arcs[a].tail.index(), v = arcs[a].head.index();
    const float length = length_now_[folded_.row[a]];
    float* __restrict f = block.flow[a].data();
    const float* __restrict f0 = block.flow_anchor[a].data();
    const float* __restrict pu = block.potential[u].data();
    const float* __restrict pv = block.potential[v].data();
    float* __restrict lu = block.lack[u].data();
    float* __restrict lv = block.lack[v].data();
    Lanes reflected;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float t = std::max(0.F, f[i] + tau * (pv[i] - pu[i] - length));
      const float d = t - f[i];
      const float r = t + d;
      moved[i] += d * d;
      lv[i] -= r;
      lu[i] += r;
      f[i] = keep * r + back * f0[i];
      reflected[i] = r;
    }
    float sum = 0;
    for (std::size_t w = kLanes / 2; w > 0; w /= 2) for (std::size_t i = 0; i < w; ++i) reflected[i] += reflected[i + w];
    sum = reflected[0];
    block.load[folded_.row[a]] += sum;
  }
  block.moved_flow = 0;
  for (float x : moved) block.moved_flow += x;
  moved.fill(0);
  double moved_potential = 0;
  for (std::size_t v = 0; v < block.potential.size(); ++v) {
    const float sigma = static_cast<float>(weight_) / degree_[v];
    Lanes sum{};
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float d = sigma * block.lack[v][i];
      const float r = block.potential[v][i] + 2 * d;
      sum[i] = d * d;
      block.potential[v][i] = keep * r + back * block.potential_anchor[v][i];
    }
    float s = 0;
    for (float x : sum) s += x;
    moved_potential += static_cast<double>(s) * degree_[v];
  }
  block.moved_potential = moved_potential;
}

// The nearest lengths (in the metric of the steps) with sum capacity * length = 1 and none negative (Michelot 1986).
void Halpern::project(std::vector<double>& z) const {
  std::vector<char> active(z.size(), 1);
  for (;;) {
    double sum = -1, weight = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (!active[i]) continue;
      sum += capacity_[i] * z[i];
      weight += capacity_[i] * capacity_[i] * sigma_[i];
    }
    const double mu = sum / weight;
    bool dropped = false;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (!active[i] || z[i] > mu * sigma_[i] * capacity_[i]) continue;
      active[i] = 0;
      dropped = true;
    }
    if (dropped) continue;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = active[i] ? z[i] - mu * sigma_[i] * capacity_[i] : 0;
    return;
  }
}

double Halpern::step_lengths(double keep) {
  std::vector<double> z = point_;
  const std::size_t rows = folded_.capacity.size();
  for (std::size_t r = 0; r < rows; ++r) {
    double load = 0;
    for (const Block& block : blocks_) load += block.load[r];
    z[r] += weight_ * sigma_[r] * load;
  }
  z.back() += weight_ * sigma_.back() * fixed_;
  project(z);
  double moved = 0;
  for (std::size_t r = 0; r < z.size(); ++r) {
    const double d = z[r] - point_[r];
    moved += d * d / sigma_[r];
    point_[r] = keep * (z[r] + d) + (1 - keep) * anchor_[r];
  }
  length_ = std::move(z);
  return moved;
}

void Halpern::step() {
  const double keep = (since_ + 1.0) / (since_ + 2.0);
  length_now_.assign(point_.begin(), point_.end());
  for (Block& block : blocks_) step_block(block, static_cast<float>(keep));
  double moved_flow = 0, moved_price = step_lengths(keep);
  for (Block& block : blocks_) {
    moved_flow += block.moved_flow;
    moved_price += block.moved_potential;
  }
  const double moved = std::sqrt(moved_flow / kFlowStep * weight_ + moved_price / weight_);
  if (since_ == 0) first_moved_ = moved;
  ++since_;
  ++total_;
  const bool enough = moved <= 0.2 * first_moved_;
  const bool some = moved <= 0.8 * first_moved_ && moved > last_moved_;
  const bool late = since_ >= std::max(0.36 * total_, 30.);
  last_moved_ = moved;
  if (since_ > 5 && (enough || some || late)) {
    if (std::getenv("V")) std::fprintf(stderr, "restart at %d after %d: %s moved %g first %g weight %g\n", total_, since_, enough ? "enough" : some ? "some" : "late", moved, first_moved_, weight_);
    restart();
  }
}

void Halpern::restart() {
  double flow = 0, price = 0;
  for (Block& block : blocks_) {
    for (std::size_t a = 0; a < block.flow.size(); ++a) {
      float s = 0;
      for (std::size_t i = 0; i < kLanes; ++i) { const float d = block.flow[a][i] - block.flow_anchor[a][i]; s += d * d; }
      flow += s;
    }
    for (std::size_t v = 0; v < block.potential.size(); ++v) {
      float s = 0;
      for (std::size_t i = 0; i < kLanes; ++i) { const float d = block.potential[v][i] - block.potential_anchor[v][i]; s += d * d; }
      price += static_cast<double>(s) * degree_[v];
    }
    block.flow_anchor = block.flow;
    block.potential_anchor = block.potential;
  }
  for (std::size_t r = 0; r < point_.size(); ++r) price += (point_[r] - anchor_[r]) * (point_[r] - anchor_[r]) / sigma_[r];
  anchor_ = point_;
  since_ = 0;
  const double x = std::sqrt(flow / kFlowStep), y = std::sqrt(price);
  if (x > 1e-12 && y > 1e-12) weight_ = std::exp(0.5 * std::log(y / x) + 0.5 * std::log(weight_));
}

void Halpern::iterate(int iterations) {
  for (int i = 0; i < iterations; ++i) step();
}

}  // namespace forestcoll::solver::alltoall
