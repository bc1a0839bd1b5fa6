// Normalizer steps that look at one character at a time, and Bert's, which is a row of them.
#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/byte_alphabet.h"
#include "text/normalizer.h"
#include "unicode/classes.h"
#include "unicode/normal_forms.h"

namespace wick {
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

class Form final : public NormalizerStep {
 public:
  explicit Form(UnicodeForm form) : form_(form) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& scratch) const override {
    append_form(out, text, form_, scratch.codes);
  }

  std::size_t growth() const noexcept override { return max_growth(form_); }

 private:
  UnicodeForm form_;
};

class Lowercase final : public NormalizerStep {
 public:
  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    append_lower(out, text);
  }

  std::size_t growth() const noexcept override { return 2; }  // U+0130: 2 bytes to 3
};

class StripAccents final : public NormalizerStep {
 public:
  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    append_without(out, text, accents());
  }
};

class Strip final : public NormalizerStep {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    std::size_t begin = text.size();
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const Utf8Char next = decode_utf8(text.substr(at));
      const std::size_t behind = at + static_cast<std::size_t>(next.length);
      if (!next.is_valid || !is_white_space(next.code)) {
        begin = std::min(begin, at);
        end = behind;
      }
      at = behind;
    }
    if (!left_) begin = 0;
    if (!right_) end = text.size();
    if (begin < end) out += text.substr(begin, end - begin);
  }

 private:
  bool left_, right_;
};

class ByteAlphabet final : public NormalizerStep {
 public:
  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    for (const char c : text) {
      append_spelled(out, c);
    }
  }

  std::size_t growth() const noexcept override { return 2; }
};

class Nmt final : public NormalizerStep {
 public:
  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    for_each_char(out, text, [&](char32_t code, std::string_view bytes) {
      if (is_space(code)) {
        out += ' ';
      } else if (!is_control(code)) {
        out += bytes;
      }
    });
  }

 private:
  static bool is_control(char32_t code) noexcept {
    return (code >= 0x1 && code <= 0x8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
           code == 0x7F || code == 0x8F || code == 0x9F;
  }

  static bool is_space(char32_t code) noexcept {
    return code == 0x9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
           (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 ||
           code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
  }
};

bool is_ideograph(char32_t code) noexcept {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
         (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0x2F800 && code <= 0x2FA1F);
}

// The steps of BertNormalizer, each over the whole run; `a` holds what the next one reads.
class Bert final : public NormalizerStep {
 public:
  explicit Bert(const BertNormalisation& how) : how_(how) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& scratch) const override {
    std::string& now = scratch.inner;
    now.clear();
    append_clean(now, text);
    if (how_.strips_accents) {
      scratch.more.clear();
      append_form(scratch.more, now, UnicodeForm::kNfd, scratch.codes);
      now.clear();
      append_without(now, scratch.more, bert_accents());
    }
    if (how_.lowers) {
      append_lower(out, now);
    } else {
      out += now;
    }
  }

  // An ideograph gets two spaces; form D makes at most three bytes of one, and what it changes is
  // no ideograph of those that stay.
  std::size_t growth() const noexcept override { return 6; }

 private:
  void append_clean(std::string& out, std::string_view text) const {
    for_each_char(out, text, [&](char32_t code, std::string_view bytes) {
      const bool is_plain = code > 0x20 && code < 0x7F;
      if (!is_plain && how_.cleans && has(bert_controls(), code)) return;
      if (!is_plain && how_.cleans && is_white_space(code)) {
        out += ' ';
      } else if (how_.spaces_ideographs && code >= 0x3400 && is_ideograph(code)) {
        out += ' ';
        out += bytes;
        out += ' ';
      } else {
        out += bytes;
      }
    });
  }

  BertNormalisation how_;
};

}  // namespace

NormalizerStepPtr make_form(UnicodeForm form) {
  return std::make_unique<Form>(form);
}

NormalizerStepPtr make_lowercase() {
  return std::make_unique<Lowercase>();
}

NormalizerStepPtr make_strip_accents() {
  return std::make_unique<StripAccents>();
}

NormalizerStepPtr make_strip(bool left, bool right) {
  return std::make_unique<Strip>(left, right);
}

NormalizerStepPtr make_byte_alphabet() {
  return std::make_unique<ByteAlphabet>();
}

NormalizerStepPtr make_nmt() {
  return std::make_unique<Nmt>();
}

NormalizerStepPtr make_bert(const BertNormalisation& how) {
  return std::make_unique<Bert>(how);
}

}  // namespace wick
