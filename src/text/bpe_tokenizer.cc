#include "text/bpe_tokenizer.h"

#include <algorithm>
#include <cstring>

#include "text/nfc.h"

namespace wick {
namespace {

constexpr std::size_t kMaxGrowth = 64;

using Kind = NormaliserStep::Kind;

void append_replaced(std::string& out, std::string_view text, std::string_view from,
                     std::string_view to) {
  for (;;) {
    const std::size_t at = text.find(from);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return;
    out.append(to);
    text.remove_prefix(at + from.size());
  }
}

void append_step(std::string& out, const NormaliserStep& step, std::string_view text,
                 EncodePoint::Place place, NfcScratch& nfc) {
  using Place = EncodePoint::Place;
  switch (step.kind) {
    case Kind::kNfc:
      append_nfc(out, text, nfc);
      return;
    case Kind::kReplace:
      append_replaced(out, text, step.from, step.to);
      return;
    case Kind::kPrepend:
      if (place != Place::kInside) out += step.to;
      break;
    case Kind::kLead:
    case Kind::kLeadFirst: {
      const bool applies =
          place == Place::kTextStart || (step.kind == Kind::kLead && place == Place::kRunStart);
      if (applies && text.substr(0, step.to.size()) != step.to) out += step.to;
      break;
    }
  }
  out += text;
}

}  // namespace

std::string_view normalise(const std::vector<NormaliserStep>& steps, std::string_view text,
                           EncodePoint::Place place, RunScratch& scratch) {
  for (const NormaliserStep& step : steps) {
    scratch.a.clear();
    append_step(scratch.a, step, text, place, scratch.nfc);
    std::swap(scratch.a, scratch.b);
    text = scratch.b;
  }
  return text;
}

std::string normalised_text(const std::vector<NormaliserStep>& steps, std::string_view run) {
  RunScratch scratch;
  return std::string(normalise(steps, run, EncodePoint::Place::kRunStart, scratch));
}

bool grows_too_much(const std::vector<NormaliserStep>& steps) noexcept {
  std::size_t growth = 1;
  for (const NormaliserStep& step : steps) {
    if (step.kind == Kind::kReplace) {
      growth *=
          std::max<std::size_t>(1, (step.to.size() + step.from.size() - 1) / step.from.size());
    }
    if (growth > kMaxGrowth) return true;
  }
  return false;
}

BpeTokenizer::BpeTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  ends_ = std::move(parts_.ends);
  prefix_ = std::move(parts_.prefix);
  suffix_ = std::move(parts_.suffix);
  bos_ = parts_.bos;
  eos_ = parts_.eos;
  for (TokenId id = 0; id < parts_.vocab.size(); ++id) {
    longest_ = std::max(longest_, parts_.vocab.bytes(id).size());
  }
  parts_.model.prepare(parts_.vocab);
  parts_.vocab.pad();
}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::append_bytes(std::span<const TokenId> ids, bool with_control,
                                std::string& out) const {
  const auto is_shown = [&](TokenId id) { return with_control || !parts_.vocab.is_hidden(id); };
  std::size_t bytes = 0;
  for (const TokenId id : ids) {
    bytes += parts_.vocab.bytes(id).size();
  }
  // Short tokens are copied with a fixed size, which runs over their end; hence the room behind.
  const std::size_t begin = out.size();
  out.resize(begin + bytes + Vocab::kPadding);
  char* to = out.data() + begin;
  for (const TokenId id : ids) {
    if (!is_shown(id)) continue;
    const std::string_view from = parts_.vocab.bytes(id);
    if (from.size() <= Vocab::kPadding) {
      if (!from.empty()) std::memcpy(to, from.data(), Vocab::kPadding);
    } else {
      std::memcpy(to, from.data(), from.size());
    }
    to += from.size();
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

void BpeTokenizer::encode(const MarkedText& text, std::vector<TokenId>& out) const {
  encode_rest(text, {}, out);
}

void BpeTokenizer::encode_rest(const MarkedText& text, EncodePoint from,
                               std::vector<TokenId>& out) const {
  std::unique_ptr<Scratch> scratch = scratches_.take();
  const std::string_view all = text.text;
  for (;;) {
    const auto match = parts_.added.find(all, from.at, text.trusted);
    const std::size_t end = match ? match->span.begin : all.size();
    if (end > from.at) encode_run(all.substr(from.at, end - from.at), from.place, *scratch, out);
    if (!match) break;
    out.push_back(match->id);
    from = {.at = match->span.end, .place = Place::kRunStart};
  }
  scratches_.give(std::move(scratch));
}

void BpeTokenizer::encode_run(std::string_view run, Place place, Scratch& scratch,
                              std::vector<TokenId>& out) const {
  const std::string_view text =
      normalise(parts_.normaliser, run, in_run(place), scratch.normaliser);
  if (parts_.added_normalised.is_empty()) {
    encode_normalised(text, place, scratch, out);
    return;
  }
  for (std::size_t at = 0;;) {
    const auto match = parts_.added_normalised.find(text, at, {});
    const std::size_t end = match ? match->span.begin : text.size();
    if (end > at) {
      encode_normalised(text.substr(at, end - at), at == 0 ? place : Place::kPartStart, scratch,
                        out);
    }
    if (!match) return;
    out.push_back(match->id);
    at = match->span.end;
  }
}

void BpeTokenizer::encode_normalised(std::string_view run, Place place, Scratch& scratch,
                                     std::vector<TokenId>& out) const {
  const std::string_view text = normalise(parts_.opening, run, in_part(place), scratch.opening);
  if (parts_.pre.is_empty()) {
    parts_.model.encode(text, parts_.vocab, scratch.bpe, out);
    return;
  }
  parts_.pre.split(text, scratch.split);
  for (const Span piece : scratch.split.pieces) {
    parts_.model.encode(text.substr(piece.begin, piece.end - piece.begin), parts_.vocab,
                        scratch.bpe, out);
  }
}

}  // namespace wick
