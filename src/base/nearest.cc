#include "base/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace wick {

namespace {

constexpr std::size_t kMaxWanted = 100;  // longer text is no model name: the cost stays bounded
constexpr std::size_t kShown = 3;

// Levenshtein's distance, where two neighbors that changed places count once (optimal string
// alignment): the commonest slip. Three rows of the table at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_names(std::string_view wanted, std::span<const std::string> names) {
  std::string text(wanted.substr(0, kMaxWanted));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  std::vector<std::pair<std::size_t, std::string_view>> close;
  for (const std::string& name : names) {
    const bool is_part = text.size() >= 3 && name.find(text) != std::string::npos;
    const std::size_t d = is_part ? 0 : distance(text, name);
    if (is_part || d <= std::max(text.size(), name.size()) / 3) close.emplace_back(d, name);
  }
  std::sort(close.begin(), close.end());
  close.erase(std::unique(close.begin(), close.end()), close.end());
  std::string out;
  for (std::size_t i = 0; i < std::min(close.size(), kShown); ++i) {
    if (i != 0) out += ", ";
    out += close[i].second;
  }
  return out;
}

}  // namespace wick
