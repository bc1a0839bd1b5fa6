#include "text/pattern.h"

#include <cstring>
#include <string>

#include "base/strings.h"

namespace wick {

namespace {

Result<void> check_size(std::string_view text, std::string_view name) {
  if (!text.empty() && text.size() <= kMaxPatternBytes) return {};
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_pattern",
               .message = cat("the tokenizer's ", name, " has ", text.size(),
                              " bytes, wick takes 1 to ", kMaxPatternBytes)};
}

Error refused(std::string_view regex, const Error& why) {
  const bool is_unsupported = why.code == ErrorCode::kUnsupported;
  return {.code = is_unsupported ? ErrorCode::kUnsupported : ErrorCode::kCorrupt,
          .id = "tokenizer_pattern",
          .message = cat("the tokenizer's pattern '", printable(regex),
                         is_unsupported ? "' cannot be run: " : "' is not a regular expression: ",
                         why.message),
          .hint = "use a GGUF file of this model: its pre-tokenizer is known by name"};
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view regex) {
  WICK_DO(check_size(regex, "pattern"));
  auto dfa = regex::Dfa::compile(regex);
  if (!dfa) return refused(regex, dfa.error());
  return Pattern(regex, *std::move(dfa));
}

Result<Pattern> Pattern::literal(std::string_view text) {
  WICK_DO(check_size(text, "separator"));
  return Pattern(text, std::nullopt);
}

std::optional<Span> Matcher::find(const Pattern& pattern, std::string_view text, std::size_t from) {
  if (error_ || from > text.size()) return std::nullopt;
  const std::string& shown = pattern.shown_;
  if (!pattern.dfa_) {
    const char* const begin = text.data() + from;
    const void* const found = ::memmem(begin, text.size() - from, shown.data(), shown.size());
    if (found == nullptr) return std::nullopt;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    return Span{at, at + shown.size()};
  }
  if (from == 0) most_work_ += kMaxVainBytes * text.size();
  const auto found = pattern.dfa_->find(text, from, work_, most_work_);
  if (!found && work_ > most_work_) {
    error_ =
        Error{.code = ErrorCode::kUnsupported,
              .id = "tokenizer_work",
              .message = cat("the tokenizer's pattern '", printable(shown), "' reads more than ",
                             most_work_, " bytes without a match in this text"),
              .hint = "split the text, or use another tokenizer file of this model"};
  }
  return found;
}

void Matcher::begin() noexcept {
  error_.reset();
  work_ = 0;
  most_work_ = kMinVainBytes;
}

}  // namespace wick
