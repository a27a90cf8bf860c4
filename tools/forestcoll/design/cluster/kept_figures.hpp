// Figures of clusters that were computed before.
#pragma once

#include <optional>
#include <string>

#include "forestcoll/design.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::cli {

/// A directory with a file per shape; nothing is kept where its name is empty.
class KeptFigures {
 public:
  explicit KeptFigures(std::string directory) : directory_(std::move(directory)) {}

  /// Nothing where the shape was not computed by this version of the program. Errors: K05 where
  /// its file cannot be understood.
  [[nodiscard]] Expected<std::optional<ClusterFigures>> find(const ClusterShape& shape) const;
  /// Errors: those of writing.
  [[nodiscard]] Expected<void> keep(const ClusterShape& shape, const ClusterFigures& figures) const;

 private:
  [[nodiscard]] std::string path_of(const ClusterShape& shape) const;

  std::string directory_;
};

}  // namespace forestcoll::cli
