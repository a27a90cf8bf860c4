// A scanner over the raw text that knows as much of XML as the runtimes' parser does: elements on
// one line, attributes in double quotes, comments, and ' ', '\n', '\r' between elements. It walks
// along valid XML of any kind and reports where the two part company. Only the first offence of a
// kind is reported; the rest would be noise.
#include "audit/lexical.hpp"

#include <fmt/format.h>

#include <array>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxAttributes = 16;
constexpr std::size_t kMaxValue = 254;
constexpr std::string_view kBom = "\xEF\xBB\xBF";

enum class Offence {
  bom,
  prolog,
  declaration,
  tab,
  text,
  comment,
  newline,
  quote,
  many,
  value,
  duplicate,
  count
};

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
      if (text_[at_] != '<') {
        between_elements();
      } else if (!markup()) {
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
    findings_.add(Code::lexical, lines_.position(at), std::move(message), std::move(remedy));
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
    if (starts("</")) return skip_past(">");
    ++elements_;
    return element();
  }

  bool comment() {
    const std::size_t begin = at_ + 4;
    const std::size_t first_space = std::min(text_.find(' ', begin), text_.size());
    const std::size_t end = std::min(text_.find("-->", begin), text_.size());
    const std::string_view token = text_.substr(begin, std::min(first_space, end) - begin);
    if (token.find('=') != std::string_view::npos) {
      report(Offence::comment, at_,
             fmt::format("the first word of a comment, \"{}\", holds a '=', which the runtimes "
                         "take for an attribute",
                         token.substr(0, 40)),
             "write a space after <!--");
    }
    at_ = begin;
    return skip_past("-->");
  }

  bool element() {
    names_count_ = 0;
    at_ = std::min(text_.find_first_of(" \t\r\n/>", at_), text_.size());
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '>') {
        ++at_;
        return true;
      }
      if (c == ' ' || c == '/') {
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

  bool attribute() {
    const std::size_t begin = at_;
    const std::size_t equals = text_.find('=', at_);
    if (equals == std::string_view::npos) return false;
    const std::string_view name = text_.substr(begin, equals - begin);
    at_ = equals + 1;
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    const char quote = text_[at_];
    if (quote == '\'') {
      report(Offence::quote, at_, "an attribute in single quotes, which the runtimes misread",
             "use double quotes");
    }
    const std::size_t value = at_ + 1;
    const std::size_t end = text_.find(quote, value);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    if (end - value > kMaxValue) {
      report(Offence::value, value,
             fmt::format("attribute {} is {} bytes long; the runtimes copy it into 256 bytes "
                         "without a check",
                         name, end - value),
             "keep attributes below 255 bytes");
    }
    remember(name, begin);
    return true;
  }

  void remember(std::string_view name, std::size_t at) {
    for (std::size_t i = 0; i < names_count_; ++i) {
      if (names_[i] == name) {
        report(Offence::duplicate, at,
               fmt::format("attribute {} stands twice in one element", name), "remove one of them");
        return;
      }
    }
    if (names_count_ == kMaxAttributes) {
      report(Offence::many, at,
             fmt::format("more than {} attributes in one element; the runtimes drop the rest, "
                         "beginning with {}",
                         kMaxAttributes, name.substr(0, 40)),
             "remove attributes that no runtime reads");
      return;
    }
    names_[names_count_++] = name;
  }

  std::string_view text_;
  const LineIndex& lines_;
  Findings& findings_;
  std::size_t at_ = 0;
  std::size_t elements_ = 0;
  std::array<std::string_view, kMaxAttributes> names_;
  std::size_t names_count_ = 0;
  std::array<bool, static_cast<std::size_t>(Offence::count)> seen_{};
};

}  // namespace

std::optional<Diagnostic> check_lexical_rules(std::string_view text, std::string_view file,
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
  return std::nullopt;
}

}  // namespace forestcoll::audit
