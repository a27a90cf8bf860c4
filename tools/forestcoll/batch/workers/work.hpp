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

/// Synthesises, verifies and writes the output, and then the record. Where memory runs out, that is
/// an error like others (J03).
[[nodiscard]] Answer perform(const Task& task);

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
  std::string fingerprint;
  std::uint64_t gpus = 0, nodes = 0, links = 0;
  std::optional<ItemError> error;
};

/// One after the other; `take` is called with each result as soon as it is known, and ends the work
/// by returning false.
void probe_each(const std::vector<ProbeTask>& tasks, const std::function<bool(Probe)>& take);

// For the wire: CBOR, which keeps names that are not UTF-8 as they are.
[[nodiscard]] std::string encode(const Task& task);
[[nodiscard]] std::string encode(const std::vector<ProbeTask>& tasks);
[[nodiscard]] std::string encode(const Answer& answer);
[[nodiscard]] std::string encode(const Probe& probe);
/// Nothing where the bytes are not, or not wholly, what `encode` made.
[[nodiscard]] std::optional<Task> decode_task(const std::string& bytes);
[[nodiscard]] std::optional<Answer> decode_answer(const std::string& bytes);
/// As many as are whole.
[[nodiscard]] std::vector<Probe> decode_probes(const std::string& bytes);

/// The hidden command of children: a request on standard input, answers on standard output.
[[nodiscard]] ExitCode serve(const Console& console);

}  // namespace forestcoll::cli::batch
