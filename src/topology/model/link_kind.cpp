#include "topology/model/link_kind.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "base/words.hpp"

namespace forestcoll::topology {
namespace {

struct Word {
  std::string_view text;
  Reach reach;
  std::int64_t most;  // GB/s; 0: not known
  Medium medium;
};

// A port of XDR InfiniBand, or of 800G Ethernet.
constexpr std::int64_t kCable = 100;
// Sixteen lanes of PCIe 6.
constexpr std::int64_t kPcie = 128;
// NVLink and its like are often written as the sum of a GPU's links: more than the 1,800 GB/s of
// the sixth generation.
constexpr std::int64_t kScaleUp = 2000;

constexpr std::array kWords = {
    Word{"nvlink", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"nvl", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"nvswitch", Reach::inside, 0, Medium::nvlink},
    Word{"xgmi", Reach::inside, kScaleUp, Medium::xgmi},
    Word{"ualink", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"neuronlink", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"hccs", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"c2c", Reach::inside, kScaleUp, Medium::nvlink},
    Word{"pcie", Reach::inside, kPcie, Medium::pcie},
    Word{"pci", Reach::inside, kPcie, Medium::pcie},
    Word{"cpu", Reach::inside, 0, Medium::cpu},
    Word{"upi", Reach::inside, 0, Medium::cpu},
    Word{"qpi", Reach::inside, 0, Medium::cpu},
    Word{"ib", Reach::leaves, kCable, Medium::infiniband},
    Word{"infiniband", Reach::leaves, kCable, Medium::infiniband},
    Word{"edr", Reach::leaves, kCable, Medium::infiniband},
    Word{"hdr", Reach::leaves, kCable, Medium::infiniband},
    Word{"ndr", Reach::leaves, kCable, Medium::infiniband},
    Word{"xdr", Reach::leaves, kCable, Medium::infiniband},
    Word{"roce", Reach::leaves, kCable, Medium::ethernet},
    Word{"rocev", Reach::leaves, kCable, Medium::ethernet},
    Word{"rdma", Reach::leaves, kCable, Medium::infiniband},
    Word{"ethernet", Reach::leaves, kCable, Medium::ethernet},
    Word{"eth", Reach::leaves, kCable, Medium::ethernet},
    Word{"gbe", Reach::leaves, kCable, Medium::ethernet},
    Word{"efa", Reach::leaves, kCable, Medium::ethernet},
    Word{"slingshot", Reach::leaves, kCable, Medium::ethernet},
    Word{"omnipath", Reach::leaves, kCable, Medium::infiniband},
    Word{"opa", Reach::leaves, kCable, Medium::infiniband},
    Word{"net", Reach::leaves, 0, Medium::infiniband},
    Word{"network", Reach::leaves, 0, Medium::infiniband},
    Word{"nic", Reach::leaves, 0, Medium::infiniband},
};

const Word* find(std::string_view word) {
  while (!word.empty() && is_digit(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  const std::string lower = lower_case(word);
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

std::vector<std::string_view> known_kinds() {
  std::vector<std::string_view> words;
  for (const Word& known : kWords) words.push_back(known.text);
  return words;
}

Reach reach_of(std::string_view kind) {
  const Word* word = word_of(kind);
  return word == nullptr ? Reach::unknown : word->reach;
}

Medium medium_of(std::string_view kind) {
  const Word* word = word_of(kind);
  return word == nullptr ? Medium::unknown : word->medium;
}

std::optional<std::int64_t> most_of_kind(std::string_view kind) {
  const Word* word = word_of(kind);
  if (word == nullptr || word->most == 0) return std::nullopt;
  return word->most;
}

}  // namespace forestcoll::topology
