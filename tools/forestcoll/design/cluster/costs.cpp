#include "design/cluster/costs.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t kMostPorts = 65'536;

// Collects what is wrong, each with its place.
class CostsReader {
 public:
  explicit CostsReader(const std::string& file) : file_(file) {}

  Expected<ClusterCosts> read(const Json& json) {
    if (!json.is_object() || json.value("format", Json()) != "forestcoll-costs" ||
        json.value("version", Json()) != 1) {
      wrong(Code::K02, "", "expected an object of the format forestcoll-costs, version 1",
            "Begin with docs/costs-example.json.");
      return errors_;
    }
    ClusterCosts costs;
    costs.currency = text(json, "currency");
    costs.note = text(json, "note");
    const Json switches = json.value("switches", Json());
    if (!switches.is_array() || switches.empty()) {
      wrong(Code::K03, "/switches", "there is no switch to buy",
            "List at least one: {\"name\", \"ports\", \"bandwidth\", \"price\"}.");
    } else {
      for (std::size_t i = 0; i < switches.size(); ++i) {
        costs.switches.push_back(read_switch(switches[i], fmt::format("/switches/{}", i)));
      }
    }
    const Json cables = json.value("cables", Json::object());
    costs.box_cable = cable(cables, "box", "from a NIC to its leaf");
    costs.row_cable = cable(cables, "row", "from a leaf to the next level");
    costs.hall_cable = cable(cables, "hall", "above that, and between groups");
    if (!errors_.empty()) return errors_;
    return costs;
  }

 private:
  void wrong(Code code, std::string where, std::string message, std::string remedy) {
    errors_.push_back(make_error(code, std::move(message), std::move(remedy),
                                 {.file = file_, .where = std::move(where)}));
  }

  std::string text(const Json& json, const char* key) {
    const Json value = json.value(key, Json());
    if (value.is_string()) return value;
    wrong(Code::K02, fmt::format("/{}", key), "expected a text", "Say whose prices they are.");
    return {};
  }

  SwitchPrice read_switch(const Json& json, const std::string& where) {
    SwitchPrice read;
    if (!json.is_object()) {
      wrong(Code::K02, where, "expected an object with name, ports, bandwidth and price", "");
      return read;
    }
    const Json name = json.value("name", Json()), ports = json.value("ports", Json());
    const Json bandwidth = json.value("bandwidth", Json());
    if (name.is_string()) {
      read.name = name;
    } else {
      wrong(Code::K02, where + "/name", "expected a text", "Give the switch a name.");
    }
    if (ports.is_number_integer() && ports > 1 && ports <= kMostPorts) {
      read.ports = ports;
    } else {
      wrong(Code::K02, where + "/ports", fmt::format("expected a number from 2 to {}", kMostPorts),
            "");
    }
    const auto value =
        parse_bandwidth(bandwidth.is_string() ? bandwidth.get<std::string>() : bandwidth.dump());
    if (value) {
      read.bandwidth = *value;
    } else {
      wrong(Code::K02, where + "/bandwidth", "expected a bandwidth of one port",
            "Write it as \"400 Gb/s\".");
    }
    read.price = price(json, "price", where, true);
    return read;
  }

  // A price that is not negative; 0 where it may be left out and is.
  Ratio price(const Json& json, const char* key, const std::string& where, bool required) {
    const Json value = json.value(key, Json());
    if (value.is_null() && !required) return 0;
    const auto read = value.is_number() ? parse_ratio(value.dump()) : std::nullopt;
    if (read && *read >= Ratio(0) && *read <= Ratio(1'000'000'000)) return *read;
    wrong(Code::K02, fmt::format("{}/{}", where, key), "expected a price from 0 to a billion", "");
    return 0;
  }

  Ratio cable(const Json& cables, const char* length, const char* meaning) {
    const Json one = cables.is_object() ? cables.value(length, Json()) : Json();
    const std::string where = fmt::format("/cables/{}", length);
    if (!one.is_object()) {
      wrong(Code::K03, where, fmt::format("there is no price for cables {}", meaning),
            fmt::format("Add \"{}\": {{\"price\": …, \"optics\": …}}.", length));
      return 0;
    }
    return price(one, "price", where, true) + price(one, "optics", where, false);
  }

  const std::string& file_;
  Diagnostics errors_;
};

}  // namespace

Expected<ClusterCosts> parse_costs(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return make_error(Code::K02, "not JSON", "Begin with docs/costs-example.json.", {.file = file});
  }
  return CostsReader(file).read(json);
}

}  // namespace forestcoll::cli
