#include "text/pre_tokenizer.h"

#include <algorithm>

#include "base/utf8.h"

namespace wick {
namespace {

struct Part {
  Span span = {};
  bool is_delimiter = false;
};

// Hands the delimiters of `text` and what lies between them to `emit`, in order.
template <class Emit>
void cut(const Split& split, Matcher& matcher, std::string_view text, const Emit& emit) {
  std::size_t done = 0;
  const auto between = [&](std::size_t to) {
    if (to > done) emit(Part{{done, to}, split.is_inverted});
  };
  std::size_t from = 0;
  while (from < text.size()) {
    const std::optional<Span> match = matcher.find(split.pattern, text, from);
    if (!match) break;
    if (match->end == match->begin) {  // an empty match cuts nothing off; go on a character later
      if (match->begin >= text.size()) break;
      between(match->begin);
      done = match->begin;
      from = match->begin + static_cast<std::size_t>(decode_utf8(text.substr(match->begin)).length);
      continue;
    }
    between(match->begin);
    emit(Part{*match, !split.is_inverted});
    done = from = match->end;
  }
  between(text.size());
}

bool joins(SplitBehavior behavior) noexcept {
  return behavior != SplitBehavior::kIsolated && behavior != SplitBehavior::kRemoved;
}

// Joins parts as the behavior says.
void append_joined(const Split& split, const std::vector<Part>& parts, std::size_t offset,
                   std::vector<Span>& pieces) {
  const auto joins_previous = [&](std::size_t i) {
    const Part& part = parts[i];
    const Part& last = parts[i - 1];
    switch (split.behavior) {
      case SplitBehavior::kContiguous:
        return part.is_delimiter == last.is_delimiter;
      case SplitBehavior::kMergedWithPrevious:
        return part.is_delimiter && !last.is_delimiter;
      case SplitBehavior::kMergedWithNext:
        return !part.is_delimiter && last.is_delimiter;
      case SplitBehavior::kIsolated:
      case SplitBehavior::kRemoved:
        break;
    }
    return false;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Span span{parts[i].span.begin + offset, parts[i].span.end + offset};
    if (i > 0 && joins_previous(i)) {
      pieces.back().end = span.end;
    } else {
      pieces.push_back(span);
    }
  }
}

void apply(const Split& split, SplitScratch& scratch, std::string_view text, std::size_t offset) {
  if (joins(split.behavior)) {
    std::vector<Part> parts;
    cut(split, scratch.matcher, text, [&](const Part& part) { parts.push_back(part); });
    append_joined(split, parts, offset, scratch.pieces);
    return;
  }
  const bool keeps_delimiters = split.behavior == SplitBehavior::kIsolated;
  cut(split, scratch.matcher, text, [&](const Part& part) {
    if (part.is_delimiter && !keeps_delimiters) return;
    scratch.pieces.push_back({part.span.begin + offset, part.span.end + offset});
  });
}

bool is_bad_byte(std::string_view text) noexcept {
  return text.size() == 1 && static_cast<unsigned char>(text[0]) >= 0x80;
}

// Makes each byte that is not UTF-8 a piece by itself.
void cut_at_bad_bytes(SplitScratch& scratch) {
  scratch.before.swap(scratch.pieces);
  scratch.pieces.clear();
  for (const Span piece : scratch.before) {
    for (std::size_t at = piece.begin; at < piece.end;) {
      const std::size_t good = valid_utf8_prefix(scratch.text.substr(at, piece.end - at));
      if (good > 0) scratch.pieces.push_back({at, at + good});
      at += good;
      if (at < piece.end) {
        scratch.pieces.push_back({at, at + 1});
        ++at;
      }
    }
  }
}

void split_all(const Split& split, SplitScratch& scratch) {
  scratch.before.swap(scratch.pieces);
  scratch.pieces.clear();
  for (const Span piece : scratch.before) {
    const std::string_view text = scratch.text.substr(piece.begin, piece.end - piece.begin);
    if (is_bad_byte(text)) {
      scratch.pieces.push_back(piece);
    } else {
      apply(split, scratch, text, piece.begin);
    }
  }
}

// `place_of` says where a piece stands.
template <class PlaceOf>
void rewrite_all(const Normalizer& steps, const PlaceOf& place_of, SplitScratch& scratch) {
  scratch.before.swap(scratch.pieces);
  scratch.pieces.clear();
  scratch.other.clear();
  for (const Span piece : scratch.before) {
    const std::string_view text = scratch.text.substr(piece.begin, piece.end - piece.begin);
    const std::size_t begin = scratch.other.size();
    scratch.other += steps.apply(text, place_of(piece), scratch.normalizer);
    if (scratch.normalizer.is_full(scratch.other)) scratch.normalizer.is_overgrown = true;
    if (scratch.normalizer.is_overgrown) break;
    if (scratch.other.size() > begin) scratch.pieces.push_back({begin, scratch.other.size()});
  }
  scratch.rewritten.swap(scratch.other);
  scratch.text = scratch.rewritten;
}

}  // namespace

std::size_t PreTokenizer::growth() const noexcept {
  std::size_t all = 1;
  for (const auto& stage : stages_) {
    if (const auto* const steps = std::get_if<Normalizer>(&stage)) all *= steps->growth();
    all = std::min<std::size_t>(all, 1U << 20U);
  }
  return all;
}

bool PreTokenizer::rewrites() const noexcept {
  return std::any_of(stages_.begin(), stages_.end(), [](const auto& stage) {
    return std::holds_alternative<Normalizer>(stage);
  });
}

std::size_t PreTokenizer::shrinkage() const noexcept {
  std::size_t all = 1;
  for (const auto& stage : stages_) {
    if (const auto* const steps = std::get_if<Normalizer>(&stage)) {
      all *= steps->shrinkage();
    } else if (std::get<Split>(stage).behavior == SplitBehavior::kRemoved) {
      all = 0;
    }
  }
  return all;
}

// What a split leaves are texts of their own; before the first one, the piece is all of the text.
void PreTokenizer::split(std::string_view text, RunPlace place, SplitScratch& scratch) const {
  scratch.text = text;
  scratch.pieces.clear();
  if (text.empty()) return;
  scratch.pieces.push_back({0, text.size()});
  const auto place_of = [&](Span piece) { return piece.begin == 0 ? place : RunPlace::kRunStart; };
  bool is_new_text = true;
  for (const auto& stage : stages_) {
    if (const auto* const steps = std::get_if<Normalizer>(&stage)) {
      rewrite_all(*steps, place_of, scratch);
      is_new_text = true;
      continue;
    }
    // What rewrites may put something before a bad byte, and patterns take valid text alone.
    if (is_new_text) cut_at_bad_bytes(scratch);
    split_all(*std::get_if<Split>(&stage), scratch);
    is_new_text = false;
  }
}

}  // namespace wick
