// From the name of a model to the loaded model.
#include "base/strings.h"
#include "engine/limits.h"
#include "hub/find_model.h"
#include "library/model_state.h"
#include "local/local.h"

namespace wick {

namespace {

Result<std::filesystem::path> find_file(std::string_view name, const ModelOptions& options) {
  return find_model(name, {.may_pull = options.may_download, .hint = ", or set may_download"});
}

// The words and rules of the program's --spec, --draft-model and --draft-max.
Result<void> set_speculation(const ModelOptions& from, LocalOptions& out) {
  const std::string& kind = from.speculation;
  const auto bad = [](std::string message) {
    return Error{
        .code = ErrorCode::kInvalid, .id = "bad_speculation", .message = std::move(message)};
  };
  if (kind != "none" && kind != "ngram" && kind != "draft") {
    return bad(cat("speculation is '", printable(kind), "', allowed are none, ngram and draft"));
  }
  if ((kind == "draft") == from.draft_model.empty()) {
    return bad(cat("speculation is '", kind, "' and draft_model '", printable(from.draft_model),
                   "': 'draft' and a draft_model belong together"));
  }
  if (from.draft_max < 0 || from.draft_max > kMaxDraft) {
    return bad(cat("draft_max is ", from.draft_max, ", allowed are 0 to ", kMaxDraft));
  }
  if (kind == "none") return {};
  const int usual = kind == "draft" ? LocalOptions::kModelDraft : LocalOptions::kNgramDraft;
  out.engine.draft_max = from.draft_max > 0 ? from.draft_max : usual;
  if (kind == "draft") {
    WICK_TRY(out.draft_model, find_file(from.draft_model, from));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<LocalModel>> load_model(std::string_view path_or_name,
                                               const ModelOptions& options) {
  if (options.max_concurrent < 1 || options.max_concurrent > kMaxSeqs) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_max_concurrent",
                 .message = cat("max_concurrent is ", options.max_concurrent, ", allowed are 1 to ",
                                kMaxSeqs)};
  }
  WICK_TRY(const KvTypes cache, parse_kv_types(options.cache_type));
  LocalOptions local{.threads = options.threads,
                     .device = options.device,
                     .engine = {.max_seqs = options.max_concurrent,
                                .context = options.context,
                                .kv_limit_bytes = options.cache_limit_bytes,
                                .k_type = cache.k,
                                .v_type = cache.v},
                     .chat_template = options.chat_template};
  WICK_DO(set_speculation(options, local));
  WICK_TRY(const auto path, find_file(path_or_name, options));
  WICK_TRY(auto model, LocalModel::open(path, local));
  return std::shared_ptr<LocalModel>(std::move(model));
}

}  // namespace wick
