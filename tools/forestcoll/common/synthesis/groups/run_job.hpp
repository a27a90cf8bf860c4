// The schedules of process groups that run at once, from arguments to files and a report.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/file_set.hpp"
#include "common/job/request.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/groups/job_rates.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What a job came to, for a caller that writes it.
struct SynthesizedJob {
  Json report;                   ///< job.json
  std::vector<NamedText> files;  ///< of a directory of its own; none of one plan, which is written
  JobRates rates;
};

/// S04 where options of `synth` and of groups do not go together. REQUIRES: `arguments` that
/// `with_format` returned; the collective is empty where it was not given.
[[nodiscard]] Expected<void> refuse_misplaced_in_job(const SynthArguments& arguments,
                                                     const JobArguments& job);

/// Divides the links among the groups at the highest joint rate, makes a schedule of each in its
/// part, as `synth` would of a fabric, and writes them with the parts and job.json into the
/// directory -o; or one plan of all groups into a file. `given.collective` is empty where it was
/// not given. Where `taken` is there, the files and the report go there instead, and -o is but a
/// name.
[[nodiscard]] Expected<ExitCode> run_synthesis_of_job(const SynthArguments& given,
                                                      const JobArguments& words,
                                                      const Console& console,
                                                      SynthesizedJob* taken = nullptr);

/// The command that verifies `file` on the fabric as it was read, with what was changed of it.
[[nodiscard]] std::string verify_command(const SynthArguments& arguments, const std::string& file);

}  // namespace forestcoll::cli
