// The fabrics that are measured, and their optima: bench/cases.json, which
// tools/scripts/bench-table reads as well.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::bench {

/// When a measurement is taken: in every run, only with --large, or not at all.
enum class When { always, large, never };

struct Case {
  std::string name;                               ///< "a100-x128"
  std::string generator;                          ///< as `forestcoll topo gen` names it
  std::map<std::string, std::string> parameters;  ///< of the generator
  Failures failures;                              ///< what is wrong with the fabric
  Ratio allgather;                                ///< GB/s, the optimum
  When rate = When::always;
  When pack = When::always;      ///< as the library does it by itself
  When generic = When::never;    ///< without looking for symmetries
  When yardstick = When::never;  ///< maximum flows of other libraries
};

/// In the order in which they are measured. Ends the program where the file is wrong.
[[nodiscard]] std::span<const Case> all_cases();

/// A case whose network, rate and scaling are worked out when first asked for.
class Fabric {
 public:
  explicit Fabric(const Case& definition) : definition_(definition) {}
  [[nodiscard]] const Network& network();
  [[nodiscard]] const Weights& weights();
  [[nodiscard]] const Scaling& scaling();
  [[nodiscard]] const Ratio& allgather() const { return definition_.allgather; }

 private:
  const Case& definition_;
  std::optional<Network> network_;
  Weights weights_;
  std::optional<Scaling> scaling_;
};

}  // namespace forestcoll::bench
