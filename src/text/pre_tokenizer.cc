#include "text/pre_tokenizer.h"

#include <algorithm>

#include "text/dfa.h"
#include "text/utf8.h"

namespace wick {
namespace {

struct Part {
  Span span = {};
  bool is_delimiter = false;
};

// Hands the delimiters of `text` and what lies between them to `emit`, in order. `find` gives the
// next match, or moves `end` to where it does not know on. The result is where the last part starts
// that lies between, or would.
template <class Find, class Emit>
std::size_t cut(const Split& split, std::string_view text, const std::size_t& end, const Find& find,
                const Emit& emit) {
  std::size_t done = 0;
  const auto between = [&](std::size_t to) {
    if (to > done) emit(Part{{done, to}, split.is_inverted});
  };
  std::size_t from = 0;
  while (from < text.size()) {
    const std::optional<Span> match = find(from);
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
  between(end);
  return done;
}

template <class Emit>
void cut_whole(const Split& split, Matcher& matcher, std::string_view text, const Emit& emit) {
  const auto find = [&](std::size_t from) { return matcher.find(split.pattern, text, from); };
  cut(split, text, text.size(), find, emit);
}

bool joins(SplitBehaviour behaviour) noexcept {
  return behaviour != SplitBehaviour::kIsolated && behaviour != SplitBehaviour::kRemoved;
}

// Joins parts as the behaviour says.
void append_joined(const Split& split, const std::vector<Part>& parts, std::size_t offset,
                   std::vector<Span>& pieces) {
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
      pieces.back().end = span.end;
    } else {
      pieces.push_back(span);
    }
  }
}

void apply(const Split& split, SplitScratch& scratch, std::string_view text, std::size_t offset) {
  if (joins(split.behaviour)) {
    std::vector<Part> parts;
    cut_whole(split, scratch.matcher, text, [&](const Part& part) { parts.push_back(part); });
    append_joined(split, parts, offset, scratch.pieces);
    return;
  }
  const bool keeps_delimiters = split.behaviour == SplitBehaviour::kIsolated;
  cut_whole(split, scratch.matcher, text, [&](const Part& part) {
    if (part.is_delimiter && !keeps_delimiters) return;
    scratch.pieces.push_back({part.span.begin + offset, part.span.end + offset});
  });
}

// The pieces of a text that may go on: the last one is open where `is_last_open`, and may be cut in
// what lies between matches, which is [free, end).
struct OpenCut {
  std::vector<Span> pieces = {};
  bool is_last_open = false;
  std::size_t free = 0, end = 0;
};

OpenCut cut_open(const Split& split, const Dfa& dfa, std::string_view text, std::size_t offset) {
  std::vector<Part> parts;
  std::size_t work = 0;
  std::size_t end = text.size();
  const auto find = [&](std::size_t from) {
    std::size_t open = text.size();
    const auto match = dfa.find_open(text, from, work, open);
    if (!match) end = open;
    return match;
  };
  const std::size_t free =
      cut(split, text, end, find, [&](const Part& part) { parts.push_back(part); });
  OpenCut out{.free = free + offset, .end = end + offset};
  if (joins(split.behaviour)) {
    append_joined(split, parts, offset, out.pieces);
    out.is_last_open = !out.pieces.empty();
    return out;
  }
  const bool keeps_delimiters = split.behaviour == SplitBehaviour::kIsolated;
  for (const Part& part : parts) {
    if (part.is_delimiter && !keeps_delimiters) continue;
    out.pieces.push_back({part.span.begin + offset, part.span.end + offset});
  }
  out.is_last_open = end > free && !out.pieces.empty() && out.pieces.back().end == out.end;
  return out;
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
void rewrite_all(const Normaliser& steps, const PlaceOf& place_of, SplitScratch& scratch) {
  scratch.before.swap(scratch.pieces);
  scratch.pieces.clear();
  scratch.other.clear();
  for (const Span piece : scratch.before) {
    const std::string_view text = scratch.text.substr(piece.begin, piece.end - piece.begin);
    const std::size_t begin = scratch.other.size();
    scratch.other += steps.apply(text, place_of(piece), scratch.normaliser);
    if (scratch.normaliser.is_full(scratch.other)) scratch.normaliser.is_overgrown = true;
    if (scratch.normaliser.is_overgrown) break;
    if (scratch.other.size() > begin) scratch.pieces.push_back({begin, scratch.other.size()});
  }
  scratch.rewritten.swap(scratch.other);
  scratch.text = scratch.rewritten;
}

}  // namespace

void PreTokenizer::add(Split split) {
  if (n_late_ == 0) splits_end_ = stages_.size() + 1;
  stages_.emplace_back(std::move(split));
}

void PreTokenizer::add(Normaliser rewriting) {
  const bool is_before = splits_end_ == splits_begin_;
  stages_.emplace_back(std::move(rewriting));
  if (is_before) {
    splits_begin_ = splits_end_ = stages_.size();
  } else {
    ++n_late_;
  }
}

std::size_t PreTokenizer::growth() const noexcept {
  std::size_t all = 1;
  for (const auto& stage : stages_) {
    if (const auto* const steps = std::get_if<Normaliser>(&stage)) all *= steps->growth();
    all = std::min<std::size_t>(all, 1U << 20U);
  }
  return all;
}

void PreTokenizer::append_reaches(std::vector<Reach>& out) const {
  for (std::size_t stage = 0; stage < splits_begin_; ++stage) {
    std::get_if<Normaliser>(&stages_[stage])->append_reaches(out);
  }
}

// What a split leaves are texts of their own; before the first one, the piece is all of the text.
void PreTokenizer::run_stages(std::size_t first, std::size_t end, RunPlace place,
                              SplitScratch& scratch) const {
  for (std::size_t stage = first; stage < end; ++stage) {
    const auto place_of = [&](Span piece) {
      const bool is_at_start = piece.begin == 0 && place == RunPlace::kTextStart;
      return stage < splits_begin_ || is_at_start ? place : RunPlace::kRunStart;
    };
    if (const auto* const steps = std::get_if<Normaliser>(&stages_[stage])) {
      rewrite_all(*steps, place_of, scratch);
      continue;
    }
    // What rewrites may put something before a bad byte, and patterns take valid text alone.
    const bool is_new_text = stage == 0 || std::holds_alternative<Normaliser>(stages_[stage - 1]);
    if (is_new_text) cut_at_bad_bytes(scratch);
    split_all(split_at(stage), scratch);
  }
}

void PreTokenizer::split(std::string_view text, RunPlace place, SplitScratch& scratch) const {
  scratch.text = text;
  scratch.pieces.clear();
  if (text.empty()) return;
  scratch.pieces.push_back({0, text.size()});
  run_stages(0, stages_.size(), place, scratch);
}

std::string_view PreTokenizer::rewrite(std::string_view text, RunPlace place,
                                       SplitScratch& scratch) const {
  for (std::size_t stage = 0; stage < splits_begin_ && !text.empty(); ++stage) {
    const auto* const steps = std::get_if<Normaliser>(&stages_[stage]);
    text = steps->apply(text, place, scratch.normaliser);
  }
  return text;
}

void PreTokenizer::finish(RunPlace place, SplitScratch& scratch) const {
  run_stages(splits_end_, stages_.size(), place, scratch);
}

// Puts the pieces that the splits from `first` on make of `piece` behind the others.
void PreTokenizer::append_certain(Span piece, std::size_t first, SplitScratch& scratch) const {
  if (first == splits_end_) {
    scratch.pieces.push_back(piece);
    return;
  }
  scratch.certain.swap(scratch.pieces);
  scratch.pieces.assign(1, piece);
  run_stages(first, splits_end_, RunPlace::kInside, scratch);
  scratch.certain.insert(scratch.certain.end(), scratch.pieces.begin(), scratch.pieces.end());
  scratch.certain.swap(scratch.pieces);
}

// Split by split: the pieces of one that are certain go through those behind it as ever, and the
// open one, as far as it is known, is the text of the next split.
void PreTokenizer::split_open_valid(std::string_view text, std::size_t offset,
                                    SplitScratch& scratch, OpenSplit& open) const {
  open.free = open.begin = offset;
  open.known = offset + text.size();
  for (std::size_t stage = splits_begin_; stage < splits_end_; ++stage) {
    const Dfa* const dfa = split_at(stage).pattern.automaton();
    if (dfa == nullptr) {  // PCRE2 does not say how far it looked
      open.known = open.begin;
      return;
    }
    const std::string_view growing = text.substr(open.begin - offset, open.known - open.begin);
    OpenCut next = cut_open(split_at(stage), *dfa, growing, open.begin);
    open.begin = next.is_last_open ? next.pieces.back().begin : next.end;
    open.known = next.end;
    if (next.is_last_open) next.pieces.pop_back();
    const auto note_cut = [&](std::size_t at) {
      if (at >= open.free) open.cuts.push_back(at);
    };
    for (const Span piece : next.pieces) {
      note_cut(piece.begin);
      append_certain(piece, stage + 1, scratch);
    }
    note_cut(open.begin);
    open.free = std::max(open.free, next.free);
  }
}

OpenSplit PreTokenizer::split_open(std::string_view text, SplitScratch& scratch) const {
  scratch.text = text;
  scratch.pieces.clear();
  OpenSplit open{.known = text.size()};
  if (splits_begin_ == splits_end_) return open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t good = valid_utf8_prefix(text.substr(at));
    open.cuts.push_back(at);
    if (at + good == text.size()) {
      split_open_valid(text.substr(at), at, scratch, open);
      return open;
    }
    if (good > 0) append_certain({at, at + good}, splits_begin_, scratch);
    at += good + 1;
    scratch.pieces.push_back({at - 1, at});
    open.cuts.push_back(at - 1);
  }
  open.begin = open.known = open.free = text.size();
  open.cuts.push_back(text.size());
  return open;
}

}  // namespace wick
