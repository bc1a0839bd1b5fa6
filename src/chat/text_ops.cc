#include "chat/text_ops.h"

#include <algorithm>
#include <cstring>

#include "chat/limits.h"
#include "chat/operators.h"
#include "chat/unicode.h"
#include "chat/unicode_data.h"

namespace wick::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_cased(char32_t c) noexcept {
  return is_lower(c) || is_upper(c) || is_title(c);
}

bool is_case_ignorable(char32_t c) noexcept {
  const auto& table = unicode_data::kCaseIgnorable;
  const auto* row = std::upper_bound(
      table.rows, table.rows + table.size, c,
      [](char32_t x, const unicode_data::Range& range) { return x < range.first; });
  return row != table.rows && c <= (row - 1)->last;
}

// Whether the Σ in [at, at + 2) ends a word: a cased letter before it, none behind it.
bool is_final_sigma(std::string_view text, std::size_t at) noexcept {
  constexpr std::size_t kFar = 64;  // ignorable characters in a row; more is no word
  std::size_t back = at;
  bool cased = false;
  for (std::size_t i = 0; i < kFar && back > 0; ++i) {
    back = before(text, back);
    const char32_t c = code_point(text, back).value;
    if (is_case_ignorable(c)) continue;
    cased = is_cased(c);
    break;
  }
  if (!cased) return false;
  std::size_t next = at + 2;
  for (std::size_t i = 0; i < kFar && next < text.size(); ++i) {
    const CodePoint c = code_point(text, next);
    if (!is_case_ignorable(c.value)) return !is_cased(c.value);
    next += c.size;
  }
  return true;
}

void append_lower_at(std::string& out, std::string_view text, std::size_t at, char32_t c) {
  if (c == 0x3A3 && is_final_sigma(text, at)) return append_code(out, 0x3C2);
  append_lower(out, c);
}

bool is_line_end(char32_t c) noexcept {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

std::vector<char32_t> characters(std::string_view text) {
  std::vector<char32_t> out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point(text, at);
    out.push_back(c.value);
    at += c.size;
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Piece {
  std::size_t begin, end;
};

Val list_of(Run& run, const Text& text, std::vector<Piece>& pieces, bool reversed) {
  if (pieces.size() > kMaxItems) return run.too_many_items();
  if (reversed) std::reverse(pieces.begin(), pieces.end());
  std::vector<Val> items;
  items.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    if (!run.spend(1)) return Val::failure();
    items.push_back(run.cut(text, piece.begin, piece.end));
    if (items.back().failed()) return Val::failure();
  }
  return run.list(items);
}

std::vector<Piece> split_blanks(std::string_view text, std::int64_t max) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(code_point(text, at).value))
      at += code_point(text, at).size;
    if (at == text.size() || pieces.size() > kMaxItems) return pieces;
    const std::size_t begin = at;
    if (max >= 0 && static_cast<std::int64_t>(pieces.size()) == max) {
      pieces.push_back({begin, text.size()});
      return pieces;
    }
    while (at < text.size() && !is_space(code_point(text, at).value))
      at += code_point(text, at).size;
    pieces.push_back({begin, at});
  }
}

std::vector<Piece> rsplit_blanks(std::string_view text, std::int64_t max) {
  std::vector<Piece> pieces;
  std::size_t end = text.size();
  const auto last_is_space = [&] { return is_space(code_point(text, before(text, end)).value); };
  while (true) {
    while (end > 0 && last_is_space())
      end = before(text, end);
    if (end == 0 || pieces.size() > kMaxItems) return pieces;
    if (max >= 0 && static_cast<std::int64_t>(pieces.size()) == max) {
      pieces.push_back({0, end});
      return pieces;
    }
    const std::size_t from = end;
    while (end > 0 && !last_is_space())
      end = before(text, end);
    pieces.push_back({end, from});
  }
}

}  // namespace

std::size_t find_forward(Run& run, std::string_view hay, std::string_view needle,
                         std::size_t from) {
  if (from > hay.size()) return npos;
  if (needle.empty()) return from;
  // An empty view may point nowhere, which memmem must not see.
  const void* found = from == hay.size() ? nullptr
                                         : ::memmem(hay.data() + from, hay.size() - from,
                                                    needle.data(), needle.size());
  const std::size_t at =
      found == nullptr ? npos
                       : static_cast<std::size_t>(static_cast<const char*>(found) - hay.data());
  if (!run.spend(1) || !run.spend_bytes(needle.size() + std::min(at, hay.size()) - from))
    return npos;
  return at;
}

std::size_t find_backward(Run& run, std::string_view hay, std::string_view needle,
                          std::size_t end) {
  if (needle.size() > end) return npos;
  if (needle.empty()) return end;
  for (std::size_t at = end - needle.size() + 1; at-- > 0;) {
    if (hay[at] != needle[0]) {
      if (at % 64 == 0 && !run.spend(1)) return npos;
      continue;
    }
    if (!run.spend(1) || !run.spend_bytes(needle.size())) return npos;
    if (hay.substr(at, needle.size()) == needle) return at;
  }
  return npos;
}

Val strip(Run& run, const Text& text, const Text* chars, bool left, bool right) {
  const std::string_view bytes = text.bytes;
  std::vector<char32_t> set;
  if (chars != nullptr) {
    if (!run.spend(chars->bytes.size())) return Val::failure();
    set = characters(chars->bytes);
  }
  const auto goes = [&](char32_t c) {
    return chars == nullptr ? is_space(c) : std::binary_search(set.begin(), set.end(), c);
  };
  std::size_t begin = 0, end = bytes.size();
  while (left && begin < end) {
    const CodePoint c = code_point(bytes, begin);
    if (!goes(c.value)) break;
    begin += c.size;
  }
  while (right && end > begin) {
    const std::size_t last = before(bytes, end);
    if (last < begin || !goes(code_point(bytes, last).value)) break;
    end = last;
  }
  if (!run.spend_bytes(bytes.size() - (end - begin))) return Val::failure();
  return begin == 0 && end == bytes.size() ? Val::of(&text) : run.cut(text, begin, end);
}

Val split(Run& run, const Text& text, const Text* separator, std::int64_t max, bool from_right) {
  const std::string_view bytes = text.bytes;
  if (!run.spend(bytes.size() / 8)) return Val::failure();
  std::vector<Piece> pieces;
  if (separator == nullptr) {
    pieces = from_right ? rsplit_blanks(bytes, max) : split_blanks(bytes, max);
    return list_of(run, text, pieces, from_right);
  }
  const std::string_view by = separator->bytes;
  if (by.empty()) return run.fail("text cannot be split at an empty separator");
  const auto may_cut = [&] {
    return pieces.size() <= kMaxItems &&
           (max < 0 || static_cast<std::int64_t>(pieces.size()) < max);
  };
  std::size_t begin = 0, end = bytes.size();
  while (may_cut()) {
    const std::size_t at =
        from_right ? find_backward(run, bytes, by, end) : find_forward(run, bytes, by, begin);
    if (run.failed()) return Val::failure();
    if (at == npos) break;
    if (from_right) {
      pieces.push_back({at + by.size(), end});
      end = at;
    } else {
      pieces.push_back({begin, at});
      begin = at + by.size();
    }
  }
  pieces.push_back({begin, end});
  return list_of(run, text, pieces, from_right);
}

Val split_lines(Run& run, const Text& text, bool keep_ends) {
  const std::string_view bytes = text.bytes;
  if (!run.spend(bytes.size() / 8)) return Val::failure();
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = code_point(bytes, at);
    std::size_t next = at + c.size;
    if (is_line_end(c.value)) {
      if (c.value == '\r' && next < bytes.size() && bytes[next] == '\n') ++next;
      pieces.push_back({begin, keep_ends ? next : at});
      begin = next;
    }
    at = next;
  }
  if (begin < bytes.size()) pieces.push_back({begin, bytes.size()});
  return list_of(run, text, pieces, false);
}

Val replace(Run& run, const Text& text, const Text& from, const Text& to, std::int64_t max) {
  const std::string_view bytes = text.bytes;
  MarkedText out;
  std::size_t done = 0;    // copied up to here
  std::size_t search = 0;  // where the next match may start
  for (std::int64_t n = 0; max < 0 || n < max; ++n) {
    const std::size_t at = find_forward(run, bytes, from.bytes, search);
    if (run.failed()) return Val::failure();
    if (at == npos) break;
    append(out, text, done, at);
    append(out, to);
    if (!run.spend_bytes(to.bytes.size() + from.bytes.size())) return Val::failure();
    if (out.text.size() > kMaxTextBytes)
      return run.fail("a text grows too large", "template_limit");
    done = at + from.bytes.size();
    search = done;
    if (!from.bytes.empty()) continue;
    // An empty text is found before each character and at the end.
    if (at == bytes.size()) break;
    search = at + code_point(bytes, at).size;
    append(out, text, at, search);
    done = search;
  }
  if (done == 0 && out.text.empty()) return Val::of(&text);
  append(out, text, done, bytes.size());
  return run.text(std::move(out), text.is_markup);
}

Val join(Run& run, const Text& separator, const std::vector<const Text*>& parts) {
  MarkedText out;
  std::size_t size = 0;
  for (const Text* part : parts)
    size += part->bytes.size();
  if (!parts.empty()) size += separator.bytes.size() * (parts.size() - 1);
  if (size > kMaxTextBytes) return run.fail("a text grows too large", "template_limit");
  if (!run.spend_bytes(size) || !run.spend(parts.size())) return Val::failure();
  out.text.reserve(size);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) append(out, separator);
    append(out, *parts[i]);
  }
  return run.text(std::move(out), separator.is_markup);
}

bool append_case(Run& run, MarkedText& out, const Text& text, std::size_t begin, std::size_t end,
                 Case to) {
  if (!run.spend_bytes((end - begin) * 4)) return false;
  std::string piece;
  bool in_word = false;
  for (std::size_t at = begin; at < end;) {
    const CodePoint c = code_point(text.bytes, at);
    piece.clear();
    const bool raises = to == Case::kTitle ? !in_word : at == begin;
    if (to == Case::kFold) {
      append_folded(piece, c.value);
    } else if (to == Case::kUpper || (to == Case::kSwap && is_lower(c.value))) {
      append_upper(piece, c.value);
    } else if (to == Case::kLower || (to == Case::kSwap && is_upper(c.value))) {
      append_lower_at(piece, text.bytes, at, c.value);
    } else if (to == Case::kSwap) {
      append_code(piece, c.value);
    } else if (raises) {
      append_title(piece, c.value);
    } else {
      append_lower_at(piece, text.bytes, at, c.value);
    }
    in_word = is_cased(c.value);
    out.append(piece, is_trusted(text, at, at + c.size));
    at += c.size;
  }
  return true;
}

Val change_case(Run& run, const Text& text, Case to) {
  MarkedText out;
  if (!append_case(run, out, text, 0, text.bytes.size(), to)) return Val::failure();
  return run.text(std::move(out), text.is_markup);
}

Val pad(Run& run, const Text& text, std::int64_t left, std::int64_t right, std::string_view fill,
        bool fill_is_trusted) {
  const std::int64_t n = std::max<std::int64_t>(left, 0) + std::max<std::int64_t>(right, 0);
  if (n > static_cast<std::int64_t>(kMaxTextBytes / 4))
    return run.fail("a text grows too large", "template_limit");
  if (!run.spend(static_cast<std::size_t>(n) / 8)) return Val::failure();
  MarkedText out;
  for (std::int64_t i = 0; i < left; ++i)
    out.append(fill, fill_is_trusted);
  append(out, text);
  for (std::int64_t i = 0; i < right; ++i)
    out.append(fill, fill_is_trusted);
  return run.text(std::move(out), text.is_markup);
}

}  // namespace wick::jinja
