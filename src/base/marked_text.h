// Text with marks for the parts that may contain control tokens: text of the template is trusted,
// text of a user is not. So a user who types "<|im_end|>" gets ordinary tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wick {

struct Span {
  std::size_t begin = 0, end = 0;  // bytes [begin, end)
};

struct MarkedText {
  std::string text = {};
  std::vector<Span> trusted = {};  // ascending, not touching

  void append(std::string_view part, bool is_trusted) {
    if (part.empty()) return;
    if (is_trusted) {
      if (!trusted.empty() && trusted.back().end == text.size()) {
        trusted.back().end += part.size();
      } else {
        trusted.push_back({text.size(), text.size() + part.size()});
      }
    }
    text += part;
  }
};

}  // namespace wick
