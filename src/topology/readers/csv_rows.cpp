#include "topology/readers/csv_rows.hpp"

#include "base/words.hpp"

namespace forestcoll::importing {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::vector<CsvRow>> scan() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      const std::size_t content = rest.find_first_not_of(" \t");
      if (content != std::string_view::npos && rest[content] == '#') {
        skip_line();
      } else if (!scan_row()) {
        return std::nullopt;
      }
    }
    return std::move(rows_);
  }

 private:
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    ++at_;
  }

  bool scan_row() {
    CsvRow row{.fields = {}, .offset = at_};
    std::string field;
    bool quoted = false;  // the field has been in quotation marks
    const auto close = [&] {
      row.fields.push_back(quoted ? field : std::string(trimmed(field)));
      field.clear();
      quoted = false;
    };
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n' || c == '\r') break;
      if (c == ',') {
        close();
      } else if (c == '"' && trimmed(field).empty() && !quoted) {
        field.clear();
        quoted = true;
        if (!scan_quoted(field)) return false;
      } else if (!quoted || (c != ' ' && c != '\t')) {
        field += c;
      }
    }
    ++at_;
    close();
    if (row.fields.size() > 1 || !row.fields.front().empty()) rows_.push_back(std::move(row));
    return true;
  }

  // At a quotation mark; ends at the closing one. Two of them stand for one.
  bool scan_quoted(std::string& field) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (text_.substr(at_ + 1, 1) == "\"") {
        field += text_[at_++];
      } else {
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::optional<std::vector<CsvRow>> csv_rows(std::string_view text) {
  return Scanner(text).scan();
}

}  // namespace forestcoll::importing
