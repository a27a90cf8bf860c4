#include "forestcoll/forest.hpp"

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "forest/depths.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

struct Forest::Data {
  // A tree is an image of the tree that its row of routes describes.
  struct Image {
    std::int32_t row;
    Element element;
  };
  RouteTable table;
  std::vector<Tree> trees;
  std::vector<Image> images;
  std::vector<Route> routes;
  Symmetry symmetry;
  std::size_t moved = 0;  // rows whose images are trees as well
};

Forest::Forest(std::shared_ptr<const Data> data)
    : data_(std::move(data)), trees_(data_->trees), ranks_(data_->table.ranks()) {}

Forest::Forest(RouteTable table, std::vector<Tree> trees, std::vector<Route> routes)
    : Forest(std::move(table), std::move(trees), std::move(routes), Symmetry(), 0) {}

Forest::Forest(RouteTable table, std::vector<Tree> trees, std::vector<Route> routes,
               Symmetry symmetry, std::size_t moved) {
  FORESTCOLL_CHECK(routes.size() == trees.size() * table.ranks().size(),
                   "a route per tree and rank");
  std::vector<std::pair<Rank, Data::Image>> images;
  for (std::size_t row = 0; row < trees.size(); ++row) {
    for (std::size_t i = 0; i < (row < moved ? symmetry.size() : 1); ++i) {
      const Element g = symmetry.element(i);
      images.emplace_back(symmetry.apply(g, trees[row].root),
                          Data::Image{static_cast<std::int32_t>(row), g});
    }
  }
  std::stable_sort(images.begin(), images.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Data data{std::move(table), {}, {}, std::move(routes), std::move(symmetry), moved};
  for (const auto& [root, image] : images) {
    data.trees.push_back(trees[static_cast<std::size_t>(image.row)]);
    data.trees.back().root = root;
    data.images.push_back(image);
  }
  *this = Forest(std::make_shared<const Data>(std::move(data)));
}

const Symmetry& Forest::symmetry() const {
  return data_->symmetry;
}

std::vector<TreeId> Forest::base_trees() const {
  std::vector<TreeId> base;
  for (std::size_t t = 0; t < tree_count(); ++t) {
    if (data_->images[t].element.exponents == 0) base.emplace_back(t);
  }
  return base;
}

bool Forest::has_images(TreeId base) const {
  return static_cast<std::size_t>(data_->images[base.index()].row) < data_->moved;
}

// The route by which the tree's pre-image reaches the pre-image of `child`.
Route Forest::route(TreeId t, Rank child) const {
  const Data::Image& image = data_->images[t.index()];
  const Rank at = data_->symmetry.apply(data_->symmetry.inverse(image.element), child);
  return data_->routes[static_cast<std::size_t>(image.row) * rank_count() + at.index()];
}

Rank Forest::parent(TreeId t, Rank child) const {
  const Route in = route(t, child);
  if (!in.valid()) return {};
  return data_->symmetry.apply(data_->images[t.index()].element, data_->table.origin(in.prefix));
}

std::vector<NodeId> Forest::path(TreeId t, Rank child) const {
  auto nodes = data_->table.nodes(route(t, child));
  for (NodeId& v : nodes) v = data_->symmetry.apply(data_->images[t.index()].element, v);
  if (in_) std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<Rank> Forest::by_depth(TreeId t) const {
  const std::size_t n = rank_count();
  std::vector<std::int32_t> depth(n);
  const auto height = fill_depths(std::span(depth), tree(t).root.index(),
                                  [&](std::size_t v) { return parent(t, Rank(v)).index(); });
  std::vector<std::size_t> begin(static_cast<std::size_t>(*height) + 2, 0);
  for (const auto d : depth) ++begin[static_cast<std::size_t>(d) + 1];
  for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
  std::vector<Rank> order(n);
  for (std::size_t v = 0; v < n; ++v) {
    order[begin[static_cast<std::size_t>(depth[v])]++] = Rank(v);
  }
  return order;
}

Forest Forest::reversed() const {
  Forest other = *this;
  other.in_ = !in_;
  return other;
}

Forest Forest::scaled(std::int64_t factor) const {
  auto data = std::make_shared<Data>(*data_);
  for (Tree& tree : data->trees) tree.multiplicity *= factor;
  Forest other(std::move(data));
  other.in_ = in_;
  return other;
}

Forest Forest::spread_over(const IdVector<Rank, std::int64_t>& sums) const {
  std::map<Rank, std::int64_t> all;
  for (const Tree& tree : trees_) all[tree.root] += tree.multiplicity;
  std::vector<Tree> spread(trees_.begin(), trees_.end());
  Int128 number = -1;  // of the root
  std::int64_t upto = 0, given = 0;
  for (std::size_t t = 0; t < spread.size(); ++t) {
    Tree& tree = spread[t];
    if (t == 0 || tree.root != trees_[t - 1].root) {
      ++number;
      upto = given = 0;
    }
    const std::int64_t whole = all[tree.root];
    const Int128 phase = number * whole / std::ssize(all);
    upto += tree.multiplicity;
    const auto share = static_cast<std::int64_t>((Int128{upto} * sums[tree.root] + phase) / whole);
    tree.multiplicity = share - given;
    given = share;
  }
  return expanded(std::move(spread));
}

Forest Forest::expanded() const {
  return expanded({trees_.begin(), trees_.end()});
}

Forest Forest::expanded(std::vector<Tree> trees) const {
  const Forest out = in_ ? reversed() : *this;
  RouteBuilder builder({ranks_.begin(), ranks_.end()});
  std::vector<Route> routes;
  routes.reserve(trees.size() * rank_count());
  for (std::size_t t = 0; t < trees.size(); ++t) {
    for (std::size_t v = 0; v < rank_count(); ++v) {
      const Rank from = parent(TreeId(t), Rank(v));
      routes.push_back(from.valid() ? builder.add(from, out.path(TreeId(t), Rank(v))) : Route());
    }
  }
  Forest result(builder.take(), std::move(trees), std::move(routes));
  result.in_ = in_;
  return result;
}

std::int32_t Forest::max_height() const {
  std::int32_t height = 0;
  for (std::size_t t = 0; t < tree_count(); ++t) height = std::max(height, tree(TreeId(t)).height);
  return height;
}

double Forest::mean_height() const {
  double sum = 0, count = 0;
  for (std::size_t t = 0; t < tree_count(); ++t) {
    const Tree& each = tree(TreeId(t));
    sum += static_cast<double>(each.multiplicity) * each.height;
    count += static_cast<double>(each.multiplicity);
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace forestcoll
