// Texts that a template lets grow: {% set ns.out = ns.out ~ piece %} in a loop. The problem: texts
// never change, so each step copies all there is, and n steps take n² work and memory. The idea: a
// copy gets as much room again behind it; the next step finds that the text ends where its buffer
// ends, and writes only the piece. Older texts share the bytes and do not see those behind their
// end. Only a text that is its buffer's whole content can be continued, so nothing is ever
// overwritten, but for the end of a span of trust that goes on: who reads spans cuts them at the
// text's end. Work and memory of n steps: O(bytes of the result). One for each run.
#pragma once

#include <cstddef>

#include "chat/text.h"

namespace wick::jinja {

class Run;

class GrowingTexts {
 public:
  static constexpr std::size_t kLeast = 1024;  // bytes from which on a text is worth it

  // a + b as bytes and marks; is_markup is not set. False if failed.
  bool join(Run& run, const Text& a, const Text& b, Text& out);

 private:
  struct Buffer {
    char* bytes = nullptr;
    std::size_t size = 0, room = 0;
    Span* spans = nullptr;
    std::size_t n_spans = 0, span_room = 0;
  };

  Buffer* continued_by(const Text& text) noexcept;
  static bool add_bytes(Run& run, Buffer& to, std::string_view bytes);
  static bool add_spans(Run& run, Buffer& to, const Text& text, std::size_t at);

  Buffer buffers_[4] = {};  // several texts may grow in turns
  std::size_t next_ = 0;    // the one that is given up for a new text
};

}  // namespace wick::jinja
