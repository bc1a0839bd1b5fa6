#include "text/pre_tokenizer.h"

#include <algorithm>

#include "text/utf8.h"

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
  const auto between = [&](std::size_t end) {
    if (end > done) emit(Part{{done, end}, split.is_inverted});
  };
  std::size_t from = 0;
  while (from < text.size()) {
    const auto match = matcher.find(split.pattern, text, from);
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

// Joins parts as the behaviour says; what `emit` gets are pieces.
void cut_joined(const Split& split, SplitScratch& scratch, std::string_view text,
                std::size_t offset) {
  std::vector<Part> parts;
  cut(split, scratch.matcher, text, [&](const Part& part) { parts.push_back(part); });
  const auto joins_previous = [&](std::size_t i) {
    const Part& part = parts[i];
    const Part& last = parts[i - 1];
    switch (split.behaviour) {
      case SplitBehaviour::kContiguous:
        return part.is_delimiter == last.is_delimiter;
      case SplitBehaviour::kMergedWithPrevious:
        return part.is_delimiter && !last.is_delimiter;
      case SplitBehaviour::kMergedWithNext:
        return !part.is_delimiter && last.is_delimiter;
      case SplitBehaviour::kIsolated:
      case SplitBehaviour::kRemoved:
        break;
    }
    return false;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Span span{parts[i].span.begin + offset, parts[i].span.end + offset};
    if (i > 0 && joins_previous(i)) {
      scratch.pieces.back().end = span.end;
    } else {
      scratch.pieces.push_back(span);
    }
  }
}

void apply(const Split& split, SplitScratch& scratch, std::string_view text, std::size_t offset) {
  if (split.behaviour != SplitBehaviour::kIsolated && split.behaviour != SplitBehaviour::kRemoved) {
    cut_joined(split, scratch, text, offset);
    return;
  }
  const bool keeps_delimiters = split.behaviour == SplitBehaviour::kIsolated;
  cut(split, scratch.matcher, text, [&](const Part& part) {
    if (part.is_delimiter && !keeps_delimiters) return;
    scratch.pieces.push_back({part.span.begin + offset, part.span.end + offset});
  });
}

}  // namespace

void PreTokenizer::split_valid(std::string_view text, std::size_t offset,
                               SplitScratch& scratch) const {
  const std::size_t first = scratch.pieces.size();
  scratch.pieces.push_back({offset, offset + text.size()});
  for (const Split& split : splits_) {
    scratch.before.assign(scratch.pieces.begin() + static_cast<std::ptrdiff_t>(first),
                          scratch.pieces.end());
    scratch.pieces.resize(first);
    for (const Span piece : scratch.before) {
      apply(split, scratch, text.substr(piece.begin - offset, piece.end - piece.begin),
            piece.begin);
    }
  }
}

void PreTokenizer::split(std::string_view text, SplitScratch& scratch) const {
  scratch.pieces.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t good = valid_utf8_prefix(text.substr(at));
    if (good > 0) split_valid(text.substr(at, good), at, scratch);
    at += good;
    if (at < text.size()) {
      scratch.pieces.push_back({at, at + 1});
      ++at;
    }
  }
}

}  // namespace wick
