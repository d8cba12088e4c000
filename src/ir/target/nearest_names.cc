#include "ir/target/nearest_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace texloom::ir {

namespace {

std::string in_small_letters(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// The number of insertions, deletions and replacements between two texts (Levenshtein).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // between the start of `a` and each start of `b`
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names) {
  constexpr size_t kLeastStart = 3, kMost = 5;
  const std::string given = in_small_letters(word);
  size_t least = given.size() / 3;  // a name is near up to so many edits
  std::vector<std::string> nearest;
  for (const std::string& name : names) {
    const std::string other = in_small_letters(name);
    const bool begins = given.size() >= kLeastStart && other.starts_with(given);
    const size_t distance = begins && other != given ? 1 : edits(given, other);
    if (distance > least) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.push_back(name);
  }
  if (nearest.size() > kMost) nearest.resize(kMost);
  return nearest;
}

std::string nearest_help(std::string_view word, std::span<const std::string> names) {
  const std::vector<std::string> nearest = nearest_names(word, names);
  return nearest.empty() ? "" : fmt::format("write {}", fmt::join(nearest, " or "));
}

}  // namespace texloom::ir
