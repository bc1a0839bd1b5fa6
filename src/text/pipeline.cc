#include "text/pipeline.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "text/limits.h"

namespace wick {
namespace {

// The longest text that becomes one token; 0: no limit. Only BPE has one: where each byte has a
// token, or each byte is a symbol of its own, so that those without a token can be left out.
std::size_t most_bytes_of_a_token(const TokenizerParts& parts, std::size_t longest) {
  const auto* const bpe = std::get_if<BpeModel>(&parts.model);
  if (bpe == nullptr) return 0;
  const bool has_all_bytes = std::all_of(bpe->byte_ids.begin(), bpe->byte_ids.end(),
                                         [](TokenId id) { return id >= 0; });
  const bool rewrites = !parts.normalizer.is_empty() || parts.pre.rewrites();
  if (!has_all_bytes && (bpe->alphabet != BpeModel::Alphabet::kBytes || rewrites)) return 0;
  const std::size_t pieces =
      parts.pre.shrinkage() * std::max({longest, bpe->longest_word, std::size_t{1}});
  const std::size_t added = parts.added.longest_match();
  const std::size_t added_normalized = parts.added_normalized.longest_match();
  const std::size_t shrinkage = parts.normalizer.shrinkage();
  if (pieces == 0 || added == 0 || added_normalized == 0 || shrinkage == 0) return 0;
  return std::max(added, shrinkage * std::max(added_normalized, pieces));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_tokenizer(TokenizerParts parts) {
  if (parts.normalizer.growth() * parts.pre.growth() > kMaxGrowth) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_growth",
                 .message = cat("the tokenizer's steps may make a text ",
                                parts.normalizer.growth() * parts.pre.growth(),
                                " times longer, wick takes ", kMaxGrowth)};
  }
  if (auto* const bpe = std::get_if<BpeModel>(&parts.model)) bpe->prepare(parts.vocab);
  return std::shared_ptr<const Tokenizer>(std::make_shared<PipelineTokenizer>(std::move(parts)));
}

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  ends_ = std::move(parts_.ends);
  prefix_ = std::move(parts_.prefix);
  suffix_ = std::move(parts_.suffix);
  bos_ = parts_.bos;
  eos_ = parts_.eos;
  decoding_ = parts_.decoding;
  for (TokenId id = 0; id < parts_.vocab.size(); ++id) {
    longest_ = std::max(longest_, parts_.vocab.bytes(id).size());
  }
  for (const auto& texts : parts_.edge_texts) {
    for (const auto& [id, text] : texts)
      longest_ = std::max(longest_, text.size());
  }
  most_bytes_ = most_bytes_of_a_token(parts_, longest_);
  parts_.vocab.index_short_tokens();
}

PipelineTokenizer::~PipelineTokenizer() = default;

std::size_t PipelineTokenizer::fewest_tokens(std::string_view text) const noexcept {
  if (most_bytes_ == 0) return 0;
  const ByteIds& ids = std::get<BpeModel>(parts_.model).byte_ids;
  const auto kept = std::count_if(text.begin(), text.end(), [&](char c) {
    return ids[static_cast<unsigned char>(c)] >= 0;
  });
  return static_cast<std::size_t>(kept) / most_bytes_;
}

void PipelineTokenizer::append_bytes(std::span<const TokenId> ids, bool with_control,
                                     std::string& out) const {
  if (decoding_.joins_repeats) {
    Tokenizer::append_bytes(ids, with_control, out);
    return;
  }
  // Short tokens are copied with a fixed size, past their end; so space for that size is reserved.
  constexpr std::size_t kAtOnce = 64;
  constexpr std::size_t kRoom = sizeof(Vocab::ShortToken);
  out.reserve(out.size() + ids.size() * 4);
  for (std::size_t i = 0; i < ids.size();) {
    const std::size_t end = std::min(ids.size(), i + kAtOnce);
    const std::size_t begin = out.size();
    out.resize(begin + (end - i) * kRoom);
    char* to = out.data() + begin;
    Vocab::ShortToken token{.n = 0};
    for (; i < end; ++i) {
      token = parts_.vocab.short_token(ids[i]);
      if (token.n == Vocab::ShortToken::kOther) break;
      std::memcpy(to, token.bytes.data(), token.bytes.size());
      to += token.n;
    }
    out.resize(static_cast<std::size_t>(to - out.data()));
    if (token.n != Vocab::ShortToken::kOther) continue;
    if (with_control || !parts_.vocab.is_hidden(ids[i])) out += parts_.vocab.bytes(ids[i]);
    ++i;
  }
}

void PipelineTokenizer::Scratch::begin(std::size_t text_bytes) noexcept {
  added = {.bytes = text_bytes};
  for (NormalizerScratch* const one : {&normalizer, &split.normalizer}) {
    one->most_bytes = kMinNormalizedBytes + kMaxNormalizedGrowth * text_bytes;
    one->is_overgrown = false;
    one->matcher.begin();
  }
  split.matcher.begin();
}

bool PipelineTokenizer::Scratch::has_failed() const noexcept {
  return added.is_too_much() || normalizer.is_overgrown || split.normalizer.is_overgrown ||
         normalizer.matcher.error() || split.normalizer.matcher.error() || split.matcher.error();
}

Error PipelineTokenizer::Scratch::error() const {
  for (const Matcher* const one :
       {&normalizer.matcher, &split.matcher, &split.normalizer.matcher}) {
    if (one->error()) return *one->error();
  }
  if (added.is_too_much()) {
    return {.code = ErrorCode::kUnsupported,
            .id = "tokenizer_work",
            .message = cat("the tokenizer's added tokens take more than ",
                           kMaxAddedVainBytes * added.bytes + kMinAddedVainBytes,
                           " bytes read in vain, which is ", kMaxAddedVainBytes,
                           " for each byte of this text"),
            .hint = "split the text, or use another tokenizer file of this model"};
  }
  return {.code = ErrorCode::kUnsupported,
          .id = "tokenizer_growth",
          .message = cat("the tokenizer's steps make this text longer than ", normalizer.most_bytes,
                         " bytes, which is ", kMaxNormalizedGrowth, " for each of its bytes"),
          .hint = "check the normalizer of the tokenizer's file"};
}

Result<void> PipelineTokenizer::encode(const MarkedText& text, std::vector<TokenId>& out) const {
  std::unique_ptr<Scratch> scratch = scratches_.take();
  const std::size_t n_before = out.size();
  const std::string_view all = text.text;
  scratch->begin(all.size());
  auto place = RunPlace::kTextStart;
  for (AddedTokens::Match last; !scratch->has_failed();) {
    const auto match = parts_.added.find(all, last, text.trusted, scratch->added);
    const std::size_t at = last.span.end;
    const std::size_t end = match ? match->span.begin : all.size();
    if (end > at) encode_run(all.substr(at, end - at), place, *scratch, out);
    if (!match) break;
    out.push_back(match->id);
    place = RunPlace::kRunStart;
    last = *match;
  }
  Result<void> result;
  if (scratch->has_failed()) {
    result = scratch->error();
    out.resize(n_before);
  }
  scratches_.give(std::move(scratch));
  return result;
}

void PipelineTokenizer::encode_run(std::string_view run, RunPlace place, Scratch& scratch,
                                   std::vector<TokenId>& out) const {
  const std::string_view text = parts_.normalizer.apply(run, place, scratch.normalizer);
  if (parts_.added_normalized.is_empty()) {
    encode_normalized(text, place, scratch, out);
    return;
  }
  for (AddedTokens::Match last;;) {
    const auto match = parts_.added_normalized.find(text, last, {}, scratch.added);
    const std::size_t at = last.span.end;
    const std::size_t end = match ? match->span.begin : text.size();
    if (end > at) {
      encode_normalized(text.substr(at, end - at), at == 0 ? place : RunPlace::kRunStart, scratch,
                        out);
    }
    if (!match) return;
    out.push_back(match->id);
    last = *match;
  }
}

void PipelineTokenizer::encode_normalized(std::string_view run, RunPlace place, Scratch& scratch,
                                          std::vector<TokenId>& out) const {
  if (parts_.pre.is_empty()) {
    scratch.split.text = run;
    scratch.split.pieces.assign(1, {0, run.size()});
  } else {
    parts_.pre.split(run, place, scratch.split);
  }
  encode_pieces(scratch, out);
}

void PipelineTokenizer::encode_pieces(Scratch& scratch, std::vector<TokenId>& out) const {
  const std::string_view text = scratch.split.text;
  const auto encode_all = [&]<class Model>(const Model& model) {
    auto& own = std::get<typename Model::Scratch>(scratch.models);
    for (const Span piece : scratch.split.pieces) {
      model.encode(text.substr(piece.begin, piece.end - piece.begin), parts_.vocab, own, out);
    }
  };
  std::visit(encode_all, parts_.model);
}

}  // namespace wick
