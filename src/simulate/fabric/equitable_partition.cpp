// Every vertex has a signature, the sum of what its incoming edges contribute, by their labels and
// the classes that they come from. Vertices of a class whose signatures differ are told apart.
// Vertices whose class has another number then change the signatures of those after them, and these
// are looked at next; all others of their classes have the signature that the class had before.
//
// (Hopcroft, 1971; Cardon and Crochemore, 1982.)
#include "simulate/fabric/equitable_partition.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace forestcoll::simulate {
namespace {

std::size_t slot(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

class Refinement {
 public:
  explicit Refinement(const LabelledGraph& graph)
      : graph_(graph), vertices_(graph.labels.size()), begin_(graph.labels.size() + 1, 0) {
    for (const auto& edge : graph.edges) ++begin_[slot(edge.from) + 1];
    for (std::size_t v = 0; v < vertices_.size(); ++v) begin_[v + 1] += begin_[v];
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    out_.resize(graph.edges.size());
    for (const auto& edge : graph.edges) out_[next[slot(edge.from)]++] = {edge.to, edge.label};
  }

  std::vector<std::int32_t> run() {
    begin_by_label();
    while (!dirty_.empty()) {
      split_all();
      tell_others();
    }
    std::vector<std::int32_t> classes;
    for (const Vertex& vertex : vertices_) classes.push_back(vertex.class_number);
    return classes;
  }

 private:
  struct Vertex {
    std::int32_t class_number = -1;
    std::uint32_t position = 0;  // among the members
    std::uint64_t signature = 0;
    bool is_dirty = false;
  };
  struct Class {
    std::vector<std::int32_t> members;
    std::uint64_t signature = 0;  // of the members that are not dirty
  };
  struct Out {
    std::int32_t to;
    std::uint64_t label;
  };
  struct Move {
    std::int32_t vertex, from;
  };

  static std::uint64_t contribution(std::uint64_t label, std::int32_t class_number) {
    return mix(label, static_cast<std::uint64_t>(class_number) + 1);
  }

  void begin_by_label() {
    std::map<std::uint64_t, std::int32_t> by_label;
    for (std::size_t v = 0; v < vertices_.size(); ++v) {
      const auto next = static_cast<std::int32_t>(classes_.size());
      const auto [found, is_new] = by_label.emplace(graph_.labels[v], next);
      if (is_new) classes_.emplace_back();
      put(static_cast<std::int32_t>(v), found->second);
    }
    for (std::size_t v = 0; v < vertices_.size(); ++v) {
      for (std::size_t e = begin_[v]; e < begin_[v + 1]; ++e) {
        vertices_[slot(out_[e].to)].signature +=
            contribution(out_[e].label, vertices_[v].class_number);
      }
    }
    for (std::size_t v = 0; v < vertices_.size(); ++v) note(static_cast<std::int32_t>(v));
  }

  void put(std::int32_t v, std::int32_t class_number) {
    auto& members = classes_[slot(class_number)].members;
    vertices_[slot(v)].class_number = class_number;
    vertices_[slot(v)].position = static_cast<std::uint32_t>(members.size());
    members.push_back(v);
  }

  void move(std::int32_t v, std::int32_t to) {
    Vertex& vertex = vertices_[slot(v)];
    auto& members = classes_[slot(vertex.class_number)].members;
    const std::int32_t last = members.back();
    members[vertex.position] = last;
    vertices_[slot(last)].position = vertex.position;
    members.pop_back();
    moves_.push_back({v, vertex.class_number});
    put(v, to);
  }

  void note(std::int32_t v) {
    if (vertices_[slot(v)].is_dirty) return;
    vertices_[slot(v)].is_dirty = true;
    dirty_.push_back(v);
  }

  void split_all() {
    std::ranges::sort(dirty_, {}, [&](std::int32_t v) {
      const Vertex& vertex = vertices_[slot(v)];
      return std::pair(vertex.class_number, std::pair(vertex.signature, v));
    });
    for (std::size_t begin = 0; begin < dirty_.size();) {
      const std::int32_t class_number = vertices_[slot(dirty_[begin])].class_number;
      std::size_t end = begin;
      while (end < dirty_.size() && vertices_[slot(dirty_[end])].class_number == class_number) {
        ++end;
      }
      split(class_number, begin, end);
      begin = end;
    }
    for (const std::int32_t v : dirty_) vertices_[slot(v)].is_dirty = false;
    dirty_.clear();
  }

  // A part of a class: some of `dirty_`, with the same signature.
  struct Part {
    std::size_t begin, end;
  };

  // By the signatures of its dirty members, sorted from `begin` to `end`, and that of the others.
  void split(std::int32_t class_number, std::size_t begin, std::size_t end) {
    const std::uint64_t before = classes_[slot(class_number)].signature;
    std::size_t others = classes_[slot(class_number)].members.size() - (end - begin);
    std::vector<Part> parts;
    for (std::size_t i = begin; i < end;) {
      const std::uint64_t signature = vertices_[slot(dirty_[i])].signature;
      std::size_t j = i;
      while (j < end && vertices_[slot(dirty_[j])].signature == signature) ++j;
      if (others > 0 && signature == before) {
        for (std::size_t d = i; d < j; ++d) vertices_[slot(dirty_[d])].is_dirty = false;
        others += j - i;
      } else {
        parts.push_back({i, j});
      }
      i = j;
    }
    const auto largest =
        std::ranges::max_element(parts, {}, [](const Part& part) { return part.end - part.begin; });
    const bool others_stay = parts.empty() || others >= largest->end - largest->begin;
    if (!others_stay && others > 0) move_others(class_number);
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      const std::uint64_t signature = vertices_[slot(dirty_[part->begin])].signature;
      if (!others_stay && part == largest) {
        classes_[slot(class_number)].signature = signature;
      } else {
        move_part(*part, signature);
      }
    }
  }

  // Those whose signature is still that of their class: no longer, or never, dirty.
  void move_others(std::int32_t class_number) {
    std::vector<std::int32_t> others;
    for (const std::int32_t v : classes_[slot(class_number)].members) {
      if (!vertices_[slot(v)].is_dirty) others.push_back(v);
    }
    const auto to = static_cast<std::int32_t>(classes_.size());
    classes_.push_back({{}, classes_[slot(class_number)].signature});
    for (const std::int32_t v : others) move(v, to);
  }

  void move_part(const Part& part, std::uint64_t signature) {
    const auto to = static_cast<std::int32_t>(classes_.size());
    classes_.push_back({{}, signature});
    for (std::size_t d = part.begin; d < part.end; ++d) move(dirty_[d], to);
  }

  // What comes after those with another number.
  void tell_others() {
    for (const Move& move : moves_) {
      const std::int32_t to = vertices_[slot(move.vertex)].class_number;
      for (std::size_t e = begin_[slot(move.vertex)]; e < begin_[slot(move.vertex) + 1]; ++e) {
        vertices_[slot(out_[e].to)].signature +=
            contribution(out_[e].label, to) - contribution(out_[e].label, move.from);
        note(out_[e].to);
      }
    }
    moves_.clear();
  }

  const LabelledGraph& graph_;
  std::vector<Vertex> vertices_;
  std::vector<std::size_t> begin_;  // of out_, by vertex
  std::vector<Out> out_;
  std::vector<Class> classes_;
  std::vector<std::int32_t> dirty_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<std::int32_t> equitable_partition(const LabelledGraph& graph) {
  return Refinement(graph).run();
}

}  // namespace forestcoll::simulate
