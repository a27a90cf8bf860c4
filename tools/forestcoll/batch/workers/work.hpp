// The work on one item or one file, wherever it is done: in this process, in a child, or on another
// machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "batch/items/item.hpp"
#include "batch/items/words.hpp"

namespace forestcoll::cli::batch {

/// Everything that a worker needs to know.
struct Task {
  std::string topology;  ///< a path
  std::string directory, output, record, key;
  Words words;
  int threads = 1;
};

/// What came of it: figures and outputs, or an error.
struct Answer {
  std::optional<Figures> figures;
  std::vector<OutputFile> outputs;
  std::optional<ItemError> error;
};

/// How sure it is that a file is a topology: somebody named it; its name is that of a topology, but
/// may be that of a report or a schedule as well; it may be anything.
enum class Confidence : std::uint8_t { named, looks_like_one, none };

/// A file to be looked at before anything is made of it. What is no topology is an error as far as
/// `confidence` goes.
struct ProbeTask {
  std::string path;
  Words words;
  Confidence confidence = Confidence::named;
};

/// What a file holds.
struct Probe {
  bool is_topology = true;
  std::string fingerprint;  ///< of the topology, and of files of groups that words name
  std::uint64_t gpus = 0, nodes = 0, links = 0;
  std::optional<ItemError> error;
};

/// Does what a request asks, and gives the answer to `take`, of many probes in parts, as soon as
/// each is known; false of it ends the work. A task is synthesised, verified and written, and then
/// its record; where memory runs out, that is an error like others (J03). Returns false where the
/// request cannot be read.
[[nodiscard]] bool answer(const std::string& request,
                          const std::function<bool(const std::string& part)>& take);

}  // namespace forestcoll::cli::batch
