#include "assist/quote.h"

namespace wick::assist {

std::string quote_word(std::string_view word, shell::Dialect dialect) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    const bool is_fish = dialect == shell::Dialect::kFish;
    if (c == '\'') {
      out += is_fish ? "\\'" : dialect == shell::Dialect::kPowershell ? "''" : "'\\''";
    } else if (c == '\\' && is_fish) {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace wick::assist
