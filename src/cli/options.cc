#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/strings.h"
#include "cli/report.h"
#include "hub/pull.h"

namespace wick {

namespace {

// "top_k" → "--top-k"; temperature keeps the name that users of llama.cpp type.
std::string flag_of(std::string_view key) {
  if (key == "temperature") return "--temp,--temperature";
  std::string flag = cat("--", key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

}  // namespace

void ModelFlags::add(Flags& flags, bool is_positional) {
  flags.text(is_positional ? "MODEL,-m,--model" : "-m,--model", model,
             "path, name (wick model list), or hf:org/repo[:file or quant]");
  flags.toggle("--offline", is_offline, "never touch the network");
}

void RunFlags::add(Flags& flags) {
  flags.integer("-t,--threads", threads, {0, 1024}, "threads; 0 = what this process may use");
  flags.text("--kv-type", kv_type, std::string(kKvTypeHelp));
}

void RunFlags::add_context(Flags& flags) {
  flags.integer("-c,--context", context, {0, 1 << 24},
                "positions; 0 = the model's, as far as 1 GB of cache holds");
}

Result<EngineOptions> RunFlags::engine() const {
  WICK_TRY(const KvTypes types, parse_kv_types(kv_type));
  return EngineOptions{.max_seqs = 1, .context = context, .k_type = types.k, .v_type = types.v};
}

void SamplingFlags::add(Flags& flags) {
  const auto add = [&](const std::string& names, std::string_view key, Range<double> range,
                       std::string_view help) {
    flags.real(names, range, std::string(help), [this, key = std::string(key)](double value) {
      settings.sampling.emplace_back(key, value);
    });
  };
  for (const SamplerParam& row : sampler_params())
    add(flag_of(row.key), row.key, {row.min, row.max}, row.help);
  add("--seed", "seed", {0, 0x1p53 - 1}, "the same seed gives the same text; random unless set");
  flags.integer("-n,--max-tokens", settings.max_tokens, {0, 1 << 24},
                "tokens to generate at most; 0 = to the context's end");
  flags.texts("--stop", settings.stops, "text that ends the answer; may be given several times");
}

Result<std::filesystem::path> find_model(const ModelFlags& flags) {
  const std::string wanted = flags.model.empty() ? std::string(kDefaultModel) : flags.model;
  std::error_code ignored;
  if (std::filesystem::exists(wanted, ignored)) return std::filesystem::path(wanted);
  WICK_TRY(Store store, Store::open());
  WICK_TRY(const Located located, locate(store, wanted));
  if (!located.path.empty()) return located.path;
  const std::string spec = located.row != nullptr ? std::string(located.row->name) : wanted;
  if (flags.is_offline) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "model_not_here",
                 .message = cat("the model '", printable(wanted),
                                "' is not on this machine, and --offline forbids fetching it"),
                 .hint = cat("wick model pull ", spec, ", or name a file: wick chat ./model.gguf")};
  }
  if (located.row != nullptr) {
    std::cerr << "Fetching " << located.row->title << " (" << human_bytes(located.row->bytes)
              << ", " << located.row->licence << ") from " << located.row->sources.front().spec
              << "\n";
  }
  Progress progress(spec);
  WICK_TRY(const StoredModel model,
           pull(store, spec,
                {.progress =
                     [&](const PullProgress& p) {
                       progress.rename(cat(p.is_checking ? "checking " : "", p.what));
                       progress.update(p.done, p.all);
                     },
                 .note =
                     [&](std::string_view line) {
                       progress.done();
                       std::cerr << line << "\n";
                     }}));
  progress.done();
  return store.path_of(model);
}

Result<std::string> read_stdin(std::size_t limit) {
  std::string text;
  for (;;) {
    const std::size_t at = text.size();
    text.resize(at + (1 << 16));
    const ssize_t n = ::read(STDIN_FILENO, text.data() + at, text.size() - at);
    if (n < 0) {
      return Error{.code = ErrorCode::kIo,
                   .id = "stdin_unreadable",
                   .message = "standard input cannot be read"};
    }
    text.resize(at + static_cast<std::size_t>(n));
    if (n == 0) return text;
    if (text.size() > limit) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "stdin_too_long",
                   .message = cat("standard input has more than ", human_bytes(limit),
                                  ", which is the limit")};
    }
  }
}

Result<std::string> read_piped_prompt() {
  constexpr std::size_t kMaxPrompt = std::size_t{64} << 20;
  WICK_TRY(std::string text, read_stdin(kMaxPrompt));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace wick
