#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pattern.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "base/strings.h"
#include "text/dfa.h"
#include "text/limits.h"
#include "base/utf8.h"

namespace wick {
namespace {

// The problem: backtracking costs the square of a text's length, or more, where each start of a
// match looks through the rest of the text: [a-z]+(?=12)|[a-z]. PCRE2's limit counts for one start
// alone, and its just-in-time compiler counts little.
// The idea: a start may look kWindow bytes ahead, with few steps, at the speed of that compiler.
// What wants to see more (PCRE2_PARTIAL_HARD tells) or takes more steps is done again by the
// interpreter, which counts all of them, since to_pcre2() leaves no repetition that is one step;
// and a text has so many steps in all.
constexpr std::size_t kWindow = 256;
constexpr std::uint32_t kFreeSteps = 64;        // of each start
constexpr std::uint32_t kHeapKib = 256 * 1024;  // some 130 bytes for each step under way

struct FreeCode {
  void operator()(pcre2_code* p) const noexcept { pcre2_code_free(p); }
};

struct FreeCompileContext {
  void operator()(pcre2_compile_context* p) const noexcept { pcre2_compile_context_free(p); }
};

struct FreeMatchData {
  void operator()(pcre2_match_data* p) const noexcept { pcre2_match_data_free(p); }
};

struct FreeMatchContext {
  void operator()(pcre2_match_context* p) const noexcept { pcre2_match_context_free(p); }
};

template <class T>
T* need(T* memory) {
  if (memory == nullptr) throw std::bad_alloc();  // as operator new would
  return memory;
}

PCRE2_SPTR units(std::string_view text) noexcept {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

}  // namespace

struct Pattern::Code {
  std::string shown = {};  // as the file has it
  std::optional<Dfa> dfa = {};
  std::unique_ptr<pcre2_code, FreeCode> compiled = {};  // where there is no automaton
  bool is_jit = false;
};

Pattern::Pattern(std::unique_ptr<Code> code) : code_(std::move(code)) {}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::build(std::string_view translated, std::string_view shown,
                               bool is_literal) {
  const std::unique_ptr<pcre2_compile_context, FreeCompileContext> context(
      need(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  // ^ and $ match at every line in Ruby's syntax.
  const std::uint32_t options = is_literal ? PCRE2_UTF | PCRE2_LITERAL | PCRE2_USE_OFFSET_LIMIT
                                           : PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                                 PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE |
                                                 PCRE2_USE_OFFSET_LIMIT;
  int error = 0;
  PCRE2_SIZE where = 0;
  auto code = std::make_unique<Code>();
  code->shown = shown;
  code->compiled.reset(
      pcre2_compile(units(translated), translated.size(), options, &error, &where, context.get()));
  if (!code->compiled) {
    std::array<PCRE2_UCHAR, 128> reason{};
    pcre2_get_error_message(error, reason.data(), reason.size());
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_pattern",
                 .message = cat("the tokenizer's pattern '", printable(shown),
                                "' is not a regular expression: ",
                                reinterpret_cast<const char*>(reason.data()))};
  }
  code->is_jit =
      pcre2_jit_compile(code->compiled.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0;
  return Pattern(std::move(code));
}

Result<Pattern> Pattern::compile(std::string_view regex) {
  if (!regex.empty() && regex.size() <= kMaxPatternBytes) {
    if (auto dfa = Dfa::compile(regex)) {
      auto code = std::make_unique<Code>();
      code->shown = regex;
      code->dfa = std::move(dfa);
      return Pattern(std::move(code));
    }
  }
  return compile_pcre2(regex);
}

const Dfa* Pattern::automaton() const noexcept {
  return code_->dfa ? &*code_->dfa : nullptr;
}

Result<Pattern> Pattern::compile_pcre2(std::string_view regex) {
  if (regex.empty() || regex.size() > kMaxPatternBytes) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_pattern",
                 .message = cat("the tokenizer's pattern has ", regex.size(),
                                " bytes, wick takes 1 to ", kMaxPatternBytes)};
  }
  WICK_TRY(const std::string translated, to_pcre2(regex));
  return build(translated, regex, false);
}

Result<Pattern> Pattern::literal(std::string_view text) {
  if (text.empty() || text.size() > kMaxPatternBytes) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_pattern",
                 .message = cat("the tokenizer's separator has ", text.size(),
                                " bytes, wick takes 1 to ", kMaxPatternBytes)};
  }
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\.[](){}*+?|^$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  if (auto dfa = Dfa::compile(escaped)) {
    auto code = std::make_unique<Code>();
    code->shown = text;
    code->dfa = std::move(dfa);
    return Pattern(std::move(code));
  }
  return build(text, text, true);
}

struct Matcher::State {
  std::unique_ptr<pcre2_match_data, FreeMatchData> data = {};
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context = {};
  std::uint32_t steps = kFreeSteps;  // that the last counted search needed, about
  bool has_grown = false;            // the interpreter's memory

  void make_data() { data.reset(need(pcre2_match_data_create(1, nullptr))); }

  Span span() const noexcept {
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data.get());
    return {ends[0], ends[1]};
  }
};

Matcher::Matcher() = default;
Matcher::~Matcher() = default;

namespace {

Error too_much_work(std::string_view pattern, std::string_view limit) {
  return {.code = ErrorCode::kUnsupported,
          .id = "tokenizer_work",
          .message = cat("the tokenizer's pattern '", printable(pattern), "' takes more than ",
                         limit, " in this text"),
          .hint = "split the text, or use another tokenizer file of this model"};
}

std::size_t next_character(std::string_view text, std::size_t at) noexcept {
  return at + static_cast<std::size_t>(decode_utf8(text.substr(at)).length);
}

// The end of the last whole character within kWindow bytes of `from`.
std::size_t window_end(std::string_view text, std::size_t from) noexcept {
  if (text.size() - from <= kWindow) return text.size();
  std::size_t end = from + kWindow;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return end;
}

}  // namespace

std::optional<Span> Matcher::find(const Pattern& pattern, std::string_view text, std::size_t from) {
  if (error_) return std::nullopt;
  const auto& dfa = pattern.code_->dfa;
  if (from == 0) {
    work_ = 0;
    most_steps_ += kMaxPatternStepsPerByte * text.size();
  }
  if (!dfa) return find_pcre2(pattern, text, from);
  auto found = dfa->find(text, from, work_);
  if (!found && Dfa::is_too_much(work_, text)) {
    error_ = too_much_work(pattern.code_->shown,
                           cat(kMaxVainBytes, " bytes read for each of its bytes"));
  }
  return found;
}

std::optional<Span> Matcher::find_pcre2(const Pattern& pattern, std::string_view text,
                                        std::size_t from) {
  if (!state_) {
    state_ = std::make_unique<State>();
    state_->make_data();
    state_->context.reset(need(pcre2_match_context_create(nullptr)));
    pcre2_set_heap_limit(state_->context.get(), kHeapKib);
  }
  const Pattern::Code& code = *pattern.code_;
  auto* const match = code.is_jit ? pcre2_jit_match : pcre2_match;
  const std::uint32_t options =
      code.is_jit ? 0 : std::uint32_t{PCRE2_NO_UTF_CHECK} | std::uint32_t{PCRE2_NO_JIT};
  while (from <= text.size() && !error_) {
    const std::size_t end = window_end(text, from);
    const bool is_all = end == text.size();
    pcre2_set_match_limit(state_->context.get(), kFreeSteps);
    pcre2_set_offset_limit(state_->context.get(), PCRE2_UNSET);
    const int n = match(code.compiled.get(), units(text), end, from,
                        options | (is_all ? 0 : std::uint32_t{PCRE2_PARTIAL_HARD}),
                        state_->data.get(), state_->context.get());
    if (n == PCRE2_ERROR_NOMATCH) {
      if (is_all) return std::nullopt;
      from = end;
      continue;
    }
    Span span = n >= 0 || n == PCRE2_ERROR_PARTIAL ? state_->span() : Span{from, end};
    if (n >= 0 && (is_all || span.end < end)) return span;
    // That start, or where it took too many steps one of the window's.
    const std::size_t last = n == PCRE2_ERROR_PARTIAL || n >= 0 ? span.begin : end;
    for (from = span.begin; from <= last && from <= text.size() && !error_;
         from = from < text.size() ? next_character(text, from) : from + 1) {
      if (const auto found = find_counted(pattern, text, from)) return found;
    }
  }
  return std::nullopt;
}

void Matcher::begin() noexcept {
  error_.reset();
  steps_ = 0;
  most_steps_ = kMaxPatternSteps;
}

void Matcher::release() noexcept {
  if (state_ && state_->has_grown) state_.reset();
}

// The match that starts at `start`, if any.
std::optional<Span> Matcher::find_counted(const Pattern& pattern, std::string_view text,
                                          std::size_t start) {
  const Pattern::Code& code = *pattern.code_;
  pcre2_set_offset_limit(state_->context.get(), start);
  for (std::uint32_t limit = std::max(kFreeSteps, state_->steps / 2);; limit *= 2) {
    pcre2_set_match_limit(state_->context.get(), limit);
    const int n =
        pcre2_match(code.compiled.get(), units(text), text.size(), start,
                    PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state_->data.get(), state_->context.get());
    if (limit > kFreeSteps) {
      steps_ += limit;
      state_->has_grown = true;
    }
    state_->steps = limit;
    const std::optional<Span> span =
        n >= 0 ? std::optional<Span>(state_->span()) : std::optional<Span>();
    if (n >= 0) return span;
    if (n == PCRE2_ERROR_NOMATCH) return std::nullopt;
    const bool may_go_on =
        steps_ + 2 * std::uint64_t{limit} <= most_steps_ && limit <= UINT32_MAX / 2;
    if (n != PCRE2_ERROR_MATCHLIMIT || !may_go_on) {
      error_ =
          too_much_work(code.shown, n == PCRE2_ERROR_MATCHLIMIT ? cat(most_steps_, " steps")
                                                                : cat(kHeapKib / 1024, " MiB"));
      return std::nullopt;
    }
  }
}

}  // namespace wick
