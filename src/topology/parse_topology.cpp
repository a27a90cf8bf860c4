// The way of a topology file, stage by stage. Each stage reports to the same list and goes on with
// what it could read, so that one run shows everything that is wrong.
#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/topology.hpp"
#include "topology/check/infer_boxes.hpp"
#include "topology/check/validate.hpp"
#include "topology/format/document.hpp"
#include "topology/format/expand.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/limits.hpp"
#include "topology/format/quantize.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::Findings;

// 0 where no rounding was asked for. Nothing, and an error, where it cannot be done.
std::optional<Ratio> round_bandwidths(Topology& topology, const std::optional<Ratio>& step,
                                      Findings& findings) {
  if (!step) return Ratio(0);
  const auto change = *step > 0 ? topology::quantize(topology, *step) : std::nullopt;
  if (!change) {
    findings.error(
        Code::E05, "",
        fmt::format("cannot round the bandwidths to multiples of {} GB/s", step->to_string()),
        "Give `quantize` a positive bandwidth, not much smaller than the links'.");
  }
  return change;
}

// Text that begins otherwise than JSON does was never meant as JSON. Which other formats are told
// by their content, and by what?
bool check_beginning(std::string_view text, Findings& findings) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] == '{' || text[first] == '[') return true;
  if (!topology::check_encoding(text, findings)) return false;
  findings.error(
      Code::E01, topology::line_and_column(text, first),
      fmt::format("neither a topology file, which begins with {{, nor a format that its content "
                  "tells; it begins {}",
                  topology::quote(text.substr(first, text.find_first_of("\r\n", first) - first))),
      "Told by their content are XML with <system>, <topology> or <graphml> at the top, DOT with "
      "graph or digraph, CSV with a first line such as src,dst,bandwidth, nvidia-smi's matrix with "
      "GPU0 in its header, ibnetdiscover with Switch, Slurm with SwitchName=, ASTRA-sim with "
      "topology:, ns-3 and SimAI with a line of counts and a line of switches. "
      "`import_topology(source)` reads a file as one of them, and says what it lacks.");
  return false;
}

// W09 where a box is doubtful, and what was inferred in words.
std::vector<std::string> find_boxes(const topology::Document& document,
                                    topology::Expansion& expansion, std::string_view file,
                                    Findings& findings) {
  const topology::InferredBoxes boxes = topology::infer_boxes(expansion.topology);
  if (boxes.doubt) {
    findings.warning(Code::W09,
                     topology::where_node(document, expansion.node_origin[boxes.doubt->at]),
                     boxes.doubt->message + (boxes.names.empty() ? "; no boxes are inferred" : ""),
                     "Write \"box\" on the nodes, or use \"templates\" and \"boxes\"; a \"kind\" "
                     "on every link helps.");
  }
  if (boxes.names.empty()) return {};
  constexpr std::size_t kMostNamed = 3;
  std::string named =
      listed(std::span(boxes.names).first(std::min(boxes.names.size(), kMostNamed)));
  if (boxes.names.size() > kMostNamed) {
    named += fmt::format(" and {} more", boxes.names.size() - kMostNamed);
  }
  return {fmt::format("{}: boxes inferred: {} ({}), from {}; \"box\" on a node overrides", file,
                      boxes.names.size(), named, boxes.evidence)};
}

}  // namespace

Expected<ParsedTopology> parse_topology(std::string_view text, std::string_view file,
                                        const TopologyOptions& options) {
  Findings findings(file);
  // 1. Text to values, with the place of each.
  if (!check_beginning(text, findings)) return findings.all();
  const auto values = topology::parse_json(text, findings);
  if (!values) return findings.all();
  // 2. Values to the entries that the format knows.
  const topology::Document document = topology::read_document(*values, findings);
  // 3. Would it fit? Ranges are short to write.
  if (!topology::check_size(document, options.max_nodes, findings)) return findings.all();
  // 4. Ranges, templates and boxes to single nodes and links.
  topology::Expansion expansion = topology::expand(document, findings);
  // 5. Is it a fabric, and what do its links share?
  topology::check_connection(document, expansion, findings);
  if (findings.has_errors()) return findings.all();
  topology::add_limits(document, expansion, findings);
  if (findings.has_errors()) return findings.all();
  // 6. Which GPUs share a box, where the file does not say?
  std::vector<std::string> notes = find_boxes(document, expansion, file, findings);
  topology::warn(document, expansion, findings);
  topology::warn_islands(document, expansion, findings);
  topology::warn_products(document, expansion, findings);
  // 7. A coarser grid, if asked for.
  const auto change = round_bandwidths(expansion.topology, options.quantize, findings);
  if (!change) return findings.all();
  // 8. With `strict`, warnings are errors.
  if (options.strict && !findings.warnings().empty()) return findings.as_errors();
  return ParsedTopology{std::move(expansion.topology), findings.warnings(), *change,
                        std::move(notes)};
}

}  // namespace forestcoll
