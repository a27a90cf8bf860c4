#include "audit/common/contents.hpp"

#include <bit>

namespace forestcoll::audit {
namespace {

// Sets of ranks take at most this much memory.
constexpr std::size_t kMaxWords = std::size_t{1} << 26;
constexpr std::size_t kMaxSums = std::size_t{1} << 23;  // about half a GiB

std::uint64_t hash_of(const std::vector<std::uint64_t>& bits) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t word : bits) {
    hash ^= word;
    hash *= 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

RankSets::RankSets(std::int32_t ranks) : words_((static_cast<std::size_t>(ranks) + 63) / 64) {
  std::vector<std::uint64_t> everyone(words_, 0);
  for (std::int32_t r = 0; r < ranks; ++r) {
    std::vector<std::uint64_t> one(words_, 0);
    const auto word = static_cast<std::size_t>(r) / 64;
    one[word] = std::uint64_t{1} << (r % 64);
    everyone[word] |= one[word];
    intern(one);
  }
  all_ = intern(everyone);
}

bool RankSets::contains(std::int32_t set, std::int32_t rank) const {
  return (row(set)[rank / 64] >> (rank % 64) & 1U) != 0;
}

std::int32_t RankSets::common(std::int32_t a, std::int32_t b) const {
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t both = row(a)[w] & row(b)[w];
    if (both != 0) return static_cast<std::int32_t>(w * 64) + std::countr_zero(both);
  }
  return -1;
}

std::int32_t RankSets::of(const std::vector<std::int32_t>& members) {
  std::vector<std::uint64_t> bits(words_, 0);
  for (const std::int32_t rank : members) {
    bits[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  }
  return intern(bits);
}

RankSets::Union RankSets::unite(std::int32_t a, std::int32_t b) {
  if (common(a, b) >= 0) return {-1, Refusal::overlap};
  if (bits_.size() + words_ > kMaxWords) return {-1, Refusal::memory};
  std::vector<std::uint64_t> bits(row(a), row(a) + words_);
  for (std::size_t w = 0; w < words_; ++w) bits[w] |= row(b)[w];
  return {intern(bits), std::nullopt};
}

std::int32_t RankSets::intern(const std::vector<std::uint64_t>& bits) {
  const std::uint64_t hash = hash_of(bits);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (std::equal(bits.begin(), bits.end(), row(it->second))) return it->second;
  }
  const auto set = static_cast<std::int32_t>(bits_.size() / words_);
  bits_.insert(bits_.end(), bits.begin(), bits.end());
  by_hash_.emplace(hash, set);
  return set;
}

PartialSums::PartialSums(std::int32_t ranks) : sets_(ranks) {
  for (std::int32_t r = 0; r < ranks; ++r) ranks_.push_back(RankSets::single(r));
}

PartialSums::Sum PartialSums::add(std::int32_t a, std::int32_t b) {
  if (a > b) std::swap(a, b);
  const std::uint64_t key = static_cast<std::uint64_t>(a) << 32 |
                            static_cast<std::uint64_t>(static_cast<std::uint32_t>(b));
  const auto known = added_.find(key);
  if (known != added_.end()) return {known->second, std::nullopt};
  if (ranks_.size() == kMaxSums) return {-1, RankSets::Refusal::memory};
  const RankSets::Union both = sets_.unite(ranks_of(a), ranks_of(b));
  if (both.refusal) return {-1, both.refusal};
  const auto sum = static_cast<std::int32_t>(ranks_.size());
  ranks_.push_back(both.set);
  added_.emplace(key, sum);
  return {sum, std::nullopt};
}

}  // namespace forestcoll::audit
