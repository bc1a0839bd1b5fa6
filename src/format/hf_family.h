// How an architecture reads the config.json of Hugging Face models: names and defaults. Plain data;
// any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace wick {

// A family of models; src/model/arch has them.
struct HfFamily {
  std::string_view model_type = {};  // "mistral"
  std::string_view gguf = {};        // its architecture's name in GGUF: "llama"
  // Of two with one model_type: a field of config.json that is true for this one, e.g.
  // "use_bidirectional_attention".
  const char* if_true = nullptr;
  // The defaults of transformers 5.23 for fields that config.json lacks (its configuration_*.py),
  // as a JSON object.
  const char* defaults = "{}";
  // The layers with a sliding window: as layer_types or use_sliding_window say; none; or all.
  enum class Windows : std::uint8_t { kAsSaid, kNone, kAll } windows = Windows::kAsSaid;
  int window_period = 0;  // without layer_types: all layers but each so-manieth. 0 = no such rule
};

}  // namespace wick
