#include "common/fabric.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/flags.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

// Errors about the fabric as a whole name its file.
Diagnostics in_file(Diagnostics errors, const std::string& path) {
  for (Diagnostic& error : errors) {
    if (error.file.empty()) error.file = display_name(path);
  }
  return errors;
}

std::optional<Rank> rank_with_id(const Topology& topology, const std::string& id) {
  for (std::size_t rank = 0; rank < topology.ranks.size(); ++rank) {
    if (topology.nodes[topology.ranks[rank]].id == id) return Rank(rank);
  }
  return std::nullopt;
}

// What a topology without a name is called; in UTF-8, as JSON wants it.
std::string name_by_file(const std::string& path) {
  if (path == "-") return "topology";
  auto name = Json::parse(to_text(std::filesystem::path(path).stem().string())).get<std::string>();
  // As in a topology file, names have no control characters.
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '_');
  return name;
}

// In words, where CLI11 speaks of an unsigned integral type.
CLI::Validator positive_integer() {
  return {[](std::string& text) {
            const auto value = parse_number<std::size_t>(text);
            const bool good = value && *value > 0;
            return good ? std::string() : "expected a positive integer, found \"" + text + "\"";
          },
          ""};
}

// "nvswitch=300"
Expected<Ratio> nvswitch_of(const std::string& text) {
  constexpr std::string_view kKey = "nvswitch=";
  const auto bandwidth =
      text.starts_with(kKey) ? parse_bandwidth(text.substr(kKey.size())) : std::nullopt;
  if (bandwidth) return *bandwidth;
  return make_error(Code::I08, fmt::format("--nvlink: expected nvswitch=GB/s, found \"{}\"", text),
                    "Write the GB/s of a GPU to the NVSwitches, such as nvswitch=300; a machine "
                    "with other links is given with --box.");
}

bool is_generated(const std::string& name) {
  const auto all = generators();
  return std::ranges::find(all, name, &Generator::name) != all.end();
}

// Names of machines are no files, nor are sizes that spaces divide.
Diagnostics not_a_file(Diagnostics errors, const std::string& path) {
  if (is_generated(path)) {
    errors.front().remedy =
        fmt::format("`forestcoll topo gen {0} -o {0}.json` writes a topology of this name", path);
  } else if (parse_size(path)) {
    errors.front().remedy = "write several sizes with commas, such as 1M,64M";
  }
  return errors;
}

// A file goes before a name of `topo gen`.
Expected<std::string> text_of_box(const std::string& box) {
  std::error_code error;
  if (box == "-" || !is_generated(box) || std::filesystem::exists(box, error)) {
    return read_input(box);
  }
  const auto document = generate(box);
  if (!document) return document.errors();
  return to_topology_json(*document);
}

// The same GPUs on a fabric that has not failed.
std::optional<Topology> before_failures(const Topology& whole, Failures failures) {
  if (failures.drop.empty() && failures.derate.empty()) return std::nullopt;
  failures.drop.clear();
  failures.derate.clear();
  if (failures.empty()) return whole;
  auto chosen = degrade(whole, failures);
  if (!chosen) return std::nullopt;
  return std::move(chosen->topology);
}

std::ptrdiff_t relays_in(const Topology& topology) {
  return std::ranges::count(topology.nodes, NodeType::relay, &TopologyNode::type);
}

std::optional<GroupBeside> group_beside(const Topology& whole, Failures failures,
                                        const Topology& left) {
  const bool more = !failures.members.empty() && failures.relays != Failures::Relays::all;
  failures.relays = more ? Failures::Relays::all : Failures::Relays::none;
  if (!more && !has_relays(left)) return std::nullopt;
  auto other = degrade(whole, failures);
  if (!other || relays_in(other->topology) == relays_in(left)) return std::nullopt;
  return GroupBeside{std::move(other->topology), more};
}

// What joins GPUs only through others that run no program of theirs.
Diagnostics not_alone(Diagnostics errors) {
  for (Diagnostic& error : errors) {
    error.where = "without relays";
    error.remedy =
        "Only GPUs that relay join them, and what a runtime loads runs on the others alone. Relays "
        "are in forests (--format forest -o FILE) and, of an alltoall, in flows (--format flows).";
  }
  return errors;
}

void add_dump_options(CLI::App& command, DumpOptions& options) {
  const OptionGroup group(command, "Dumps of machines");
  group.option("--nvlink", options.nvlink, "nvswitch=GB/s",
               "GB/s of each GPU to the NVSwitches; for a dump without the GPUs' links, as\n"
               "clouds ship them for NCCL");
  group.file("--box", options.box,
             "A machine that has the GPUs' links, for such a dump; a name of `topo gen\n"
             "--list`, a topology file or a dump. For ibnetdiscover and Slurm: the dump of one\n"
             "machine, which stands for each host",
             "NAME|FILE");
  group.flag("--pcie-p2p", options.pcie_p2p,
             "Let GPUs reach each other through PCIe and CPUs beside NVLink and xGMI; always\n"
             "so where these do not join all GPUs");
}

}  // namespace

void add_reading_options(CLI::App& command, ReadingOptions& options) {
  const OptionGroup general(command);
  general
      .option("--max-nodes", options.max_nodes, "N",
              "Refuse topologies with more nodes, after ranges are expanded")
      ->check(positive_integer())
      ->capture_default_str();
  general.flag("--strict", options.strict,
               "Treat warnings about the topology (W01 to W09, W12, W16) as errors");
  general.option("--quantize", options.quantize, "GB/s",
                 "Round every bandwidth to a multiple of this many GB/s");
  add_dump_options(command, options.dump);
}

void add_failure_options(CLI::App& command, Failures& failures) {
  const OptionGroup group(command, "Failures");
  group.list("--drop", failures.drop, "LINK|NODE|NODE:ROLE",
             "Remove a link, node, box or role of a switch; A~B is a link both ways, A->B one\n"
             "way, kind=K all of a kind. A~B*1 and kind=K*1 are one of parallel cables.\n"
             "nvsw:multicast and nvsw:reduce are roles. Ids may have ranges, such as\n"
             "box[0-1]/nic3; several times");
  group.list("--derate", failures.derate, "LINK=F",
             "Reduce a link's bandwidth to the fraction F, 0 < F <= 1, such as\n"
             "box0/nic0~ib0=1/2");
  const auto names_some = [](const std::string& list) {
    return list.empty() ? std::string("the list names no GPU") : std::string();
  };
  auto* ranks =
      group
          .option("--ranks", failures.ranks, "LIST",
                  "Keep only these GPUs, in this rank order; ids, ranges, boxes or rank numbers,\n"
                  "with commas")
          ->check(names_some);
  auto* members = group
                      .option("--members", failures.members, "LIST",
                              "Process group: only these GPUs take part; listed as for --ranks")
                      ->check(names_some)
                      ->excludes(ranks);
  auto* relays =
      group
          .place(command.add_flag_callback(
              "--relays", [&failures] { failures.relays = Failures::Relays::all; },
              "Let the GPUs outside --members forward data like switches; in forests and flows,\n"
              "and in one plan for --groups, as other programs run on the members alone"))
          ->needs(members);
  group
      .place(command.add_flag_callback(
          "--no-relays", [&failures] { failures.relays = Failures::Relays::none; },
          "Let no other GPU forward data, not even those that the topology declares relays"))
      ->excludes(relays);
}

void add_latency_option(CLI::App& command, Failures& failures) {
  const OptionGroup general(command);
  general.list("--latency", failures.latency, "KIND=US",
               "Microseconds, one way, of all links of a kind, such as ib=2 or nvlink=700ns; =1\n"
               "is for links without a kind. It replaces the latency in the file. Links without\n"
               "any have a typical one of their kind; several times");
}

Expected<Reading> reading_of(const ReadingOptions& options) {
  Reading reading;
  reading.parser = {.max_nodes = options.max_nodes, .strict = options.strict, .quantize = {}};
  if (!options.quantize.empty()) {
    reading.parser.quantize = parse_ratio(options.quantize);
    if (!reading.parser.quantize || *reading.parser.quantize <= Ratio(0)) {
      return make_error(Code::S03,
                        fmt::format("--quantize: expected a positive number of GB/s, found \"{}\"",
                                    options.quantize),
                        "write a number such as 0.5, 25 or 1/3");
    }
  }
  reading.import.pcie_p2p = options.dump.pcie_p2p;
  if (!options.dump.nvlink.empty()) {
    const auto nvswitch = nvswitch_of(options.dump.nvlink);
    if (!nvswitch) return nvswitch.errors();
    reading.import.nvswitch = *nvswitch;
  }
  if (!options.dump.box.empty()) {
    auto text = text_of_box(options.dump.box);
    if (!text) return text.errors();
    if (text->empty()) {
      return make_error(Code::I08,
                        fmt::format("--box: {} is empty", display_name(options.dump.box)),
                        "Give a dump of a machine, or a topology file.");
    }
    reading.import.box_text = *std::move(text);
    reading.import.box_file = display_name(options.dump.box);
  }
  return reading;
}

Expected<ParsedTopology> read_topology(const std::string& path, const Reading& reading,
                                       const Console& console, Metadata* metadata) {
  const auto text = read_input(path);
  if (!text) return not_a_file(text.errors(), path);
  const ProgressBar bar("reading the topology", console);
  auto parsed = parse_any(*text, display_name(path), reading, metadata);
  if (parsed && parsed->topology.name.empty()) parsed->topology.name = name_by_file(path);
  return parsed;
}

Expected<LoadedTopology> load_topology(const std::string& path, const ReadingOptions& options,
                                       const Failures& failures, const Console& console) {
  const auto reading = reading_of(options);
  if (!reading) return reading.errors();
  Metadata metadata;
  auto parsed = read_topology(path, *reading, console, &metadata);
  if (!parsed) return parsed.errors();
  const ProgressBar bar("reading the topology", console);
  LoadedTopology loaded{
      {std::move(parsed->warnings), std::move(parsed->notes), parsed->quantize_change, {}, {}},
      std::move(parsed->topology),
      {}};
  loaded.gpu = choose_gpu(loaded.topology, metadata);
  loaded.gpu.reason = with_flags(loaded.gpu.reason);
  loaded.beside = group_beside(loaded.topology, failures, loaded.topology);
  if (failures.empty()) return loaded;
  auto left = degrade(loaded.topology, failures);
  if (!left) return in_file(left.errors(), path);
  loaded.before = before_failures(loaded.topology, failures);
  loaded.beside = group_beside(loaded.topology, failures, left->topology);
  loaded.topology = std::move(left->topology);
  loaded.changes = std::move(left->changes);
  const Diagnostics warnings = in_file(left->warnings, path);
  loaded.warnings.insert(loaded.warnings.end(), warnings.begin(), warnings.end());
  return loaded;
}

Expected<Fabric> load_fabric(const std::string& path, const ReadingOptions& options,
                             const Failures& failures, const Console& console) {
  auto loaded = load_topology(path, options, failures, console);
  if (!loaded) return loaded.errors();
  auto fabric = make_fabric(std::move(loaded->topology), std::move(loaded->gpu));
  if (!fabric) return in_file(fabric.errors(), path);
  return Fabric{*std::move(fabric), static_cast<ReadingNotes&&>(*loaded)};
}

Expected<std::optional<Fabric>> fabric_before(const Fabric& fabric) {
  if (!fabric.before) return std::optional<Fabric>();
  auto before = make_fabric(*fabric.before, fabric.gpu);
  if (!before) return before.errors();
  return std::optional(Fabric{*std::move(before), {}});
}

Expected<Fabric> members_alone(Fabric fabric) {
  auto left = degrade(fabric.topology, {.relays = Failures::Relays::none});
  if (!left) return not_alone(left.errors());
  auto alone = make_fabric(std::move(left->topology), std::move(fabric.gpu));
  if (!alone) return alone.errors();
  fabric.beside = GroupBeside{std::move(fabric.topology), true, true};
  static_cast<forestcoll::Fabric&>(fabric) = *std::move(alone);
  fabric.changes.insert(fabric.changes.end(), left->changes.begin(), left->changes.end());
  return fabric;
}

void report_parsed(const ParsedTopology& parsed, const Console& console) {
  print(parsed.warnings, console);
  for (const std::string& inferred : parsed.notes) note(console, inferred);
}

void report_reading(const ReadingNotes& read, const ReadingOptions& options,
                    const Console& console) {
  print(read.warnings, console);
  for (const std::string& inferred : read.notes) note(console, inferred);
  for (const std::string& change : read.changes) note(console, change);
  if (options.quantize.empty()) return;
  note(console, fmt::format("--quantize {} changed a bandwidth by {} % at most", options.quantize,
                            number(read.quantize_change.to_double() * 100)));
}

Expected<Rank> find_rank(const Topology& topology, const std::string& text) {
  if (const auto rank = rank_with_id(topology, text)) return *rank;
  const auto rank = parse_number<std::size_t>(text);
  if (rank && *rank < topology.ranks.size()) return Rank(*rank);
  return make_error(
      Code::S02, fmt::format("--root: expected the id of a GPU or a rank, found \"{}\"", text),
      fmt::format("ranks are 0 to {}; ids are such as \"{}\"", topology.ranks.size() - 1,
                  topology.nodes[topology.ranks.front()].id));
}

Expected<Rank> same_rank(const Topology& topology, Rank rank, const Topology& other) {
  return find_rank(other, topology.nodes[topology.ranks[rank.index()]].id);
}

Expected<std::optional<Rank>> find_root(const Topology& topology, Collective collective,
                                        const std::string& text) {
  if (!is_rooted(collective)) {
    if (text.empty()) return std::optional<Rank>();
    return make_error(Code::S02, fmt::format("--root: {} has no root", to_string(collective)),
                      "leave --root out, or ask for -c broadcast, reduce, scatter or gather");
  }
  if (text.empty()) {
    return make_error(Code::S02, fmt::format("{} needs a root", to_string(collective)),
                      "name it by id or by rank, such as --root 0");
  }
  const auto rank = find_rank(topology, text);
  if (!rank) return rank.errors();
  return std::optional<Rank>(*rank);
}

}  // namespace forestcoll::cli
