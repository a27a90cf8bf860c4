// A scanner over the raw text that knows as much of XML as the runtimes' parser does: elements on
// one line, attributes in double quotes, comments, and ' ', '\n', '\r' between elements. It walks
// along valid XML of any kind and reports where the two part company; what it cannot follow to the
// end is reported too. Only the first offence of a kind is reported; the rest would be noise.
#include "audit/msccl/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxAttributes = 16;
constexpr std::size_t kMaxValue = 254;
constexpr std::size_t kMaxWord = 253;  // of a name, or of a comment's first word
constexpr std::string_view kBom = "\xEF\xBB\xBF";

enum class Offence {
  bom,
  prolog,
  declaration,
  tab,
  text,
  comment,
  newline,
  equals,
  quote,
  many,
  value,
  word,
  duplicate,
  closing,
  unfinished,
  count
};

constexpr std::array<std::string_view, 11> kAlgoReads = {
    "name",    "proto",      "nchannels", "nchunksperloop", "ngpus",   "coll",
    "inplace", "outofplace", "minBytes",  "maxBytes",       "nthreads"};
constexpr std::array<std::string_view, 4> kGpuReads = {"id", "i_chunks", "o_chunks", "s_chunks"};
constexpr std::array<std::string_view, 4> kThreadblockReads = {"id", "send", "recv", "chan"};
constexpr std::array<std::string_view, 10> kStepReads = {
    "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"};

// Whether it is one of these signs, all of which come before the letters.
bool is_one_of(char c, std::string_view signs) {
  return c <= '>' && signs.find(c) != std::string_view::npos;
}

// The attributes that some runtime reads of an element.
std::span<const std::string_view> attributes_of(std::string_view element) {
  if (element == "algo") return kAlgoReads;
  if (element == "gpu") return kGpuReads;
  if (element == "tb") return kThreadblockReads;
  if (element == "step") return kStepReads;
  return {};
}

class Scanner {
 public:
  Scanner(std::string_view text, const LineIndex& lines, Findings& findings)
      : text_(text), lines_(lines), findings_(findings) {}

  // Returns false once there are more elements than are ever held.
  bool run() {
    if (text_.substr(0, kBom.size()) == kBom) {
      report(Offence::bom, 0, "the file begins with a byte-order mark, which the runtimes refuse",
             "save it as UTF-8 without a byte-order mark");
      at_ = kBom.size();
    }
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      if (text_[at_] != '<') {
        between_elements();
      } else if (!markup()) {
        report(Offence::unfinished, begin, "the runtimes cannot read on from here",
               "write elements as <name attribute=\"value\"/>");
        break;
      }
      if (elements_ > kMaxFileElements) return false;
    }
    return true;
  }

 private:
  void report(Offence offence, std::size_t at, std::string message, std::string remedy) {
    bool& seen = seen_[static_cast<std::size_t>(offence)];
    if (seen) return;
    seen = true;
    findings_.add(Rule::lexical, lines_.position(at), std::move(message), std::move(remedy));
  }

  [[nodiscard]] bool starts(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }

  // Moves behind the next `end`; false where there is none.
  bool skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + end.size();
    return true;
  }

  void between_elements() {
    const char c = text_[at_];
    if (c == '\t') {
      report(Offence::tab, at_, "a tab between elements, which the runtimes refuse",
             "indent with spaces");
    } else if (c != ' ' && c != '\n' && c != '\r') {
      report(Offence::text, at_, "text between elements, which the runtimes refuse",
             "remove it, or make it a comment");
      at_ = std::min(text_.find('<', at_), text_.size());
      return;
    }
    ++at_;
  }

  // One comment, tag or declaration; false where it does not end.
  bool markup() {
    if (starts("<!--")) return comment();
    if (starts("<?")) {
      report(Offence::prolog, at_, "a prolog (<?xml …?>), which the runtimes refuse",
             "remove the line");
      return skip_past("?>");
    }
    if (starts("<!")) {
      report(Offence::declaration, at_, "a declaration (<!…>), which the runtimes refuse",
             "remove it");
      return skip_past(starts("<![CDATA[") ? "]]>" : ">");
    }
    if (starts("</")) return closing_tag();
    ++elements_;
    return element();
  }

  // The runtimes copy names into 256 bytes and give up on longer ones.
  void check_word(std::string_view word, std::size_t at) {
    if (word.size() <= kMaxWord) return;
    report(Offence::word, at,
           fmt::format("a word of {} bytes, \"{}…\"; the runtimes hold {}", word.size(),
                       word.substr(0, 40), kMaxWord),
           "write a shorter one");
  }

  // Its first word is read like a name, and a name before a '=' like an attribute.
  bool comment() {
    const std::size_t begin = at_ + 4;
    const std::size_t end = std::min(text_.find_first_of(" />\r\n", begin), text_.size());
    const std::string_view word = text_.substr(begin, end - begin);
    check_word(text_.substr(at_ + 1, end - at_ - 1), at_);
    if (word.find('=') != std::string_view::npos) {
      report(Offence::comment, at_,
             fmt::format("the first word of a comment, \"{}\", holds a '=', which the runtimes "
                         "take for an attribute",
                         word.substr(0, 40)),
             "write a space after <!--");
    }
    at_ = begin;
    return skip_past("-->");
  }

  bool closing_tag() {
    at_ += 2;
    const std::string_view name = read_name();
    if (at_ < text_.size() && text_[at_] != '>') {
      report(Offence::closing, at_, "white space in a closing tag, which the runtimes refuse",
             fmt::format("write </{}>", name.substr(0, 40)));
    }
    return skip_past(">");
  }

  bool element() {
    ++at_;
    reads_ = attributes_of(read_name());
    names_count_ = 0;
    slots_ = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '>') {
        ++at_;
        return true;
      }
      if (c == ' ' || c == '/') {
        if (c == ' ') ++slots_;
        ++at_;
      } else if (c == '\n' || c == '\r' || c == '\t') {
        report(Offence::newline, at_,
               fmt::format("a {} inside an element, which the runtimes refuse",
                           c == '\t' ? "tab" : "line break"),
               "write every element on one line, its attributes separated by spaces");
        ++at_;
      } else if (!attribute()) {
        return false;
      }
    }
    return false;
  }

  void skip_white_space() {
    while (at_ < text_.size() && is_one_of(text_[at_], " \t\r\n")) ++at_;
  }

  std::string_view read_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_one_of(text_[at_], " \t\r\n/>=\"'<")) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    check_word(name, begin);
    return name;
  }

  bool attribute() {
    const std::size_t begin = at_;
    const std::string_view name = read_name();
    const std::size_t name_end = at_;
    skip_white_space();
    if (at_ >= text_.size() || text_[at_] != '=') return false;
    const std::size_t equals = at_++;
    skip_white_space();
    if (equals != name_end || at_ != equals + 1) {
      report(Offence::equals, name_end,
             fmt::format("white space beside the '=' of attribute {}, which the runtimes misread",
                         name.substr(0, 40)),
             "write attribute=\"value\" without spaces");
    }
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    const char quote = text_[at_];
    if (quote == '\'') {
      report(Offence::quote, at_, "an attribute in single quotes, which the runtimes misread",
             "use double quotes");
    }
    const std::size_t value = at_ + 1;
    std::size_t end = value;  // most values are a digit or two
    while (end < text_.size() && text_[end] != quote) ++end;
    if (end == text_.size()) return false;
    at_ = end + 1;
    if (end - value > kMaxValue) {
      report(Offence::value, value,
             fmt::format("attribute {} is {} bytes long; the runtimes copy it into 256 bytes "
                         "without a check",
                         name.substr(0, 40), end - value),
             "keep attributes below 255 bytes");
    }
    remember(name, begin);
    return true;
  }

  // A runtime reads one attribute behind every space, and an empty one where there is none. It
  // keeps the first 16.
  void remember(std::string_view name, std::size_t at) {
    const auto seen = std::span(names_).first(names_count_);
    if (std::ranges::find(seen, name) != seen.end()) {
      report(Offence::duplicate, at,
             fmt::format("attribute {} stands twice in one element", name.substr(0, 40)),
             "remove one of them");
      return;
    }
    if (slots_ > kMaxAttributes && std::ranges::find(reads_, name) != reads_.end()) {
      report(Offence::many, at,
             fmt::format("more than {} attributes in one element, every further space counted as "
                         "one; the runtimes drop the rest, and with it {}",
                         kMaxAttributes, name),
             "remove attributes that no runtime reads, and write one space between two");
    }
    if (names_count_ < kMaxAttributes) names_[names_count_++] = name;
  }

  std::string_view text_;
  const LineIndex& lines_;
  Findings& findings_;
  std::size_t at_ = 0;
  std::size_t elements_ = 0;
  std::array<std::string_view, kMaxAttributes> names_;
  std::size_t names_count_ = 0;
  std::size_t slots_ = 0;                    // of the element: spaces before this place
  std::span<const std::string_view> reads_;  // what runtimes read of the element
  std::array<bool, static_cast<std::size_t>(Offence::count)> seen_{};
};

}  // namespace

Expected<void> check_lexical_rules(std::string_view text, std::string_view file,
                                   const LineIndex& lines, Findings& findings) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    return file_error(file, lines.position(nul), "a zero byte: this is not text",
                      "give the schedule as MSCCL XML or forest JSON");
  }
  if (!Scanner(text, lines, findings).run()) {
    return file_error(
        file, "",
        fmt::format("more than {} XML elements; no runtime loads so many", kMaxFileElements),
        "use fewer chunks or instances");
  }
  return {};
}

}  // namespace forestcoll::audit
