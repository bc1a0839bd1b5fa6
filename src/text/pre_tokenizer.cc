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

}  // namespace

void PreTokenizer::split_valid(std::string_view text, std::size_t offset, std::size_t first_stage,
                               SplitScratch& scratch) const {
  const std::size_t first = scratch.pieces.size();
  scratch.pieces.push_back({offset, offset + text.size()});
  for (std::size_t stage = first_stage; stage < splits_.size(); ++stage) {
    scratch.before.assign(scratch.pieces.begin() + static_cast<std::ptrdiff_t>(first),
                          scratch.pieces.end());
    scratch.pieces.resize(first);
    for (const Span piece : scratch.before) {
      apply(splits_[stage], scratch, text.substr(piece.begin - offset, piece.end - piece.begin),
            piece.begin);
    }
  }
}

void PreTokenizer::split(std::string_view text, SplitScratch& scratch) const {
  scratch.pieces.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t good = valid_utf8_prefix(text.substr(at));
    if (good > 0) split_valid(text.substr(at, good), at, 0, scratch);
    at += good;
    if (at < text.size()) {
      scratch.pieces.push_back({at, at + 1});
      ++at;
    }
  }
}

// Stage by stage: the pieces of one that are certain go through the stages behind it as ever, and
// the open one, as far as it is known, is the text of the next stage.
void PreTokenizer::split_open_valid(std::string_view text, std::size_t offset,
                                    SplitScratch& scratch, OpenSplit& open) const {
  const auto part = [&](Span span) {
    return text.substr(span.begin - offset, span.end - span.begin);
  };
  open.free = open.begin = offset;
  open.known = offset + text.size();
  for (std::size_t stage = 0; stage < splits_.size(); ++stage) {
    const Dfa* const dfa = splits_[stage].pattern.automaton();
    if (dfa == nullptr) {  // PCRE2 does not say how far it looked
      open.known = open.begin;
      return;
    }
    OpenCut next = cut_open(splits_[stage], *dfa, part({open.begin, open.known}), open.begin);
    open.begin = next.is_last_open ? next.pieces.back().begin : next.end;
    open.known = next.end;
    if (next.is_last_open) next.pieces.pop_back();
    const auto note_cut = [&](std::size_t at) {
      if (at >= open.free) open.cuts.push_back(at);
    };
    for (const Span piece : next.pieces) {
      note_cut(piece.begin);
      split_valid(part(piece), piece.begin, stage + 1, scratch);
    }
    note_cut(open.begin);
    open.free = std::max(open.free, next.free);
  }
}

OpenSplit PreTokenizer::split_open(std::string_view text, SplitScratch& scratch) const {
  scratch.pieces.clear();
  OpenSplit open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t good = valid_utf8_prefix(text.substr(at));
    open.cuts.push_back(at);
    if (at + good == text.size()) {
      split_open_valid(text.substr(at), at, scratch, open);
      return open;
    }
    if (good > 0) split_valid(text.substr(at, good), at, 0, scratch);
    at += good + 1;
    scratch.pieces.push_back({at - 1, at});
    open.cuts.push_back(at - 1);
  }
  open.begin = open.known = open.free = text.size();
  open.cuts.push_back(text.size());
  return open;
}

}  // namespace wick
