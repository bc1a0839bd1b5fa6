// The longest common subsequence of lines by the plain table, of what is left between equal lines
// at the start and at the end.
#include "cli/line_diff.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/strings.h"
#include "cli/out.h"

namespace wick {

namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 24;
constexpr std::size_t kContext = 3;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

void append(std::vector<std::string>& out, char mark, std::string_view line) {
  out.push_back(cat(std::string_view(&mark, 1), line));
}

// a[i, a_end) and b[j, b_end), which start and end with different lines.
void diff_middle(std::span<const std::string_view> a, std::span<const std::string_view> b,
                 std::vector<std::string>& out) {
  std::size_t i = 0;
  std::size_t j = 0;
  if ((a.size() + 1) * (b.size() + 1) <= kMaxCells) {
    const std::size_t width = b.size() + 1;
    std::vector<std::uint32_t> common((a.size() + 1) * width, 0);  // of what is left
    for (std::size_t r = a.size(); r-- > 0;) {
      for (std::size_t c = b.size(); c-- > 0;) {
        common[r * width + c] =
            a[r] == b[c] ? common[(r + 1) * width + c + 1] + 1
                         : std::max(common[(r + 1) * width + c], common[r * width + c + 1]);
      }
    }
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        append(out, ' ', a[i++]);
        ++j;
      } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
        append(out, '-', a[i++]);
      } else {
        append(out, '+', b[j++]);
      }
    }
  }
  for (; i < a.size(); ++i)
    append(out, '-', a[i]);
  for (; j < b.size(); ++j)
    append(out, '+', b[j]);
}

}  // namespace

std::vector<std::string> line_diff(std::string_view before, std::string_view behind) {
  const Lines a = lines_of(before);
  const Lines b = lines_of(behind);
  std::size_t head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < head; ++i)
    append(out, ' ', a[i]);
  diff_middle(std::span(a).subspan(head, a.size() - head - tail),
              std::span(b).subspan(head, b.size() - head - tail), out);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i)
    append(out, ' ', a[i]);
  return out;
}

void print_line_diff(std::string_view before, std::string_view behind) {
  const std::vector<std::string> lines = line_diff(before, behind);
  std::size_t shown = 0;  // lines before this one are done with
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].front() == ' ') continue;
    const std::size_t from = std::max(shown, i - std::min(i, kContext));
    const std::size_t to = std::min(lines.size(), i + kContext + 1);
    if (from > shown) print({"@@ line ", from + 1, "\n"});
    for (std::size_t k = from; k < to; ++k) {
      std::string_view line = lines[k];
      const bool is_whole = line.ends_with('\n');
      line.remove_suffix(is_whole ? 1 : 0);
      const char mark = line.front();
      const bool is_plain = mark == ' ';
      print({is_plain ? Shown("") : color(STDOUT_FILENO, mark == '-' ? Color::kRed : Color::kGreen),
             printable(line, line.size() * 10),
             is_plain ? Shown("") : color(STDOUT_FILENO, Color::kNone), "\n"});
      if (!is_whole) print({"\\ no line feed at the end\n"});
    }
    shown = std::max(shown, to);
  }
}

}  // namespace wick
