// The local provider: a model file, its tokenizer and chat template, and the engine with its
// thread. chat() and complete() may be called from several threads at once; their answers share
// forward passes and never influence each other.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "format/metadata.h"
#include "provider/provider.h"
#include "sample/sampler.h"

namespace wick {

struct LocalOptions {
  int threads = 0;  // 0 = what this process may use
  EngineOptions engine = {};
  std::string chat_template = {};  // instead of the model's own
};

// Loads and starts. The model's general.sampling.* hints become defaults. A model without a chat
// template answers completions; chat() then fails with id "no_chat_template".
Result<std::unique_ptr<Provider>> open_local(const std::filesystem::path& path,
                                             const LocalOptions& options);

// What sampling a request gets: its own settings, else the file's hints, else SamplingParams{}; the
// seed is random unless it is set ("seed" is a key like the others). Errors name the key, the value
// and the range.
Result<SamplingParams> resolve_sampling(const Metadata& meta, const GenerationSettings& settings);

}  // namespace wick
