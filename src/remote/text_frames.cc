// Why the text is the decoder's. A frame without a backslash has each of its strings as it stands
// in JSON. If its text stands there between quotes once, this is the string that the decoder has
// read. With another string in its place, which needs no escape and is valid UTF-8, all other
// values of the frame stay. Decoders have a state, so two frames in sequence must have been parsed
// and have given such an event, and any other frame that is parsed ends this.
#include "remote/text_frames.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace wick::remote {

namespace {

constexpr std::size_t kMostBytes = 4096;  // of a frame that is looked at

// What a JSON string is written as without an escape.
bool is_plain(std::string_view text) noexcept {
  const bool has_special = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  });
  return !has_special && valid_utf8_prefix(text) == text.size();
}

// Of "text" with its quotes; npos: it is not there, or more than once.
std::size_t place_of(std::string_view text, std::string_view frame) noexcept {
  std::size_t found = std::string_view::npos;
  for (std::size_t at = frame.find(text, 1); at < frame.size(); at = frame.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if (frame[at - 1] != '"' || end == frame.size() || frame[end] != '"') continue;
    if (found != std::string_view::npos) return std::string_view::npos;
    found = at;
  }
  return found;
}

}  // namespace

std::optional<std::string_view> TextFrames::text_of(std::string_view frame) const noexcept {
  const std::size_t n_around = before().size() + after().size();
  if (!has_two_ || frame.size() <= n_around || frame.size() > kMostBytes) return std::nullopt;
  if (!frame.starts_with(before()) || !frame.ends_with(after())) return std::nullopt;
  const std::string_view text = frame.substr(begin_, frame.size() - n_around);
  if (!is_plain(text)) return std::nullopt;
  return text;
}

void TextFrames::saw(std::string_view frame, std::string_view text) {
  if (text.empty() && last_.empty()) return;
  const bool is_first = !std::exchange(has_any_, true);  // of short answers it is the only one
  const bool is_short = frame.size() <= kMostBytes;
  const bool is_read = !is_first && is_short && !text.empty() &&
                       frame.find('\\') == std::string_view::npos;
  const std::size_t begin = is_read ? place_of(text, frame) : std::string_view::npos;
  if (begin == std::string_view::npos) {
    last_.clear();
    begin_ = end_ = 0;
    has_two_ = false;
    return;
  }
  const std::size_t end = begin + text.size();
  has_two_ = frame.substr(0, begin) == before() && frame.substr(end) == after();
  last_ = frame;
  begin_ = begin;
  end_ = end;
}

}  // namespace wick::remote
