#include "topology/format/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/words.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t num, den;
};

// What messages list. Bandwidths have more spellings, which `unit_of_bandwidth` reads.
constexpr std::array<std::string_view, 7> kListedBandwidths = {"GB/s",  "Gb/s", "MB/s", "Mb/s",
                                                               "GiB/s", "TB/s", "Tb/s"};
constexpr std::array<Unit, 6> kUnitPrefixes = {{{"M", 1, 1000},
                                                {"G", 1, 1},
                                                {"T", 1000, 1},
                                                {"Mi", std::int64_t{1} << 20, 1'000'000'000},
                                                {"Gi", std::int64_t{1} << 30, 1'000'000'000},
                                                {"Ti", std::int64_t{1} << 40, 1'000'000'000}}};
constexpr std::array<Unit, 5> kLatencyUnits = {
    {{"us", 1, 1}, {"ns", 1, 1000}, {"ms", 1000, 1}, {"µs", 1, 1}, {"μs", 1, 1}}};
constexpr std::size_t kListedLatencies = 3;

// "bit" of "Gbit/s", with what is taken off its end.
bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Bits or bytes, taken off the end of "Gbit" or "GB". A word that is spelled out is certain.
enum class Counted { nothing, bits, bytes };
struct CountedUnit {
  Counted counted = Counted::nothing;
  bool is_spelled_out = false;
};
CountedUnit take_counted(std::string_view& text) {
  for (const std::string_view word : {"bits", "bit", "Bits", "Bit"}) {
    if (take_suffix(text, word)) return {Counted::bits, true};
  }
  for (const std::string_view word : {"bytes", "byte", "Bytes", "Byte"}) {
    if (take_suffix(text, word)) return {Counted::bytes, true};
  }
  if (take_suffix(text, "b")) return {Counted::bits, false};
  if (take_suffix(text, "B")) return {Counted::bytes, false};
  return {};
}

// GB/s of "Gb/s", "Gbps", "GBps", "GiB/s", "Gbit/s", "Gbytes/sec". The prefix may be a small letter
// only where bits or bytes are spelled out: nobody knows which of them "gb/s" means.
std::optional<Ratio> unit_of_bandwidth(std::string_view name) {
  const bool is_short = take_suffix(name, "ps");
  if (!is_short && !take_suffix(name, "/s") && !take_suffix(name, "/sec")) return std::nullopt;
  const CountedUnit unit = take_counted(name);
  if (unit.counted == Counted::nothing || (is_short && unit.is_spelled_out)) return std::nullopt;
  std::string prefix(name);
  if (unit.is_spelled_out && !prefix.empty()) {
    prefix = upper_case(prefix.substr(0, 1)) + prefix.substr(1);
  }
  const auto found = std::ranges::find(kUnitPrefixes, prefix, &Unit::name);
  if (found == kUnitPrefixes.end()) return std::nullopt;
  const Ratio bytes(found->num, found->den);
  return unit.counted == Counted::bytes ? bytes : checked_div(bytes, Ratio(8));
}

// "200" of "200 Gb/s", and "Gb/s"; nothing before the unit but spaces.
struct DigitsAndUnit {
  std::string_view digits, unit;
  bool has_unit = false;
};
DigitsAndUnit digits_and_unit(std::string_view text) {
  const std::size_t digits_end = text.find_first_not_of("0123456789+-.eE/");
  if (digits_end == std::string_view::npos) return {text, {}, false};
  const std::size_t begin = text.find_first_not_of(' ', digits_end);
  return {text.substr(0, digits_end),
          begin == std::string_view::npos ? std::string_view() : text.substr(begin), true};
}

}  // namespace

std::optional<Ratio> find_unit(Quantity quantity, std::string_view name) {
  if (quantity == Quantity::bandwidth) return unit_of_bandwidth(name);
  if (quantity != Quantity::latency) return std::nullopt;
  const auto found = std::ranges::find(kLatencyUnits, name, &Unit::name);
  if (found == kLatencyUnits.end()) return std::nullopt;
  return Ratio(found->num, found->den);
}

std::string known_units(Quantity quantity) {
  if (quantity == Quantity::bandwidth) return fmt::format("{}", fmt::join(kListedBandwidths, ", "));
  return listed(std::span(kLatencyUnits).first(kListedLatencies), &Unit::name);
}

std::optional<Ratio> parse_quantity(Quantity quantity, std::string_view text,
                                    const Ratio& default_unit) {
  const DigitsAndUnit written = digits_and_unit(text);
  const auto value = parse_ratio(std::string(written.digits));
  if (!value) return std::nullopt;
  if (!written.has_unit) return checked_mul(*value, default_unit);
  const auto unit = find_unit(quantity, written.unit);
  return unit ? checked_mul(*value, *unit) : std::nullopt;
}

std::string remedy_of_bandwidth(std::string_view text) {
  const DigitsAndUnit written = digits_and_unit(text);
  const auto value = parse_ratio(std::string(written.digits));
  const std::string a_second = std::string(written.unit) + "/s";
  std::string_view rest = written.unit;
  if (value && *value > 0 && take_counted(rest).is_spelled_out &&
      find_unit(Quantity::bandwidth, a_second)) {
    return fmt::format("Write \"{} {}\".", written.digits, a_second);
  }
  if (value && *value > 0 && written.has_unit && !find_unit(Quantity::bandwidth, written.unit)) {
    std::string unit = lower_case(written.unit);
    for (const std::string_view ending : {"/s", "/sec", "ps", "s"}) {
      if (!unit.ends_with(ending)) continue;
      unit.resize(unit.size() - ending.size());
      break;
    }
    if (unit.ends_with('b')) unit.pop_back();
    const bool is_binary = unit.ends_with('i');
    if (is_binary) unit.pop_back();
    if (unit == "m" || unit == "g" || unit == "t") {
      const std::string prefix = upper_case(unit.substr(0, 1)) + (is_binary ? "i" : "");
      return fmt::format("Bits or bytes? Write \"{0} {1}b/s\" or \"{0} {1}B/s\".", written.digits,
                         prefix);
    }
  }
  return fmt::format("It is a positive number of at most 18 digits; known units: {}.",
                     known_units(Quantity::bandwidth));
}

}  // namespace forestcoll::topology

namespace forestcoll {

std::optional<Ratio> parse_bandwidth(std::string_view text) {
  using topology::Quantity;
  const auto value = topology::parse_quantity(Quantity::bandwidth, text, 1);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace forestcoll
