#include "text/normalizer.h"

#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/byte_spelling.h"
#include "unicode/classes.h"
#include "unicode/normal_forms.h"

namespace wick {

namespace {

void append_replaced(std::string& out, std::string_view text, std::string_view from,
                     std::string_view to, const NormalizerScratch& scratch) {
  while (!scratch.is_full(out)) {
    const std::size_t at = text.find(from);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return;
    out.append(to);
    text.remove_prefix(at + from.size());
  }
}

// The same for a pattern; `text` is UTF-8.
void append_replaced(std::string& out, std::string_view text, const Pattern& from,
                     std::string_view to, NormalizerScratch& scratch) {
  std::size_t done = 0;
  bool has_matched = false;
  for (std::size_t at = 0; at <= text.size() && !scratch.is_full(out);) {
    const auto match = scratch.matcher.find(from, text, at);
    if (!match) break;
    const bool is_empty = match->end == match->begin;
    if (!is_empty || !has_matched || match->begin > done) {  // no empty one right behind another
      out.append(text.substr(done, match->begin - done));
      out.append(to);
      done = match->end;
      has_matched = true;
    }
    at = match->end;
    if (!is_empty) continue;
    if (at == text.size()) break;
    at += static_cast<std::size_t>(decode_utf8(text.substr(at)).length);
  }
  out.append(text.substr(done));
}

}  // namespace

std::size_t Normalizer::growth() const noexcept {
  constexpr std::size_t kMuch = 1U << 20U;
  std::size_t all = 1;
  for (const NormalizerStep& step : steps_) {
    all = std::min(kMuch, all * std::min(kMuch, step.growth));
  }
  return all;
}

std::size_t Normalizer::shrinkage() const noexcept {
  std::size_t all = 1;
  for (const NormalizerStep& step : steps_) {
    all *= step.shrinkage;
  }
  return all;
}

std::string_view Normalizer::apply(std::string_view text, RunPlace place,
                                   NormalizerScratch& scratch) const {
  for (const NormalizerStep& step : steps_) {
    scratch.a.clear();
    step.append(scratch.a, text, place == RunPlace::kTextStart, scratch);
    if (scratch.is_full(scratch.a)) {
      scratch.is_overgrown = true;
      return {};
    }
    std::swap(scratch.a, scratch.b);
    text = scratch.b;
  }
  return text;
}

NormalizerStep make_prepend(std::string text) {
  return {.append =
              [mark = std::move(text)](std::string& out, std::string_view run, auto&&...) {
            if (!run.empty()) out += mark;
            out += run;
          },
          .shrinkage = 1};
}

NormalizerStep make_lead(std::string text, bool only_first) {
  return {.append =
              [mark = std::move(text), only_first](std::string& out, std::string_view run,
                                                   bool is_first, auto&&...) {
                if ((is_first || !only_first) && !run.starts_with(mark)) out += mark;
                out += run;
              },
          .shrinkage = 1};
}

NormalizerStep make_replace(std::string from, std::string to) {
  const std::size_t growth = (to.size() + from.size() - 1) / from.size();
  const std::size_t shrinkage = to.empty() ? 0 : (from.size() + to.size() - 1) / to.size();
  return {
      .append = [old = std::move(from), now = std::move(to)](
                    std::string& out, std::string_view run, bool,
                    NormalizerScratch& scratch) { append_replaced(out, run, old, now, scratch); },
      .growth = std::max<std::size_t>(1, growth),
      .shrinkage = shrinkage};
}

NormalizerStep make_replace(Pattern from, std::string to) {
  const std::size_t growth = 1 + to.size();
  return {.append =
              [old = std::move(from), now = std::move(to)](std::string& out, std::string_view run,
                                                           bool, NormalizerScratch& scratch) {
                while (!run.empty()) {
                  const std::size_t good = valid_utf8_prefix(run);
                  append_replaced(out, run.substr(0, good), old, now, scratch);
                  out += run.substr(good, 1);  // a bad byte
                  run.remove_prefix(std::min(good + 1, run.size()));
                }
              },
          .growth = growth};
}

// --- Steps that look at one character at a time, and Bert's, which is a row of them -----------

namespace {

constexpr char32_t kDottedI = 0x130;  // its lower case has two characters

bool has(std::span<const CharRange> ranges, char32_t code) noexcept {
  return range_of(ranges, code) != nullptr;
}

// Hands each character to `put(code, bytes)`; bytes that are not UTF-8 are copied.
template <class Put>
void for_each_char(std::string& out, std::string_view text, const Put& put) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const std::string_view bytes = text.substr(at, static_cast<std::size_t>(next.length));
    if (next.is_valid) {
      put(next.code, bytes);
    } else {
      out += bytes;
    }
    at += bytes.size();
  }
}

void append_lower(std::string& out, std::string_view text) {
  for_each_char(out, text, [&](char32_t code, std::string_view bytes) {
    if (code < 0x80) {
      out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 0x20 : code);
    } else if (code == kDottedI) {
      out += "i\u0307";
    } else if (const char32_t lower = lower_of(code); lower != code) {
      append_utf8(out, lower);
    } else {
      out += bytes;
    }
  });
}

void append_without(std::string& out, std::string_view text, std::span<const CharRange> ranges) {
  for_each_char(out, text, [&](char32_t code, std::string_view bytes) {
    if (code < 0x80 || !has(ranges, code)) out += bytes;
  });
}

// Where `run` begins and ends without the white space at its ends.
Span without_space(std::string_view run) noexcept {
  Span inner = {run.size(), 0};
  for (std::size_t at = 0; at < run.size();) {
    const Utf8Char next = decode_utf8(run.substr(at));
    const std::size_t behind = at + static_cast<std::size_t>(next.length);
    if (!next.is_valid || !is_white_space(next.code)) {
      inner = {std::min(inner.begin, at), behind};
    }
    at = behind;
  }
  return inner;
}

bool is_nmt_control(char32_t code) noexcept {
  return (code >= 0x1 && code <= 0x8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
         code == 0x7F || code == 0x8F || code == 0x9F;
}

bool is_nmt_space(char32_t code) noexcept {
  return code == 0x9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
         (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
         code == 0xFEFF || code == 0xFFFD;
}

bool is_ideograph(char32_t code) noexcept {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
         (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0x2F800 && code <= 0x2FA1F);
}

void append_clean(std::string& out, std::string_view text, const BertNormalization& how) {
  for_each_char(out, text, [&](char32_t code, std::string_view bytes) {
    const bool is_plain = code > 0x20 && code < 0x7F;
    if (!is_plain && how.cleans && has(bert_controls(), code)) return;
    if (!is_plain && how.cleans && is_white_space(code)) {
      out += ' ';
    } else if (how.spaces_ideographs && code >= 0x3400 && is_ideograph(code)) {
      out += ' ';
      out += bytes;
      out += ' ';
    } else {
      out += bytes;
    }
  });
}

}  // namespace

NormalizerStep make_form(UnicodeForm form) {
  return {
      .append = [form](std::string& out, std::string_view run, bool,
                       NormalizerScratch& scratch) { append_form(out, run, form, scratch.codes); },
      .growth = max_growth(form)};
}

NormalizerStep make_lowercase() {  // U+0130: 2 bytes to 3
  return {
      .append = [](std::string& out, std::string_view run, auto&&...) { append_lower(out, run); },
      .growth = 2};
}

NormalizerStep make_strip_accents() {
  return {.append = [](std::string& out, std::string_view run, auto&&...) {
    append_without(out, run, accents());
  }};
}

NormalizerStep make_strip(bool left, bool right) {
  return {.append = [left, right](std::string& out, std::string_view run, auto&&...) {
    Span inner = without_space(run);
    if (!left) inner.begin = 0;
    if (!right) inner.end = run.size();
    if (inner.begin < inner.end) out += run.substr(inner.begin, inner.end - inner.begin);
  }};
}

NormalizerStep make_byte_alphabet() {
  return {.append =
              [](std::string& out, std::string_view run, auto&&...) {
                for (const char c : run)
                  append_spelled(out, c);
              },
          .growth = 2,
          .shrinkage = 1};
}

NormalizerStep make_nmt() {
  return {.append = [](std::string& out, std::string_view run, auto&&...) {
    for_each_char(out, run, [&](char32_t code, std::string_view bytes) {
      if (is_nmt_space(code)) {
        out += ' ';
      } else if (!is_nmt_control(code)) {
        out += bytes;
      }
    });
  }};
}

// Each over the whole run, one after another. An ideograph gets two spaces; form D makes at most
// three bytes of one, and what it changes is no ideograph of those that stay.
NormalizerStep make_bert(const BertNormalization& how) {
  return {.append =
              [how](std::string& out, std::string_view run, bool, NormalizerScratch& scratch) {
                std::string& now = scratch.inner;
                now.clear();
                append_clean(now, run, how);
                if (how.strips_accents) {
                  scratch.more.clear();
                  append_form(scratch.more, now, UnicodeForm::kNfd, scratch.codes);
                  now.clear();
                  append_without(now, scratch.more, bert_accents());
                }
                if (how.lowers) {
                  append_lower(out, now);
                } else {
                  out += now;
                }
              },
          .growth = 6};
}

}  // namespace wick
