// Builds a text with its trust marks, for text that a template prints, captures or joins. Charges
// the appended bytes and takes its memory from the run. One thread.
#pragma once

#include <string_view>

#include "chat/run.h"
#include "chat/text.h"

namespace wick::jinja {

class TextBuilder {
 public:
  explicit TextBuilder(Run& run) : run_(&run), text_(run.memory()), trusted_(run.memory()) {}

  void append(std::string_view part, bool is_trusted) {
    if (part.empty()) return;
    if (is_trusted) mark(part.size());
    text_ += part;
    run_->charge(1 + part.size() / 64);
  }

  void append(const Text& text) { append(text, 0, text.bytes.size()); }

  void append(const Text& text, std::size_t begin, std::size_t end) {  // its bytes [begin, end)
    if (text.trust == Trust::kMixed) return append_mixed(text, begin, end);
    append(text.bytes.substr(begin, end - begin), text.trust == Trust::kAll);
  }

  void append_repeated(std::string_view part, std::size_t n, bool is_trusted);

  std::string_view text() const noexcept { return text_; }

  std::span<const Span> trusted() const noexcept { return trusted_; }

  // As a text, until the next change.
  Text view() const noexcept {
    const Trust trust = trusted_.empty() ? Trust::kNone : Trust::kMixed;
    return {.bytes = text_, .trust = trust, .trusted = trusted_};
  }

  std::size_t size() const noexcept { return text_.size(); }

  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  // Empty again; memory is kept for the next use unless it is much.
  void clear();

 private:
  void mark(std::size_t bytes) {  // the next ones are trusted
    const std::size_t at = text_.size();
    if (!trusted_.empty() && trusted_.back().end == at) {
      trusted_.back().end += bytes;
    } else {
      trusted_.push_back({at, at + bytes});
    }
  }

  void append_mixed(const Text& text, std::size_t begin, std::size_t end);

  Run* run_;
  String text_;
  Vector<Span> trusted_;  // ascending, not touching
};

// Whether all of it is trusted.
inline bool is_trusted(const TextBuilder& built) noexcept {
  const auto spans = built.trusted();
  return built.size() == 0 ||
         (spans.size() == 1 && spans[0].begin == 0 && spans[0].end == built.size());
}

}  // namespace wick::jinja
