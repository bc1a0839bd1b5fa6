// What several commands make of the settings, and the texts they read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "engine/engine.h"
#include "provider/local.h"

namespace wick {

// Threads, context, speculation (finds the draft model), and what engine_options() says.
Result<LocalOptions> local_options(const Config& config);
// The cache and the size of a prompt's chunks, for one sequence.
Result<EngineOptions> engine_options(const Config& config);
// [generation]; what nobody set is left to the model file's hints.
Result<GenerationSettings> generation_settings(const Config& config);

// "15043+1", "15043-inf", " Hello=-2.5": a token by its id, or all tokens of a text.
Result<BiasSetting> parse_logit_bias(std::string_view text);

// The file of a model: a path, or a name. A missing catalogue model is pulled after one line with
// size and source, unless it is forbidden to touch the network.
Result<std::filesystem::path> find_model(std::string_view name, bool is_offline);
// That of local.model_path.
Result<std::filesystem::path> find_model(const Config& config);

// Reads all of standard input, at most `limit` bytes.
Result<std::string> read_stdin(std::size_t limit);

// The same as a prompt: the end of the last line, which `echo` and editors write, does not belong
// to it.
Result<std::string> read_piped_prompt();

}  // namespace wick
