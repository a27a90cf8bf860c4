// Facts of the runtimes: docs/run-on-gpus.md.
#include "common/synthesis/output/runtime_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace forestcoll::cli {

std::string bash_word(const std::string& path) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 ||
           std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  };
  if (!path.empty() && std::ranges::all_of(path, is_plain)) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

bool is_plan(const CompileOptions& options) {
  return options.format == Format::mscclpp;
}

bool is_research(const CompileOptions& options) {
  return options.lowering.target == "msccl";
}

Settings runtime_settings(const CompileOptions& options, const std::string& folder,
                          const std::string& files, std::int64_t buffer_bytes) {
  Settings all;
  if (is_plan(options)) {
    all = {{"MSCCLPP_LOG_LEVEL", "INFO"},
           {"MSCCLPP_DEBUG", "INFO"},
           {"PYTHONPATH", "$forestcoll_here${PYTHONPATH:+:$PYTHONPATH}"}};
  } else if (is_research(options)) {
    all = {{"MSCCL_XML_FILES", files}, {"NCCL_ALGO", "MSCCL,RING,TREE"}, {"NCCL_DEBUG", "INFO"}};
  } else if (options.lowering.target.starts_with("rccl")) {
    all = {{"MSCCL_ALGO_DIR", folder},
           {"RCCL_MSCCL_ENABLE", "1"},
           {"RCCL_MSCCL_FORCE_ENABLE", "1"},
           {"NCCL_DEBUG", "INFO"}};
  } else {
    all = {{"MSCCL_ALGO_DIR", folder}, {"NCCL_MSCCL_ENABLE", "1"}, {"NCCL_DEBUG", "INFO"}};
  }
  if (buffer_bytes > 0) all.emplace_back("NCCL_BUFFSIZE", fmt::format("{}", buffer_bytes));
  return all;
}

std::string exports_of(const Settings& settings, const CompileOptions& options) {
  std::string text;
  for (const auto& [name, value] : settings) {
    text += fmt::format("export {}=\"{}\"\n", name, value);
  }
  if (is_plan(options)) {
    text +=
        "# Where they are on this machine: the shim, and the NCCL to fall back to.\n"
        "#export LD_PRELOAD=/path/to/libmscclpp_nccl.so "
        "MSCCLPP_NCCL_LIB_PATH=/path/to/libnccl.so\n";
  }
  return text;
}

std::string_view nccl_test_of(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "all_gather_perf";
    case Collective::reduce_scatter:
      return "reduce_scatter_perf";
    case Collective::allreduce:
      return "all_reduce_perf";
    case Collective::broadcast:
      return "broadcast_perf";
    case Collective::reduce:
      return "reduce_perf";
    case Collective::alltoall:
      return "alltoall_perf";
    default:
      return "";
  }
}

}  // namespace forestcoll::cli
