// What a whole fabric must be, and what in it is suspicious.
#pragma once

#include <string>
#include <vector>

#include "topology/format/document.hpp"
#include "topology/format/expand.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// E07, E08 and E09: at least two compute nodes, all of which reach one another.
/// Cost: linear in nodes and links.
void check_connection(const Document& document, const Expansion& expansion, Findings& findings);

/// The same for a topology that was changed after it was read: the findings' place is `where`.
void check_connection(const Topology& topology, const std::string& where, Findings& findings);

/// W01 … W07 and W16: what is allowed but seldom meant. REQUIRES: no errors. Cost: O(m log m).
void warn(const Document& document, const Expansion& expansion, Findings& findings);

/// W06: labels of links that seem to be a slip of a known one. Cost: O(entries).
void warn_kinds(const Document& document, Findings& findings);

/// W05: a GPU without a link of NVLink, xGMI or the like that all its equals of the box have.
/// REQUIRES: no errors. Cost: O(m log m).
void warn_missing(const Document& document, const Expansion& expansion, Findings& findings);

/// Limits of a topology that change no rate.
struct IneffectiveLimits {
  std::vector<SharedLimit> never_bind;  ///< what their links in use carry is no more
  std::vector<SharedLimit> unused;      ///< none of their links is in use
};
/// Cost: O(m log m).
[[nodiscard]] IneffectiveLimits ineffective_limits(const Topology& topology);
/// W16: the first of each sort, and how many more.
void warn_limits(const IneffectiveLimits& limits, const Topology& topology,
                 const std::string& where, Findings& findings);

/// W08: boxes whose GPUs NVLink or xGMI joins in several islands. REQUIRES: no errors.
/// Cost: O(m log m).
void warn_islands(const Document& document, const Expansion& expansion, Findings& findings);

/// W12: products of ranges that look alike. REQUIRES: no errors. Cost: O(m log m).
void warn_products(const Document& document, const Expansion& expansion, Findings& findings);

}  // namespace forestcoll::topology
