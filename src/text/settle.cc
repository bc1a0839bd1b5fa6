// A text that grows, encoded as far as nothing to come can change it. The way of a text
// (docs/tokenizers.md) is gone through with one question at each step: how far is this decided?
//
//   added tokens    up to where the end of the text may be the start of one
//   normalisation   up to the last character that does not change what is before it
//   pieces          as far as the automaton has stopped by itself, not because the text ended
//   merges          whole pieces; where a model has no merge across a "▁", up to the last of those
//
// The place that is taken is the last one where all four say yes. From there on the text is encoded
// as if it were whole, but for what is done at the start of a run only. The patterns have no look
// behind (text/regex.h), so nothing before that place matters.
#include <algorithm>

#include "base/strings.h"
#include "text/bpe_tokenizer.h"
#include "text/utf8.h"

namespace wick {
namespace {

using Kind = NormaliserStep::Kind;

// Whether a step looks at one character at a time, or is NFC, whose borders are known.
bool is_local(const NormaliserStep& step) noexcept {
  switch (step.kind) {
    case Kind::kNfc:
    case Kind::kPrepend:
      return true;
    case Kind::kReplace:
      return static_cast<std::size_t>(decode_utf8(step.from).length) == step.from.size();
    case Kind::kLead:
    case Kind::kLeadFirst:
      return static_cast<std::size_t>(decode_utf8(step.to).length) == step.to.size();
  }
  return false;
}

// Where the last character before `end` (> 0) starts; of what is no character, the last byte.
std::size_t start_of_last(std::string_view text, std::size_t end) noexcept {
  for (std::size_t n = 1; n <= std::min<std::size_t>(4, end); ++n) {
    const Utf8Char c = decode_utf8(text.substr(end - n, n));
    if (c.is_valid && static_cast<std::size_t>(c.length) == n) return end - n;
  }
  return end - 1;
}

// Whether a run may be cut between any two characters that NFC keeps apart.
bool may_be_cut(const TokenizerParts& parts) noexcept {
  return std::all_of(parts.normaliser.begin(), parts.normaliser.end(), is_local) &&
         std::all_of(parts.opening.begin(), parts.opening.end(), is_local);
}

bool has_nfc(const std::vector<NormaliserStep>& steps) noexcept {
  return std::any_of(steps.begin(), steps.end(),
                     [](const NormaliserStep& s) { return s.kind == Kind::kNfc; });
}

// The places of a run where it may be cut before it is normalised.
class Borders {
 public:
  Borders(std::string_view run, bool is_nfc) : run_(run), is_nfc_(is_nfc) {
    if (is_nfc_) run_ = run_.substr(0, before(run.size()));  // a mark may follow the last character
  }

  std::string_view run() const noexcept { return run_; }

  // The last border before `end`, at least the run's start.
  std::size_t before(std::size_t end) const noexcept {
    while (end > 0) {
      end = start_of_last(run_, end);
      if (!is_nfc_ || starts_nfc_part(run_.substr(end))) break;
    }
    return end;
  }

  // The border at or before `end` behind which normalised text has `bytes` bytes; 0 if there is
  // none. `count` tells how many a part of the run has. Goes from the end: the place is near it.
  template <class Count>
  std::size_t before_tail(std::size_t end, std::size_t bytes, const Count& count) const {
    while (bytes > 0 && end > 0) {
      const std::size_t begin = before(end);
      const std::size_t n = count(run_.substr(begin, end - begin));
      if (n > bytes) return 0;
      bytes -= n;
      end = begin;
    }
    return bytes == 0 ? end : 0;
  }

 private:
  std::string_view run_;
  bool is_nfc_;
};

// What is certain of a text's added tokens: each goes to `token`, what stands before it to
// `between`. The result is what is left: a run that is open at its end, [point.at, end).
struct OpenRun {
  EncodePoint point = {};
  std::size_t end = 0;
};

template <class Between, class ToToken>
OpenRun walk_added(const AddedTokens& added, std::string_view text, EncodePoint from,
                   const std::vector<Span>& trusted, const Between& between, const ToToken& token) {
  const std::size_t open = added.open_start(text, from.at);
  for (;;) {
    const auto match = added.find(text, from.at, trusted);
    const std::size_t end = match ? match->span.begin : text.size();
    if (!match || match->span.end > open || match->span.end == text.size()) {
      return {from, added.without_taken_space(text, from.at, std::min(end, open))};
    }
    if (end > from.at) between(text.substr(from.at, end - from.at), from.place);
    from = token(*match);
  }
}

}  // namespace

// Where the part `text` may be cut, as far as its pieces are certain; they are left in the scratch.
OpenSplit BpeTokenizer::split_open_part(std::string_view text, Scratch& scratch) const {
  OpenSplit open{.known = text.size()};
  scratch.split.pieces.clear();
  if (!parts_.pre.is_empty()) open = parts_.pre.split_open(text, scratch.split);
  const std::string_view growing = text.substr(open.begin, open.known - open.begin);
  const std::size_t inside = open.begin + parts_.model.last_cut(growing);
  if (inside > open.begin && inside >= open.free) open.cuts.push_back(inside);
  return open;
}

// Two kinds of cuts are found: behind a token in the normalised run, and, in the part behind the
// last of those, between pieces. The last one that is a border of the run, too, is taken.
EncodePoint BpeTokenizer::encode_open_run(std::string_view run, Place place, Scratch& scratch,
                                          std::vector<TokenId>& out) const {
  const Borders borders(run, has_nfc(parts_.normaliser) || has_nfc(parts_.opening));
  run = borders.run();
  if (!may_be_cut(parts_) || run.empty()) return {};
  const auto count_run = [&](std::string_view part) {
    return normalise(parts_.normaliser, part, Place::kInside, scratch.normaliser).size();
  };
  const auto count_part = [&](std::string_view part) {
    const auto text = normalise(parts_.normaliser, part, Place::kInside, scratch.normaliser);
    return normalise(parts_.opening, text, Place::kInside, scratch.opening).size();
  };

  struct Cut {
    std::size_t at, n_ids;
  };

  std::vector<Cut> cuts;
  const std::size_t n_ids = out.size();
  const std::string text(normalise(parts_.normaliser, run, in_run(place), scratch.normaliser));
  const OpenRun open_part = walk_added(
      parts_.added_normalised, text, {.at = 0, .place = place}, {},
      [&](std::string_view part, Place at) { encode_normalised(part, at, scratch, out); },
      [&](const AddedTokens::Match& match) -> EncodePoint {
        out.push_back(match.id);
        cuts.push_back({match.span.end, out.size()});
        return {.at = match.span.end, .place = Place::kPartStart};
      });
  const std::size_t begin = open_part.point.at;
  const std::string part(normalise(parts_.opening,
                                   std::string_view(text).substr(begin, open_part.end - begin),
                                   in_part(open_part.point.place), scratch.opening));
  const OpenSplit split = split_open_part(part, scratch);
  const std::size_t end = borders.before_tail(run.size(), text.size() - open_part.end, count_run);
  for (auto cut = split.cuts.rbegin(); cut != split.cuts.rend() && *cut > 0; ++cut) {
    const std::size_t taken = borders.before_tail(end, part.size() - *cut, count_part);
    if (taken == 0) continue;
    const auto encode_piece = [&](std::size_t from, std::size_t to) {
      parts_.model.encode(std::string_view(part).substr(from, to - from), parts_.vocab, scratch.bpe,
                          out);
    };
    for (const Span piece : scratch.split.pieces) {
      if (piece.end <= *cut) encode_piece(piece.begin, piece.end);
    }
    if (*cut > split.begin) encode_piece(split.begin, *cut);
    return {.at = taken, .place = Place::kInside};
  }
  for (; !cuts.empty(); cuts.pop_back()) {
    out.resize(cuts.back().n_ids);
    const std::size_t taken =
        borders.before_tail(run.size(), text.size() - cuts.back().at, count_run);
    if (taken > 0) return {.at = taken, .place = Place::kPartStart};
  }
  out.resize(n_ids);
  return {};
}

EncodePoint BpeTokenizer::encode_settled(const MarkedText& text, EncodePoint from,
                                         std::vector<TokenId>& out) const {
  const std::string_view known = std::string_view(text.text).substr(0, complete_utf8(text.text));
  if (from.at >= known.size()) return from;
  std::unique_ptr<Scratch> scratch = scratches_.take();
  const OpenRun open = walk_added(
      parts_.added, known, from, text.trusted,
      [&](std::string_view run, Place place) { encode_run(run, place, *scratch, out); },
      [&](const AddedTokens::Match& match) -> EncodePoint {
        out.push_back(match.id);
        return {.at = match.span.end, .place = Place::kRunStart};
      });
  from = open.point;
  const EncodePoint taken =
      encode_open_run(known.substr(from.at, open.end - from.at), from.place, *scratch, out);
  if (taken.at > 0) from = {.at = from.at + taken.at, .place = taken.place};
  scratches_.give(std::move(scratch));
  return from;
}

}  // namespace wick
