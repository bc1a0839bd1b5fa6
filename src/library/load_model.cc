// Model::open(): from a model name to a loaded model.
#include "base/clock.h"
#include "base/log.h"
#include "base/catch_bad_alloc.h"
#include "base/strings.h"
#include "engine/limits.h"
#include "hub/find_model.h"
#include "library/model_state.h"
#include "local/local.h"

namespace wick {

namespace {

constexpr std::int64_t kReportPause_ns = 100'000'000;  // between two reports of a phase

// Calls the caller's progress sink from download and load. The sink may throw; its return value and
// the stop token cancel the work.
class Opening {
 public:
  explicit Opening(const ModelOptions& options)
      : options_(options), by_token_(options.cancel, [this] { stop_.request_stop(); }) {}

  bool tell(const OpenProgress& progress) noexcept {
    const std::int64_t now = monotonic_ns();
    const bool is_new = told_ns_ == 0 || progress.phase != phase_ ||
                        progress.done == progress.total || now - told_ns_ >= kReportPause_ns;
    if (!options_.progress || !is_new || stop_.stop_requested()) return !stop_.stop_requested();
    told_ns_ = now;
    phase_ = progress.phase;
    auto answer = catch_bad_alloc([&]() -> Result<bool> { return options_.progress(progress); });
    if (!answer) failure_ = std::move(answer).error();
    if (failure_ || !*answer) stop_.request_stop();
    return !stop_.stop_requested();
  }

  Result<std::filesystem::path> find_file(std::string_view name) {
    const auto on_pull = [this](const PullProgress& p) {
      tell({.phase = p.is_checking ? OpenPhase::kCheck : OpenPhase::kDownload,
            .what = p.what,
            .done = p.done,
            .total = p.all});
    };
    return find_model(
        name,
        {.may_pull = options_.may_download,
         .hint = ", or set may_download",
         .pull = {.progress = on_pull,
                  .note = [](std::string_view line) { log_message(LogLevel::kInfo, line); },
                  .stop = stop_.get_token()}});
  }

  // The error, if the sink ended the work.
  Error reason(Error error) const {
    if (!failure_) return error;
    if (failure_->code == ErrorCode::kNoMemory) return *failure_;
    return {.code = ErrorCode::kInvalid,
            .id = "callback_failed",
            .message = cat("the progress callback failed: ", printable(failure_->message))};
  }

 private:
  const ModelOptions& options_;
  std::stop_source stop_ = {};
  std::optional<Error> failure_ = {};
  std::int64_t told_ns_ = 0;
  OpenPhase phase_ = {};
  std::stop_callback<std::function<void()>> by_token_;
};

// "hf:org/repo" with ":" and the quantization appended.
Result<std::string> full_name(std::string_view name, const std::string& quantization) {
  if (quantization.empty()) return std::string(name);
  if (name.starts_with("hf:") && name.find(':', 3) == std::string_view::npos) {
    return cat(name, ":", quantization);
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_quantization",
               .message = cat("quantization is '", printable(quantization),
                              "', which picks a file of hf:org/repo, and the model is '",
                              printable(name), "'")};
}

Result<std::shared_ptr<LocalModel>> load(std::string_view path_or_name, const ModelOptions& options,
                                         Opening& opening) {
  if (options.max_concurrent < 1 || options.max_concurrent > kMaxSeqs) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_max_concurrent",
                 .message = cat("max_concurrent is ", options.max_concurrent, ", allowed are 1 to ",
                                kMaxSeqs)};
  }
  WICK_TRY(const KvTypes cache, parse_kv_types(options.cache_type));
  LocalOptions local{.threads = options.threads,
                     .device = options.device,
                     .tensor_split = options.tensor_split,
                     .engine = {.max_seqs = options.max_concurrent,
                                .context = options.context,
                                .kv_limit_bytes = options.cache_limit_bytes,
                                .max_queue = options.max_queue,
                                .k_type = cache.k,
                                .v_type = cache.v},
                     .chat_template = options.chat_template,
                     .progress = [&](const OpenProgress& p) { return opening.tell(p); }};
  WICK_DO(
      set_speculation({options.speculation, options.draft_model, options.draft_max}, local.engine));
  if (!options.draft_model.empty()) {
    WICK_TRY(local.draft_model, opening.find_file(options.draft_model));
  }
  WICK_TRY(local.adapters, parse_adapters(options.adapters));
  WICK_TRY(const std::string name, full_name(path_or_name, options.quantization));
  WICK_TRY(const auto path, opening.find_file(name));
  return LocalModel::open(path, local);
}

}  // namespace

Result<std::shared_ptr<LocalModel>> load_model(std::string_view path_or_name,
                                               const ModelOptions& options) {
  Opening opening(options);
  auto model = load(path_or_name, options, opening);
  if (!model) return opening.reason(std::move(model).error());
  return model;
}

}  // namespace wick
