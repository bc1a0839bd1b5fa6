// From the name of a model to the loaded model.
#include "base/strings.h"
#include "engine/limits.h"
#include "hub/pull.h"
#include "library/model_state.h"

namespace wick {

namespace {

Result<std::filesystem::path> find_file(const std::string& wanted, bool may_download) {
  std::error_code ignored;
  if (std::filesystem::exists(wanted, ignored)) return std::filesystem::path(wanted);
  WICK_TRY(Store store, Store::open());
  WICK_TRY(const Located located, locate(store, wanted));
  if (!located.path.empty()) return located.path;
  const std::string spec = located.row != nullptr ? std::string(located.row->name) : wanted;
  if (!may_download) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "model_not_here",
                 .message = cat("the model '", printable(wanted), "' is not on this machine"),
                 .hint = cat("wick model pull ", spec, ", or set may_download")};
  }
  WICK_TRY(const StoredModel model, pull(store, spec, {}));
  return store.path_of(model);
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
  WICK_TRY(const auto path, find_file(std::string(path_or_name), options.may_download));
  WICK_TRY(auto model,
           LocalModel::open(path, {.threads = options.threads,
                                   .engine = {.max_seqs = options.max_concurrent,
                                              .context = options.context,
                                              .kv_limit_bytes = options.cache_limit_bytes,
                                              .k_type = cache.k,
                                              .v_type = cache.v},
                                   .chat_template = options.chat_template}));
  return std::shared_ptr<LocalModel>(std::move(model));
}

}  // namespace wick
