// Capacities that links share, from the names in a file to the links.
#pragma once

#include "topology/format/document.hpp"
#include "topology/format/expand.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// Adds the limits of the document, those of a template once for each of its boxes. Links that are
/// disabled may be named, too. Findings: E17. REQUIRES: the expansion is complete. Cost: linear in
/// nodes and links per item of `links`.
void add_limits(const Document& document, Expansion& expansion, Findings& findings);

}  // namespace forestcoll::topology
