// Limits the runs of blanks in a JSON text. Error messages of nlohmann's parser contain every byte
// since the last token, at 80 ns each: 60 MB of newlines would take 5 s.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/strings.h"

namespace wick {

inline constexpr std::size_t kMaxBlanks = 1 << 20;

// kInvalid, id "json_syntax". Looks at one byte in kMaxBlanks of a text without long runs.
inline Result<void> check_blanks(std::string_view json) {
  constexpr std::string_view kBlanks = " \t\r\n";
  for (std::size_t end = kMaxBlanks; end < json.size();) {
    const std::size_t solid = json.find_last_not_of(kBlanks, end);
    if (solid == std::string_view::npos || end - solid >= kMaxBlanks) {
      return Error{ErrorCode::kInvalid, "json_syntax",
                   cat("JSON has more than ", kMaxBlanks, " blanks in a row")};
    }
    end = solid + kMaxBlanks;
  }
  return {};
}

}  // namespace wick
