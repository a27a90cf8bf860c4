// pugixml turns text into elements; everything above that is ours, and lenient: what is missing
// becomes a finding and a harmless value, so that one run reports as much as it can.
#include "audit/msccl/xml_reader.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <iterator>
#include <limits>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll::audit {
namespace {

// Attributes are what stands between the quotes: no runtime knows entities.
constexpr unsigned kAsItStands = pugi::parse_minimal;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kInt32Max = std::numeric_limits<std::int32_t>::max();

struct Integer {
  std::int64_t value = 0;
  const char* misread = nullptr;  // "octal" or "hexadecimal": what strtol(…, 0) makes of it
};

// A whole decimal number, or one in the other notations of C.
std::optional<Integer> parse_integer(std::string_view text) {
  Integer result;
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view digits = text.substr(negative ? 1 : 0);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    result.misread = "hexadecimal";
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    result.misread = "octal";
  }
  if (digits.empty() || digits.front() == '-') return std::nullopt;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, result.value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (negative) result.value = -result.value;
  return result;
}

// The attributes of one element.
class Attributes {
 public:
  Attributes(pugi::xml_node node, Place place, Findings& findings)
      : node_(node), hint_(node.first_attribute()), place_(std::move(place)), findings_(findings) {}

  [[nodiscard]] bool has(const char* name) { return !node_.attribute(name, hint_).empty(); }

  // Nothing, and a finding, where the attribute is missing.
  std::optional<std::string_view> find(const char* name) {
    const pugi::xml_attribute attribute = node_.attribute(name, hint_);
    if (!attribute.empty()) return attribute.value();
    findings_.add(Rule::attribute, place_,
                  fmt::format("<{}> has no attribute {}", node_.name(), name),
                  "every attribute must stand, even where it means nothing");
    return std::nullopt;
  }

  std::string_view text(const char* name) { return find(name).value_or(""); }

  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) {
    const auto found = find(name);
    if (!found) return otherwise;
    const std::string_view value = *found;
    const auto parsed = parse_integer(value);
    if (!parsed || parsed->value < least || parsed->value > most) {
      findings_.add(Rule::attribute, place_,
                    fmt::format("{}: expected an integer {}, found \"{}\"", name,
                                range_text(least, most), value.substr(0, 40)));
      return otherwise;
    }
    if (parsed->misread != nullptr) {
      findings_.add(Rule::lexical, place_,
                    fmt::format("{}=\"{}\" is {} for the runtimes: {}", name, value,
                                parsed->misread, parsed->value),
                    "write decimal integers without leading zeros");
    }
    return parsed->value;
  }

  std::int32_t small(const char* name, std::int32_t least, std::int32_t most,
                     std::int32_t otherwise) {
    return static_cast<std::int32_t>(integer(name, least, most, otherwise));
  }

  bool flag(const char* name) { return integer(name, 0, 1, 0) == 1; }

 private:
  static std::string range_text(std::int64_t least, std::int64_t most) {
    if (most == kHuge) return fmt::format("of at least {}", least);
    return fmt::format("between {} and {}", least, most);
  }

  pugi::xml_node node_;
  pugi::xml_attribute hint_;  // attributes come in one order, so the search begins at the last hit
  Place place_;
  Findings& findings_;
};

class Reader {
 public:
  // `begin`: where in the file the elements' text begins.
  Reader(const LineIndex& lines, std::size_t begin, const TargetRules& target, Findings& findings)
      : lines_(lines), begin_(begin), target_(target), findings_(findings) {}

  // `read_gpu` returns the Gpu of an element.
  template <class ReadGpu>
  Program read(pugi::xml_node algo, ReadGpu read_gpu) {
    Program program;
    program.line = line_of(algo);
    read_header(algo, program);
    for_children(algo, "gpu", Place{-1, -1, -1, program.line, {}},
                 [&](pugi::xml_node node) { program.gpus.push_back(read_gpu(node)); });
    return program;
  }

  Gpu read_gpu(pugi::xml_node node) {
    Gpu gpu;
    gpu.line = line_of(node);
    Attributes attributes(node, Place{-1, -1, -1, gpu.line, {}}, findings_);
    gpu.id = attributes.small("id", 0, kInt32Max, 0);
    gpu.input_chunks = attributes.integer("i_chunks", 0, kInt32Max, 0);
    gpu.output_chunks = attributes.integer("o_chunks", 0, kInt32Max, 0);
    gpu.scratch_chunks = attributes.integer("s_chunks", 0, kInt32Max, 0);
    for_children(node, "tb", place_of(gpu), [&](pugi::xml_node child) {
      gpu.threadblocks.push_back(read_threadblock(child, gpu));
    });
    return gpu;
  }

 private:
  std::int32_t line_of(pugi::xml_node node) {
    const auto offset = node.offset_debug();
    if (offset < 0) return 0;
    line_ = lines_.line(begin_ + static_cast<std::size_t>(offset), line_);
    return static_cast<std::int32_t>(line_);
  }

  // Calls `read` for each child of that name, up to what a runtime's fixed array holds.
  template <class Read>
  void for_children(pugi::xml_node parent, const char* name, const Place& place, Read read) {
    std::int32_t count = 0;
    for (const pugi::xml_node child : parent.children(name)) {
      if (count++ < kMaxChildren) read(child);
    }
    if (count <= kMaxChildren) return;
    findings_.add(Rule::limit, place,
                  fmt::format("{} <{}> elements in one <{}>; the runtimes hold {} and overflow "
                              "silently beyond",
                              count, name, parent.name(), kMaxChildren));
    findings_.add(Rule::too_large, place, "the rest was not read, so the program cannot be run");
  }

  void read_header(pugi::xml_node node, Program& program) {
    const Place place{-1, -1, -1, program.line, {}};
    Attributes attributes(node, place, findings_);
    if (target_.requires_name || attributes.has("name")) program.name = attributes.text("name");
    program.protocol = attributes.text("proto");
    program.channels = attributes.integer("nchannels", 1, kInt32Max, 1);
    program.chunks = attributes.integer("nchunksperloop", 1, kInt32Max, 1);
    program.ranks = attributes.integer("ngpus", 1, kInt32Max, 1);
    read_pattern(attributes.text("coll"), place, program);
    program.in_place = attributes.flag("inplace");
    if (target_.honours_out_of_place) {
      program.out_of_place = attributes.flag("outofplace");
    } else {
      program.out_of_place = !program.in_place;
    }
    const bool window = target_.honours_out_of_place;
    if (window || attributes.has("minBytes")) {
      program.min_bytes = attributes.integer("minBytes", 0, kHuge, 0);
    }
    program.max_bytes = std::int64_t{128} << 20;  // the research runtime's default
    if (window || attributes.has("maxBytes")) {
      program.max_bytes = attributes.integer("maxBytes", 0, kHuge, 0);
    }
    if (attributes.has("buffsize")) {
      program.buffer_bytes = attributes.integer("buffsize", 1, kInt32Max, 0);
    }
    if (target_.reads_threads && attributes.has("nthreads")) {
      check_threads(attributes.integer("nthreads", 1, kInt32Max, 32), place);
    }
  }

  void check_threads(std::int64_t threads, const Place& place) {
    if (threads % 32 == 0) return;
    findings_.add(Rule::attribute, place,
                  fmt::format("nthreads: expected a multiple of 32, found {}", threads),
                  "leave the attribute out, or round it");
  }

  void read_pattern(std::string_view name, const Place& place, Program& program) {
    if (name == target_.reduce_scatter_name) {
      program.pattern = Pattern::reduce_scatter;
      return;
    }
    const auto pattern = parse_pattern(name);
    const auto is_known = [&](Pattern known) { return pattern == known; };
    if (std::ranges::any_of(std::array{Pattern::allgather, Pattern::allreduce, Pattern::broadcast,
                                       Pattern::reduce, Pattern::alltoall},
                            is_known)) {
      program.pattern = *pattern;
      return;
    }
    findings_.add(Rule::unsupported, place,
                  fmt::format("coll: expected allgather, {}, allreduce, broadcast, reduce or "
                              "alltoall for target {}, found \"{}\"",
                              target_.reduce_scatter_name, target_.name, name.substr(0, 40)));
  }

  Threadblock read_threadblock(pugi::xml_node node, const Gpu& gpu) {
    Threadblock tb;
    tb.line = line_of(node);
    Attributes attributes(node, Place{gpu.id, -1, -1, tb.line, {}}, findings_);
    tb.id = attributes.small("id", 0, kInt32Max, 0);
    tb.send_peer = attributes.small("send", -1, kInt32Max, -1);
    tb.recv_peer = attributes.small("recv", -1, kInt32Max, -1);
    tb.channel = attributes.small("chan", 0, kInt32Max, 0);
    for_children(node, "step", place_of(gpu, tb),
                 [&](pugi::xml_node child) { read_step(child, gpu, tb); });
    return tb;
  }

  void read_step(pugi::xml_node node, const Gpu& gpu, Threadblock& tb) {
    const auto position = static_cast<std::int32_t>(tb.steps.size());
    Step step;
    step.line = line_of(node);
    const Place place{gpu.id, tb.id, position, step.line, {}};
    Attributes attributes(node, place, findings_);
    const std::int32_t number = attributes.small("s", 0, kInt32Max, position);
    if (number != position) {
      findings_.add(Rule::numbering, place,
                    fmt::format("s=\"{}\" stands at position {}; steps run in the order of the "
                                "file, whatever their numbers",
                                number, position),
                    "number the steps 0, 1, 2, … in the order of the file");
    }
    step.operation = read_operation(attributes.text("type"), place);
    step.source = read_buffer(attributes, "srcbuf", place);
    step.source_offset = attributes.small("srcoff", -1, kMaxOffset, 0);
    step.destination = read_buffer(attributes, "dstbuf", place);
    step.destination_offset = attributes.small("dstoff", -1, kMaxOffset, 0);
    step.count = attributes.small("cnt", step.operation->is_nop() ? 0 : 1, kMaxCount, 1);
    step.depends_threadblock = attributes.small("depid", -1, kInt32Max, -1);
    step.depends_step = attributes.small("deps", -1, kMaxOffset, -1);
    step.has_dependent = attributes.flag("hasdep");
    refuse_children(node, place);
    tb.steps.push_back(step);
  }

  // The runtimes ignore elements that they do not know, but in a step they crash on any.
  void refuse_children(pugi::xml_node step, const Place& place) {
    for (const pugi::xml_node child : step.children()) {
      if (child.type() != pugi::node_element) continue;
      findings_.add(Rule::lexical, place,
                    fmt::format("an element, <{}>, inside a <step>; the runtimes crash on it",
                                std::string_view(child.name()).substr(0, 40)),
                    "close the step before it");
      return;
    }
  }

  const Operation* read_operation(std::string_view name, const Place& place) {
    const Operation* operation = find_operation(name);
    if (operation != nullptr && target_.accepts(name)) return operation;
    findings_.add(Rule::unsupported, place,
                  operation == nullptr
                      ? fmt::format("type: expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop, "
                                    "found \"{}\"",
                                    name.substr(0, 40))
                      : fmt::format("target {} does not run steps of type {}", target_.name, name),
                  operation == nullptr
                      ? ""
                      : fmt::format("make it with `target={}`, or verify it for another target",
                                    target_.name));
    return operation != nullptr ? operation : find_operation("nop");
  }

  Buffer read_buffer(Attributes& attributes, const char* name, const Place& place) {
    const auto value = attributes.find(name);
    if (!value || value == "i") return Buffer::input;
    if (value == "o") return Buffer::output;
    if (value == "s") return Buffer::scratch;
    findings_.add(Rule::attribute, place,
                  fmt::format("{}: expected i, o or s, found \"{}\"", name, value->substr(0, 40)));
    return Buffer::input;
  }

  const LineIndex& lines_;
  std::size_t begin_;
  std::size_t line_ = 0;  // of the last element
  const TargetRules& target_;
  Findings& findings_;
};

// Where the text of each <gpu> element lies, if all of them are plainly there: what looks like one
// may lie in a comment or a value, which is found out when it is read.
std::vector<std::string_view> find_gpus(std::string_view text) {
  constexpr std::string_view kOpen = "<gpu ", kClose = "</gpu>";
  const std::boyer_moore_horspool_searcher opening(kOpen.begin(), kOpen.end());
  const std::boyer_moore_horspool_searcher closing(kClose.begin(), kClose.end());
  std::vector<std::string_view> gpus;
  for (auto at = std::search(text.begin(), text.end(), opening); at != text.end();
       at = std::search(at, text.end(), opening)) {
    const auto close = std::search(at, text.end(), closing);
    if (close == text.end()) return {};
    gpus.emplace_back(at, close + kClose.size());
    at = gpus.back().end();
  }
  return gpus;
}

// The text with an empty element in place of every <gpu>.
std::string without_gpus(std::string_view text, const std::vector<std::string_view>& gpus) {
  std::string rest;
  std::size_t at = 0;
  for (const std::string_view gpu : gpus) {
    const auto begin = static_cast<std::size_t>(gpu.data() - text.data());
    rest.append(text.substr(at, begin - at)).append("<gpu/>");
    at = begin + gpu.size();
  }
  return rest.append(text.substr(at));
}

bool is_alone(pugi::xml_node element, std::string_view name) {
  return element.name() == name && element.next_sibling().empty();
}

// Every <gpu> as a document of its own, side by side, so that no more than a few are ever held as
// elements. Nothing where that is not the same as reading the whole: it is not well-formed, or what
// looks like a <gpu> is none.
std::optional<Program> read_by_gpus(std::string_view text, const LineIndex& lines,
                                    const TargetRules& target, Findings& findings) {
  const std::vector<std::string_view> parts = find_gpus(text);
  if (parts.empty()) return std::nullopt;
  const std::string rest = without_gpus(text, parts);
  pugi::xml_document document;
  if (!document.load_buffer(rest.data(), rest.size(), kAsItStands, pugi::encoding_utf8) ||
      !is_alone(document.first_child(), "algo")) {
    return std::nullopt;
  }
  const auto children = document.first_child().children("gpu");
  if (std::distance(children.begin(), children.end()) != std::ssize(parts)) return std::nullopt;

  std::vector<Gpu> gpus(parts.size());
  std::vector<Findings> found(parts.size(), Findings(findings.file()));
  std::atomic<bool> is_same = true;
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
    pugi::xml_document gpu;
    if (!gpu.load_buffer(parts[i].data(), parts[i].size(), kAsItStands, pugi::encoding_utf8) ||
        !is_alone(gpu.first_child(), "gpu")) {
      is_same = false;
      return;
    }
    const auto begin = static_cast<std::size_t>(parts[i].data() - text.data());
    gpus[i] = Reader(lines, begin, target, found[i]).read_gpu(gpu.first_child());
  });
  if (!is_same) return std::nullopt;
  std::size_t next = 0;
  return Reader(lines, 0, target, findings).read(document.first_child(), [&](pugi::xml_node) {
    findings.add(found[next]);
    return std::move(gpus[next++]);
  });
}

}  // namespace

Expected<Program> read_msccl_xml(std::string_view text, std::string_view file,
                                 const LineIndex& lines, const TargetRules& target,
                                 Findings& findings) {
  if (auto program = read_by_gpus(text, lines, target, findings)) return *std::move(program);
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), kAsItStands, pugi::encoding_utf8);
  if (!result) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
    return file_error(file, lines.position(std::min(offset, text.size())),
                      fmt::format("not well-formed XML: {}", result.description()),
                      "the file may be truncated");
  }
  const pugi::xml_node algo = document.document_element();
  if (std::string_view(algo.name()) != "algo") {
    return file_error(file, "",
                      fmt::format("expected <algo> as the first element, found <{}>",
                                  std::string_view(algo.name()).substr(0, 40)),
                      "give the schedule as MSCCL XML or forest JSON");
  }
  for (pugi::xml_node next = algo.next_sibling(); !next.empty(); next = next.next_sibling()) {
    if (next.type() != pugi::node_element) continue;
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(next.offset_debug(), 0));
    findings.add(Rule::lexical, lines.position(offset),
                 fmt::format("a second element, <{}>, after <algo>",
                             std::string_view(next.name()).substr(0, 40)),
                 "a file holds one algorithm");
    break;
  }
  Reader reader(lines, 0, target, findings);
  return reader.read(algo, [&](pugi::xml_node gpu) { return reader.read_gpu(gpu); });
}

}  // namespace forestcoll::audit
