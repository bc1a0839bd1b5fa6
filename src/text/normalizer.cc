#include "text/normalizer.h"

#include <algorithm>

#include "base/utf8.h"

namespace wick {
namespace {

class Prepend final : public NormalizerStep {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& /*scratch*/) const override {
    if (!text.empty()) out += text_;
    out += text;
  }

 private:
  std::string text_;
};

class Lead final : public NormalizerStep {
 public:
  Lead(std::string text, bool only_first) : text_(std::move(text)), only_first_(only_first) {}

  void append(std::string& out, std::string_view text, bool is_first,
              NormalizerScratch& /*scratch*/) const override {
    const bool applies = is_first || !only_first_;
    if (applies && text.substr(0, text_.size()) != text_) out += text_;
    out += text;
  }

 private:
  std::string text_;
  bool only_first_;
};

class Replace final : public NormalizerStep {
 public:
  Replace(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& scratch) const override {
    while (!scratch.is_full(out)) {
      const std::size_t at = text.find(from_);
      out.append(text.substr(0, at));
      if (at == std::string_view::npos) return;
      out.append(to_);
      text.remove_prefix(at + from_.size());
    }
  }

  std::size_t growth() const noexcept override {
    return std::max<std::size_t>(1, (to_.size() + from_.size() - 1) / from_.size());
  }

 private:
  std::string from_, to_;
};

class ReplacePattern final : public NormalizerStep {
 public:
  ReplacePattern(Pattern from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  void append(std::string& out, std::string_view text, bool /*is_first*/,
              NormalizerScratch& scratch) const override {
    while (!text.empty()) {
      const std::size_t good = valid_utf8_prefix(text);
      append_valid(out, text.substr(0, good), scratch);
      text.remove_prefix(good);
      if (text.empty()) return;
      out += text.front();
      text.remove_prefix(1);
    }
  }

  std::size_t growth() const noexcept override { return 1 + to_.size(); }

 private:
  void append_valid(std::string& out, std::string_view text, NormalizerScratch& scratch) const {
    std::size_t done = 0;
    bool has_matched = false;
    for (std::size_t from = 0; from <= text.size() && !scratch.is_full(out);) {
      const auto match = scratch.matcher.find(from_, text, from);
      if (!match) break;
      const bool is_empty = match->end == match->begin;
      if (!is_empty || !has_matched || match->begin > done) {  // no empty one right behind another
        out.append(text.substr(done, match->begin - done));
        out.append(to_);
        done = match->end;
        has_matched = true;
      }
      from = match->end;
      if (!is_empty) continue;
      if (from == text.size()) break;
      from += static_cast<std::size_t>(decode_utf8(text.substr(from)).length);
    }
    out.append(text.substr(done));
  }

  Pattern from_;
  std::string to_;
};

}  // namespace

std::size_t Normalizer::growth() const noexcept {
  constexpr std::size_t kMuch = 1U << 20U;
  std::size_t all = 1;
  for (const NormalizerStepPtr& step : steps_) {
    all = std::min(kMuch, all * std::min(kMuch, step->growth()));
  }
  return all;
}

std::string_view Normalizer::apply(std::string_view text, RunPlace place,
                                   NormalizerScratch& scratch) const {
  for (const NormalizerStepPtr& step : steps_) {
    scratch.a.clear();
    step->append(scratch.a, text, place == RunPlace::kTextStart, scratch);
    if (scratch.is_full(scratch.a)) {
      scratch.is_overgrown = true;
      return {};
    }
    std::swap(scratch.a, scratch.b);
    text = scratch.b;
  }
  return text;
}

NormalizerStepPtr make_prepend(std::string text) {
  return std::make_unique<Prepend>(std::move(text));
}

NormalizerStepPtr make_lead(std::string text, bool only_first) {
  return std::make_unique<Lead>(std::move(text), only_first);
}

NormalizerStepPtr make_replace(std::string from, std::string to) {
  return std::make_unique<Replace>(std::move(from), std::move(to));
}

NormalizerStepPtr make_replace(Pattern from, std::string to) {
  return std::make_unique<ReplacePattern>(std::move(from), std::move(to));
}

}  // namespace wick
