#include "forestcoll/spelling.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/words.hpp"

namespace forestcoll {
namespace {

using OtherName = std::pair<std::string_view, Collective>;

// As MPI has it, and as papers and tools abbreviate.
constexpr std::array<OtherName, 6> kOtherNames = {{{"bcast", Collective::broadcast},
                                                   {"all2all", Collective::alltoall},
                                                   {"a2a", Collective::alltoall},
                                                   {"ag", Collective::allgather},
                                                   {"rs", Collective::reduce_scatter},
                                                   {"ar", Collective::allreduce}}};

// Letters and digits alone, in lower case: what all spellings have in common. Nothing where there
// are other marks than "_" and "-".
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) {
      letters += c;
    } else if (c != '_' && c != '-') {
      return "";
    }
  }
  return lower_case(letters);
}

}  // namespace

std::optional<Collective> parse_spelling(std::string_view spelling) {
  const std::string letters = bare(spelling);
  const auto* other = std::ranges::find(kOtherNames, letters, &OtherName::first);
  if (other != kOtherNames.end()) return other->second;
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
        Collective::broadcast, Collective::reduce, Collective::alltoall, Collective::scatter,
        Collective::gather}) {
    if (letters == bare(to_string(collective))) return collective;
  }
  return std::nullopt;
}

}  // namespace forestcoll
