#include "batch/items/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

class Reader {
 public:
  Reader(const std::string& file, const Assignment& standard) : file_(file), standard_(standard) {}

  Expected<std::vector<Assignment>> read(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return error("", "expected JSON", "check the file with a JSON tool");
    check_keys(json, "", {"format", "version", "topologies"});
    if (!errors_.empty()) return errors_;
    if (json.value("format", Json()) != "forestcoll-batch-manifest" ||
        json.value("version", Json()) != 1) {
      return error("", "expected \"format\": \"forestcoll-batch-manifest\" and \"version\": 1",
                   "begin the file with these two");
    }
    const Json topologies = json.value("topologies", Json());
    if (!topologies.is_array() || topologies.empty()) {
      return error("/topologies", "expected a list of topologies",
                   R"(write [{"path": "a.json"}, …])");
    }
    std::vector<Assignment> result;
    for (std::size_t i = 0; i < topologies.size(); ++i) {
      result.push_back(entry(topologies[i], fmt::format("/topologies/{}", i)));
    }
    if (!errors_.empty()) return errors_;
    std::ranges::sort(result, {}, &Assignment::input);
    return result;
  }

 private:
  Diagnostic error(const std::string& where, std::string message, std::string remedy) const {
    Diagnostic result = make_error(Code::J06, std::move(message), std::move(remedy));
    result.file = file_;
    result.where = where;
    return result;
  }
  void add(const std::string& where, std::string message, std::string remedy) {
    errors_.push_back(error(where, std::move(message), std::move(remedy)));
  }

  void check_keys(const Json& json, const std::string& where,
                  const std::vector<std::string_view>& known) {
    if (!json.is_object()) {
      add(where, "expected an object", "see `forestcoll batch --help`");
      return;
    }
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      add(where + "/" + key, fmt::format("there is no key \"{}\"", key),
          fmt::format("known are {}", fmt::join(known, ", ")));
    }
  }

  Assignment entry(const Json& json, const std::string& where) {
    Assignment result = standard_;
    check_keys(json, where, {"path", "options", "collectives", "targets", "k"});
    if (!json.is_object()) return result;
    read_path(json.value("path", Json()), where + "/path", result.input);
    read_words(json, where, "collectives", result.collectives,
               [](std::string& name) { return resolve_collective(name).empty(); });
    read_words(json, where, "targets", result.targets,
               [](const std::string& name) { return is_target(name); });
    read_words(json, where, "k", result.trees,
               [](const std::string& text) { return parse_words({"-k" + text}).has_value(); });
    if (json.contains("options")) {
      const auto own = normalized(texts(json["options"], where + "/options"));
      if (own) {
        result.words = overridden(standard_.words, *own);
        const auto collectives = result.asked_collectives();
        if (!has_operations(*own) && has_root_in_vain(*own, collectives)) {
          add(where + "/options",
              fmt::format("--root: {} has no root", fmt::join(collectives, ", ")),
              "leave --root out, or add a collective that has one to \"collectives\"");
        }
      } else {
        add(where + "/options", own.errors().front().message, own.errors().front().remedy);
      }
    }
    return result;
  }

  void read_path(const Json& json, const std::string& where, std::string& path) {
    if (!json.is_string() || json.get<std::string>().empty()) {
      add(where, "expected the path of a topology, relative to the directory", "");
      return;
    }
    path = std::filesystem::path(json.get<std::string>()).lexically_normal().string();
    if (path.starts_with('/') || path.starts_with("..")) {
      add(where, fmt::format("\"{}\" leads out of the directory", path),
          "outputs lie as topologies do: give a directory that has all of them");
    }
    if (!seen_.insert(path).second) {
      add(where, fmt::format("\"{}\" stands here twice", path),
          "give one entry several collectives, targets or k");
    }
  }

  std::vector<std::string> texts(const Json& json, const std::string& where) {
    std::vector<std::string> result;
    if (!json.is_array()) add(where, "expected a list of texts", "");
    for (const Json& element : json.is_array() ? json : Json::array()) {
      if (element.is_string()) {
        result.push_back(element.get<std::string>());
      } else if (element.is_number_integer()) {
        result.push_back(element.dump());
      } else {
        add(where, "expected texts, found " + element.dump(), "");
      }
    }
    return result;
  }

  template <class Known>
  void read_words(const Json& json, const std::string& where, const char* key,
                  std::vector<std::string>& values, Known known) {
    if (!json.contains(key)) return;
    const std::string place = where + "/" + key;
    values = texts(json[key], place);
    if (values.empty()) add(place, "expected at least one", "leave the key out for the default");
    for (std::string& value : values) {
      if (!known(value)) {
        add(place, fmt::format("\"{}\" is none of {}", value, key),
            "`forestcoll synth --help-all` has them");
      }
    }
  }

  const std::string& file_;
  const Assignment& standard_;
  std::set<std::string> seen_;
  Diagnostics errors_;
};

}  // namespace

std::vector<std::string> Assignment::asked_collectives() const {
  if (!collectives.empty()) return collectives;
  return {has_operations(words) ? kJobOfOperations : SynthArguments().collective};
}

Expected<std::vector<Assignment>> parse_manifest(const std::string& text, const std::string& file,
                                                 const Assignment& standard) {
  return Reader(file, standard).read(text);
}

}  // namespace forestcoll::cli::batch
