#include "common/report/flags.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/setting.hpp"

namespace forestcoll::cli {
namespace {

// What the program calls otherwise than the library does; of functions, the commands that do as
// they do. `file` is what the text is about. Empty of all others.
std::string spelling_of(Setting setting, std::string_view file) {
  switch (setting) {
    case Setting::k:
      return "-k";
    case Setting::max_threadblocks:
      return "--sms";
    case Setting::nvswitch:
      return "--nvlink";
    case Setting::protocol:
      return "--proto";
    case Setting::split_nvswitch:
      return "--nvswitch split";
    case Setting::alltoall_optimum:
      return "`bound -c alltoall`";
    case Setting::boxes_and_fabric:
      return "`topo import --boxes N --fabric NAME`";
    case Setting::generate:
      return "`topo gen`";
    case Setting::generate_call:
      return "`forestcoll topo gen`";
    case Setting::generators:
      return "`topo gen --list`";
    case Setting::generators_call:
      return "`forestcoll topo gen --list`";
    case Setting::import_topology:
      return "`forestcoll topo import`";
    case Setting::import_topology_of:
      return "`forestcoll topo import FORMAT FILE`";
    case Setting::make_alltoall_baseline:
      return "`forestcoll compare -c alltoall`";
    case Setting::make_baseline:
      return "`forestcoll compare`";
    case Setting::summarize:
      return "`forestcoll topo show`";
    case Setting::to_forest_json:
      return "`forestcoll synth --format forest`";
    case Setting::verify:
      return file.empty() ? "`forestcoll verify`" : "`forestcoll verify " + std::string(file) + "`";
    default:
      return "";
  }
}

std::string flag_of(const Mention& mention, std::string_view file) {
  if (mention.setting == Setting::placement) {
    return mention.value == "in_place" ? "--inplace" : "--outofplace";
  }
  if (mention.setting == Setting::relays && mention.value == "none") return "--no-relays";
  std::string flag = spelling_of(mention.setting, file);
  if (flag.empty()) {
    flag = "--" + std::string(name_of(mention.setting));
    std::ranges::replace(flag, '_', '-');
  }
  if (!mention.value) return flag;
  return flag + (mention.setting == Setting::nvswitch ? " nvswitch=" : " ") + *mention.value;
}

// `around` stands around flags, but not around commands, which have backquotes of their own.
std::string rendered(std::string_view text, std::string_view file, std::string_view around) {
  std::string result;
  for (const TextPart& part : parts_of(text)) {
    if (const auto* words = std::get_if<std::string>(&part)) {
      result += *words;
      continue;
    }
    const std::string flag = flag_of(std::get<Mention>(part), file);
    const bool is_command = flag.starts_with('`');
    result.append(is_command ? "" : around).append(flag).append(is_command ? "" : around);
  }
  return result;
}

}  // namespace

std::string with_flags(std::string_view text) {
  return rendered(text, "", "");
}

std::string with_flags_in_markdown(std::string_view text) {
  return rendered(text, "", "`");
}

Diagnostic with_flags(Diagnostic finding) {
  for (std::string* text : {&finding.where, &finding.message, &finding.remedy}) {
    *text = rendered(*text, finding.file, "");
  }
  return finding;
}

Diagnostics with_flags(Diagnostics findings) {
  for (Diagnostic& finding : findings) finding = with_flags(std::move(finding));
  return findings;
}

}  // namespace forestcoll::cli
