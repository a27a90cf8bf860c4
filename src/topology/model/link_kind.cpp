#include "topology/model/link_kind.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "topology/model/characters.hpp"

namespace forestcoll::topology {
namespace {

struct Word {
  std::string_view text;
  Reach reach;
  std::int64_t most;  // GB/s; 0: not known
};

// A port of XDR InfiniBand, or of 800G Ethernet.
constexpr std::int64_t kCable = 100;
// Sixteen lanes of PCIe 6.
constexpr std::int64_t kPcie = 128;
// NVLink and its like are often written as the sum of a GPU's links: more than the 1,800 GB/s of
// the sixth generation.
constexpr std::int64_t kScaleUp = 2000;

constexpr std::array kWords = {
    Word{"nvlink", Reach::inside, kScaleUp},
    Word{"nvl", Reach::inside, kScaleUp},
    Word{"nvswitch", Reach::inside, 0},
    Word{"xgmi", Reach::inside, kScaleUp},
    Word{"ualink", Reach::inside, kScaleUp},
    Word{"neuronlink", Reach::inside, kScaleUp},
    Word{"hccs", Reach::inside, kScaleUp},
    Word{"c2c", Reach::inside, kScaleUp},
    Word{"pcie", Reach::inside, kPcie},
    Word{"pci", Reach::inside, kPcie},
    Word{"cpu", Reach::inside, 0},
    Word{"upi", Reach::inside, 0},
    Word{"qpi", Reach::inside, 0},
    Word{"ib", Reach::leaves, kCable},
    Word{"infiniband", Reach::leaves, kCable},
    Word{"edr", Reach::leaves, kCable},
    Word{"hdr", Reach::leaves, kCable},
    Word{"ndr", Reach::leaves, kCable},
    Word{"xdr", Reach::leaves, kCable},
    Word{"roce", Reach::leaves, kCable},
    Word{"rocev", Reach::leaves, kCable},
    Word{"rdma", Reach::leaves, kCable},
    Word{"ethernet", Reach::leaves, kCable},
    Word{"eth", Reach::leaves, kCable},
    Word{"gbe", Reach::leaves, kCable},
    Word{"efa", Reach::leaves, kCable},
    Word{"slingshot", Reach::leaves, kCable},
    Word{"omnipath", Reach::leaves, kCable},
    Word{"opa", Reach::leaves, kCable},
    Word{"net", Reach::leaves, 0},
    Word{"network", Reach::leaves, 0},
    Word{"nic", Reach::leaves, 0},
};

const Word* find(std::string_view word) {
  while (!word.empty() && is_digit(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Word& known : kWords) {
    if (known.text == lower) return &known;
  }
  return nullptr;
}

// The first word of the label that is known.
const Word* word_of(std::string_view kind) {
  for (std::size_t at = 0; at < kind.size();) {
    std::size_t end = at;
    while (end < kind.size() && (is_digit(kind[end]) || is_letter(kind[end]))) ++end;
    if (const Word* known = find(kind.substr(at, end - at))) return known;
    at = end + 1;
  }
  return nullptr;
}

}  // namespace

Reach reach_of(std::string_view kind) {
  const Word* word = word_of(kind);
  return word == nullptr ? Reach::unknown : word->reach;
}

std::optional<std::int64_t> most_of_kind(std::string_view kind) {
  const Word* word = word_of(kind);
  if (word == nullptr || word->most == 0) return std::nullopt;
  return word->most;
}

}  // namespace forestcoll::topology
