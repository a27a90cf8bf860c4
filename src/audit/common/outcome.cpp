#include <array>
#include <string_view>

#include "audit/common/findings.hpp"

namespace forestcoll::audit {
namespace {

struct Meaning {
  Rule rule;
  std::string_view words;
};

// In the order in which a runtime, and then a call, would meet them.
constexpr std::array kOutcomeMeanings = {
    Meaning{Rule::lexical, "does not load it: not in the form that its parser reads"},
    Meaning{Rule::attribute, "does not load it: an attribute is missing or wrong"},
    Meaning{Rule::unsupported, "rejects it: a collective, protocol or step that it does not have"},
    Meaning{Rule::numbering, "loads it differently than meant: numbering"},
    Meaning{Rule::limit, "rejects it: a limit is exceeded"},
    Meaning{Rule::chunk_count, "loads it and misreads the buffers"},
    Meaning{Rule::never_selected, "loads it and never selects it"},
    Meaning{Rule::connection, "loads it and hangs or corrupts data: connections"},
    Meaning{Rule::unmatched, "loads it and hangs: a message is not received, or never sent"},
    Meaning{Rule::dependency, "loads it and hangs or ignores a wait"},
    Meaning{Rule::nop, "loads it and ignores a wait"},
    Meaning{Rule::deadlock, "loads it and hangs"},
    Meaning{Rule::bounds, "loads it and accesses memory outside the buffers"},
    Meaning{Rule::input_written, "runs and overwrites the input"},
    Meaning{Rule::race, "runs; the result may be wrong: a race"},
    Meaning{Rule::undefined_read, "runs; the result is wrong"},
    Meaning{Rule::reduction, "runs; the result is wrong"},
    Meaning{Rule::result, "runs; the result is wrong"},
    Meaning{Rule::too_large, "is too large for this verifier"},
    Meaning{Rule::fabric, "runs; the result is correct, but the file is not for this topology"},
};

}  // namespace

std::string outcome(const Findings& findings) {
  if (findings.count() == 0) return "runs; the result is correct";
  for (const Meaning& meaning : kOutcomeMeanings) {
    if (findings.has(meaning.rule)) return std::string(meaning.words);
  }
  return "is invalid";
}

}  // namespace forestcoll::audit
