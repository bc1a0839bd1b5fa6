// Reads the framing of streams: server-sent events (SSE) and lines of JSON (NDJSON), in pieces of
// any size. The events do not depend on where the pieces are cut. One thread.
//
//   StreamReader reader(Framing::kSse);
//   WICK_DO(reader.add(bytes, [&](std::string_view name, std::string_view data) { … }));
//   WICK_DO(reader.finish(sink));   // an event without its blank line at the end
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick::remote {

enum class Framing : std::uint8_t { kSse, kNdjson };

// `name` is that of the line "event:"; "" if there is none. An error ends the reading.
using FrameSink = std::function<Result<void>(std::string_view name, std::string_view data)>;

class StreamReader {
 public:
  explicit StreamReader(Framing framing) : framing_(framing) {}

  // kUnavailable, id "bad_answer": a line or an event is too long (remote/limits.h).
  Result<void> add(std::string_view bytes, const FrameSink& sink);
  Result<void> finish(const FrameSink& sink);

 private:
  Result<void> add_lines(std::string_view bytes, const FrameSink& sink);
  Result<void> add_line(std::string_view line, bool is_kept, const FrameSink& sink);
  Result<void> end_event(const FrameSink& sink);
  void copy_only();

  Framing framing_;
  std::string line_ = {};  // begun, not ended
  std::string name_ = {}, data_ = {};
  std::string_view only_ = {};  // the only data line so far, within the bytes of add(); then not
                                // in data_
  bool has_data_ = false, is_after_cr_ = false, is_begun_ = false;
};

}  // namespace wick::remote
