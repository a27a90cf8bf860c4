#include "forestcoll/spelling.hpp"

#include <string>

#include "base/words.hpp"

namespace forestcoll {
namespace {

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
  if (letters == "bcast") return Collective::broadcast;  // as MPI has it
  if (letters == "all2all") return Collective::alltoall;
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
        Collective::broadcast, Collective::reduce, Collective::alltoall, Collective::scatter,
        Collective::gather}) {
    if (letters == bare(to_string(collective))) return collective;
  }
  return std::nullopt;
}

}  // namespace forestcoll
