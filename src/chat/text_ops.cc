#include "chat/text_ops.h"

#include <algorithm>
#include <cstring>

#include "chat/operators.h"

namespace wick::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// Whether the Σ in [at, at + 2) ends a word: a cased letter before it, none after it.
bool is_final_sigma(Run& run, std::string_view text, std::size_t at) {
  constexpr std::size_t kFar = 64;  // ignorable characters in a row; more is no word
  std::size_t back = at;
  bool cased = false;
  for (std::size_t i = 0; i < kFar && back > 0; ++i) {
    run.charge(2);
    back = before(text, back);
    const char32_t c = code_point(text, back).value;
    if (is_case_ignorable(c)) continue;
    cased = is_cased(c);
    break;
  }
  if (!cased) return false;
  std::size_t next = at + 2;
  for (std::size_t i = 0; i < kFar && next < text.size(); ++i) {
    run.charge(2);
    const CodePoint c = code_point(text, next);
    if (!is_case_ignorable(c.value)) return !is_cased(c.value);
    next += c.size;
  }
  return true;
}

// The letter case that one character gets.
enum class Letter : std::uint8_t { kKeep, kUpper, kLower, kTitle, kFold };

void append_letter(Run& run, std::string& out, std::string_view text, std::size_t at, char32_t c,
                   Letter to) {
  if (c < 0x80) {
    const bool raises = to == Letter::kUpper || to == Letter::kTitle;
    const bool is_low = c >= 'a' && c <= 'z', is_high = c >= 'A' && c <= 'Z';
    if (raises ? is_low : is_high && to != Letter::kKeep) c ^= 0x20;
    out += static_cast<char>(c);
  } else if (to == Letter::kUpper) {
    append_upper(out, c);
  } else if (to == Letter::kTitle) {
    append_title(out, c);
  } else if (to == Letter::kFold) {
    append_folded(out, c);
  } else if (to == Letter::kKeep) {
    append_code(out, c);
  } else if (c == 0x3A3 && is_final_sigma(run, text, at)) {
    append_code(out, 0x3C2);
  } else {
    append_lower(out, c);
  }
}

bool starts_words(char32_t c) noexcept {
  return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
}

// Which case each character of a text gets, in order.
class Letters {
 public:
  explicit Letters(Case to) : to_(to) {}

  Letter next(char32_t c) {
    const bool is_within = is_within_;
    switch (to_) {
      case Case::kUpper:
        return Letter::kUpper;
      case Case::kLower:
        return Letter::kLower;
      case Case::kFold:
        return Letter::kFold;
      case Case::kSwap:
        return is_lower(c) ? Letter::kUpper : is_upper(c) ? Letter::kLower : Letter::kKeep;
      case Case::kTitle:
        is_within_ = is_cased(c);
        return is_within ? Letter::kLower : Letter::kTitle;
      case Case::kWords:
        is_within_ = !starts_words(c);
        return is_within || !is_within_ ? Letter::kLower : Letter::kUpper;
      case Case::kCapitalize:
        is_within_ = true;
        return is_within ? Letter::kLower : Letter::kTitle;
    }
    return Letter::kKeep;
  }

 private:
  Case to_;
  bool is_within_ = false;  // inside a word, or after the first character
};

bool is_line_end(char32_t c) noexcept {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

// Whether a character is one of `text`'s.
class CharacterSet {
 public:
  CharacterSet(Run& run, std::string_view text) : sorted_(run.memory()) {
    each_character(run, text, Rate::kTables,
                   [&](CodePoint c, std::size_t) { sorted_.push_back(c.value); });
    std::sort(sorted_.begin(), sorted_.end());
  }

  bool holds(char32_t c) const { return std::binary_search(sorted_.begin(), sorted_.end(), c); }

 private:
  Vector<char32_t> sorted_;
};

struct Piece {
  std::size_t begin, end;
};

using Pieces = Vector<Piece>;

Value list_of(Run& run, const Text& text, Pieces& pieces, bool reversed) {
  if (pieces.size() > kMaxItems) run.fail_too_many_items();
  if (reversed) std::reverse(pieces.begin(), pieces.end());
  Vector<Value> items(run.memory());
  items.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    run.charge(2);
    items.push_back(run.cut(text, piece.begin, piece.end));
  }
  return run.list(items);
}

// At runs of white space, from one end of the text.
void split_blanks(std::string_view text, std::int64_t max, bool from_right, Pieces& pieces) {
  std::size_t begin = 0, end = text.size();  // of what is left
  const auto is_at_space = [&] {
    return is_space(code_point(text, from_right ? before(text, end) : begin).value);
  };
  const auto step = [&] {
    if (from_right) {
      end = before(text, end);
    } else {
      begin += code_point(text, begin).size;
    }
  };
  while (true) {
    while (begin < end && is_at_space())
      step();
    if (begin == end || pieces.size() > kMaxItems) return;
    const Piece rest = {begin, end};
    const bool is_last = max >= 0 && static_cast<std::int64_t>(pieces.size()) == max;
    while (!is_last && begin < end && !is_at_space())
      step();
    pieces.push_back(is_last ? rest : from_right ? Piece{end, rest.end} : Piece{rest.begin, begin});
    if (is_last) return;
  }
}

}  // namespace

std::size_t find_forward(Run& run, std::string_view hay, std::string_view needle,
                         std::size_t from) {
  if (from > hay.size() || needle.size() > hay.size() - from) return npos;
  run.charge(1);
  if (needle.empty()) return from;
  const std::size_t last = hay.size() - needle.size();  // where it may begin
  while (from <= last) {
    const void* const found = std::memchr(hay.data() + from, needle[0], last - from + 1);
    const std::size_t at =
        found == nullptr ? last + 1
                         : static_cast<std::size_t>(static_cast<const char*>(found) - hay.data());
    run.charge(1 + (at - from) / 64);
    if (at > last) return npos;
    if (hay.compare(at, needle.size(), needle) == 0) return at;
    run.charge(needle.size(), Rate::kCopy);
    from = at + 1;
  }
  return npos;
}

std::size_t find_backward(Run& run, std::string_view hay, std::string_view needle,
                          std::size_t end) {
  if (needle.size() > end) return npos;
  run.charge(1);
  if (needle.empty()) return end;
  std::size_t behind = end - needle.size() + 1;  // of the places where it may begin
  while (behind > 0) {
    const void* const found = ::memrchr(hay.data(), needle[0], behind);
    const std::size_t skipped =
        found == nullptr
            ? behind
            : behind - static_cast<std::size_t>(static_cast<const char*>(found) - hay.data());
    run.charge(1 + skipped / 64);
    if (found == nullptr) return npos;
    const std::size_t at = behind - skipped;
    if (hay.compare(at, needle.size(), needle) == 0) return at;
    run.charge(needle.size(), Rate::kCopy);
    behind = at;
  }
  return npos;
}

Value strip(Run& run, const Text& text, const Text* chars, bool left, bool right) {
  const std::string_view bytes = text.bytes;
  const CharacterSet set(run, chars != nullptr ? chars->bytes : std::string_view());
  const auto goes = [&](char32_t c) {
    run.charge(chars == nullptr ? 1 : 4);
    return chars == nullptr ? is_space(c) : set.holds(c);
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
  return begin == 0 && end == bytes.size() ? Value::of(&text) : run.cut(text, begin, end);
}

Value split(Run& run, const Text& text, const Text* separator, std::int64_t max, bool from_right) {
  const std::string_view bytes = text.bytes;
  Pieces pieces(run.memory());
  if (separator == nullptr) {
    run.charge(1 + bytes.size());
    split_blanks(bytes, max, from_right, pieces);
    return list_of(run, text, pieces, from_right);
  }
  const std::string_view by = separator->bytes;
  if (by.empty()) run.fail("text cannot be split at an empty separator");
  const auto may_cut = [&] {
    return pieces.size() <= kMaxItems &&
           (max < 0 || static_cast<std::int64_t>(pieces.size()) < max);
  };
  std::size_t begin = 0, end = bytes.size();
  while (may_cut()) {
    const std::size_t at =
        from_right ? find_backward(run, bytes, by, end) : find_forward(run, bytes, by, begin);
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

Value split_lines(Run& run, const Text& text, bool keep_ends) {
  const std::string_view bytes = text.bytes;
  run.charge(bytes.size(), Rate::kDecode);
  Pieces pieces(run.memory());
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

Value replace(Run& run, const Text& text, const Text& from, const Text& to, std::int64_t max) {
  const std::string_view bytes = text.bytes;
  TextBuilder out(run);
  std::size_t done = 0;    // copied up to here
  std::size_t search = 0;  // where the next match may start
  for (std::int64_t n = 0; max < 0 || n < max; ++n) {
    const std::size_t at = find_forward(run, bytes, from.bytes, search);
    if (at == npos) break;
    out.append(text, done, at);
    out.append(to);
    done = at + from.bytes.size();
    search = done;
    if (!from.bytes.empty()) continue;
    // An empty text is found before each character and at the end.
    if (at == bytes.size()) break;
    search = at + code_point(bytes, at).size;
    out.append(text, at, search);
    done = search;
  }
  if (done == 0 && out.size() == 0) return Value::of(&text);
  out.append(text, done, bytes.size());
  return run.text(std::move(out), text.is_markup);
}

Value join(Run& run, const Text& separator, std::span<const Text* const> parts) {
  run.charge(parts.size());
  std::size_t size = 0;
  for (const Text* part : parts)
    size += part->bytes.size();
  if (!parts.empty()) size += separator.bytes.size() * (parts.size() - 1);
  run.need_room(size, 1);
  TextBuilder out(run);
  out.reserve(size);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(*parts[i]);
  }
  return run.text(std::move(out), separator.is_markup);
}

Value change_case(Run& run, const Text& text, Case to) {
  TextBuilder out(run);
  TrustCursor trust(text);
  Letters letters(to);
  std::string piece;
  each_character(run, text.bytes, Rate::kDecode, [&](CodePoint c, std::size_t at) {
    piece.clear();
    append_letter(run, piece, text.bytes, at, c.value, letters.next(c.value));
    out.append(piece, trust.is_trusted(at, at + c.size));
    run.charge(c.size > 1 ? 6 : 1);  // look-ups
  });
  return run.text(std::move(out), text.is_markup);
}

bool has_one_case(Run& run, std::string_view text, bool upper) {
  bool cased = false;
  const bool none_wrong = all_of(run, text, [&](char32_t c) {
    if (is_title(c) || (upper ? is_lower(c) : is_upper(c))) return false;
    cased = cased || (upper ? is_upper(c) : is_lower(c));
    return true;
  });
  return none_wrong && cased;
}

Value justify(Run& run, const Text& text, char align, std::int64_t width, const Text& fill) {
  const auto size = static_cast<std::int64_t>(run.n_chars(Value::of(&text)));
  if (width <= size) return Value::of(&text);
  const std::int64_t room = width - size;
  const std::int64_t left = align == '<' ? 0 : align == '>' ? room : room / 2 + (room & width & 1);
  return pad(run, text, left, room - left, fill.bytes, fill.trust == Trust::kAll);
}

Value pad(Run& run, const Text& text, std::int64_t left, std::int64_t right, std::string_view fill,
          bool fill_is_trusted) {
  const auto n_left = static_cast<std::size_t>(std::max<std::int64_t>(left, 0));
  const auto n_right = static_cast<std::size_t>(std::max<std::int64_t>(right, 0));
  TextBuilder out(run);
  out.append_repeated(fill, n_left, fill_is_trusted);
  out.append(text);
  out.append_repeated(fill, n_right, fill_is_trusted);
  return run.text(std::move(out), text.is_markup);
}

}  // namespace wick::jinja
