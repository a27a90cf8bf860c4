// Numbers for names, by the order in which they first appear.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/plain_text.hpp"
#include "audit/forest/file.hpp"
#include "base/mix.hpp"

namespace forestcoll::audit {

/// A hash table with open addressing: a forest of a thousand ranks names them millions of times.
/// All of the table stays in the cache, with so much of each name that few need to be looked up.
class NameTable {
 public:
  /// Names are appended to `names`, which nobody else may change.
  explicit NameTable(std::vector<std::string>& names) : names_(names), slots_(kFirstSlots) {}

  /// Cost: O(1) expected, and O(bytes of the name).
  Name number_of(std::string_view name) {
    const std::uint64_t word = word_at(name, 0);
    std::size_t at = place_of(name, word);
    for (; slots_[at].name >= 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].word == word && rest_is(slots_[at].name, name)) return slots_[at].name;
    }
    const auto number = static_cast<Name>(names_.size());
    names_.emplace_back(name);
    words_.push_back(word);
    is_plain_.push_back(std::all_of(name.begin(), name.end(),
                                    [](char c) { return kPlain[static_cast<unsigned char>(c)]; }));
    slots_[at] = {word, number};
    if (2 * names_.size() > slots_.size()) grow();
    return number;
  }

  /// The name, if a JSON text spells it without escapes.
  [[nodiscard]] std::optional<std::string_view> as_written(Name number) const {
    if (!is_plain_[static_cast<std::size_t>(number)]) return std::nullopt;
    return names_[static_cast<std::size_t>(number)];
  }
  /// Whether that is the number of `name`.
  [[nodiscard]] bool is(Name number, std::string_view name) const {
    return words_[static_cast<std::size_t>(number)] == word_at(name, 0) && rest_is(number, name);
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two, as ever

  struct Slot {
    std::uint64_t word = 0;  ///< the first bytes of the name
    Name name = -1;
  };

  // Up to eight bytes, and zeros where there are no more.
  static std::uint64_t word_at(std::string_view name, std::size_t begin) {
    std::uint64_t word = 0;
    if (begin + sizeof(word) <= name.size()) {
      std::memcpy(&word, name.data() + begin, sizeof(word));
    } else {
      for (std::size_t i = name.size(); i-- > begin;) {
        word = word << 8 | static_cast<unsigned char>(name[i]);
      }
    }
    return word;
  }

  [[nodiscard]] std::size_t place_of(std::string_view name, std::uint64_t first_word) const {
    std::uint64_t hash = base::mix(first_word ^ name.size());
    for (std::size_t at = sizeof(first_word); at < name.size(); at += sizeof(first_word)) {
      hash = base::mix(hash ^ word_at(name, at));
    }
    return hash & (slots_.size() - 1);
  }

  // REQUIRES: the first words are equal.
  [[nodiscard]] bool rest_is(Name known, std::string_view name) const {
    const std::string& text = names_[static_cast<std::size_t>(known)];
    return text.size() == name.size() && (name.size() <= sizeof(std::uint64_t) || text == name);
  }

  void grow() {
    slots_.assign(2 * slots_.size(), {});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::size_t at = place_of(names_[i], words_[i]);
      while (slots_[at].name >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {words_[i], static_cast<Name>(i)};
    }
  }

  std::vector<std::string>& names_;
  std::vector<std::uint64_t> words_;  // the first of each name
  std::vector<bool> is_plain_;
  std::vector<Slot> slots_;
};

}  // namespace forestcoll::audit
