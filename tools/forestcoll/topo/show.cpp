// `forestcoll topo show`: a fabric in words and in a picture.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/graphviz.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/convert.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

/// Nobody can read more in one picture.
constexpr std::size_t kMostItems = 1500;
constexpr double kMostSeconds = 1e6;
constexpr std::size_t kLeastWidth = 100, kMostWidth = 1'000'000, kMostDetail = 1'000'000;

struct ShowArguments {
  std::string topology;
  bool json = false;
  std::string svg, png, dot;  ///< files to write; empty: none
  std::size_t detail = DrawOptions{}.detail;
  std::size_t width = DrawOptions{}.width;  ///< pixels
  double seconds = kPictureSeconds;         ///< of one picture
  std::string only_of_pictures;             ///< an option given that says nothing else
  ReadingOptions reading;
  Failures failures;
};

/// What is said about a fabric.
struct Facts {
  TopologySummary summary;
  std::vector<SharedLimit> limits;             ///< on links in use
  Ratio between_halves, back;                  ///< GB/s, of the links alone
  Ratio allgather;                             ///< GB/s
  Bottleneck bottleneck;                       ///< a cut, unless limits hold the allgather up
  std::optional<JointOptimum> by_limits = {};  ///< where they do
};

// With limits, where they make it slower.
Expected<void> hold_by_limits(Facts& facts, const Network& network) {
  auto optimum = optimum_of_all(network, operation_of_all(network, Collective::allgather));
  if (!optimum) return optimum.errors();
  if (!is_held_by_limits(*optimum)) return {};
  optimum->loads.clear();
  facts.allgather = optimum->at_most;
  facts.bottleneck = {};
  facts.by_limits = *std::move(optimum);
  return {};
}

// Without links that are out of use, and what was on such links alone.
std::vector<SharedLimit> limits_in_use(const Fabric& fabric) {
  std::vector<SharedLimit> limits = fabric.topology.limits;
  for (SharedLimit& limit : limits) {
    std::erase_if(limit.uses, [&](const SharedLimit::Use& use) {
      return !fabric.network.graph.find(use.src, use.dst).valid();
    });
  }
  std::erase_if(limits, [](const SharedLimit& limit) { return limit.uses.empty(); });
  return limits;
}

Expected<Facts> find_facts(const Fabric& fabric) {
  Network network = fabric.network;
  network.limits.clear();
  const auto best = bound(network, Collective::allgather, {});
  if (!best) return best.errors();
  const auto middle =
      fabric.network.ranks.begin() + static_cast<std::ptrdiff_t>(fabric.network.ranks.size() / 2);
  const std::vector<NodeId> first(fabric.network.ranks.begin(), middle);
  const std::vector<NodeId> second(middle, fabric.network.ranks.end());
  Facts facts{summarize(fabric.topology),
              limits_in_use(fabric),
              bandwidth_between(network, first, second),
              bandwidth_between(network, second, first),
              best->algbw,
              find_bottleneck(network, *best->broadcast_rate, CollectivePhase::broadcast)};
  if (fabric.network.limits.empty()) return facts;
  const auto done = hold_by_limits(facts, fabric.network);
  if (!done) return done.errors();
  return facts;
}

std::string bottleneck_in_words(const Facts& facts, const Fabric& fabric) {
  if (!facts.by_limits) return in_words(facts.bottleneck, fabric.topology);
  return fmt::format("{}",
                     fmt::join(in_words(*facts.by_limits, fabric.topology, fabric.network), "; "));
}

Json bottleneck_json(const Facts& facts, const Fabric& fabric) {
  return facts.by_limits ? to_json(*facts.by_limits, fabric.topology, fabric.network)
                         : to_json(facts.bottleneck, fabric.topology);
}

// What is wrong with a time limit; nothing where it is one.
std::string seconds_error(const std::string& text) {
  const auto seconds = parse_number<double>(text);
  const bool valid = seconds && *seconds > 0 && *seconds <= kMostSeconds;
  return valid ? "" : fmt::format("expected a positive number of seconds, found \"{}\"", text);
}

// "box[0-3]", "n1, n7, … n9"
std::string short_list(const std::vector<std::string>& names) {
  const auto lists = compress_ids(names);
  if (lists.size() <= 3) return fmt::format("{}", fmt::join(lists, ", "));
  return fmt::format("{}, {}, … {}", lists[0], lists[1], names.back());
}

// By their names, with numbers as numbers: gpu2 before gpu10.
bool is_before_by_name(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number_at(a, i), y = number_at(b, j);
      if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// "0-3 gpu[2-3,0-1]". Where the names are not in their order, more of them are told.
std::string ranks_in_words(const Topology& topology) {
  std::vector<std::string> names;
  for (const NodeId gpu : topology.ranks) names.push_back(topology.nodes[gpu].id);
  const bool in_order = std::ranges::is_sorted(names, is_before_by_name);
  const auto lists = compress_ids(names);
  const std::size_t most = in_order ? 3 : 16;
  const std::string note = in_order ? "" : " (not in the order of their names)";
  const std::string all = fmt::format("0-{}: ", names.size() - 1);
  if (lists.size() <= most) return all + fmt::format("{}", fmt::join(lists, ", ")) + note;
  const std::vector<std::string> first(lists.begin(),
                                       lists.begin() + static_cast<std::ptrdiff_t>(most) - 1);
  return all + fmt::format("{}, … {}{}", fmt::join(first, ", "), lists.back(), note);
}

std::string switches_in_words(const TopologySummary& summary) {
  std::string text = counted(summary.switches, "switch node");
  if (summary.multicast > 0) text += fmt::format(", {} with multicast", summary.multicast);
  if (summary.reduce > 0) text += fmt::format(", {} with reduction", summary.reduce);
  return text;
}

// The switches and NICs in use of one box, or of none, by the ids that --drop and --derate take.
std::string switch_ids(const Topology& topology, std::string_view box) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> ids;
  for (const TopologyNode& node : topology.nodes) {
    if (node.enabled && node.type == NodeType::switch_node && node.box == box) {
      ids.push_back(node.id);
    }
  }
  std::vector<std::string> lists = compress_ids(ids);
  if (lists.size() > kMost) {
    lists.erase(lists.begin() + kMost - 1, lists.end() - 1);
    lists.back() = "… " + lists.back();
  }
  return fmt::format("{}", fmt::join(lists, ", "));
}

std::string in_text(const Facts& facts, const Fabric& fabric) {
  const TopologySummary& summary = facts.summary;
  std::string text = fabric.topology.name + "\n";
  const auto line = [&](std::string_view title, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", title, value);
  };
  if (!fabric.topology.description.empty()) line("description", fabric.topology.description);
  const std::string relays =
      summary.relays == 0 ? "" : fmt::format(" and {} that relay", summary.relays);
  line("nodes",
       fmt::format("{}{}, {}", counted(summary.gpus, "GPU"), relays, switches_in_words(summary)));
  line("ranks", ranks_in_words(fabric.topology));
  for (const BoxSummary& boxes : summary.boxes) {
    line("boxes", fmt::format("{} of {} and {}: {}", boxes.names.size(), counted(boxes.gpus, "GPU"),
                              counted(boxes.switches, "switch node"), short_list(boxes.names)));
  }
  if (!summary.boxes.empty() && summary.gpus_without_box > 0) {
    line("boxes", counted(summary.gpus_without_box, "GPU") + " in none");
  }
  for (const BoxSummary& boxes : summary.boxes) {
    const std::string ids = switch_ids(fabric.topology, boxes.names.front());
    if (ids.empty()) continue;
    line("switches", ids + (boxes.names.size() > 1 ? ", and so in each such box" : ""));
  }
  if (const std::string ids = switch_ids(fabric.topology, ""); !ids.empty()) line("switches", ids);
  for (const LinkSummary& links : summary.links) {
    line("links",
         fmt::format("{} of {}{}{}", links.count, bandwidth_in_words(links.bandwidth, links.cables),
                     links.kind.empty() ? "" : ", " + links.kind,
                     links.one_way > 0 ? fmt::format(", {} one way", links.one_way) : ""));
  }
  for (const auto& [kind, count] : summary.islands) {
    line("joined by", fmt::format("{}: {}", kind.empty() ? "links without a kind" : kind,
                                  count == 1 ? "all GPUs" : fmt::format("{} domains", count)));
  }
  if (!facts.limits.empty()) {
    line("limits", fmt::format("{} on several links together, which the bisection leaves out",
                               facts.limits.size()));
    constexpr std::size_t kMostNamed = 4;
    for (std::size_t l = 0; l < std::min(kMostNamed, facts.limits.size()); ++l) {
      line("", in_words(facts.limits[l], fabric.topology));
    }
    if (facts.limits.size() > kMostNamed) {
      line("", fmt::format("and {} more", facts.limits.size() - kMostNamed));
    }
  }
  if (summary.disabled_nodes + summary.disabled_links > 0) {
    line("disabled", fmt::format("{}, {}", counted(summary.disabled_nodes, "node"),
                                 counted(summary.disabled_links, "link")));
  }
  line("bisection",
       facts.between_halves == facts.back
           ? fmt::format("{} GB/s from the first half of the ranks to the second, and back",
                         number(facts.between_halves))
           : fmt::format("{} GB/s from the first half of the ranks to the second, {} back",
                         number(facts.between_halves), number(facts.back)));
  line("optimum", fmt::format("{} GB/s allgather algbw", number(facts.allgather)));
  line("bottleneck", bottleneck_in_words(facts, fabric));
  return text;
}

Json limits_json(const Facts& facts, const Topology& topology) {
  Json list = Json::array();
  for (const SharedLimit& limit : facts.limits) list.push_back(to_json(limit, topology));
  return list;
}

Json in_json(const Facts& facts, const Fabric& fabric) {
  const TopologySummary& summary = facts.summary;
  Json boxes = Json::array();
  for (const BoxSummary& group : summary.boxes) {
    boxes.push_back(
        {{"boxes", group.names}, {"compute_nodes", group.gpus}, {"switch_count", group.switches}});
  }
  Json links = Json::array();
  for (const LinkSummary& group : summary.links) {
    links.push_back({{"kind", group.kind},
                     {"bandwidth", exact(group.bandwidth)},
                     {"count", group.count},
                     {"cables", group.cables},
                     {"one_way", group.one_way}});
  }
  Json ranks = Json::array();
  for (const NodeId gpu : fabric.topology.ranks) ranks.push_back(fabric.topology.nodes[gpu].id);
  return {{"format", "forestcoll-topo-show"},
          {"version", 2},
          {"topology", fabric.topology.name},
          {"description", fabric.topology.description},
          {"compute_nodes", summary.gpus},
          {"switch_count", summary.switches},
          {"relay_count", summary.relays},
          {"ranks", std::move(ranks)},
          {"disabled_node_count", summary.disabled_nodes},
          {"disabled_link_count", summary.disabled_links},
          {"boxes", std::move(boxes)},
          {"link_kinds", std::move(links)},
          {"limit_count", facts.limits.size()},
          {"shared_limits", limits_json(facts, fabric.topology)},
          {"islands", Json(summary.islands)},
          {"between_halves", {{"there", exact(facts.between_halves)}, {"back", exact(facts.back)}}},
          {"algbw", {{"allgather", exact(facts.allgather)}}},
          {"bottleneck", bottleneck_json(facts, fabric)}};
}

// The directions of links that the proof gives a length, by themselves or by what they share.
std::vector<std::pair<NodeId, NodeId>> links_of_proof(const JointOptimum& proof,
                                                      const Network& network) {
  std::vector<std::pair<NodeId, NodeId>> links;
  const auto add = [&](ArcId arc) {
    links.emplace_back(network.graph.tail(arc), network.graph.head(arc));
  };
  for (std::size_t a = 0; a < proof.lengths.size(); ++a) {
    if (proof.lengths[ArcId(a)] > 0) add(ArcId(a));
  }
  for (std::size_t l = 0; l < proof.limit_lengths.size(); ++l) {
    if (proof.limit_lengths[l] == 0) continue;
    for (const auto& [arc, weight] : network.limits[l].uses) add(arc);
  }
  std::ranges::sort(links);
  return links;
}

Expected<Drawing> make_drawing(const ShowArguments& options, const Fabric& fabric,
                               const Facts& facts) {
  DrawOptions draw_options;
  draw_options.sending = facts.bottleneck.sending;
  if (facts.by_limits) draw_options.marked = links_of_proof(*facts.by_limits, fabric.network);
  draw_options.caption = "bottleneck: " + bottleneck_in_words(facts, fabric);
  draw_options.detail = options.detail;
  draw_options.width = options.width;
  Drawing drawing = draw(fabric.topology, draw_options);
  if (drawing.items <= kMostItems || (options.svg.empty() && options.png.empty())) return drawing;
  return make_error(Code::P03,
                    fmt::format("a picture of {} nodes cannot be read; the most are {}",
                                drawing.items, kMostItems),
                    "write the graph with --dot, or give the nodes boxes, which are drawn as one");
}

Expected<void> write_pictures(const ShowArguments& options, const Fabric& fabric,
                              const Facts& facts, const Console& console) {
  const auto drawing =
      at_work("drawing", console, [&] { return make_drawing(options, fabric, facts); });
  if (!drawing) return drawing.errors();
  if (!options.svg.empty()) {
    if (const auto done = write_output(options.svg, drawing->svg); !done) return done.errors();
  }
  if (!options.png.empty()) {
    const ProgressBar bar("drawing", console);
    const auto picture = render(drawing->dot, "png", options.seconds);
    if (!picture) return picture.errors();
    if (const auto done = write_output(options.png, *picture); !done) return done.errors();
  }
  if (options.dot.empty()) return {};
  return write_output(options.dot, drawing->dot);
}

Expected<void> refuse_combination(const ShowArguments& options,
                                  const std::vector<std::string>& files) {
  const bool picture = std::ranges::any_of(files, [](const auto& file) { return !file.empty(); });
  if (picture || options.only_of_pictures.empty()) return {};
  return make_error(Code::S04, options.only_of_pictures + " is for pictures, and none is asked for",
                    "leave it out, or name a file with --svg, --png or --dot");
}

Expected<ExitCode> run_show(const ShowArguments& options, const Console& console) {
  const std::vector<std::string> files = {options.svg, options.png, options.dot};
  if (const auto done = refuse_combination(options, files); !done) return done.errors();
  // A picture on standard output stands alone there.
  const bool reports = options.json || std::ranges::count(files, "-") == 0;
  if (const auto done = refuse_clashes(
          {{"topology file", options.topology}, {"--box file", options.reading.dump.box}},
          {{"--svg", options.svg},
           {"--png", options.png},
           {"--dot", options.dot},
           {"the report", reports ? "-" : ""}});
      !done) {
    return done.errors();
  }
  const auto fabric = load_fabric(options.topology, options.reading, options.failures, console);
  if (!fabric) return fabric.errors();
  report_reading(*fabric, options.reading, console);
  const auto facts = at_work("finding the rate", console, [&] { return find_facts(*fabric); });
  if (!facts) return facts.errors();
  const bool picture = std::ranges::any_of(files, [](const auto& file) { return !file.empty(); });
  if (picture) {
    const auto done = write_pictures(options, *fabric, *facts, console);
    if (!done) return done.errors();
  }
  if (!reports) return ExitCode::done;
  const std::string report = at_work("writing the report", console, [&] {
    return options.json ? report_text(in_json(*facts, *fabric), console) : in_text(*facts, *fabric);
  });
  return finish(write_output("-", report));
}

}  // namespace

Command add_topo_show(CLI::App& program) {
  auto options = std::make_shared<ShowArguments>();
  CLI::App* command = topo_group(program).add_subcommand("show", "Describe a fabric, and draw it");
  add_topology_argument(*command, options->topology);
  const OptionGroup general(*command);
  general.flag("--json", options->json, "Report as JSON (format forestcoll-topo-show, version 2)");
  add_json_version_option(*command);
  for (const auto& [name, file, what] :
       {std::tuple("--svg", &ShowArguments::svg, "Draw it as SVG; - is standard output"),
        std::tuple("--png", &ShowArguments::png, "Draw it as PNG, by Graphviz"),
        std::tuple("--dot", &ShowArguments::dot,
                   "Write the picture's graph in Graphviz's language")}) {
    add_file_option(*command, name, (*options).*file, what);
  }
  general
      .option("--detail", options->detail, "N",
              "Largest number of nodes that are drawn one by one; with more, a box is one node,\n"
              "and so are nodes that are linked alike")
      ->check(number_from(std::size_t{0}, kMostDetail))
      ->capture_default_str()
      ->each([options](const std::string&) { options->only_of_pictures = "--detail"; });
  general
      .option("--width", options->width, "PIXELS",
              "Width in pixels from which nodes that are linked alike are drawn as one node\n"
              "with a count, and rows are broken")
      ->capture_default_str()
      ->each([options](const std::string&) { options->only_of_pictures = "--width"; })
      ->check(number_from(kLeastWidth, kMostWidth));
  general
      .option("--time-limit", options->seconds, "SECONDS",
              "Give up drawing a PNG after this many seconds")
      ->capture_default_str()
      ->each([options](const std::string&) { options->only_of_pictures = "--time-limit"; })
      ->check(seconds_error);
  add_jobs_option(*command);
  add_failure_options(*command, options->failures);
  add_reading_options(*command, options->reading);
  group_options(*command, {"--svg", "--png", "--json"});
  command->footer(
      "Bisection is the bandwidth between the first and the second half of the ranks. In a\n"
      "picture, the width of a line is its bandwidth, its colour the kind of link; the links of\n"
      "the bottleneck are red. Grids and tori are drawn as grids: links that leave at one edge\n"
      "come back at the opposite one, and what is disabled or missing is dashed. An SVG has\n"
      "colours for light and for dark screens.\n"
      "\n"
      "Examples:\n"
      "  forestcoll topo show topologies/dgx-a100-x2.json\n"
      "  forestcoll topo show topologies/dgx-a100-x2.json --svg a100.svg\n"
      "  forestcoll topo gen dgx-h100 --boxes 128 | forestcoll topo show - --png h100.png\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read, write\n"
      "or draw, 70 internal error.");
  return {command, [options](const Console& console) { return run_show(*options, console); }};
}

}  // namespace forestcoll::cli
