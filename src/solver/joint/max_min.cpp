#include "forestcoll/max_min.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/gcd.hpp"
#include "solver/joint/portions.hpp"
#include "solver/joint/pricing.hpp"

namespace forestcoll {
namespace {

using Rates = std::vector<std::optional<Ratio>>;  // of operations whose level is known

constexpr int kMostSteps = 100;  // of Dinkelbach's method; few are needed
constexpr Int128 kMostScaled = Int128{1} << 60;

// A demand of which a joint rate of `whole` means that all rates asked for are reached exactly.
struct ScaledDemand {
  JointDemand demand;
  Ratio whole;
};

class MaxMin {
 public:
  MaxMin(const Network& network, const JointDemand& demand, const JointLimits& limits)
      : network_(network),
        demand_(demand),
        limits_(limits),
        portions_(solver::portions_of(network, demand)),
        pricing_(network, demand.relays, portions_),
        rates_(demand.operations.size()) {}

  Expected<MaxMinRates> run(const JointOptimum& together) {
    if (!together.is_exact() || !add_level(together.reached, together)) {
      return unproved(together.reached);
    }
    while (std::ranges::any_of(rates_, [](const auto& rate) { return !rate.has_value(); })) {
      auto next = next_level();
      if (!next) return next.errors();
      if (!*next) return unproved(found_.levels.back().rate);
    }
    return std::move(found_);
  }

 private:
  // Those that are left reach at least this.
  MaxMinRates unproved(const Ratio& rate) {
    MaxMinLevel level{rate, {}, {}, {}};
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if (!rates_[i]) level.operations.push_back(i);
    }
    found_.levels.push_back(std::move(level));
    found_.is_exact = false;
    return std::move(found_);
  }

  // Operations that are free and cover something under the proof of an optimum are held by it.
  bool add_level(const Ratio& rate, const JointOptimum& proof) {
    const auto covered = covered_by(proof);
    if (!covered) return false;
    MaxMinLevel level{rate, {}, proof.lengths, proof.limit_lengths};
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if (!rates_[i] && covered->by_operation[i] > 0) level.operations.push_back(i);
    }
    if (level.operations.empty()) return false;
    for (const std::size_t i : level.operations) rates_[i] = rate;
    found_.levels.push_back(std::move(level));
    return true;
  }

  // Whether another level was found.
  Expected<bool> next_level() {
    // Lengths of the free operations alone: a rate that is not too small.
    auto proof = joint_optimum(network_, free_demand(), limits_);
    if (!proof) return proof.errors();
    std::optional<Ratio> rate = rate_by(*proof);
    for (int step = 0; rate && step < kMostSteps; ++step) {
      const auto scaled = scaled_demand(*rate);
      if (!scaled) return false;
      auto optimum = joint_optimum(network_, scaled->demand, limits_);
      if (!optimum) return optimum.errors();
      // It can be had. Its own proof may be that of an earlier level; that of the rate is the last.
      if (optimum->reached >= scaled->whole) return add_level(*rate, *proof);
      if (!optimum->is_exact()) return false;
      proof = std::move(optimum);
      rate = rate_by(*proof);
    }
    return false;
  }

  [[nodiscard]] JointDemand free_demand() const {
    JointDemand demand;
    demand.relays = demand_.relays;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      if (rates_[i]) continue;
      demand.operations.push_back(demand_.operations[i]);
      demand.buffers.push_back(demand_.buffers[i]);
    }
    return demand;
  }

  // By class, where lengths are the same all over each.
  std::optional<solver::Covered> covered_by(const JointOptimum& proof) {
    std::vector<std::int64_t> by_class(portions_.class_count(), -1);
    const auto put = [&](std::size_t k, std::int64_t length) {
      const bool fits = by_class[k] < 0 || by_class[k] == length;
      by_class[k] = length;
      return fits;
    };
    for (std::size_t a = 0; a < portions_.arcs.of.size(); ++a) {
      if (!put(portions_.arcs.of[a], proof.lengths[ArcId(a)])) return std::nullopt;
    }
    for (std::size_t l = 0; l < portions_.limits.of.size(); ++l) {
      if (!put(portions_.arcs.count + portions_.limits.of[l], proof.limit_lengths[l])) {
        return std::nullopt;
      }
    }
    return solver::covered_by_lengths(network_, portions_, rates_.size(), pricing_, by_class);
  }

  // The largest rate of the free operations that these lengths allow beside the others: what the
  // links have, less what these cover, over what those cover per rate.
  std::optional<Ratio> rate_by(const JointOptimum& proof) {
    const auto covered = covered_by(proof);
    if (!covered) return std::nullopt;
    // In units of capacity times length, and of rate beside `whole`.
    const auto whole = Ratio(demand_.whole());
    auto room = Ratio::reduced(covered->room, 1);
    if (room) room = checked_mul(*room, network_.unit);
    Int128 free = 0;
    for (std::size_t i = 0; room && i < rates_.size(); ++i) {
      if (!rates_[i]) {
        free += covered->by_operation[i];
        continue;
      }
      const auto amount = Ratio::reduced(covered->by_operation[i], demand_.whole());
      const auto taken = amount ? checked_mul(*amount, *rates_[i]) : std::nullopt;
      room = taken ? checked_add(*room, Ratio(-taken->num(), taken->den())) : std::nullopt;
    }
    const auto of_free = Ratio::reduced(free, 1);
    if (!room || !of_free || free == 0) return std::nullopt;
    const auto per_amount = checked_div(*room, *of_free);
    return per_amount ? checked_mul(*per_amount, whole) : std::nullopt;
  }

  // Amounts that are proportional to the rates asked for, in the smallest whole numbers.
  [[nodiscard]] std::optional<ScaledDemand> scaled_demand(const Ratio& of_free) const {
    const auto rate = [&](std::size_t i) { return rates_[i].value_or(of_free); };
    Int128 common = 1;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      common = common / gcd(common, rate(i).den()) * rate(i).den();
      if (common > kMostScaled) return std::nullopt;
    }
    ScaledDemand scaled{demand_, {}};
    Int128 divisor = 0;
    std::vector<Int128> times;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      times.push_back(rate(i).num() * (common / rate(i).den()));
      if (times.back() > kMostScaled) return std::nullopt;
    }
    const auto for_all = [&](const auto& action) {
      for (std::size_t i = 0; i < times.size(); ++i) {
        action(i, scaled.demand.buffers[i]);
        for (Commodity& commodity : scaled.demand.operations[i]) {
          for (std::int64_t& amount : commodity.amounts) action(i, amount);
        }
      }
    };
    Int128 most = 0;
    for_all([&](std::size_t i, std::int64_t amount) {
      divisor = gcd(divisor, amount * times[i]);
      most = std::max(most, amount * times[i]);
    });
    if (most / divisor > kMostScaled) return std::nullopt;
    for_all([&](std::size_t i, std::int64_t& amount) {
      amount = static_cast<std::int64_t>(amount * times[i] / divisor);
    });
    // Operation i is asked for rate(i) · buffer / whole, and has the joint rate · its scaled buffer
    // over the largest of these.
    const auto part = Ratio::reduced(divisor, common);
    const auto of_largest =
        part ? checked_mul(*part, Ratio(scaled.demand.whole(), demand_.whole())) : std::nullopt;
    if (!of_largest) return std::nullopt;
    scaled.whole = *of_largest;
    return scaled;
  }

  const Network& network_;
  const JointDemand& demand_;
  const JointLimits& limits_;
  solver::Portions portions_;
  solver::Pricing pricing_;
  Rates rates_;
  MaxMinRates found_;
};

}  // namespace

Ratio MaxMinRates::rate_of(std::size_t operation) const {
  for (const MaxMinLevel& level : levels) {
    if (std::ranges::count(level.operations, operation) > 0) return level.rate;
  }
  return {};
}

Expected<MaxMinRates> max_min_rates(const Network& network, const JointDemand& demand,
                                    const JointOptimum& together, const JointLimits& limits) {
  return MaxMin(network, demand, limits).run(together);
}

}  // namespace forestcoll
