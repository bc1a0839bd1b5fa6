// Settings and input texts that several commands use.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/report.h"
#include "config/config.h"
#include "engine/engine.h"
#include "hub/pull.h"
#include "local/local.h"
#include "model/decoder.h"

namespace wick {

// Threads, devices (a device that does not exist is an error) and the settings of engine_options().
Result<LocalOptions> computing_options(const Config& config);
// The same, and context, speculation (finds the draft model) and memory limit.
Result<LocalOptions> local_options(const Config& config);
// The devices of local.device, with their shares of local.tensor_split. If another device is used
// instead, prints a warning to standard error.
Result<std::vector<DeviceShare>> open_devices(const Config& config);

// A model and a cache for one sequence, without an engine: as local.device, local.tensor_split and
// cache.kv_type say.
struct BareModel {
  std::unique_ptr<std::vector<Adapter>> adapters;  // LoRA, for all tokens, with these scales
  std::vector<float> scales;
  Decoder decoder;
  SequenceMemory memory;
  std::vector<Pos> positions = {};  // of the last forward(), and so the next two
  std::vector<SeqId> seqs = {};
  std::vector<int> rows = {};

  // One forward pass over `tokens` at positions `begin` and on; logits of the last n_rows of them.
  Result<std::span<float>> forward(std::span<const TokenId> tokens, Pos begin, int n_rows);
};

Result<BareModel> load_bare_model(const Config& config, const ModelFile& file,
                                  const DecoderOptions& options);
// The cache and the size of a prompt's chunks, for one sequence.
Result<EngineOptions> engine_options(const Config& config);
// The settings of [generation] that are set; for the others the model file's hints apply.
Result<Generation> generation_settings(const Config& config);

// "temperature" "0.2"; "seed"; "max_tokens": a number of the table generation, checked as the
// flag is (config/options.h).
Result<void> set_parameter(Generation& generation, std::string_view key, std::string_view value);

// "15043+1", "15043-inf", " Hello=-2.5": a token by its id, or all tokens of a text.
Result<TokenBias> parse_logit_bias(std::string_view text);

// "KEY=JSON" each, the variables of a chat template.
Result<std::vector<std::pair<std::string, std::string>>> parse_variables(
    std::span<const std::string> texts);

// The model of local.model_path and its provider: that of the opener of its scheme
// (provider/openers.h), else the local provider.
struct OpenModel {
  std::shared_ptr<Provider> provider = {};
  LocalModel* local = nullptr;  // the same, if it is local
  std::string shown = {};       // "smollm2-135m on cpu"
  double load_s = 0;            // 0 if it was not loaded here
};

// `n_sequences`: requests that a local model computes at once.
Result<OpenModel> open_model(const Config& config, int n_sequences = 1);

// The file of a model: a path, or a name. A missing catalog model is pulled after one line with
// size and source, unless it is forbidden to touch the network.
Result<std::filesystem::path> find_model(std::string_view name, bool is_offline);
// That of local.model_path.
Result<std::filesystem::path> find_model(const Config& config);

// Progress output of a pull.
PullOptions shown_by(Progress& progress);

// All of a file, or of standard input ("" or "-"), at most `limit` bytes.
Result<std::string> read_text(const std::string& path, std::size_t limit);

inline constexpr std::size_t kMaxPrompt = std::size_t{64} << 20;  // bytes

// Standard input as a prompt: the end of the last line, which `echo` and editors write, does not
// belong to it.
Result<std::string> read_piped_prompt();

}  // namespace wick
