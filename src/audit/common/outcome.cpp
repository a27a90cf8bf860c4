#include "audit/common/outcome.hpp"

#include <array>
#include <string_view>

namespace forestcoll::audit {
namespace {

struct Meaning {
  Code code;
  std::string_view words;
};

// In the order in which a runtime, and then a call, would meet them.
constexpr std::array kMeanings = {
    Meaning{Code::lexical, "does not load it: not in the form that its parser reads"},
    Meaning{Code::attribute, "does not load it: an attribute is missing or wrong"},
    Meaning{Code::unsupported,
            "does not take it: a collective, protocol or step that it does not have"},
    Meaning{Code::numbering, "does not load it as meant: numbering"},
    Meaning{Code::limit, "does not hold it: a limit is exceeded"},
    Meaning{Code::chunk_count, "loads it, and misreads the buffers"},
    Meaning{Code::never_selected, "loads it, and never selects it"},
    Meaning{Code::connection, "loads it, and hangs or corrupts: connections"},
    Meaning{Code::unmatched, "loads it, and hangs: a message without its other end"},
    Meaning{Code::dependency, "loads it, and hangs or ignores a wait"},
    Meaning{Code::nop, "loads it, and ignores a wait"},
    Meaning{Code::deadlock, "loads it, and hangs"},
    Meaning{Code::bounds, "loads it, and leaves the buffers"},
    Meaning{Code::input_written, "runs, and spoils the input"},
    Meaning{Code::race, "runs, and is wrong now and then: a race"},
    Meaning{Code::undefined_read, "runs, and is wrong"},
    Meaning{Code::reduction, "runs, and is wrong"},
    Meaning{Code::result, "runs, and is wrong"},
    Meaning{Code::too_large, "is beyond this verifier"},
    Meaning{Code::fabric, "runs, and is right, but is not for this topology"},
};

}  // namespace

std::string outcome(const Findings& findings) {
  if (findings.count() == 0) return "runs, and is right";
  for (const Meaning& meaning : kMeanings) {
    if (findings.has(meaning.code)) return std::string(meaning.words);
  }
  return "is wrong";
}

}  // namespace forestcoll::audit
