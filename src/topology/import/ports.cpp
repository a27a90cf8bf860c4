#include "topology/import/ports.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "forestcoll/text.hpp"

namespace forestcoll::importing {
namespace {

std::string names_of(const Machine& machine, const std::vector<std::size_t>& nics) {
  std::vector<std::string> names;
  for (const std::size_t nic : nics) names.push_back(machine.nics[nic].name);
  return listed(names);
}

std::string place_of(const Context& context, const Machine& machine,
                     const std::vector<std::size_t>& nics) {
  return context.place(machine.nics[nics.front()].offset);
}

std::string impossible_speed(const Machine& machine, const std::vector<std::size_t>& nics,
                             const Ratio& bandwidth) {
  return fmt::format("a speed of {}, which is {} GB/s and more than any NIC has: {}",
                     quote(machine.nics[nics.front()].speed), shown(bandwidth),
                     names_of(machine, nics));
}

}  // namespace

bool check_bandwidths(const Context& context, const Machine& machine,
                      const std::vector<NicPort>& ports) {
  std::vector<std::size_t> unknown, impossible;
  for (std::size_t n = 0; n < ports.size(); ++n) {
    if (!ports[n].bandwidth) unknown.push_back(n);
    if (ports[n].bandwidth && *ports[n].bandwidth > kMaxNicBandwidth) impossible.push_back(n);
  }
  if (!impossible.empty()) {
    context.findings.error(Code::I03, place_of(context, machine, impossible),
                           impossible_speed(machine, impossible, *ports[impossible[0]].bandwidth),
                           "Give the real one: `nic_bandwidth=25` (GB/s).");
  }
  if (!unknown.empty()) {
    context.findings.error(Code::I05, place_of(context, machine, unknown),
                           fmt::format("no speed is known of {}: {}",
                                       counted(unknown.size(), "NIC"), names_of(machine, unknown)),
                           "Give it: `nic_bandwidth=25` (GB/s).");
  }
  return unknown.empty() && impossible.empty();
}

void report_left_out(const Context& context, const Machine& machine) {
  if (machine.nics.empty()) return;
  std::vector<std::size_t> all, impossible;
  for (std::size_t n = 0; n < machine.nics.size(); ++n) {
    all.push_back(n);
    const auto& bandwidth = machine.nics[n].bandwidth;
    if (bandwidth && *bandwidth > kMaxNicBandwidth) impossible.push_back(n);
  }
  if (!impossible.empty()) {
    context.findings.warning(
        Code::I21, place_of(context, machine, impossible),
        impossible_speed(machine, impossible, *machine.nics[impossible[0]].bandwidth),
        "The NICs are left out here; give their real speed when you import several boxes.");
  }
  context.report.left_out.push_back(
      fmt::format("{}: {} (one box alone needs none; `boxes=N` `fabric=NAME` links them)",
                  counted(all.size(), "NIC"), names_of(machine, all)));
}

void append(const std::vector<NicPort>& ports, const PortLink& link,
            std::vector<LinkText>& entries) {
  // NICs of one bandwidth share a line, those of two nodes have one for either direction.
  std::map<std::pair<bool, Ratio>, std::vector<std::size_t>> alike;
  for (const std::size_t port : link.ports) {
    const Ratio bandwidth = link.bandwidth.value_or(ports[port].bandwidth.value_or(Ratio(1)));
    alike[{ports[port].is_one_node(), bandwidth}].push_back(port);
  }
  for (const auto& [key, group] : alike) {
    const auto& [one_node, bandwidth] = key;
    std::vector<std::string> send, receive;
    for (const std::size_t port : group) {
      send.push_back(ports[port].send);
      receive.push_back(ports[port].receive);
    }
    for (const std::string& box : compress_ids(link.boxes)) {
      LinkText entry{.src = "",
                     .dst = "",
                     .bandwidth = exact_text(bandwidth),
                     .kind = "nic",
                     .count = link.count,
                     .full_duplex = one_node};
      for (const std::string& ids : compress_ids(send)) {
        entry.src = box + "/" + ids;
        entry.dst = link.switch_id;
        entries.push_back(entry);
      }
      if (one_node) continue;
      for (const std::string& ids : compress_ids(receive)) {
        entry.src = link.switch_id;
        entry.dst = box + "/" + ids;
        entries.push_back(entry);
      }
    }
  }
}

}  // namespace forestcoll::importing
