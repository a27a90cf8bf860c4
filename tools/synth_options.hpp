// What `forestcoll synth` is asked for, from the words of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "fabric.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

enum class Format { msccl, forest, forest_xml, dot, none };

/// As written on the command line.
struct SynthArguments {
  std::string topology;
  std::string output = "-";
  std::string collective = "allreduce";
  std::string root;
  std::string trees;  ///< of -k; empty: by format
  std::string format = "msccl";
  std::string target = "azure";
  std::int32_t sms = 108;
  std::string min_bytes = "0";
  std::string max_bytes = "1T";
  bool json = false;
  ReadingOptions reading;
};
void add_synth_arguments(CLI::App& command, SynthArguments& arguments);

/// As understood.
struct SynthRequest {
  Format format = Format::msccl;
  Collective collective = Collective::allreduce;
  TreesPerRoot trees;
  XmlOptions xml;
};
/// Errors (ErrorKind::input): S03 a value that cannot be read, S04 values that do not go together.
[[nodiscard]] Expected<SynthRequest> understand(const SynthArguments& arguments);

}  // namespace forestcoll::cli
