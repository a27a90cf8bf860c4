#include "solver/allreduce/twin_graph.hpp"

namespace forestcoll::solver {
namespace {

class TwinMaker {
 public:
  TwinMaker(const Network& network, const SwitchRoles& roles, std::span<const NodeId> spanned,
            bool turned)
      : network_(network), roles_(roles), turned_(turned), twin_of_(network.graph.node_count()) {
    result_.spanned.assign(spanned.begin(), spanned.end());
    for (std::size_t i = 0; i < spanned.size(); ++i) {
      twin_of_[spanned[i]] = NodeId(network.graph.node_count() + i);
    }
  }

  TwinGraph make() {
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) add_along(ArcId(a));
    std::vector<std::size_t> order;
    const std::size_t nodes = network_.graph.node_count() + result_.spanned.size();
    result_.graph = Digraph(nodes, ends_, &order);
    for (const std::size_t i : order) result_.arcs.push_back(arcs_[i]);
    return std::move(result_);
  }

 private:
  void add_along(ArcId along) {
    const Arc& arc = network_.graph.arcs()[along.index()];
    const NodeId tail = turned_ ? arc.head : arc.tail, head = turned_ ? arc.tail : arc.head;
    add({tail, head}, {along, {}, false, false});
    if (twin_of_[tail].valid()) add({twin_of_[tail], head}, {along, {}, true, false});
    if (!twin_of_[head].valid()) return;
    if (twin_of_[tail].valid()) {
      add({twin_of_[tail], twin_of_[head]}, {along, {}, true, true});
    }
    const bool echoes = roles_[head].echoes && network_.is_compute(tail);
    const ArcId echo = echoes ? network_.graph.find(arc.head, arc.tail) : ArcId();
    // A GPU that cannot hear the echo is no member of any group.
    if (!echoes || echo.valid()) add({tail, twin_of_[head]}, {along, echo, false, true});
  }

  void add(const Arc& ends, const TwinArc& arc) {
    ends_.push_back(ends);
    arcs_.push_back(arc);
  }

  const Network& network_;
  const SwitchRoles& roles_;
  const bool turned_;
  IdVector<NodeId, NodeId> twin_of_;
  std::vector<Arc> ends_;
  std::vector<TwinArc> arcs_;
  TwinGraph result_;
};

}  // namespace

TwinGraph make_twin_graph(const Network& network, const SwitchRoles& roles,
                          std::span<const NodeId> spanned, bool turned) {
  return TwinMaker(network, roles, spanned, turned).make();
}

std::vector<NodeId> able_switches(const SwitchRoles& roles, bool turned) {
  std::vector<NodeId> able;
  for (std::size_t v = 0; v < roles.size(); ++v) {
    const SwitchRole& role = roles[NodeId(v)];
    if (turned ? role.combines : role.copies) able.emplace_back(v);
  }
  return able;
}

}  // namespace forestcoll::solver
