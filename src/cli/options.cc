#include "cli/options.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "backend/device_registry.h"
#include "base/clock.h"
#include "base/strings.h"
#include "cli/line_reader.h"
#include "cli/out.h"
#include "cli/routing.h"
#include "engine/limits.h"
#include "hub/find_model.h"
#include "provider/openers.h"

namespace wick {

Result<EngineOptions> engine_options(const Config& config) {
  WICK_TRY(const KvTypes types, parse_kv_types(config.text("cache.kv_type")));
  return EngineOptions{
      .max_seqs = 1,
      .kv_limit_bytes = static_cast<std::uint64_t>(config.integer("cache.kv_limit")),
      .prefill_chunk = static_cast<int>(config.integer("optimize.prefill_chunk")),
      .k_type = types.k,
      .v_type = types.v,
      .enable_prefix_caching = config.boolean("cache.kv_reuse")};
}

Result<std::vector<DeviceShare>> open_devices(const Config& config) {
  WICK_TRY(OpenDevices open, process_devices().open_all(config.text("local.device"),
                                                        config.text("local.tensor_split")));
  if (!open.warning.empty()) note({"warning: ", printable(open.warning, 1000), "\n"});
  return std::move(open.devices);
}

Result<BareModel> load_bare_model(const Config& config, const ModelFile& file,
                                  const DecoderOptions& given) {
  WICK_TRY(std::vector<DeviceShare> devices, open_devices(config));
  WICK_TRY(const KvTypes types, parse_kv_types(config.text("cache.kv_type")));
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  const EngineOptions fit = fitted({.k_type = types.k, .v_type = types.v}, spec);
  DecoderOptions options = given;
  auto adapters = std::make_unique<std::vector<Adapter>>();
  std::vector<float> scales;
  WICK_TRY(const auto all, parse_adapters(config.texts("local.adapters")));
  for (const AdapterOption& wanted : all) {
    WICK_TRY(Adapter adapter, Adapter::open(wanted.path));
    adapters->push_back(std::move(adapter));
    scales.push_back(wanted.scale);
  }
  options.adapters = *adapters;
  const MemoryOptions cache{.k_type = fit.k_type,
                            .v_type = fit.v_type,
                            .context = options.context,
                            .max_batch_tokens = options.max_batch_tokens};
  WICK_TRY(const Placement placement, place(file, *arch, devices, cache, options.adapters));
  WICK_TRY(Decoder decoder, Decoder::load(file, *arch, placement, options));
  WICK_TRY(SequenceMemory memory, SequenceMemory::create(placement, decoder.spec(), cache));
  return BareModel{std::move(adapters), std::move(scales), std::move(decoder), std::move(memory)};
}

Result<std::span<float>> BareModel::forward(std::span<const TokenId> tokens, Pos begin,
                                            int n_rows) {
  const int n = static_cast<int>(tokens.size());
  positions.resize(tokens.size());
  std::iota(positions.begin(), positions.end(), begin);
  seqs.assign(tokens.size(), 0);
  rows.resize(static_cast<std::size_t>(n_rows));
  std::iota(rows.begin(), rows.end(), n - n_rows);
  std::vector<AdapterRun> runs;
  for (std::size_t i = 0; i < scales.size(); ++i)
    runs.push_back({.adapter = static_cast<int>(i), .count = n, .scale = scales[i]});
  decoder.launch({.tokens = tokens,
                  .positions = positions,
                  .seqs = seqs,
                  .logit_rows = rows,
                  .adapters = runs},
                 memory);
  return decoder.logits();
}

Result<LocalOptions> computing_options(const Config& config) {
  WICK_DO(open_devices(config));
  LocalOptions options{.threads = static_cast<int>(config.integer("local.threads")),
                       .device = config.text("local.device"),
                       .tensor_split = config.text("local.tensor_split"),
                       .inputs = config.files()};
  WICK_TRY(options.engine, engine_options(config));
  return options;
}

Result<LocalOptions> local_options(const Config& config) {
  WICK_TRY(LocalOptions options, computing_options(config));
  options.engine.context = static_cast<int>(config.integer("local.context"));
  options.memory_limit_bytes = static_cast<std::uint64_t>(config.integer("local.memory_limit"));
  const std::string& draft_model = config.text("optimize.draft_model");
  auto set = set_speculation({.kind = config.text("optimize.speculation"),
                              .draft_model = draft_model,
                              .draft_max = static_cast<int>(config.integer("optimize.draft_max"))},
                             options.engine);
  if (!set) {
    Error error = std::move(set).error();
    error.hint = "see --spec and --draft-model; wick config show --origin tells who set either";
    return error;
  }
  WICK_TRY(options.adapters, parse_adapters(config.texts("local.adapters")));
  if (!draft_model.empty()) {
    WICK_TRY(options.draft_model, find_model(draft_model, config.boolean("hub.offline")));
  }
  return options;
}

Result<Generation> generation_settings(const Config& config) {
  Generation settings;
  const auto take = [&](std::string_view key) {
    const std::string full = cat("generation.", key);
    if (!config.is_set(full)) return;
    settings.more.emplace_back(key, config.number(full));
    settings.origins.emplace_back(key, config.origin(full));
  };
  for (const char* const key : {"samplers", "max_tokens"})
    settings.origins.emplace_back(key, config.origin(cat("generation.", key)));
  for (const SamplerParam& row : sampler_params())
    take(row.key);
  if (config.is_set("generation.seed")) {
    settings.seed = config.unsigned_integer("generation.seed");
    settings.origins.emplace_back("seed", config.origin("generation.seed"));
  }
  if (config.is_set("generation.samplers")) settings.samplers = config.text("generation.samplers");
  settings.max_tokens = static_cast<int>(config.integer("generation.max_tokens"));
  settings.stop = config.texts("generation.stop");
  for (const std::int64_t id : config.integers("generation.stop_id"))
    settings.stop_token_ids.push_back(static_cast<TokenId>(id));
  for (const std::string& text : config.texts("generation.logit_bias")) {
    WICK_TRY(TokenBias bias, parse_logit_bias(text));
    settings.logit_bias.push_back(std::move(bias));
  }
  if (config.is_set("generation.dry_sequence_breaker")) {
    settings.dry_sequence_breakers = config.texts("generation.dry_sequence_breaker");
    std::erase(*settings.dry_sequence_breakers, "none");
  }
  return settings;
}

namespace {

bool is_number(const Option& row) {
  return row.kind == OptionKind::kBoolean || row.kind == OptionKind::kInteger ||
         row.kind == OptionKind::kReal || row.kind == OptionKind::kUnsigned;
}

Error unknown_key(std::string_view key) {
  std::string known;
  for (const Option& row : options()) {
    constexpr std::string_view kTable = "generation.";
    if (!row.key.starts_with(kTable) || !is_number(row)) continue;
    known += cat(known.empty() ? "" : ", ", row.key.substr(kTable.size()));
  }
  return {.code = ErrorCode::kInvalid,
          .id = "unknown_parameter",
          .message = cat("'", printable(key), "' cannot be set"),
          .hint = cat("settings are ", known)};
}

}  // namespace

Result<void> set_parameter(Generation& generation, std::string_view key, std::string_view text) {
  const Option* const row = find_option(cat("generation.", key));
  if (row == nullptr || !is_number(*row)) return unknown_key(key);
  WICK_TRY(const OptionValue checked, parse_option(*row, text));
  const auto is_key = [&](const auto& pair) { return pair.first == key; };
  std::erase_if(generation.origins, is_key);
  if (key == "max_tokens") {
    generation.max_tokens = static_cast<int>(to_number(checked));
  } else if (key == "seed") {
    generation.seed = std::get<std::uint64_t>(checked);
  } else {
    std::erase_if(generation.more, is_key);
    generation.more.emplace_back(key, to_number(checked));
  }
  return {};
}

Result<TokenBias> parse_logit_bias(std::string_view text) {
  const Error bad{.code = ErrorCode::kInvalid,
                  .id = "bad_logit_bias",
                  .message = cat("'", printable(text), "' is not a logit bias"),
                  .hint = "an id and a number, 15043+1 or 15043-inf, or a text and one: Hello=-2"};
  TokenBias out;
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

Result<std::vector<std::pair<std::string, std::string>>> parse_variables(
    std::span<const std::string> texts) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string_view text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size() - 1);
    const std::string_view key = text.substr(0, equals), json = text.substr(equals + 1);
    if (key.empty() || !parse_json(json)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_variable",
                   .message = cat("--set '", printable(text), "' is not KEY=JSON"),
                   .hint = "a text needs its quotes: --set 'date=\"1 May 2026\"'"};
    }
    variables.emplace_back(key, json);
  }
  return variables;
}

Result<OpenModel> open_model(const Config& config, int n_sequences) {
  if (const FoundOpener found = find_opener(config.text("local.model_path")); found.open) {
    WICK_TRY(auto provider, (*found.open)(found.name));
    return OpenModel{.provider = std::move(provider), .shown = config.text("local.model_path")};
  }
  WICK_TRY(const RoutingSettings routing, routing_settings(config.tables()));
  if (const std::string& name = config.text("local.model_path"); is_routed(routing, name)) {
    WICK_TRY(auto router, open_router(routing, lazy_local(routing, config), name));
    return OpenModel{.provider = std::move(router), .shown = name};
  }
  WICK_TRY(LocalOptions options, local_options(config));
  options.engine.max_seqs = n_sequences;
  auto found = find_model(config);
  if (!found) {
    Error error = std::move(found).error();
    const std::string near = near_providers(routing, config.text("local.model_path"));
    if (!near.empty()) error.hint = cat("the nearest provider is ", near);
    return error;
  }
  const std::filesystem::path path = *std::move(found);
  std::string shown = std::filesystem::path(config.text("local.model_path")).filename().string();
  const std::int64_t begin = monotonic_ns();
  const auto load = [&] {
    const Working working(joined({"loading ", printable(shown, 60)}));
    return LocalModel::open(path, options);
  };
  WICK_TRY(std::shared_ptr<LocalModel> local, load());
  for (const char* between = " on "; const DeviceBytes& used : local->device_bytes()) {
    shown += cat(between, used.device->info().name);
    between = ", ";
  }
  LocalModel* const borrowed = local.get();
  return OpenModel{.provider = std::move(local),
                   .local = borrowed,
                   .shown = std::move(shown),
                   .load_s = static_cast<double>(monotonic_ns() - begin) * 1e-9};
}

Result<std::filesystem::path> find_model(const Config& config) {
  return find_model(config.text("local.model_path"), config.boolean("hub.offline"));
}

Result<std::filesystem::path> find_model(std::string_view name, bool is_offline) {
  Progress progress{std::string(name)};
  FindOptions options{
      .may_pull = !is_offline,
      .refusal = ", and hub.offline forbids fetching it",
      .hint = ", or name a file: wick chat ./model.gguf",
      .before_pull =
          [&](std::string_view spec, const CatalogRow* row) {
            progress.rename(spec);
            if (row == nullptr) return;
            note({"Fetching ", printable(row->title), " (", human(row->bytes), ", ",
                  printable(row->license), ") from ", printable(row->sources.front().spec), "\n"});
          },
      .pull = shown_by(progress)};
  auto path = find_model(name, options);
  progress.done();
  return path;
}

PullOptions shown_by(Progress& progress) {
  return {.progress =
              [&](const PullProgress& p) {
                progress.rename(cat(p.is_checking ? "checking " : "", p.what));
                progress.update(p.done, p.all);
              },
          .note =
              [&](std::string_view line) {
                progress.done();
                note({printable(line, 2000), "\n"});
              }};
}

Result<std::string> read_text(const std::string& path, std::size_t limit) {
  constexpr std::size_t kBlock = 1 << 16;
  const bool is_stdin = path.empty() || path == "-";
  const std::string_view name = is_stdin ? "standard input" : std::string_view(path);
  const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  ssize_t n = fd < 0 ? -1 : 1;
  while (fd >= 0 && n != 0 && text.size() <= limit) {
    const std::size_t at = text.size();
    text.resize(at + kBlock);
    n = ::read(fd, text.data() + at, kBlock);
    text.resize(at + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0 && errno != EINTR) break;
  }
  const int code = errno;
  if (fd > STDIN_FILENO) ::close(fd);
  if (n < 0) {
    Error error = input_unreadable(name, code);
    if (fd < 0) error.code = ErrorCode::kNotFound;
    return error;
  }
  if (text.size() > limit) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "input_too_long",
                 .message = cat(printable(name), " has more than ", human_bytes(limit),
                                ", which is the limit"),
                 .hint = "split it"};
  }
  return text;
}

Result<std::string> read_piped_prompt() {
  WICK_TRY(std::string text, read_text("", kMaxPrompt));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace wick
