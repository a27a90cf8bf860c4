#include "forest/document.hpp"

#include <fmt/format.h>

#include <utility>

#include "audit/common/findings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::forest {

Expected<audit::ForestFile> read_document(std::string_view text, std::string_view file) {
  audit::Findings findings(file);
  auto document = audit::read_forest_json(text, file, findings);
  if (document && findings.count() == 0) return document;
  Diagnostic error = document ? findings.sorted(1).front() : document.errors().front();
  error.code = Code::F01;
  error.remedy = "give a file that `to_forest_json` wrote";
  return error;
}

Diagnostic flaw_of_forest(Code code, std::string_view file, std::string where,
                          std::string message) {
  return make_error(code, std::move(message),
                    "give a forest that `to_forest_json` wrote for this fabric",
                    {.file = std::string(file), .where = std::move(where)});
}

Expected<DocumentNodes> find_nodes(const audit::ForestFile& document, std::string_view file,
                                   const Topology& topology) {
  DocumentNodes found;
  found.node = nodes_with_ids(topology, document.names);
  for (std::size_t i = 0; i < found.node.size(); ++i) {
    if (found.node[i].valid()) continue;
    return flaw_of_forest(
        Code::F02, file, "",
        fmt::format("the topology has no node {}", document.names[i].substr(0, 80)));
  }
  found.rank_of.assign(document.names.size(), Rank());
  for (std::size_t r = 0; r < document.ranks.size(); ++r) {
    const auto name = static_cast<std::size_t>(document.ranks[r]);
    if (found.rank_of[name].valid()) {
      return flaw_of_forest(Code::F02, file, "/ranks", "a rank stands twice");
    }
    found.rank_of[name] = Rank(r);
    found.ranks.push_back(found.node[name]);
    if (topology.nodes[found.ranks.back()].type != NodeType::compute) {
      return flaw_of_forest(Code::F02, file, "/ranks",
                            fmt::format("{} is a switch", document.names[name]));
    }
  }
  if (found.ranks.size() < 2) {
    return flaw_of_forest(Code::F02, file, "/ranks", "expected at least 2 ranks");
  }
  return found;
}

}  // namespace forestcoll::forest
