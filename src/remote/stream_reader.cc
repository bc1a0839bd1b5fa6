#include "remote/stream_reader.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "remote/limits.h"

namespace wick::remote {

namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

Error too_long(std::string_view what, std::size_t limit) {
  return {.code = ErrorCode::kUnavailable,
          .id = "bad_answer",
          .message = cat(what, " of the stream is longer than ", limit, " bytes")};
}

}  // namespace

// Nearly all events have one line of data and come whole: these are not copied.
Result<void> StreamReader::add(std::string_view bytes, const FrameSink& sink) {
  auto added = add_lines(bytes, sink);
  copy_only();
  return added;
}

void StreamReader::copy_only() {
  if (!only_.empty()) data_ = only_;
  only_ = {};
}

// Lines end with LF, CR or CR LF (the SSE standard); a CR LF may be cut in two.
Result<void> StreamReader::add_lines(std::string_view bytes, const FrameSink& sink) {
  std::size_t feed = bytes.find('\n');  // the next one; looked for once, also where CR end lines
  for (std::size_t at = 0; at < bytes.size();) {
    if (is_after_cr_ && bytes[at] == '\n') ++at;
    is_after_cr_ = false;
    if (feed < at) feed = bytes.find('\n', at);
    const std::size_t end = std::min(bytes.substr(0, feed).find('\r', at), feed);
    const std::string_view part = bytes.substr(at, end - at);
    if (part.size() > kMaxLineBytes - line_.size()) return too_long("a line", kMaxLineBytes);
    const bool is_whole = line_.empty() && end != std::string_view::npos;
    if (!is_whole) line_ += part;
    if (end == std::string_view::npos) return {};
    is_after_cr_ = bytes[end] == '\r';
    at = end + 1;
    std::string_view line = is_whole ? part : line_;
    if (!is_begun_ && line.starts_with(kBom)) line.remove_prefix(kBom.size());
    is_begun_ = true;
    WICK_DO(add_line(line, is_whole, sink));
    line_.clear();
  }
  return {};
}

Result<void> StreamReader::finish(const FrameSink& sink) {
  if (!line_.empty()) WICK_DO(add("\n", sink));
  return end_event(sink);
}

// `is_kept`: the line stays where it is until the end of add().
Result<void> StreamReader::add_line(std::string_view line, bool is_kept, const FrameSink& sink) {
  if (framing_ == Framing::kNdjson) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
    return sink("", line);
  }
  if (line.empty()) return end_event(sink);
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field != "data") return {};  // comments have an empty name
  if (value.size() > kMaxEventBytes - data_.size()) return too_long("an event", kMaxEventBytes);
  if (!has_data_ && is_kept) {
    only_ = value;
  } else {
    copy_only();
    if (has_data_) data_ += '\n';
    data_ += value;
  }
  has_data_ = true;
  return {};
}

Result<void> StreamReader::end_event(const FrameSink& sink) {
  const bool has_data = std::exchange(has_data_, false);
  const std::string_view data = only_.empty() ? std::string_view(data_) : only_;
  auto told = has_data ? sink(name_, data) : Result<void>();
  only_ = {};
  name_.clear();
  data_.clear();
  return told;
}

}  // namespace wick::remote
