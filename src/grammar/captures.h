// Reads a text by a composition, byte by byte, and tells what its captures hold, as soon as it is
// certain: any split of the text gives the same events. Where several readings are possible, the
// first alternative that fits wins.
//
//   CaptureReader reader(program);
//   reader.push(bytes, events);
//   const bool is_whole = reader.finish(events);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/composition.h"

namespace wick::grammar {

struct CaptureEvent {
  enum class Kind : std::uint8_t { kOpen, kText, kClose };

  Kind kind = Kind::kText;
  std::string name = {};  // of the innermost capture; empty: outside of all
  std::string text = {};  // of kText
};

class CaptureReader {
 public:
  // The program outlives the reader, and is read by one reader at a time.
  explicit CaptureReader(Program& program);

  // Appends to `out`; neighbors of kText are joined. False once the text does not fit.
  bool push(std::string_view bytes, std::vector<CaptureEvent>& out);

  // The text ends here: whether it fits. What was held back follows.
  bool finish(std::vector<CaptureEvent>& out);

  std::size_t held() const noexcept { return readings_.empty() ? 0 : readings_[0].marks.size(); }

 private:
  // A byte, or a capture that opens or closes.
  struct Mark {
    CaptureEvent::Kind kind = CaptureEvent::Kind::kText;
    std::uint32_t capture = 0;
    char byte = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  struct Reading {
    std::uint32_t step = 0, place = 0, bytes_left = 0;
    std::vector<Mark> marks = {};  // that are not told yet
  };

  void enter(std::uint32_t first, std::vector<Mark> before);
  void advance(Reading reading, char byte);
  void keep(Reading reading);
  void tell_common(std::vector<CaptureEvent>& out);
  void tell(const Mark& mark, std::vector<CaptureEvent>& out);

  Program* program_;
  std::vector<Reading> readings_ = {}, next_ = {};  // by priority
  std::vector<std::string> open_ = {};
  std::vector<std::uint32_t> seen_ = {};  // by step: the round in which it was entered
  std::uint32_t round_ = 0;
  bool is_bad_ = false;
};

}  // namespace wick::grammar
