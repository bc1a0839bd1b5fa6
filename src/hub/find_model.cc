#include "hub/find_model.h"

#include "base/strings.h"

namespace wick {

Result<std::filesystem::path> find_model(std::string_view name, const FindOptions& options) {
  const std::string wanted(name);
  std::error_code ignored;
  if (std::filesystem::exists(wanted, ignored)) return std::filesystem::path(wanted);
  WICK_TRY(Store store, Store::open());
  const auto found = locate(store, wanted);
  // A source that nothing has come from yet.
  if (!found && found.error().id != "not_here") return found.error();
  const Located located = found ? *found : Located{};
  if (!located.path.empty()) return located.path;
  const std::string spec = located.row != nullptr ? std::string(located.row->name) : wanted;
  if (!options.may_pull) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "model_not_here",
                 .message = cat("the model '", printable(wanted), "' is not on this machine",
                                options.refusal),
                 .hint = cat("wick model pull ", spec, options.hint)};
  }
  if (options.before_pull) options.before_pull(spec, located.row);
  WICK_TRY(const StoredModel model, pull(store, spec, options.pull));
  return store.path_of(model);
}

}  // namespace wick
