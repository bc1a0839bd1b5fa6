#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>

#include "base/strings.h"
#include "cli/report.h"
#include "engine/limits.h"
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

void RunFlags::add_speculation(Flags& flags) {
  flags.text("--spec", speculation,
             "guess tokens ahead: none, ngram = by what the text said before, draft = by "
             "--draft-model; changes no token");
  flags.text("--draft-model", draft_model, "file or name of a smaller model of the same family");
  flags.integer("--draft-max", draft_max, {0, kMaxDraft},
                "tokens guessed ahead at most; 0 = 16, with a draft model 3");
}

Result<EngineOptions> RunFlags::engine() const {
  if (speculation != "none" && speculation != "ngram" && speculation != "draft") {
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "bad_spec",
        .message = cat("--spec '", printable(speculation), "' is not one of none, ngram, draft")};
  }
  if ((speculation == "draft") == draft_model.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_spec",
                 .message = "--spec draft and --draft-model belong together"};
  }
  const int usual = speculation == "draft" ? 3 : 16;
  const int guesses = draft_max > 0 ? draft_max : usual;
  WICK_TRY(const KvTypes types, parse_kv_types(kv_type));
  return EngineOptions{.max_seqs = 1,
                       .context = context,
                       .k_type = types.k,
                       .v_type = types.v,
                       .draft_max = speculation == "none" ? 0 : guesses};
}

Result<LocalOptions> RunFlags::local(bool is_offline) const {
  LocalOptions options{.threads = threads};
  WICK_TRY(options.engine, engine());
  if (!draft_model.empty()) {
    WICK_TRY(options.draft_model, find_model({.model = draft_model, .is_offline = is_offline}));
  }
  return options;
}

void SamplingFlags::add(Flags& flags) {
  GenerationSettings& settings = settings_;
  for (const SamplerParam& row : sampler_params()) {
    const auto set = [&settings, key = std::string(row.key)](double value) {
      settings.sampling.emplace_back(key, value);
    };
    const std::string help(row.help);
    if (row.is_switch) {
      flags.toggle(flag_of(row.key), help, [set] { set(1); });
    } else {
      flags.real(flag_of(row.key), {row.min, row.max}, help, set);
    }
  }
  flags.real("--seed", {0, 0x1p53 - 1}, "the same seed gives the same text; random unless set",
             [&settings](double value) { settings.sampling.emplace_back("seed", value); });
  flags.text("--samplers", settings.samplers,
             cat("which samplers work, in this order: ", to_string(SamplerOrder{})));
  flags.texts("-l,--logit-bias", biases_,
              "15043+1, 15043-inf, or TEXT=-2: makes tokens likelier or less likely");
  flags.texts("--dry-sequence-breaker", dry_breakers_,
              "a text that no repetition reaches past, or none; newline, colon, quote and * unless "
              "set");
  flags.integer("-n,--max-tokens", settings.max_tokens, {0, 1 << 24},
                "tokens to generate at most; 0 = to the context's end");
  flags.texts("--stop", settings.stops, "text that ends the answer; may be given several times");
  flags.integers("--stop-id", settings.stop_ids, {0, 1 << 30}, "token ids that end the answer");
}

Result<GenerationSettings> SamplingFlags::settings() const {
  GenerationSettings settings = settings_;
  for (const std::string& text : biases_) {
    WICK_TRY(BiasSetting bias, parse_logit_bias(text));
    settings.logit_bias.push_back(std::move(bias));
  }
  if (!dry_breakers_.empty()) {
    settings.dry_breakers = dry_breakers_;
    std::erase(*settings.dry_breakers, "none");
  }
  return settings;
}

Result<BiasSetting> parse_logit_bias(std::string_view text) {
  const Error bad{.code = ErrorCode::kInvalid,
                  .id = "bad_logit_bias",
                  .message = cat("'", printable(text), "' is not a logit bias"),
                  .hint = "an id and a number, 15043+1 or 15043-inf, or a text and one: Hello=-2"};
  BiasSetting out;
  std::size_t at = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool is_id = at > 0 && at < text.size() && (text[at] == '+' || text[at] == '-');
  if (is_id) {
    const auto end = std::from_chars(text.data(), text.data() + at, out.id);
    if (end.ec != std::errc()) return bad;
    at += text[at] == '+' ? 1 : 0;
  } else {
    at = text.rfind('=');
    if (at == std::string_view::npos || at == 0) return bad;
    out.text = text.substr(0, at++);
    at += at < text.size() && text[at] == '+' ? 1 : 0;
  }
  const char* const last = text.data() + text.size();
  const auto end = std::from_chars(text.data() + at, last, out.bias);
  if (end.ec != std::errc() || end.ptr != last || text.data() + at == last) return bad;
  return out;
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
