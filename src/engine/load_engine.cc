#include "engine/load_engine.h"

#include <algorithm>

#include "base/strings.h"

namespace wick {

namespace {

// Rows of logits per step for prompts, beside one for each sequence.
constexpr int kScoredRows = 7;

Result<Decoder> load_decoder(const ModelFile& file, std::span<DeviceShare> devices,
                             const DecoderOptions& options, const MemoryOptions& cache) {
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const Placement placement, place(file, *arch, devices, cache, options.adapters));
  return Decoder::load(file, *arch, placement, options);
}

Result<std::unique_ptr<DraftModel>> load_draft(const Tokenizer& tokenizer, DecoderOptions sizes,
                                               EngineSources& sources) {
  WICK_TRY(const auto own, Tokenizer::from(sources.draft->metadata()));
  WICK_DO(check_same_vocabulary(tokenizer, *own));
  sizes.max_logit_rows = 1;
  sizes.adapters = {};
  sizes.progress = std::move(sources.draft_progress);
  for (DeviceShare& one : sources.devices)
    one.share = 0;  // they are the model's
  WICK_TRY(Decoder decoder, load_decoder(*sources.draft, sources.devices, sizes,
                                         {.max_seqs = sizes.max_seqs, .context = sizes.context}));
  return DraftModel::create(
      std::move(decoder),
      {.max_seqs = sizes.max_seqs, .context = sizes.context, .vocab = tokenizer.size()});
}

}  // namespace

Result<std::unique_ptr<Engine>> load_engine(const ModelFile& file, const EngineOptions& given,
                                            EngineSources sources) {
  WICK_DO(check(given));
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  const EngineOptions options = fitted(given, spec);
  WICK_DO(check(options));
  DecoderOptions sizes{
      .max_batch_tokens = std::max(options.prefill_chunk, options.max_seqs),
      .max_logit_rows = options.max_seqs + std::max(kScoredRows, options.draft_max),
      .context = options.context,
      .max_seqs = options.max_seqs,
      .threads = sources.threads,
      .progress = std::move(sources.progress),
      .adapters = sources.adapters};
  const MemoryOptions cache = plan_cache(spec, options, sizes.max_batch_tokens);
  WICK_TRY(Decoder decoder, load_decoder(file, sources.devices, sizes, cache));
  WICK_TRY(auto tokenizer, Tokenizer::from(file.metadata()));
  if (tokenizer->size() > spec.vocab) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "vocabulary_mismatch",
                 .message = cat(printable(file.path().string()), ": the tokenizer has ",
                                tokenizer->size(), " tokens, the model has ", spec.vocab)};
  }
  std::unique_ptr<DraftModel> draft;
  if (sources.draft != nullptr) {
    sizes.context = cache.context;
    WICK_TRY(draft, load_draft(*tokenizer, sizes, sources));
  }
  return Engine::create(std::move(decoder), std::move(tokenizer), options, std::move(draft));
}

}  // namespace wick
