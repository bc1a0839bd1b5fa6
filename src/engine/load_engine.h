// Makes an engine from model files: placement on devices, weights, tokenizer, and an optional draft
// model. Any thread.
//
//   WICK_TRY(OpenDevices open, process_devices().open_all("auto"));
//   WICK_TRY(auto engine, load_engine(file, {.max_seqs = 4}, {.devices = open.devices}));
#pragma once

#include <memory>
#include <vector>

#include "backend/device_registry.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace wick {

struct EngineSources {
  std::vector<DeviceShare> devices = {};   // not empty
  int threads = 0;                         // of a CPU; 0 = what this process may use
  const ModelFile* draft = nullptr;        // optional; must outlive the engine, as `file` must
  std::span<const Adapter> adapters = {};  // LoRA; must outlive the engine
  LoadProgress progress = {}, draft_progress = {};
};

// Errors: an unknown architecture, a tokenizer with more tokens than the model, a draft model of
// another vocabulary, no memory.
Result<std::unique_ptr<Engine>> load_engine(const ModelFile& file, const EngineOptions& options,
                                            EngineSources sources);

}  // namespace wick
