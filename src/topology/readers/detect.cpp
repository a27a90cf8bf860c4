// What a file is, by a look at its beginning.
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll {
namespace {

constexpr std::array<SourceInfo, 15> kSources = {{
    {Source::nccl, "nccl", "NCCL's or RCCL's topology XML (NCCL_TOPO_DUMP_FILE)"},
    {Source::nccl_graph, "nccl-graph", "NCCL's graph XML: its rings, not a topology"},
    {Source::nvidia_smi, "nvidia-smi", "the output of nvidia-smi topo -m; needs `gpu`"},
    {Source::hwloc, "hwloc", "lstopo --of xml, with NVLink or xGMI distances"},
    {Source::ibnetdiscover, "ibnetdiscover", "the output of ibnetdiscover; needs `box`"},
    {Source::slurm, "slurm", "Slurm's topology.conf; needs `box`"},
    {Source::astra_sim, "astra-sim", "ASTRA-sim's analytical network, YAML"},
    {Source::simai, "simai", "an edge list of ns-3 or SimAI"},
    {Source::sccl, "sccl", "a topology of SCCL or msccl-tools, JSON"},
    {Source::optccl, "optccl", "a topology spec of OptCCL, JSON"},
    {Source::node_link, "node-link", "networkx node-link JSON"},
    {Source::json_graph, "json-graph", "JSON Graph Format"},
    {Source::graphml, "graphml", "GraphML"},
    {Source::dot, "dot", "Graphviz DOT"},
    {Source::csv, "csv", "a list of links: src,dst,bandwidth,…"},
}};

// The text from the first byte that is no blank on.
std::string_view content_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// Behind a DOCTYPE, which may hold declarations in brackets; nothing where it does not end.
std::string_view behind_doctype(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = std::min(text.find(c, at + 1), text.size());
    } else if (text.substr(at).starts_with("<!--")) {
      at = std::min(text.find("-->", at), text.size());
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && depth > 0) {
      --depth;
    } else if (c == '>' && depth == 0) {
      return text.substr(at + 1);
    }
  }
  return {};
}

// The name of the root element of XML, behind declarations and comments.
std::string_view root_element(std::string_view text) {
  while (text.starts_with("<?") || text.starts_with("<!")) {
    if (text.starts_with("<!DOCTYPE")) {
      text = content_of(behind_doctype(text));
      continue;
    }
    const std::string_view end = text.starts_with("<!--") ? "-->" : ">";
    const std::size_t close = text.find(end);
    if (close == std::string_view::npos) return {};
    text = content_of(text.substr(close + end.size()));
  }
  if (!text.starts_with("<")) return {};
  return text.substr(1, std::min(text.find_first_of(" \t\r\n/>"), text.size()) - 1);
}

std::optional<Source> detect_xml(std::string_view text) {
  const std::string_view root = root_element(text);
  if (root == "system") return Source::nccl;
  if (root == "graphs") return Source::nccl_graph;
  if (root == "topology") return Source::hwloc;
  if (root == "graphml") return Source::graphml;
  return std::nullopt;
}

// The keys at the top of a JSON object; what they hold is not looked at.
class TopKeys {
 public:
  explicit TopKeys(std::string_view text) {
    std::size_t depth = 0, before = 0;  // `before`: the offset behind the last text
    std::string_view last;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && depth > 0) --depth;
      if (c == ':' && depth == 1 && before != 0) keys_.push_back(last);
      if (c == '"') {
        const std::size_t begin = ++at;
        while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
        if (at >= text.size()) return;
        last = text.substr(begin, at - begin);
        before = at;
      }
    }
  }
  [[nodiscard]] bool has(std::string_view key) const {
    return std::ranges::find(keys_, key) != keys_.end();
  }

 private:
  std::vector<std::string_view> keys_;
};

std::optional<Source> detect_json(std::string_view text) {
  const TopKeys keys(text);
  if (keys.has("components") && keys.has("bandwidth_constraints")) return Source::optccl;
  if (keys.has("format")) return std::nullopt;
  if (keys.has("graph") && !keys.has("nodes")) return Source::json_graph;
  if (keys.has("nodes") && (keys.has("directed") || keys.has("multigraph") || keys.has("edges"))) {
    return Source::node_link;
  }
  if (keys.has("links") && !keys.has("nodes")) return Source::sccl;
  // YAML may be written so.
  if (keys.has("topology") && keys.has("npus_count")) return Source::astra_sim;
  return std::nullopt;
}

bool starts_word(std::string_view line, std::string_view word) {
  return line.size() >= word.size() &&
         std::ranges::equal(line.substr(0, word.size()), word, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
         });
}

// In letters of either case; `word` in small ones.
bool is_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() && starts_word(text, word);
}

bool begins_dot(std::string_view text) {
  while (text.starts_with("//") || text.starts_with("/*") || text.starts_with("#")) {
    const std::string_view end = text.starts_with("/*") ? "*/" : "\n";
    const std::size_t close = text.find(end, 1);
    if (close == std::string_view::npos) return false;
    text = content_of(text.substr(close + end.size()));
  }
  const std::string head(text.substr(0, std::min<std::size_t>(text.find('{'), 300)));
  const auto words = words_of(head);
  if (words.empty() || head.size() == text.size()) return false;
  const bool strict = is_word(words[0], "strict") && words.size() > 1;
  const std::string_view first = words[strict ? 1 : 0];
  return is_word(first, "graph") || is_word(first, "digraph");
}

bool begins_matrix(std::string_view line) {
  const auto words = words_of(line);
  // A terminal underlines the header.
  return !words.empty() &&
         words[0].substr(words[0].starts_with("\x1b[4m") ? 4 : 0).starts_with("GPU0");
}

bool is_rocm_title(std::string_view line) {
  return line.starts_with("====") &&
         (line.find("ROCm System Management") != std::string_view::npos ||
          line.find("between two GPUs") != std::string_view::npos);
}

bool all_numbers(const std::vector<std::string_view>& words) {
  return std::ranges::all_of(words,
                             [](std::string_view word) { return natural(word).has_value(); });
}

bool begins_edge_list(const std::vector<TextLine>& lines) {
  std::vector<std::vector<std::string_view>> rows;
  for (const auto& line : lines) {
    if (auto words = words_of(line.text); !words.empty()) rows.push_back(std::move(words));
    if (rows.size() == 3) break;
  }
  if (rows.size() < 2 || rows[0].size() < 3) return false;
  const bool ns3 = rows[0].size() == 3 && all_numbers(rows[0]);
  const bool simai = rows[0].size() >= 5 && all_numbers({rows[0].begin(), rows[0].begin() + 5});
  if (!ns3 && !simai) return false;
  // Without switches, the links follow at once.
  const bool switches = rows[0][1] != "0" || simai;
  if (!switches) return rows[1].size() >= 4;
  return all_numbers(rows[1]) && (rows.size() < 3 || rows[2].size() >= 4);
}

// A first column with the name of one end. The reader refuses other separators than commas.
bool begins_csv(std::string_view line) {
  const std::string_view name = line.substr(line.starts_with("\"") ? 1 : 0);
  for (const std::string_view end : {"src", "source", "from"}) {
    if (!starts_word(name, end)) continue;
    const std::size_t after = name.find_first_not_of("\" \t", end.size());
    const std::string_view gap = name.substr(end.size(), std::min(after, name.size()) - end.size());
    const bool comma = after != std::string_view::npos &&
                       std::string_view(",;|").find(name[after]) != std::string_view::npos;
    if (comma || gap.find('\t') != std::string_view::npos) return true;
  }
  return false;
}

std::optional<Source> detect_lines(std::string_view text) {
  constexpr std::size_t kMost = 200;  // of comments and prompts before what tells
  const auto lines = lines_of(text.substr(0, 1 << 16));
  if (begins_edge_list(lines)) return Source::simai;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    const std::string_view line = trimmed(lines[i].text);
    // The reader says what rocm-smi's matrices lack.
    if (begins_matrix(line) || is_rocm_title(line)) return Source::nvidia_smi;
    if (line.empty() || line.starts_with("#")) continue;
    if (starts_word(line, "switchname=")) return Source::slurm;
    if (starts_word(line, "vendid=") || line.starts_with("switchguid=") ||
        line.starts_with("Switch\t") || line.starts_with("Switch ")) {
      return Source::ibnetdiscover;
    }
    if (line.starts_with("topology:") || line.starts_with("npus_count:")) return Source::astra_sim;
    if (begins_csv(line)) return Source::csv;
  }
  return std::nullopt;
}

}  // namespace

std::span<const SourceInfo> import_sources() {
  return kSources;
}

const SourceInfo& info_of(Source source) {
  return *std::ranges::find(kSources, source, &SourceInfo::source);
}

std::optional<Source> find_source(std::string_view name) {
  const auto found = std::ranges::find(kSources, name, &SourceInfo::name);
  return found == kSources.end() ? std::nullopt : std::optional(found->source);
}

std::optional<Source> detect_source(std::string_view text) {
  const std::string_view content = content_of(topology::without_byte_order_mark(text));
  if (content.starts_with("<")) return detect_xml(content);
  if (content.starts_with("{")) return detect_json(content);
  if (begins_dot(content)) return Source::dot;
  return detect_lines(content);
}

}  // namespace forestcoll
