// A text that grows, encoded as far as nothing to come can change it. The way of a text
// (docs/tokenizers.md) is gone through with one question at each step: how far is this decided?
//
//   added tokens    up to where the end of the text may be the start of one
//   normalisation   up to the last character that does not change what is before it
//   pieces          as far as the automaton has stopped by itself, not because the text ended
//   model           whole pieces; where BPE has no merge across a "▁", up to the last of those
//
// The place that is taken is the last one where all four say yes. From there on the text is encoded
// as if it were whole, but for what is done at the start of a run only. The patterns have no look
// behind (text/regex.h), so nothing before that place matters.
// Where a step may look at all of a run, none of the run is taken before an added token ends it.
#include <algorithm>

#include "base/strings.h"
#include "text/nfc.h"
#include "text/pipeline.h"
#include "text/utf8.h"

namespace wick {
namespace {

// Where a run may be cut so that each part is rewritten by itself.
RunCuts cuts_of(const std::vector<Reach>& steps) noexcept {
  RunCuts cuts = RunCuts::kAtCharacters;
  bool has_changed = false;
  bool may_vanish = false;
  for (const Reach reach : steps) {
    switch (reach) {
      case Reach::kRun:
        return RunCuts::kNowhere;
      case Reach::kStart:
        if (may_vanish) return RunCuts::kNowhere;  // what comes first shows later
        break;
      case Reach::kNfcPart:
        if (has_changed) return RunCuts::kNowhere;  // it may join what were no neighbours
        has_changed = true;
        cuts = RunCuts::kAtNfcParts;
        break;
      case Reach::kCharacterOrNone:
        may_vanish = has_changed = true;
        break;
      case Reach::kCharacter:
        has_changed = true;
        break;
    }
  }
  return cuts;
}

// Where the last character before `end` (> 0) starts; of what is no character, the last byte.
std::size_t start_of_last(std::string_view text, std::size_t end) noexcept {
  for (std::size_t n = 1; n <= std::min<std::size_t>(4, end); ++n) {
    const Utf8Char c = decode_utf8(text.substr(end - n, n));
    if (c.is_valid && static_cast<std::size_t>(c.length) == n) return end - n;
  }
  return end - 1;
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
  auto last = AddedTokens::start_at(from.at, from.taken);
  const std::size_t open = added.open_start(text, last.next);
  for (;;) {
    const auto match = added.find(text, last, trusted);
    const std::size_t end = match ? match->span.begin : text.size();
    if (!match || match->span.end > open || match->span.end == text.size()) {
      return {from, added.without_taken_space(text, from.at, std::min(end, open))};
    }
    if (end > from.at) between(text.substr(from.at, end - from.at), from.place);
    from = token(*match);
    last = *match;
  }
}

}  // namespace

RunCuts PipelineTokenizer::find_run_cuts() const {
  // A token that is one only as a word of its own would need the normalised text before it.
  if (!parts_.pre.can_grow() || parts_.added_normalised.has_single_words()) {
    return RunCuts::kNowhere;
  }
  std::vector<Reach> reaches;
  parts_.normaliser.append_reaches(reaches);
  parts_.pre.append_reaches(reaches);
  return cuts_of(reaches);
}

// Where the part `text` may be cut, as far as its pieces are certain; they are left in the scratch.
// BPE alone says where in a piece that may grow no token can cross.
OpenSplit PipelineTokenizer::split_open_part(std::string_view text, Scratch& scratch) const {
  OpenSplit open = parts_.pre.split_open(text, scratch.split);
  const auto* const bpe = std::get_if<BpeModel>(&parts_.model);
  if (bpe == nullptr || parts_.pre.finishes_pieces()) return open;
  const std::string_view growing = text.substr(open.begin, open.known - open.begin);
  const std::size_t inside = open.begin + bpe->last_cut(growing);
  if (inside > open.begin && inside >= open.free) open.cuts.push_back(inside);
  return open;
}

// What stands behind the last token in a normalised run: rewritten, and cut as far as is certain.
struct PipelineTokenizer::OpenPart {
  std::string text = {};
  RunPlace place = RunPlace::kInside;
  OpenSplit split = {};
};

void PipelineTokenizer::encode_start(const OpenPart& part, std::size_t cut, Scratch& scratch,
                                     std::vector<TokenId>& out) const {
  std::vector<Span>& pieces = scratch.split.pieces;
  while (!pieces.empty() && pieces.back().end > cut) {
    pieces.pop_back();
  }
  if (cut > part.split.begin) pieces.push_back({part.split.begin, cut});
  parts_.pre.finish(part.place, scratch.split);
  encode_pieces(scratch, out);
}

// Two kinds of cuts are found: behind a token in the normalised run, and, in the part behind the
// last of those, between pieces. The last one that is a border of the run, too, is taken.
EncodePoint PipelineTokenizer::encode_open_run(std::string_view run, Place place, Scratch& scratch,
                                               std::vector<TokenId>& out) const {
  if (run_cuts_ == RunCuts::kNowhere) return {};
  const Borders borders(run, run_cuts_ == RunCuts::kAtNfcParts);
  run = borders.run();
  if (run.empty()) return {};
  const auto inside = [&](std::string_view text) {
    return parts_.normaliser.apply(text, RunPlace::kInside, scratch.normaliser);
  };
  const auto count_run = [&](std::string_view text) { return inside(text).size(); };
  const auto count_part = [&](std::string_view text) {
    return parts_.pre.rewrite(inside(text), RunPlace::kInside, scratch.split).size();
  };

  struct Cut {
    std::size_t at, n_ids;
  };

  std::vector<Cut> cuts;
  const std::size_t n_ids = out.size();
  const std::string text(parts_.normaliser.apply(run, in_run(place), scratch.normaliser));
  const OpenRun open = walk_added(
      parts_.added_normalised, text, {.at = 0, .place = place}, {},
      [&](std::string_view part, Place at) { encode_normalised(part, at, scratch, out); },
      [&](const AddedTokens::Match& match) -> EncodePoint {
        out.push_back(match.id);
        if (match.taken_behind() == 0) cuts.push_back({match.span.end, out.size()});
        return {.at = match.span.end, .place = Place::kPartStart};
      });
  OpenPart part{.place = in_part(open.point.place)};
  const std::string_view left = std::string_view(text).substr(0, open.end).substr(open.point.at);
  part.text = parts_.pre.rewrite(left, part.place, scratch.split);
  part.split = split_open_part(part.text, scratch);
  const std::size_t end = borders.before_tail(run.size(), text.size() - open.end, count_run);
  for (; !part.split.cuts.empty() && part.split.cuts.back() > 0; part.split.cuts.pop_back()) {
    const std::size_t cut = part.split.cuts.back();
    const std::size_t taken = borders.before_tail(end, part.text.size() - cut, count_part);
    if (taken == 0) continue;
    encode_start(part, cut, scratch, out);
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

Result<EncodePoint> PipelineTokenizer::encode_settled(const MarkedText& text, EncodePoint from,
                                                      std::vector<TokenId>& out) const {
  const std::string_view known = std::string_view(text.text).substr(0, complete_utf8(text.text));
  if (from.at >= known.size()) return from;
  std::unique_ptr<Scratch> scratch = scratches_.take();
  const std::size_t n_before = out.size();
  scratch->begin(known.size());
  const OpenRun open = walk_added(
      parts_.added, known, from, text.trusted,
      [&](std::string_view run, Place place) { encode_run(run, place, *scratch, out); },
      [&](const AddedTokens::Match& match) -> EncodePoint {
        out.push_back(match.id);
        return {.at = match.span.end, .place = Place::kRunStart, .taken = match.taken_behind()};
      });
  from = open.point;
  const EncodePoint taken =
      encode_open_run(known.substr(from.at, open.end - from.at), from.place, *scratch, out);
  if (taken.at > 0) from = {.at = from.at + taken.at, .place = taken.place};
  Result<EncodePoint> result = from;
  if (scratch->has_failed()) {
    result = scratch->error();
    out.resize(n_before);
  }
  scratch->split.matcher.release();
  scratches_.give(std::move(scratch));
  return result;
}

}  // namespace wick
