#include "topology/format/units.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t num, den;
};

constexpr std::array<Unit, 7> kBandwidthUnits = {{
    {"GB/s", 1, 1},
    {"Gb/s", 1, 8},
    {"MB/s", 1, 1000},
    {"Mb/s", 1, 8000},
    {"GiB/s", std::int64_t{1} << 30, 1'000'000'000},
    {"TB/s", 1000, 1},
    {"Tb/s", 125, 1},
}};
constexpr std::array<Unit, 3> kLatencyUnits = {{{"us", 1, 1}, {"ns", 1, 1000}, {"ms", 1000, 1}}};

std::span<const Unit> units_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::bandwidth:
      return kBandwidthUnits;
    case Quantity::latency:
      return kLatencyUnits;
    case Quantity::number:
      break;
  }
  return {};
}

}  // namespace

std::optional<Ratio> find_unit(Quantity quantity, std::string_view name) {
  for (const Unit& unit : units_of(quantity)) {
    if (unit.name == name) return Ratio(unit.num, unit.den);
  }
  return std::nullopt;
}

std::string known_units(Quantity quantity) {
  std::string names;
  for (const Unit& unit : units_of(quantity)) {
    if (!names.empty()) names += ", ";
    names += unit.name;
  }
  return names;
}

std::optional<Ratio> parse_quantity(Quantity quantity, std::string_view text,
                                    const Ratio& default_unit) {
  const std::size_t digits_end = text.find_first_not_of("0123456789+-.eE/");
  const std::string_view digits = text.substr(0, digits_end);
  const auto value = parse_ratio(std::string(digits));
  if (!value) return std::nullopt;
  if (digits_end == std::string_view::npos) return checked_mul(*value, default_unit);
  const std::size_t name_begin = text.find_first_not_of(' ', digits_end);
  if (name_begin == std::string_view::npos) return std::nullopt;
  const auto unit = find_unit(quantity, text.substr(name_begin));
  return unit ? checked_mul(*value, *unit) : std::nullopt;
}

std::string with_slash(std::string_view bandwidth) {
  if (!bandwidth.ends_with("bps")) return std::string(bandwidth);
  bandwidth.remove_suffix(2);
  return std::string(bandwidth) + "/s";
}

}  // namespace forestcoll::topology

namespace forestcoll {

std::optional<Ratio> parse_bandwidth(std::string_view text) {
  using topology::Quantity;
  const auto value = topology::parse_quantity(Quantity::bandwidth, topology::with_slash(text), 1);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace forestcoll
