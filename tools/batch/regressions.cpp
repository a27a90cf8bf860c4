#include "batch/regressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "batch/discovery.hpp"

namespace forestcoll::cli::batch {
namespace {

bool is_made(const ItemResult& item) {
  return item.status == Status::ok || item.status == Status::cached;
}

const ItemResult* find(const Results& results, const ItemResult& item) {
  const auto found = std::ranges::lower_bound(results.items, item, is_before);
  return found != results.items.end() && is_same(*found, item) ? &*found : nullptr;
}

std::string hash_of(const ItemResult& item) {
  std::string text;
  for (const OutputFile& file : item.outputs) text += (text.empty() ? "" : " ") + file.hash;
  return text;
}

std::vector<Regression> compare(const ItemResult& before, const ItemResult& now) {
  std::vector<Regression> found;
  const auto add = [&](const char* what, std::string was, std::string is) {
    found.push_back({now, what, std::move(was), std::move(is)});
  };
  if (!is_made(before)) return found;
  if (now.status == Status::failed) {
    add("failed", "made", now.error ? now.error->code : "failed");
  }
  if (!is_made(now)) return found;
  if (before.figures && now.figures) {
    const Figures &was = *before.figures, &is = *now.figures;
    if (is.algbw < was.algbw) add("rate", was.algbw.to_string(), is.algbw.to_string());
    if (is.height > was.height) {
      add("height", std::to_string(was.height), std::to_string(is.height));
    }
  }
  if (before.outputs != now.outputs) add("file", hash_of(before), hash_of(now));
  return found;
}

bool is_allowed(const Regression& regression, const std::vector<Allowance>& allowed) {
  return std::ranges::any_of(allowed, [&](const Allowance& allowance) {
    return allowance.what == regression.what &&
           (allowance.pattern.empty() || matches(allowance.pattern, regression.item.input));
  });
}

}  // namespace

Expected<Allowance> parse_allowance(const std::string& text) {
  const std::size_t colon = text.find(':');
  Allowance allowance{text.substr(0, colon),
                      colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (allowance.what == "rate" || allowance.what == "height" || allowance.what == "file") {
    return allowance;
  }
  return usage_error(
      "S03", fmt::format("--allow: expected rate, height or file, found \"{}\"", allowance.what),
      "write --allow file, or --allow file:PATTERN for some inputs");
}

std::vector<Regression> regressions_since(const Results& before, const Results& now,
                                          const std::vector<Allowance>& allowed) {
  std::vector<Regression> regressions;
  for (const ItemResult& item : now.items) {
    const ItemResult* former = find(before, item);
    if (former == nullptr) continue;
    for (Regression& regression : compare(*former, item)) {
      if (!is_allowed(regression, allowed)) regressions.push_back(std::move(regression));
    }
  }
  return regressions;
}

std::size_t missing_since(const Results& before, const Results& now) {
  return static_cast<std::size_t>(std::ranges::count_if(
      before.items, [&](const ItemResult& item) { return find(now, item) == nullptr; }));
}

}  // namespace forestcoll::cli::batch
