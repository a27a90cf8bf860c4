#include "batch/items/item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/report/flags.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {
namespace {

auto identity(const ItemResult& result) {
  return std::tie(result.input, result.variant.collective, result.variant.target,
                  result.variant.trees);
}

std::optional<Status> parse_status(const std::string& text) {
  for (const Status status : {Status::ok, Status::failed, Status::cached, Status::skipped}) {
    if (to_string(status) == text) return status;
  }
  return std::nullopt;
}

std::optional<Ratio> parse_exact(const Json& json) {
  if (!json.is_object() || !json.contains("exact") || !json["exact"].is_string()) {
    return std::nullopt;
  }
  return parse_ratio(json["exact"].get<std::string>());
}

std::optional<std::string> text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// "optimum", "optimum_by_trees" and "reached", as far as they are there.
Json named_figures(const Json& json) {
  Json figures = Json::object();
  for (const char* name : {"optimum", "optimum_by_trees", "reached"}) {
    if (json.contains(name)) figures[name] = json[name];
  }
  return figures;
}

// Versions before the fourth have other names for some keys.
const char* now_or_before(const Json& json, const char* now, const char* before) {
  return json.contains(now) ? now : before;
}

// Of {"total": 1.5}, or of the number that it was before.
Json total_of(const Json& seconds) {
  return seconds.is_object() ? seconds.value("total", Json()) : seconds;
}

// None for what is above the optimum.
std::optional<double> fraction(const Ratio& part, const Ratio& whole) {
  if (part > whole) return std::nullopt;
  return share(part, whole);
}

}  // namespace

std::string to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::cached:
      return "cached";
    case Status::skipped:
      break;
  }
  return "skipped";
}

ItemError first_error(const Diagnostics& findings) {
  const auto is_error = [](const Diagnostic& finding) {
    return finding.severity == Severity::error;
  };
  const auto first = std::ranges::find_if(findings, is_error);
  if (first == findings.end()) return item_error(Code::J04, "failed without a word");
  const auto count = std::ranges::count_if(findings, is_error);
  ItemError error{first->code, with_flags(first->message), with_flags(first->where)};
  if (count > 1) error.message += fmt::format(" (and {} more)", count - 1);
  return error;
}

ItemError item_error(Code code, std::string message) {
  return {code, std::move(message), ""};
}

ItemResult untouched(const Item& item) {
  ItemResult result;
  result.input = printable(item.input);
  result.variant = item.variant;
  return result;
}

bool is_before(const ItemResult& a, const ItemResult& b) {
  return identity(a) < identity(b);
}

bool is_same(const ItemResult& a, const ItemResult& b) {
  return identity(a) == identity(b);
}

std::string label(const ItemResult& result) {
  return fmt::format("{} {} ({}, k {})", on_one_line(result.input), result.variant.collective,
                     result.variant.target, result.variant.trees);
}

std::string output_path(const ItemResult& result) {
  if (result.outputs.empty()) return {};
  const std::string& first = result.outputs.front().path;
  if (result.outputs.size() == 1) return first;
  // The directory lies beside other outputs of the topology.
  return first.substr(0, first.find('/', result.input.size() + 1));
}

Json to_json(const OutputFile& file) {
  return {{"path", file.path}, {"bytes", file.bytes}, {"hash", file.hash}};
}

Json to_json(const ItemResult& result) {
  Json json = {{"input", result.input},
               {"collective", result.variant.collective},
               {"target", result.variant.target},
               {"asked_k", result.variant.trees},
               {"status", to_string(result.status)},
               {"outputs", Json::array()}};
  for (const OutputFile& file : result.outputs) json["outputs"].push_back(to_json(file));
  if (result.figures) {
    add_figures(json, *result.figures);
  } else {
    for (const char* key : {"algbw", "optimum_fraction", "max_height"}) json[key] = nullptr;
  }
  json["seconds"] = {{"total", result.seconds}};
  json["error"] = nullptr;
  if (result.error) {
    json["error"] = {{"code", name_of(result.error->code)},
                     {"message", result.error->message},
                     {"where", result.error->where}};
  }
  return json;
}

std::optional<OutputFile> parse_output_file(const Json& json) {
  const auto path = text_at(json, "path");
  const auto hash = text_at(json, "hash");
  const auto bytes = json.find("bytes");
  if (!path || !hash || bytes == json.end() || !bytes->is_number_unsigned()) return std::nullopt;
  return OutputFile{*path, *hash, bytes->get<std::uint64_t>()};
}

std::optional<ItemResult> parse_result(const Json& json) {
  if (!json.is_object() || !json.contains("outputs") || !json["outputs"].is_array()) {
    return std::nullopt;
  }
  const Json seconds = total_of(json.value("seconds", Json()));
  if (!seconds.is_number()) return std::nullopt;
  const auto input = text_at(json, "input"), collective = text_at(json, "collective"),
             target = text_at(json, "target"),
             trees = text_at(json, now_or_before(json, "asked_k", "k")),
             status_text = text_at(json, "status");
  if (!input || !collective || !target || !trees || !status_text) return std::nullopt;
  const auto status = parse_status(*status_text);
  if (!status) return std::nullopt;
  ItemResult result;
  result.input = *input;
  result.variant = {*collective, *target, *trees};
  result.status = *status;
  for (const Json& output : json["outputs"]) {
    auto file = output.is_object() ? parse_output_file(output) : std::nullopt;
    if (!file) return std::nullopt;
    result.outputs.push_back(*std::move(file));
  }
  result.seconds = seconds.get<double>();
  if (json.contains("algbw") && !json["algbw"].is_null()) {
    result.figures = parse_figures(json);
    if (!result.figures) return std::nullopt;
  }
  if (json.contains("error") && json["error"].is_object()) {
    const Json& error = json["error"];
    result.error =
        ItemError{parse_code(text_at(error, "code").value_or("")),
                  text_at(error, "message").value_or(""), text_at(error, "where").value_or("")};
  }
  return result;
}

void add_figures(Json& json, const Figures& figures) {
  json["algbw"] = exact(figures.algbw);
  json["optimum_fraction"] =
      figures.optimum_fraction ? Json(*figures.optimum_fraction) : Json(nullptr);
  json["max_height"] = figures.height ? Json(*figures.height) : Json(nullptr);
  if (const auto& range = figures.optimum_range) {
    json["optimum_range"] = {{"at_least", exact(range->first)}, {"at_most", exact(range->second)}};
  }
  json.update(figures.named);
}

Ratio reached_by(const Figures& figures) {
  return parse_exact(figures.named.value("reached", Json())).value_or(figures.algbw);
}

std::string range_text(const std::pair<Ratio, Ratio>& range) {
  return fmt::format("{} to {}", number(range.first), number(range.second));
}

std::optional<Figures> parse_figures(const Json& json) {
  const auto algbw = json.find("algbw"), part = json.find("optimum_fraction"),
             height = json.find(now_or_before(json, "max_height", "height"));
  if (algbw == json.end() || part == json.end() || height == json.end() ||
      !(part->is_number() || part->is_null()) ||
      !(height->is_number_integer() || height->is_null())) {
    return std::nullopt;
  }
  const auto rate = parse_exact(*algbw);
  if (!rate) return std::nullopt;
  std::optional<double> share;
  if (part->is_number()) share = part->get<double>();
  Figures figures{*rate, share};
  if (height->is_number_integer()) figures.height = height->get<std::int64_t>();
  if (const auto range = json.find("optimum_range"); range != json.end()) {
    if (!range->is_object()) return std::nullopt;
    const auto least = parse_exact(range->value("at_least", Json())),
               most = parse_exact(range->value("at_most", Json()));
    if (!least || !most) return std::nullopt;
    figures.optimum_range = {*least, *most};
  }
  figures.named = named_figures(json);
  return figures;
}

Figures figures_of_job(const JobRates& rates) {
  Figures figures{rates.reached, fraction(rates.reached, rates.optimum), rates.height};
  figures.named["optimum"] = exact(rates.optimum);
  if (rates.known) {
    figures.named["optimum"]["at_least"] = exact(*rates.known);
    figures.optimum_range = {*rates.known, rates.optimum};
  }
  figures.named["reached"] = exact(rates.reached);
  return figures;
}

std::optional<Figures> figures_of_summary(const Json& summary) {
  if (!summary.is_object() || !summary.contains("algbw") || !summary.contains("optimum")) {
    return std::nullopt;
  }
  const auto algbw = parse_exact(summary["algbw"]), optimum = parse_exact(summary["optimum"]);
  if (!algbw) return std::nullopt;
  Figures figures{*algbw};
  figures.named = named_figures(summary);
  if (optimum) figures.optimum_fraction = fraction(reached_by(figures), *optimum);
  if (const auto least = summary.find("optimum_at_least"); optimum && least != summary.end()) {
    const auto known = parse_exact(*least);
    if (!known) return std::nullopt;
    figures.optimum_range = {*known, *optimum};
  }
  if (summary.contains("paths")) return figures;  // of an all-to-all
  const Json height = summary.value("height", Json::object()).value("max", Json());
  if (!height.is_number_integer()) return std::nullopt;
  figures.height = height.get<std::int64_t>();
  return figures;
}

std::string printable(const std::string& name) {
  const std::string quoted = Json(name).dump(-1, ' ', false, Json::error_handler_t::ignore);
  if (Json::parse(quoted).get<std::string>() == name) return name;
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text;
}

std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace forestcoll::cli::batch
