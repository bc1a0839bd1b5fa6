// wick model: lists, downloads, inspects, verifies and removes models.
#include <algorithm>
#include <memory>

#include "base/machine_memory.h"
#include "base/strings.h"
#include "cli/answer.h"
#include "cli/model_info.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/option_flags.h"
#include "format/model_file.h"
#include "model/spec.h"

namespace wick {

namespace {

constexpr std::size_t kMaxPath = 4096;  // bytes of one that are shown

struct ModelFlags {
  std::string name = {};
  OptionFlags settings = {};
  bool is_json = false;
  Result<int> (*run)(const ModelFlags&) = nullptr;
};

bool works(const CatalogRow& row) {
  const auto rows = archs();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Arch& a) { return a.gguf_name == row.architecture; });
}

std::uint64_t bytes_of(const StoredModel& model) {
  std::uint64_t sum = 0;
  for (const StoredFile& file : model.files)
    sum += file.bytes;
  return sum;
}

Result<int> list(const ModelFlags& o) {
  WICK_TRY(const Store store, Store::open());
  WICK_TRY(const auto stored, store.list());
  const auto is_here = [&](std::string_view name) {
    return std::any_of(stored.begin(), stored.end(),
                       [&](const StoredModel& m) { return m.name == name; });
  };
  const auto show = [&](std::string_view name, bool here, std::uint64_t bytes,
                        std::string_view what) {
    if (o.is_json) {
      print_json(
          json_object({{"name", name}, {"is_here", here}, {"bytes", bytes}, {"source", what}}));
      return;
    }
    print({here ? Shown("* ") : Shown("  "), padded(printable(name), 24), human(bytes), "\t",
           printable(what), "\n"});
  };
  for (const StoredModel& model : stored)
    show(model.name, true, bytes_of(model), model.source);
  for (const CatalogRow& row : catalog()) {
    if (works(row) && !is_here(row.name)) show(row.name, false, row.bytes, row.title);
  }
  if (!o.is_json) note({"* is on this machine; fetch another with: wick model pull NAME\n"});
  return kExitOk;
}

Result<int> pull_model(const ModelFlags& o) {
  WICK_TRY(Store store, Store::open());
  WICK_TRY(const auto interrupt, Interrupt::begin());
  Progress progress(o.name);
  PullOptions options = shown_by(progress);
  options.stop = interrupt->token();
  WICK_TRY(const StoredModel model, pull(store, o.name, options));
  progress.done();
  if (o.is_json) {
    print_json(json_object({{"name", model.name},
                            {"path", store.path_of(model).string()},
                            {"bytes", bytes_of(model)}}));
  } else {
    print({printable(model.name), "\t", human(bytes_of(model)), "\t",
           printable(store.path_of(model).string(), kMaxPath), "\n"});
  }
  return kExitOk;
}

Result<int> info(const ModelFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const ModelFile file, open_model(path));
  WICK_TRY(const Object facts, describe(file, machine_memory_bytes()));
  if (o.is_json) {
    print_json(facts);
    return kExitOk;
  }
  for (const auto& [key, value] : facts) {
    const std::string* text = value.string();
    print({padded(printable(key), 20), printable(text != nullptr ? *text : to_json(value), 500),
           "\n"});
  }
  return kExitOk;
}

Result<int> verify(const ModelFlags& o) {
  WICK_TRY(const Store store, Store::open());
  WICK_TRY(const StoredModel model, store.find(o.name));
  Progress progress(cat("verifying ", o.name));
  WICK_DO(store.verify(model,
                       [&](std::uint64_t done, std::uint64_t all) { progress.update(done, all); }));
  progress.done();
  if (o.is_json) {
    print_json(json_object({{"name", model.name}, {"ok", true}}));
  } else {
    for (const StoredFile& file : model.files)
      print({"ok  sha256-", printable(file.sha256), "  ", printable(file.name), "\n"});
  }
  return kExitOk;
}

Result<int> remove(const ModelFlags& o) {
  WICK_TRY(Store store, Store::open());
  WICK_TRY(const StoredModel model, store.find(o.name));
  WICK_DO(store.remove(o.name));
  if (o.is_json) {
    print_json(json_object({{"name", model.name}, {"removed", true}}));
  } else {
    print({"removed ", printable(model.name), ", ", human(bytes_of(model)), "\n"});
  }
  return kExitOk;
}

}  // namespace

Action setup_model(Flags flags) {
  const auto o = std::make_shared<ModelFlags>();
  flags.require_command();
  const auto add = [&](const char* name, const char* help, Result<int> (*run)(const ModelFlags&)) {
    Flags sub = flags.command(name, help, [o, run] { o->run = run; });
    sub.toggle("--json", o->is_json, "print JSON");
    return sub;
  };
  add("list", "list models on this machine, and models to download", list);
  add("pull", "download a model", pull_model)
      .required_text("NAME", o->name,
                     "a name of wick model list, hf:org/repo[:file or quant], or a URL");
  Flags about = add("info", "show the metadata of a model", info);
  o->settings.add_model(about, true);
  add("verify", "verify the SHA-256 of a model's files", verify)
      .required_text("NAME", o->name, "a name that wick model list prints");
  add("rm", "remove a downloaded model", remove)
      .required_text("NAME", o->name, "a name that wick model list prints");
  return [o] { return o->run(*o); };
}

}  // namespace wick
