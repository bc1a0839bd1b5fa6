// Flags that several commands share, each spelled once. The sampling flags come from the sampler's
// own table.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "engine/engine.h"
#include "provider/local.h"

namespace wick {

struct ModelFlags {
  std::string model = {};  // path, stored or catalogue name, hf:…; empty = the default model
  bool is_offline = false;

  void add(Flags& flags, bool is_positional);  // MODEL or -m/--model, and --offline
};

struct RunFlags {
  int threads = 0;
  int context = 0;
  std::string kv_type = "bf16";
  std::string speculation = "none";
  std::string draft_model = {};
  int draft_max = 0;

  void add(Flags& flags);              // -t, --kv-type
  void add_context(Flags& flags);      // -c
  void add_speculation(Flags& flags);  // --spec, --draft-max, --draft-model
  Result<EngineOptions> engine() const;
  Result<LocalOptions> local(bool is_offline) const;  // finds the draft model
};

class SamplingFlags {
 public:
  void add(Flags& flags);                       // --temp, --top-k, …, --seed, -n, --stop
  Result<GenerationSettings> settings() const;  // after the parsing

 private:
  GenerationSettings settings_ = {};
  std::vector<std::string> biases_ = {}, dry_breakers_ = {};
};

// "15043+1", "15043-inf", " Hello=-2.5": a token by its id, or all tokens of a text.
Result<BiasSetting> parse_logit_bias(std::string_view text);

inline constexpr std::string_view kKvTypeHelp =
    "numbers of the cache: f32, bf16, f16, q8_0 or q4_0; K,V sets keys and values apart";

// The file of a model. A missing catalogue model is pulled after one line with size and source,
// unless --offline.
Result<std::filesystem::path> find_model(const ModelFlags& flags);

// Reads all of standard input, at most `limit` bytes.
Result<std::string> read_stdin(std::size_t limit);

// The same as a prompt: the end of the last line, which `echo` and editors write, does not belong
// to it.
Result<std::string> read_piped_prompt();

}  // namespace wick
