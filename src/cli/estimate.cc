// wick estimate: the memory estimate of a model. Loading maps the weights and reserves address
// space only; the first prompt commits memory.
#include "cli/estimate.h"

#include <memory>

#include "base/machine_memory.h"
#include "base/strings.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/option_flags.h"

namespace wick {

namespace {

struct EstimateFlags {
  OptionFlags settings = {};
  bool is_json = false;
};

Result<int> run_estimate(const EstimateFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const LocalOptions local, local_options(config));
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const auto model, LocalModel::open(path, local));
  if (!o.is_json) {
    print_memory_estimate(print, *model, config);
    return kExitOk;
  }
  const ModelMemory memory = model->memory();
  Array devices;
  for (const DeviceBytes& one : model->device_bytes())
    devices.push_back(json_object({{"device", one.device->info().name}, {"bytes", one.bytes}}));
  print_json(json_object({{"weight_bytes", memory.weight_bytes},
                          {"cache_bytes", memory.cache_bytes},
                          {"scratch_bytes", memory.scratch_bytes},
                          {"draft_bytes", memory.draft_bytes()},
                          {"total_bytes", memory.total()},
                          {"devices", std::move(devices)},
                          {"limit_bytes", local.memory_limit_bytes},
                          {"machine_bytes", machine_memory_bytes()},
                          {"context", model->context()}}));
  return kExitOk;
}

}  // namespace

void print_memory_estimate(PrintFunction out, const LocalModel& model, const Config& config) {
  const auto row = [&](std::string_view what, std::uint64_t bytes, std::string_view remark) {
    out({padded(printable(what), 14), right_aligned(human(bytes), 9), "  ", printable(remark, 1000),
         "\n"});
  };
  const ModelMemory memory = model.memory();
  row("weights", memory.weight_bytes, "in the mapped file; the system may page them out");
  row("cache", memory.cache_bytes,
      cat("at most, grows as it fills: ", config.text("cache.kv_type"), ", context ",
          model.context()));
  row("scratch", memory.scratch_bytes, "activations, tables, cache index");
  if (memory.draft_bytes() > 0) row("draft model", memory.draft_bytes(), "all of these for it");
  row("together", memory.total(), "without the tokenizer and the text of requests");
  const std::vector<DeviceBytes> devices = model.device_bytes();
  for (const DeviceBytes& one : devices)
    if (devices.size() > 1) row(cat("on ", one.device->info().name), one.bytes, "of these");
  const auto limit = static_cast<std::uint64_t>(config.integer("local.memory_limit"));
  if (limit > 0) row("limit", limit, config.origin("local.memory_limit"));
  row("machine", machine_memory_bytes(), "");
}

Action setup_estimate(Flags flags) {
  const auto o = std::make_shared<EstimateFlags>();
  o->settings.add_model(flags, true);
  o->settings.add_tables(flags, {"local.", "cache.", "optimize."});
  flags.toggle("--json", o->is_json, "print JSON");
  return [o] { return run_estimate(*o); };
}

}  // namespace wick
