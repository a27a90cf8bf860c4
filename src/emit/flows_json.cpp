// Flows JSON: a pair per line, put together from names that were quoted once.
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "emit/flows.hpp"
#include "emit/forest_text.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll {
namespace {

class FlowsWriter {
 public:
  FlowsWriter(const AlltoallRoutes& routes, const Demand& demand, const Topology& topology)
      : routes_(routes),
        demand_(demand),
        topology_(topology),
        names_(emit::quoted_names(topology)) {}

  std::string write(const FlowsHead& head) {
    append_head(head);
    for (std::size_t i = 0; i < routes_.paths.size(); ++i) append_path(i);
    return std::move(out_) + "]}\n]}\n";
  }

 private:
  void append_head(const FlowsHead& head) {
    out_ = fmt::format(
        "{{\"format\":\"forestcoll-flows\",\"version\":1,\"topology\":{},\"collective\":\"{}\","
        "\"k\":{},\n\"algbw\":{},",
        topology::quote_json(topology_.name),
        demand_.is_of_blocks() ? to_string(demand_.collective()) : "alltoallv", routes_.k,
        emit::rate(head.algbw));
    if (head.algbw_in_rounds > Ratio(0)) {
      out_ += fmt::format("\"algbw_in_rounds\":{},", emit::rate(head.algbw_in_rounds));
    }
    out_ +=
        fmt::format("\"optimum\":{},\n\"rounds\":{},", emit::rate(head.optimum), routes_.rounds);
    if (!demand_.is_of_blocks()) out_ += fmt::format("\"own_bytes\":{},", head.own_bytes);
    if (const auto root = demand_.root()) {
      out_ += fmt::format("\"root\":{},", names_[topology_.ranks[root->index()]]);
    }
    out_ += "\n\"ranks\":";
    emit::append_list(out_, topology_.ranks, names_);
    out_ += ",\n\"pairs\":[\n";
  }

  // The paths of a pair follow one another.
  void append_path(std::size_t i) {
    const AlltoallPath& path = routes_.paths[i];
    const bool begins =
        i == 0 || routes_.paths[i - 1].src != path.src || routes_.paths[i - 1].dst != path.dst;
    if (begins) {
      if (i > 0) out_ += "]},\n";
      fmt::format_to(std::back_inserter(out_), R"({{"src":{},"dst":{},)",
                     names_[path.nodes.front()], names_[path.nodes.back()]);
      if (!demand_.is_of_blocks()) {
        fmt::format_to(std::back_inserter(out_), R"("bytes":{},)", demand_(path.src, path.dst));
      }
      out_ += "\"paths\":[";
    } else {
      out_ += ',';
    }
    fmt::format_to(std::back_inserter(out_), R"({{"share":"{}","rounds":[{}],"path":)",
                   Ratio(path.parts, routes_.k).to_string(), fmt::join(path.rounds, ","));
    emit::append_list(out_, path.nodes, names_);
    out_ += '}';
  }

  const AlltoallRoutes& routes_;
  const Demand& demand_;
  const Topology& topology_;
  emit::Names names_;
  std::string out_;
};

}  // namespace

std::string to_flows_json(const AlltoallRoutes& routes, const Demand& demand, const FlowsHead& head,
                          const Topology& topology) {
  return FlowsWriter(routes, demand, topology).write(head);
}

}  // namespace forestcoll
