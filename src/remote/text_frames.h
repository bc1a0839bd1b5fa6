// Most frames of a stream differ from the one before in the text that they add, and in nothing
// else. Such a frame needs no parser: its text stands between the same bytes. One thread.
//
//   if (const auto text = frames.text_of(frame)) …         // the event that a decoder would give
//   else … parse it, then: frames.saw(frame, the text, or "" if it gave anything else);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wick::remote {

class TextFrames {
 public:
  // None: the frame has to be parsed.
  std::optional<std::string_view> text_of(std::string_view frame) const noexcept;
  void saw(std::string_view frame, std::string_view text);

 private:
  // Around the text, with its quotes.
  std::string_view before() const noexcept { return std::string_view(last_).substr(0, begin_); }

  std::string_view after() const noexcept { return std::string_view(last_).substr(end_); }

  std::string last_ = {};  // frame that gave a text and nothing else; "" = the last one did not
  std::size_t begin_ = 0, end_ = 0;  // of its text
  bool has_any_ = false;             // a text was seen
  bool has_two_ = false;             // the frame before it had the same bytes around its text
};

}  // namespace wick::remote
