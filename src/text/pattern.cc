#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pattern.h"

#include <pcre2.h>

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "base/strings.h"
#include "text/dfa.h"
#include "text/limits.h"

namespace wick {
namespace {

// Steps of backtracking that one match may take: a run of n spaces without a line break costs n.
constexpr std::uint64_t kBaseSteps = 1'000'000;
constexpr std::uint64_t kStepsPerByte = 8;
constexpr std::uint32_t kHeapKib = 64 * 1024;

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
  const std::uint32_t options = is_literal ? PCRE2_UTF | PCRE2_LITERAL
                                           : PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                                 PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE;
  int error = 0;
  PCRE2_SIZE where = 0;
  auto code = std::make_unique<Code>();
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
  code->is_jit = pcre2_jit_compile(code->compiled.get(), PCRE2_JIT_COMPLETE) == 0;
  return Pattern(std::move(code));
}

Result<Pattern> Pattern::compile(std::string_view regex) {
  if (!regex.empty() && regex.size() <= kMaxPatternBytes) {
    if (auto dfa = Dfa::compile(regex)) {
      auto code = std::make_unique<Code>();
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
    code->dfa = std::move(dfa);
    return Pattern(std::move(code));
  }
  return build(text, text, true);
}

struct Matcher::State {
  std::unique_ptr<pcre2_match_data, FreeMatchData> data = {};
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context = {};
};

Matcher::Matcher() = default;
Matcher::~Matcher() = default;

std::optional<Span> Matcher::find(const Pattern& pattern, std::string_view text, std::size_t from) {
  const auto& dfa = pattern.code_->dfa;
  if (!dfa) return find_pcre2(pattern, text, from);
  if (from == 0) work_ = 0;
  return dfa->find(text, from, work_);
}

std::optional<Span> Matcher::find_pcre2(const Pattern& pattern, std::string_view text,
                                        std::size_t from) {
  if (!state_) {
    state_ = std::make_unique<State>();
    state_->data.reset(need(pcre2_match_data_create(1, nullptr)));
    state_->context.reset(need(pcre2_match_context_create(nullptr)));
    pcre2_set_heap_limit(state_->context.get(), kHeapKib);
  }
  const Pattern::Code& code = *pattern.code_;
  const std::uint64_t steps = kBaseSteps + kStepsPerByte * text.size();
  pcre2_set_match_limit(state_->context.get(),
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, UINT32_MAX)));
  int n = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code.is_jit) {
    n = pcre2_jit_match(code.compiled.get(), units(text), text.size(), from, 0, state_->data.get(),
                        state_->context.get());
  }
  if (n == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its stack on the heap
    n = pcre2_match(code.compiled.get(), units(text), text.size(), from,
                    PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state_->data.get(), state_->context.get());
  }
  if (n < 0) return std::nullopt;
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(state_->data.get());
  if (ends[0] < from || ends[1] < ends[0]) return std::nullopt;
  return Span{ends[0], ends[1]};
}

}  // namespace wick
