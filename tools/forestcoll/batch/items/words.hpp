// The options of `synth`, as a batch passes them on: words that `synth` itself would accept. So a
// batch takes what `synth` takes, without a list of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/job/request.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli::batch {

using Words = std::vector<std::string>;

/// Options of `synth` on the command line of a batch: all that make sense for many topologies.
class SynthOptions {
 public:
  /// The options are added to `command`, which must outlive this.
  explicit SynthOptions(CLI::App& command);
  ~SynthOptions();
  SynthOptions(const SynthOptions&) = delete;
  SynthOptions& operator=(const SynthOptions&) = delete;

  /// What was given, as --name=value or --name, in the order of the declaration.
  [[nodiscard]] Words words() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The words that somebody wrote for one topology, in the form of `SynthOptions::words`. Errors
/// (S03): what `synth` does not know, or what a batch decides.
[[nodiscard]] Expected<Words> normalized(const Words& words);

/// `own` and those of `common` that `own` does not give.
[[nodiscard]] Words overridden(const Words& common, const Words& own);

/// Without --root where the collective has none.
[[nodiscard]] Words for_collective(Words words, const std::string& collective);

/// Whether they name a root, and none of the collectives has one.
[[nodiscard]] bool has_root_in_vain(const Words& words,
                                    const std::vector<std::string>& collectives);

/// Whether the collective has a root, and they name none.
[[nodiscard]] bool lacks_root(const Words& words, const std::string& collective);

/// What `synth` is asked, and of which process groups at once.
struct Asked {
  SynthArguments synth;
  JobArguments job;
};

/// What `synth` would be asked. Errors: S03, S04 and those of its options.
[[nodiscard]] Expected<Asked> parse_words(const Words& words);
/// The same of words that name no collective, so that it is not known yet what goes together.
[[nodiscard]] Expected<Asked> parse_common_words(const Words& words);

/// Whether they ask for process groups at once.
[[nodiscard]] bool has_groups(const Words& words);
/// Whether they ask for operations, --at-once and --job, that name their collectives.
[[nodiscard]] bool has_operations(const Words& words);
/// Whether groups at once get one plan of MSCCL++, which all ranks run: with relays there is no
/// program of each group.
[[nodiscard]] bool is_plan_of_all(const Words& words, const std::string& format);
/// The bytes of the files of groups and jobs that they name, whose changes count as changes of the
/// words; empty where there are none. Errors: those of reading, S04 standard input.
[[nodiscard]] Expected<std::string> files_of_groups(const Words& words);

/// The value of --name=value; the last one where there are several, or else `standard`.
[[nodiscard]] std::string value_of(const Words& words, const std::string& name,
                                   const std::string& standard);

}  // namespace forestcoll::cli::batch
