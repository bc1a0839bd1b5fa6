// wick model: what is on this machine, what can be fetched, what a file says about itself, and
// whether it is whole.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "chat/chat_template.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report.h"
#include "format/model_file.h"
#include "hub/pull.h"
#include "model/kv_cache.h"
#include "model/spec.h"

namespace wick {

namespace {

using Json = nlohmann::ordered_json;

void print(const Json& json) {
  std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

bool works(const CatalogueRow& row) {
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

Result<int> list(bool is_json) {
  WICK_TRY(const Store store, Store::open());
  WICK_TRY(const auto stored, store.list());
  const auto is_here = [&](std::string_view name) {
    return std::any_of(stored.begin(), stored.end(),
                       [&](const StoredModel& m) { return m.name == name; });
  };
  const auto show = [&](std::string_view name, bool here, std::uint64_t bytes,
                        std::string_view what) {
    if (is_json) {
      print({{"name", name}, {"is_here", here}, {"bytes", bytes}, {"source", what}});
      return;
    }
    std::cout << (here ? "* " : "  ") << name
              << std::string(name.size() < 24 ? 24 - name.size() : 1, ' ') << human_bytes(bytes)
              << "\t" << printable(what) << "\n";
  };
  for (const StoredModel& model : stored)
    show(model.name, true, bytes_of(model), model.source);
  for (const CatalogueRow& row : catalogue()) {
    if (works(row) && !is_here(row.name)) show(row.name, false, row.bytes, row.title);
  }
  if (!is_json) std::cerr << "* is on this machine; fetch another with: wick model pull NAME\n";
  return kExitOk;
}

Result<int> pull_model(const std::string& what, bool is_json) {
  WICK_TRY(Store store, Store::open());
  const Interrupt interrupt;
  Progress progress(what);
  WICK_TRY(const StoredModel model,
           pull(store, what,
                {.progress =
                     [&](const PullProgress& p) {
                       progress.rename(cat(p.is_checking ? "checking " : "", p.what));
                       progress.update(p.done, p.all);
                     },
                 .note =
                     [&](std::string_view line) {
                       progress.done();
                       std::cerr << line << "\n";
                     },
                 .stop = interrupt.token()}));
  progress.done();
  if (is_json) {
    print({{"name", model.name},
           {"path", store.path_of(model).string()},
           {"bytes", bytes_of(model)}});
  } else {
    std::cout << model.name << "\t" << human_bytes(bytes_of(model)) << "\t"
              << store.path_of(model).string() << "\n";
  }
  return kExitOk;
}

// What a template reads tells what it can do.
Json template_facts(const Metadata& meta) {
  const auto text = meta.string("tokenizer.chat_template");
  if (!text) return "none";
  const auto tmpl = ChatTemplate::parse(*text);
  if (!tmpl) return cat("not understood: ", to_string(tmpl.error()));
  const auto& reads = tmpl->variables();
  const auto has = [&](std::string_view name) {
    return std::find(reads.begin(), reads.end(), name) != reads.end();
  };
  return {{"tools", has("tools")}, {"thinking", has("enable_thinking")}, {"reads", reads}};
}

Result<Json> describe(const ModelFile& file) {
  const Metadata& meta = file.metadata();
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  std::map<std::string_view, std::uint64_t> types;
  std::uint64_t parameters = 0;
  for (const TensorView& tensor : file.tensors()) {
    std::uint64_t n = 1;
    for (const std::int64_t dim : tensor.shape.dim)
      n *= static_cast<std::uint64_t>(dim);  // checked by format
    parameters += n;
    types[dtype_info(tensor.type).name] += n;
  }
  Json mix;
  for (const auto& [type, n] : types)
    mix[std::string(type)] = n;
  const auto& first = std::get<GqaSpec>(spec.blocks.front().mixer);
  return Json{{"name", meta.string("general.name").value_or("")},
              {"architecture", arch->gguf_name},
              {"parameters", parameters},
              {"bytes", file.bytes()},
              {"types", mix},
              {"context", spec.ctx_train},
              {"layers", spec.blocks.size()},
              {"d_model", spec.d_model},
              {"heads", first.n_heads},
              {"kv_heads", first.n_kv_heads},
              {"head_dim", first.head_dim},
              {"vocabulary", spec.vocab},
              {"kv_bytes_per_token", kv_bytes_per_position(spec, KvType::kBF16, KvType::kBF16)},
              {"tokenizer", meta.string("tokenizer.ggml.model").value_or("tokenizer.json")},
              {"chat_template", template_facts(meta)}};
}

Result<int> info(const ModelFlags& flags, bool is_json) {
  WICK_TRY(const auto path, find_model(flags));
  WICK_TRY(const ModelFile file, ModelFile::open(path));
  WICK_TRY(const Json facts, describe(file));
  if (is_json) {
    print(facts);
    return kExitOk;
  }
  for (const auto& [key, value] : facts.items()) {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::cout << key << std::string(20 - key.size(), ' ') << printable(text, 500) << "\n";
  }
  return kExitOk;
}

Result<int> verify(const std::string& name, bool is_json) {
  WICK_TRY(const Store store, Store::open());
  WICK_TRY(const StoredModel model, store.find(name));
  Progress progress(cat("verifying ", name));
  WICK_DO(store.verify(model,
                       [&](std::uint64_t done, std::uint64_t all) { progress.update(done, all); }));
  progress.done();
  if (is_json) {
    print({{"name", model.name}, {"ok", true}});
  } else {
    for (const StoredFile& file : model.files)
      std::cout << "ok  sha256-" << file.sha256 << "  " << file.name << "\n";
  }
  return kExitOk;
}

Result<int> remove(const std::string& name, bool is_json) {
  WICK_TRY(Store store, Store::open());
  WICK_TRY(const StoredModel model, store.find(name));
  WICK_DO(store.remove(name));
  if (is_json) {
    print({{"name", model.name}, {"removed", true}});
  } else {
    std::cout << "removed " << model.name << ", " << human_bytes(bytes_of(model)) << "\n";
  }
  return kExitOk;
}

struct Flags {
  std::string name = {};
  ModelFlags model = {};
  bool is_json = false;
};

}  // namespace

Action setup_model(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  const auto action = std::make_shared<Action>();
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* help, const Action& run) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->add_flag("--json", flags->is_json, "for programs");
    sub->callback([action, run] { *action = run; });
    return sub;
  };
  add("list", "what is here, and what can be fetched", [flags] { return list(flags->is_json); });
  add("pull", "fetch a model into the store",
      [flags] { return pull_model(flags->name, flags->is_json); })
      ->add_option("NAME", flags->name, "a name of the list, hf:org/repo[:file or quant], or a URL")
      ->required();
  CLI::App* about = add("info", "what a model says about itself",
                        [flags] { return info(flags->model, flags->is_json); });
  flags->model.add(*about, true);
  add("verify", "hash the files of a model again",
      [flags] { return verify(flags->name, flags->is_json); })
      ->add_option("NAME", flags->name, "a model of the list")
      ->required();
  add("rm", "remove a model from the store",
      [flags] { return remove(flags->name, flags->is_json); })
      ->add_option("NAME", flags->name, "a model of the list")
      ->required();
  return [action] { return (*action)(); };
}

}  // namespace wick
