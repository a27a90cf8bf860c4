// Schedules of several groups, made ready to be simulated at once.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/joint_source.hpp"
#include "simulate/model.hpp"

namespace forestcoll {
namespace {

using NodesById = std::map<std::string_view, NodeId>;

// Which link of the whole fabric each link of a part is; nothing where there is none. `model`: of
// the part, or of one that differs from it by names alone.
std::optional<std::vector<std::int32_t>> links_in(const simulate::Fabric& whole,
                                                  const NodesById& nodes, const Topology& part,
                                                  const Simulator::Model& model) {
  std::vector<std::int32_t> links;
  for (const Arc& arc : model.fabric().network().graph.arcs()) {
    const auto tail = nodes.find(part.nodes[arc.tail].id);
    const auto head = nodes.find(part.nodes[arc.head].id);
    if (tail == nodes.end() || head == nodes.end()) return std::nullopt;
    const ArcId link = whole.network().graph.find(tail->second, head->second);
    if (!link.valid()) return std::nullopt;
    links.push_back(link.value);
  }
  return links;
}

// Reads and verifies schedules, each in its part; programs of ranks once for all parts that differ
// by names alone.
class Preparer {
 public:
  explicit Preparer(const Topology& whole) {
    for (std::size_t v = 0; v < whole.nodes.size(); ++v) {
      nodes_.emplace(whole.nodes[NodeId(v)].id, NodeId(v));
    }
  }

  Expected<simulate::JointSource::Member> prepare(const GroupRun& group,
                                                  const simulate::Fabric& whole) {
    auto model = model_of(group);
    if (!model) return model.errors();
    auto links = links_in(whole, nodes_, *group.part, **model);
    if (links) {
      return simulate::JointSource::Member{*std::move(model), group.share, *std::move(links)};
    }
    return make_error(Code::M04,
                      fmt::format("{}: its part has links that the fabric has not", group.file),
                      "give the topology that the schedules were made for");
  }

 private:
  using Shared = std::shared_ptr<const Simulator::Model>;

  Expected<Shared> model_of(const GroupRun& group) {
    const std::pair key(group.schedule, shape_of(*group.part));
    if (const auto known = of_ranks_.find(key); known != of_ranks_.end()) return known->second;
    auto simulator = prepare_simulation(group.schedule, group.file, *group.part);
    if (!simulator) return simulator.errors();
    const std::string& format = simulator->model()->description().format;
    const bool names_ranks = format == "msccl-xml" || format == "mscclpp-plan";
    if (names_ranks) of_ranks_.emplace(key, simulator->model());
    return simulator->model();
  }

  NodesById nodes_;
  std::map<std::pair<std::string_view, std::string>, Shared> of_ranks_;  // by text and shape
};

}  // namespace

Expected<Simulator> prepare_simulation(std::span<const GroupRun> groups, const Topology& whole) {
  auto fabric = simulate::Fabric::make(whole);
  if (!fabric) return fabric.errors();
  Preparer preparer(whole);
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
