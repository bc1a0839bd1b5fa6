// The bytes are: the size of the array (4 bytes), the array of 32-bit units, the replacements, each
// with a NUL after it. A unit holds the label that leads to it (bits 0 to 7), whether an entry
// ends there (bit 8), and the offset of its children (bits 10 to 30, times 256 where bit 9 is set):
// the child by a byte is at place ^ offset ^ byte. The unit of an entry is at the same place
// without a byte and holds, in 31 bits, where its replacement starts. A unit that leads outside of
// the array ends the walk; a walk takes as many steps as the text has bytes, whatever the array
// says.
#include "text/charsmap.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/limits.h"
#include "text/vocab.h"

namespace wick {
namespace {

constexpr std::uint32_t kLeaf = 1U << 8U;
constexpr std::uint32_t kLabel = 0x800000FFU;  // bit 31 is set in the units of entries
constexpr std::uint32_t kValue = 0x7FFFFFFFU;
constexpr std::size_t kUnit = 4;
constexpr std::size_t kMaxCluster = 5;  // bytes

std::uint32_t offset_of(std::uint32_t unit) noexcept {
  return (unit >> 10U) << ((unit & 0x200U) != 0 ? 8U : 0U);
}

std::uint32_t little_endian(std::string_view bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kUnit; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

Error bad_map(std::string what) {
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_charsmap",
               .message = cat("the tokenizer's table of replacements is damaged: ", what),
               .hint = "fetch the file again, or another conversion of the model"};
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view bytes) {
  Charsmap map;
  if (bytes.empty()) return map;
  if (bytes.size() < kUnit || bytes.size() > kMaxCharsmapBytes) {
    return bad_map(cat("it has ", bytes.size(), " bytes, wick takes 4 to ", kMaxCharsmapBytes));
  }
  const std::size_t array_bytes = little_endian(bytes);
  bytes.remove_prefix(kUnit);
  if (array_bytes > bytes.size() || array_bytes % kUnit != 0) {
    return bad_map(
        cat("its array has ", array_bytes, " bytes, of ", bytes.size(), " that are there"));
  }
  for (std::size_t at = 0; at < array_bytes; at += kUnit) {
    map.units_.push_back(little_endian(bytes.substr(at)));
  }
  map.replacements_ = bytes.substr(array_bytes);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < map.replacements_.size();) {
    const std::size_t end = std::min(map.replacements_.find('\0', at), map.replacements_.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  if (longest > kMaxNormalizerBytes) {
    return bad_map(cat("a replacement has ", longest, " bytes, wick takes ", kMaxNormalizerBytes));
  }
  if (map.units_.empty()) return map;
  const std::uint32_t root = offset_of(map.units_[0]);
  for (std::uint32_t byte = 1; byte < 256; ++byte) {
    const std::uint32_t place = root ^ byte;
    map.starts_[byte] = place < map.units_.size() && (map.units_[place] & kLabel) == byte;
  }
  map.find_growth();
  return map;
}

// Level by level, so that each unit is met first by the shortest text that leads to it.
void Charsmap::find_growth() {
  std::vector<bool> is_seen(units_.size());
  std::vector<std::uint32_t> level{offset_of(units_[0])};  // where the children of a unit are
  std::vector<std::uint32_t> next_level;
  for (std::size_t depth = 1; !level.empty(); ++depth) {
    next_level.clear();
    for (const std::uint32_t base : level) {
      for (std::uint32_t byte = 1; byte < 256; ++byte) {
        const std::uint32_t place = base ^ byte;
        if (place >= units_.size() || (units_[place] & kLabel) != byte || is_seen[place]) continue;
        is_seen[place] = true;
        const std::uint32_t children = place ^ offset_of(units_[place]);
        if ((units_[place] & kLeaf) != 0 && children < units_.size()) {
          const std::size_t bytes = replacement(units_[children] & kValue).size();
          growth_ = std::max(growth_, (bytes + depth - 1) / depth);
        }
        next_level.push_back(children);
      }
    }
    level.swap(next_level);
  }
}

std::string_view Charsmap::replacement(std::uint32_t at) const noexcept {
  const std::string_view all = replacements_;
  if (at >= all.size()) return {};
  return all.substr(at, std::min(all.find('\0', at), all.size()) - at);
}

// Calls found(bytes, replacement) for each entry that `text` starts with, until it returns false.
template <class Found>
void Charsmap::prefixes(std::string_view text, const Found& found) const noexcept {
  if (text.empty() || !may_start(text.front())) return;
  std::uint32_t place = offset_of(units_[0]);
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    place ^= byte;
    if (place >= units_.size() || (units_[place] & kLabel) != byte) return;
    const std::uint32_t unit = units_[place];
    place ^= offset_of(unit);
    if ((unit & kLeaf) == 0) continue;
    if (place >= units_.size() || !found(i + 1, units_[place] & kValue)) return;
  }
}

Charsmap::Match Charsmap::longest(std::string_view text) const noexcept {
  std::size_t bytes = 0;
  std::uint32_t at = 0;
  prefixes(text, [&](std::size_t n, std::uint32_t value) {
    if (value < replacements_.size()) {
      bytes = n;
      at = value;
    }
    return true;
  });
  return {bytes, bytes > 0 ? replacement(at) : std::string_view()};
}

Charsmap::Match Charsmap::shortest(std::string_view text) const noexcept {
  Match match;
  prefixes(text, [&](std::size_t n, std::uint32_t value) {
    match = {n, replacement(value)};
    return false;
  });
  return match;
}

namespace {

class Precompiled {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}

  void operator()(std::string& out, std::string_view text, bool /*is_first*/,
                  NormalizerScratch& scratch) const {
    while (!text.empty() && !scratch.is_full(out)) {
      const std::size_t bytes = cluster_bytes(text);
      append_cluster(out, text.substr(0, bytes));
      text.remove_prefix(bytes);
    }
  }

 private:
  // Bytes of the grapheme cluster that `text` starts with; a bad byte is one.
  static std::size_t cluster_bytes(std::string_view text) noexcept {
    Utf8Char last = decode_utf8(text);
    auto bytes = static_cast<std::size_t>(last.length);
    std::int32_t state = 0;
    while (last.is_valid && bytes < text.size()) {
      const bool is_ascii = static_cast<unsigned char>(text[bytes]) < 0x80 && last.code < 0x80;
      if (is_ascii && last.code != '\r') break;
      const Utf8Char next = decode_utf8(text.substr(bytes));
      if (!next.is_valid ||
          utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.code),
                                           static_cast<utf8proc_int32_t>(next.code), &state)) {
        break;
      }
      bytes += static_cast<std::size_t>(next.length);
      last = next;
    }
    return bytes;
  }

  void append_cluster(std::string& out, std::string_view cluster) const {
    if (cluster.size() <= kMaxCluster) {
      if (const Charsmap::Match match = map_.shortest(cluster); match.bytes > 0) {
        out += match.text;
        return;
      }
    }
    while (!cluster.empty()) {
      const auto bytes = static_cast<std::size_t>(decode_utf8(cluster).length);
      const Charsmap::Match match = map_.shortest(cluster.substr(0, bytes));
      out += match.bytes > 0 ? match.text : cluster.substr(0, bytes);
      cluster.remove_prefix(bytes);
    }
  }

  Charsmap map_;
};

std::string_view space_of(const SentencePieceNormalization& how) noexcept {
  return how.escapes_spaces ? kSpaceMark : " ";
}

class SentencePiece {
 public:
  explicit SentencePiece(SentencePieceNormalization how)
      : how_(std::move(how)), space_(space_of(how_)) {}

  void operator()(std::string& out, std::string_view text, bool /*is_first*/,
                  NormalizerScratch& scratch) const {
    const std::size_t begin = out.size();
    while (how_.removes_extra_spaces && !text.empty()) {
      const Charsmap::Match first = next(text);
      if (first.text != " ") break;
      text.remove_prefix(first.bytes);
    }
    if (text.empty()) return;
    if (how_.adds_prefix && !how_.is_prefix_behind) out += space_;
    bool is_behind_space = how_.removes_extra_spaces;
    while (!text.empty() && !scratch.is_full(out)) {
      const Charsmap::Match part = next(text);
      append_spaced(out, part.text, is_behind_space);
      text.remove_prefix(part.bytes);
    }
    while (how_.removes_extra_spaces && std::string_view(out).substr(begin).ends_with(space_)) {
      out.resize(out.size() - space_.size());
    }
    if (how_.adds_prefix && how_.is_prefix_behind) out += space_;
  }

 private:
  // The next part of `text` (at least a byte) and its replacement.
  Charsmap::Match next(std::string_view text) const noexcept {
    if (const auto kept = how_.kept.longest(text); kept.bytes > 0) {
      return {kept.bytes, text.substr(0, kept.bytes)};
    }
    if (const Charsmap::Match match = how_.map.longest(text); match.bytes > 0) return match;
    const Utf8Char one = decode_utf8(text);
    const std::size_t bytes = one.is_valid ? static_cast<std::size_t>(one.length) : 1;
    return {bytes, text.substr(0, bytes)};
  }

  void append_spaced(std::string& out, std::string_view part, bool& is_behind_space) const {
    while (is_behind_space && part.starts_with(' ')) {
      part.remove_prefix(1);
    }
    if (part.empty()) return;
    is_behind_space = how_.removes_extra_spaces && part.ends_with(' ');
    for (const char c : part) {
      if (c == ' ') {
        out += space_;
      } else {
        out += c;
      }
    }
  }

  SentencePieceNormalization how_;
  std::string_view space_;
};

}  // namespace

NormalizerStep make_precompiled(Charsmap map) {
  const std::size_t growth = map.growth();
  return {.append = Precompiled(std::move(map)), .growth = growth};
}

NormalizerStep make_sentencepiece(SentencePieceNormalization how) {
  const std::size_t growth = how.map.growth() * space_of(how).size();
  return {.append = SentencePiece(std::move(how)), .growth = growth};
}

}  // namespace wick
