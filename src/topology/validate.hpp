// What a whole fabric must be, and what in it is suspicious.
#pragma once

#include "topology/document.hpp"
#include "topology/expand.hpp"
#include "topology/findings.hpp"

namespace forestcoll::topology {

/// E07, E08 and E09: at least two compute nodes, all of which reach one another.
/// Cost: linear in nodes and links.
void check_connection(const Document& document, const Expansion& expansion, Findings& findings);

/// W01 … W05 and W07: what is allowed but seldom meant. REQUIRES: no errors.
/// Cost: O(m log m).
void warn(const Document& document, const Expansion& expansion, Findings& findings);

}  // namespace forestcoll::topology
