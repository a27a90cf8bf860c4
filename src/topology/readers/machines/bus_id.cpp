#include "topology/readers/machines/bus_id.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll::importing {
namespace {

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
  return number_in<std::uint32_t>(text, 16);
}

}  // namespace

std::string canonical_bus(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  const std::size_t device = text.rfind(':', dot);
  if (dot == std::string_view::npos || device == std::string_view::npos || device == 0) {
    return lower_case(text);
  }
  const std::size_t colon = text.rfind(':', device - 1);
  const bool has_domain = colon != std::string_view::npos;
  const std::size_t bus = has_domain ? colon + 1 : 0;
  const auto domain_number = has_domain ? hexadecimal(text.substr(0, colon)) : 0U;
  const auto bus_number = hexadecimal(text.substr(bus, device - bus));
  const auto device_number = hexadecimal(text.substr(device + 1, dot - device - 1));
  const auto function_number = hexadecimal(text.substr(dot + 1));
  if (!domain_number || !bus_number || !device_number || !function_number) return lower_case(text);
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain_number, *bus_number, *device_number,
                     *function_number);
}

std::string card_of(std::string_view bus) {
  return std::string(bus.substr(0, bus.rfind('.')));
}

void share_slots(Machine& machine) {
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> cards;
  for (std::size_t n = 0; n < machine.nics.size(); ++n) {
    const Nic& nic = machine.nics[n];
    if (!nic.card.empty()) cards[{nic.slot.parent, nic.card}].push_back(n);
  }
  for (const auto& [place, nics] : cards) {
    if (nics.size() < 2) continue;
    // Each function tells of the card's own link; one that does so without a guess is preferred.
    PcieSlot slot = machine.nics[nics.front()].slot;
    for (const std::size_t n : nics) {
      if (!slot.guess.empty()) slot = machine.nics[n].slot;
    }
    for (const std::size_t n : nics) machine.nics[n].slot = {.parent = machine.bridges.size()};
    machine.bridges.push_back({.name = place.second, .cpu = false, .slot = std::move(slot)});
  }
}

}  // namespace forestcoll::importing
