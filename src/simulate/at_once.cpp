// Schedules of several groups, made ready to be simulated at once.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/joint_source.hpp"
#include "simulate/model.hpp"

namespace forestcoll {
namespace {

using NodesById = std::map<std::string_view, NodeId>;

// Which link of the whole fabric each link of a part is; nothing where there is none.
std::optional<std::vector<std::int32_t>> links_in(const simulate::Fabric& whole,
                                                  const NodesById& nodes,
                                                  const Simulator::Model& part) {
  std::vector<std::int32_t> links;
  for (const Arc& arc : part.fabric().network().graph.arcs()) {
    const auto tail = nodes.find(part.name(arc.tail)), head = nodes.find(part.name(arc.head));
    if (tail == nodes.end() || head == nodes.end()) return std::nullopt;
    const ArcId link = whole.network().graph.find(tail->second, head->second);
    if (!link.valid()) return std::nullopt;
    links.push_back(link.value);
  }
  return links;
}

// Reads and verifies schedules, each in its part.
class Preparer {
 public:
  explicit Preparer(const Topology& whole) {
    for (std::size_t v = 0; v < whole.nodes.size(); ++v) {
      nodes_.emplace(whole.nodes[NodeId(v)].id, NodeId(v));
    }
  }

  Expected<simulate::JointSource::Member> prepare(const GroupRun& group,
                                                  const simulate::Fabric& whole) const {
    auto simulator = prepare_simulation(group.schedule, group.file, *group.part);
    if (!simulator) return simulator.errors();
    auto links = links_in(whole, nodes_, *simulator->model());
    if (links) {
      return simulate::JointSource::Member{simulator->model(), group.share, *std::move(links)};
    }
    return make_error(Code::M04,
                      fmt::format("{}: its part has links that the fabric has not", group.file),
                      "give the topology that the schedules were made for");
  }

 private:
  NodesById nodes_;
};

}  // namespace

Expected<Simulator> prepare_simulation(std::span<const GroupRun> groups, const Topology& whole) {
  auto fabric = simulate::Fabric::make(whole);
  if (!fabric) return fabric.errors();
  const Preparer preparer(whole);
  std::vector<simulate::JointSource::Member> members;
  for (const GroupRun& group : groups) {
    auto member = preparer.prepare(group, *fabric);
    if (!member) return member.errors();
    members.push_back(*std::move(member));
  }
  Simulator::Model::Description description = members.front().model->description();
  for (const simulate::JointSource::Member& member : members) {
    const Simulator::Model::Description& other = member.model->description();
    if (other.collective != description.collective) description.collective = "several collectives";
    if (other.protocol != description.protocol) description.protocol = "several protocols";
  }
  description.ranks = static_cast<std::int64_t>(whole.ranks.size());
  description.bytes = 0;
  return Simulator(
      std::make_shared<const Simulator::Model>(std::move(description), whole, *std::move(fabric),
                                               simulate::JointSource(std::move(members))));
}

}  // namespace forestcoll
