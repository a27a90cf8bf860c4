#include "forestcoll/setting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace forestcoll {
namespace {

struct NamedSetting {
  Setting setting;
  std::string_view name;
};

// The enumerator and its name, which so cannot differ.
#define SETTING(name) Setting::name, #name

constexpr auto kSettings =
    std::to_array<NamedSetting>({{SETTING(a100)},
                                 {SETTING(b200)},
                                 {SETTING(bandwidth)},
                                 {SETTING(bandwidths)},
                                 {SETTING(baseline)},
                                 {SETTING(box)},
                                 {SETTING(boxes)},
                                 {SETTING(boxes_per_leaf)},
                                 {SETTING(compute)},
                                 {SETTING(degree)},
                                 {SETTING(demand)},
                                 {SETTING(derate)},
                                 {SETTING(diameter)},
                                 {SETTING(dimensions)},
                                 {SETTING(dims)},
                                 {SETTING(drop)},
                                 {SETTING(fabric)},
                                 {SETTING(force_simple)},
                                 {SETTING(format)},
                                 {SETTING(global)},
                                 {SETTING(gpu)},
                                 {SETTING(groups)},
                                 {SETTING(h100)},
                                 {SETTING(health)},
                                 {SETTING(host)},
                                 {SETTING(hosts)},
                                 {SETTING(instances)},
                                 {SETTING(k)},
                                 {SETTING(latency)},
                                 {SETTING(levels)},
                                 {SETTING(max_bytes)},
                                 {SETTING(max_height)},
                                 {SETTING(max_nodes)},
                                 {SETTING(max_threadblocks)},
                                 {SETTING(measured)},
                                 {SETTING(members)},
                                 {SETTING(memory)},
                                 {SETTING(mesh)},
                                 {SETTING(nccl_graph)},
                                 {SETTING(nic_bandwidth)},
                                 {SETTING(nodes)},
                                 {SETTING(nvswitch)},
                                 {SETTING(offsets)},
                                 {SETTING(oversubscription)},
                                 {SETTING(pcie_p2p)},
                                 {SETTING(placement)},
                                 {SETTING(ports)},
                                 {SETTING(protocol)},
                                 {SETTING(quantize)},
                                 {SETTING(ranks)},
                                 {SETTING(relays)},
                                 {SETTING(routers)},
                                 {SETTING(seed)},
                                 {SETTING(sharp)},
                                 {SETTING(size)},
                                 {SETTING(spines)},
                                 {SETTING(split_nvswitch)},
                                 {SETTING(switches)},
                                 {SETTING(target)},
                                 {SETTING(threadblocks)},
                                 {SETTING(time_limit)},
                                 {SETTING(topology)},
                                 {SETTING(tune)},
                                 {SETTING(uplink_bandwidth)},
                                 {SETTING(uplinks)},
                                 {SETTING(alltoall_optimum)},
                                 {Setting::boxes_and_fabric, "boxes=N, fabric=NAME"},
                                 {SETTING(generate)},
                                 {Setting::generate_call, "generate()"},
                                 {SETTING(generators)},
                                 {Setting::generators_call, "generators()"},
                                 {Setting::import_topology, "import_topology()"},
                                 {Setting::import_topology_of, "import_topology(source)"},
                                 {Setting::make_alltoall_baseline, "make_alltoall_baseline()"},
                                 {Setting::make_baseline, "make_baseline()"},
                                 {Setting::summarize, "summarize()"},
                                 {SETTING(to_forest_json)},
                                 {Setting::verify, "verify()"}});

#undef SETTING

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    if (static_cast<std::size_t>(kSettings[i].setting) != i) return false;
  }
  return true;
}
static_assert(are_in_order() && kSettings.size() == static_cast<std::size_t>(Setting::verify) + 1);

// Parameters of generators have dashes where options have underscores.
std::optional<Setting> setting_of(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  const auto* known = std::ranges::find(kSettings, name, &NamedSetting::name);
  return known == kSettings.end() ? std::nullopt : std::optional(known->setting);
}

// Of what stands in backquotes.
std::optional<Mention> mention_of(std::string_view text) {
  if (const auto whole = setting_of(text)) return Mention{*whole};
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto setting = setting_of(text.substr(0, equals));
  if (!setting) return std::nullopt;
  return Mention{*setting, std::string(text.substr(equals + 1))};
}

}  // namespace

std::string_view name_of(Setting setting) {
  return kSettings[static_cast<std::size_t>(setting)].name;
}

std::vector<TextPart> parts_of(std::string_view text) {
  std::vector<TextPart> parts;
  std::string words;
  bool is_input = false;  // within quotation marks
  while (!text.empty()) {
    const std::size_t end =
        text.front() == '`' && !is_input ? text.find('`', 1) : std::string_view::npos;
    const std::size_t length = end == std::string_view::npos ? 1 : end + 1;
    auto mention = length > 1 ? mention_of(text.substr(1, length - 2)) : std::nullopt;
    if (mention) {
      if (!words.empty()) parts.emplace_back(std::move(words));
      words.clear();
      parts.emplace_back(*std::move(mention));
    } else {
      words += text.substr(0, length);
    }
    if (text.front() == '"') is_input = !is_input;
    text.remove_prefix(length);
  }
  if (!words.empty()) parts.emplace_back(std::move(words));
  return parts;
}

}  // namespace forestcoll
