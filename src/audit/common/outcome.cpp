#include "audit/common/outcome.hpp"

#include <array>
#include <string_view>

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
    Meaning{Rule::unsupported,
            "does not take it: a collective, protocol or step that it does not have"},
    Meaning{Rule::numbering, "does not load it as meant: numbering"},
    Meaning{Rule::limit, "does not hold it: a limit is exceeded"},
    Meaning{Rule::chunk_count, "loads it, and misreads the buffers"},
    Meaning{Rule::never_selected, "loads it, and never selects it"},
    Meaning{Rule::connection, "loads it, and hangs or corrupts: connections"},
    Meaning{Rule::unmatched, "loads it, and hangs: a message without its other end"},
    Meaning{Rule::dependency, "loads it, and hangs or ignores a wait"},
    Meaning{Rule::nop, "loads it, and ignores a wait"},
    Meaning{Rule::deadlock, "loads it, and hangs"},
    Meaning{Rule::bounds, "loads it, and leaves the buffers"},
    Meaning{Rule::input_written, "runs, and spoils the input"},
    Meaning{Rule::race, "runs, and is wrong now and then: a race"},
    Meaning{Rule::undefined_read, "runs, and is wrong"},
    Meaning{Rule::reduction, "runs, and is wrong"},
    Meaning{Rule::result, "runs, and is wrong"},
    Meaning{Rule::too_large, "is beyond this verifier"},
    Meaning{Rule::fabric, "runs, and is right, but is not for this topology"},
};

}  // namespace

std::string outcome(const Findings& findings) {
  if (findings.count() == 0) return "runs, and is right";
  for (const Meaning& meaning : kOutcomeMeanings) {
    if (findings.has(meaning.rule)) return std::string(meaning.words);
  }
  return "is wrong";
}

}  // namespace forestcoll::audit
