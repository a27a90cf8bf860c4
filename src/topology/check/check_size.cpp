// How large would the expansion be? Counted before anything is expanded, entry by entry, with
// arithmetic that stops at the largest count instead of wrapping round.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "topology/format/expand.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kLinksPerNode = 16;

// Adds up one kind of thing, and reports the entry that first goes beyond the limit.
class Budget {
 public:
  Budget(std::size_t limit, std::string_view what, Findings& findings)
      : limit_(limit), what_(what), findings_(findings) {}

  void add(std::size_t count, const std::string& where) {
    total_ = saturating_sum(total_, count);
    if (total_ <= limit_ || exceeded_) return;
    exceeded_ = true;
    const bool is_counted = total_ < std::numeric_limits<std::size_t>::max();
    findings_.error(
        Code::E15, where,
        fmt::format("the file expands to {} {} up to here; the limit is {}",
                    is_counted ? std::to_string(total_) : "more than 2^64", what_, limit_),
        "Check the ranges; a fabric that is meant to be so large needs a larger "
        "`max_nodes`.");
  }
  [[nodiscard]] bool exceeded() const { return exceeded_; }

 private:
  std::size_t limit_;
  std::string_view what_;
  Findings& findings_;
  std::size_t total_ = 0;
  bool exceeded_ = false;
};

struct Size {
  std::size_t nodes = 0, links = 0;
};

Size size_of(const Section& section, Budget& nodes, Budget& links) {
  Size size;
  for (const NodeEntry& entry : section.nodes) {
    nodes.add(entry.ids.count(), section.where(entry) + "/id");
    size.nodes = saturating_sum(size.nodes, entry.ids.count());
  }
  for (const LinkEntry& entry : section.links) {
    // Its ends are expanded even where one of them is a long list and the other is not.
    links.add(std::max({entry.count(), entry.src.count(), entry.dst.count()}),
              section.where(entry));
    size.links = saturating_sum(size.links, entry.count());
  }
  return size;
}

}  // namespace

bool check_size(const Document& document, std::size_t max_nodes, Findings& findings) {
  const std::size_t max_links = saturating_product(max_nodes, kLinksPerNode);
  // Templates are expanded once in their own numbering; what their instances come to is counted
  // with the top level.
  Budget template_nodes(max_nodes, "nodes of templates", findings);
  Budget template_links(max_links, "links of templates", findings);
  std::vector<Size> sizes;
  for (const Section& section : document.templates) {
    sizes.push_back(size_of(section, template_nodes, template_links));
  }
  Budget boxes(max_nodes, "boxes", findings);
  Budget nodes(max_nodes, "nodes", findings);
  Budget links(max_links, "links", findings);
  for (const BoxEntry& entry : document.boxes) {
    const Size& size = sizes[entry.template_index];
    boxes.add(entry.ids.count(), entry.where() + "/id");
    if (boxes.exceeded()) break;
    nodes.add(saturating_product(entry.ids.count(), size.nodes), entry.where() + "/id");
    links.add(saturating_product(entry.ids.count(), size.links), entry.where() + "/id");
  }
  size_of(document.top, nodes, links);
  Budget ranks(max_nodes, "ranks", findings);
  for (const RankEntry& entry : document.rank_order) {
    ranks.add(entry.ids.count(), "/rank_order/" + std::to_string(entry.position));
  }
  return !template_nodes.exceeded() && !template_links.exceeded() && !boxes.exceeded() &&
         !nodes.exceeded() && !links.exceeded() && !ranks.exceeded();
}

}  // namespace forestcoll::topology
