#include "common/report/figures/choice_report.hpp"

namespace forestcoll::cli {

Json choice_json(const FastestChoice& choice) {
  return {{"bytes", choice.bytes},         {"algorithm", choice.algorithm},
          {"name", choice.name},           {"protocol", choice.protocol},
          {"instances", choice.instances}, {"buffer_bytes", choice.buffer_bytes},
          {"seconds", choice.seconds}};
}

const char* bounding(const LeastTime& least) {
  return least.by == LeastTime::By::latency ? "latency" : "links";
}

}  // namespace forestcoll::cli
