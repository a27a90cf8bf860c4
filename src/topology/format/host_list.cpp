#include "topology/format/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "forestcoll/codes.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

// 18 digits fit 64 bits.
constexpr std::size_t kMaxDigits = 18;

Diagnostic bad_range(std::string message) {
  return make_error(Code::E11, std::move(message),
                    "Write ranges such as gpu[0-7], n[0,2,4-6] or n[00-15].");
}

std::optional<std::uint64_t> parse_index(std::string_view digits) {
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool is_padded(std::string_view digits) {
  return digits.size() > 1 && digits.front() == '0';
}

}  // namespace

std::size_t saturating_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::size_t>::max();
  return product;
}

std::size_t saturating_sum(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::numeric_limits<std::size_t>::max();
  return sum;
}

// One pass over the text; the first thing wrong ends it.
class HostListParser {
 public:
  explicit HostListParser(std::string_view text) : text_(text), rest_(text) {}

  Expected<HostList> parse() {
    if (text_.empty()) return bad_range("expected an id, found an empty text");
    // Line ends and the like would break reports and schedules, which name nodes line by line.
    if (const auto control = find_control(text_)) {
      return bad_range(
          fmt::format("the id {} has the control character {}", quote(text_), *control));
    }
    list_.text_ = text_;
    while (!rest_.empty()) {
      if (!take_part()) {
        return bad_range(fmt::format("bad range in {}: {}", quote(text_), reason_));
      }
    }
    if (longest_ > kMaxIdLength) {
      return bad_range(fmt::format("the id {} has {} characters; at most {} are allowed",
                                   quote(text_), longest_, kMaxIdLength));
    }
    return std::move(list_);
  }

 private:
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  // A literal and the bracket after it, if any.
  bool take_part() {
    const std::size_t bracket = rest_.find_first_of("[]");
    HostList::Part part;
    part.literal = rest_.substr(0, bracket);
    longest_ += part.literal.size();
    if (bracket == std::string_view::npos) {
      rest_ = {};
    } else {
      if (rest_[bracket] == ']') return fail("a ] without a [ before it");
      const std::size_t close = rest_.find(']', bracket);
      if (close == std::string_view::npos) return fail("a [ without its ]");
      const std::string_view body = rest_.substr(bracket + 1, close - bracket - 1);
      rest_.remove_prefix(close + 1);
      if (!take_ranges(body, part)) return false;
    }
    const bool is_plain_id = part.ranges.empty() && list_.parts_.empty();
    if (!is_plain_id) list_.parts_.push_back(std::move(part));
    return true;
  }

  // What stands between brackets: "0,2,4-6".
  bool take_ranges(std::string_view body, HostList::Part& part) {
    std::size_t ids = 0;
    std::size_t longest_index = 0;
    for (bool more = true; more;) {
      const std::size_t comma = body.find(',');
      more = comma != std::string_view::npos;
      if (!take_range(body.substr(0, comma), part)) return false;
      if (more) body.remove_prefix(comma + 1);
      const HostList::Range& range = part.ranges.back();
      ids = saturating_sum(ids, static_cast<std::size_t>(range.last - range.first) + 1);
      longest_index = std::max(longest_index, digits(range));
    }
    longest_ += longest_index;
    list_.count_ = saturating_product(list_.count_, ids);
    return true;
  }

  bool take_range(std::string_view item, HostList::Part& part) {
    const std::size_t dash = item.find('-');
    const std::string_view low = item.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : item.substr(dash + 1);
    const auto first = parse_index(low);
    const auto last = parse_index(high);
    if (!first || !last) {
      return fail(
          fmt::format("expected an index, or two with a dash between, found {}", quote(item)));
    }
    if (*first > *last) return fail(fmt::format("{} runs backwards", quote(item)));
    const bool padded = is_padded(low);
    if (padded ? high.size() < low.size() : is_padded(high)) {
      return fail(fmt::format("the two ends of {} are padded differently", quote(item)));
    }
    part.ranges.push_back({*first, *last, padded ? low.size() : 0});
    return true;
  }

  static std::size_t digits(const HostList::Range& range) {
    return std::max(std::to_string(range.last).size(), range.width);
  }

  std::string_view text_, rest_;
  HostList list_;
  std::size_t longest_ = 0;
  std::string reason_;
};

Expected<HostList> parse_host_list(std::string_view text) {
  return HostListParser(text).parse();
}

std::vector<HostList::Range> HostList::Part::merged() const {
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    const bool follows = !merged.empty() && merged.back().last + 1 == range.first &&
                         merged.back().width == range.width;
    if (follows) {
      merged.back().last = range.last;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

bool HostList::Part::has_several() const {
  return ranges.size() > 1 || (!ranges.empty() && ranges[0].first < ranges[0].last);
}

std::string_view HostList::Part::name() const {
  std::size_t begin = literal.size();
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(literal[begin - 1])) != 0) --begin;
  return literal.substr(begin);
}

bool HostList::equals(const HostList& other) const {
  if (parts_.empty() || other.parts_.empty()) return text_ == other.text_;
  return std::ranges::equal(parts_, other.parts_, [](const Part& a, const Part& b) {
    return a.literal == b.literal && a.merged() == b.merged();
  });
}

bool HostList::branches_from(const HostList& other) const {
  bool several = false;
  std::size_t at = 0;
  for (; at < parts_.size() && at < other.parts_.size(); ++at) {
    const auto ranges = parts_[at].merged();
    if (parts_[at].literal != other.parts_[at].literal || ranges != other.parts_[at].merged()) {
      break;
    }
    several = several || parts_[at].has_several();
  }
  return several && (at < parts_.size() || at < other.parts_.size());
}

bool HostList::shares_a_range_with(const HostList& other) const {
  const auto several = [](const HostList& list) {
    return std::count_if(list.parts_.begin(), list.parts_.end(),
                         [](const Part& part) { return part.has_several(); });
  };
  if (std::max(several(*this), several(other)) < 2) return false;
  for (const Part& mine : parts_) {
    if (!mine.has_several()) continue;
    for (const Part& theirs : other.parts_) {
      const bool alike = &mine == &parts_.back() && &theirs == &other.parts_.back() &&
                         mine.name() == theirs.name();
      if (!alike && mine.merged() == theirs.merged()) return true;
    }
  }
  return false;
}

std::vector<std::string> HostList::expand() const {
  if (parts_.empty()) return {std::string(text_)};
  std::vector<std::string> ids = {""};
  ids.reserve(count_);
  for (const Part& part : parts_) {
    for (std::string& id : ids) id += part.literal;
    if (part.ranges.empty()) continue;
    std::vector<std::string> longer;
    for (const std::string& id : ids) {
      for (const Range& range : part.ranges) {
        for (std::uint64_t index = range.first; index <= range.last; ++index) {
          longer.push_back(id + fmt::format("{:0{}}", index, range.width));
        }
      }
    }
    ids = std::move(longer);
  }
  return ids;
}

}  // namespace forestcoll::topology
