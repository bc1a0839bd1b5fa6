#include "chat/builtin.h"

#include <algorithm>

#include "base/strings.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace {

// The place of parameter `name` in "width first blank", −1 if there is none of that name.
int parameter(std::string_view params, std::string_view name) noexcept {
  for (int i = 0; !params.empty(); ++i) {
    const std::size_t end = std::min(params.find(' '), params.size());
    if (params.substr(0, end) == name) return i;
    params.remove_prefix(std::min(end + 1, params.size()));
  }
  return -1;
}

std::size_t n_params(const Builtin& builtin) noexcept {
  if (builtin.params.empty()) return 0;
  return static_cast<std::size_t>(std::count(builtin.params.begin(), builtin.params.end(), ' ')) +
         1;
}

}  // namespace

const Value* Arguments::find(Run& run, std::string_view name) const {
  run.charge(1 + named.size() / 4);
  for (const NamedArgument& argument : named) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

Value name_of(Run& run, const NamedArgument& argument) {
  return argument.key != nullptr ? Value::of(argument.key) : run.text(argument.name, Trust::kAll);
}

Value method_of(Run& run, const Builtin* method, const Value& self) {
  if (method == nullptr) return {};
  return Value::of(run.make<const Callable>(method, nullptr, nullptr, self));
}

Value call_builtin(Run& run, const Builtin& builtin, const Value& self, const Arguments& args) {
  run.charge(2);
  if (builtin.call_open != nullptr) return builtin.call_open(run, self, args);
  Value bound[kMaxParams];
  const std::size_t n = n_params(builtin);
  if (args.positional.size() > n) {
    run.fail(cat("'", builtin.name, "' takes at most ", n, " arguments, it got ",
                 args.positional.size()));
  }
  std::copy(args.positional.begin(), args.positional.end(), bound);
  for (const auto& [name, value, key] : args.named) {
    const int at = builtin.positional_only ? -1 : parameter(builtin.params, name);
    if (at < 0) {
      run.fail(cat("'", builtin.name, "' takes no argument named '", printable(name, 60), "'"));
    }
    if (!bound[at].is_missing()) {
      run.fail(cat("'", builtin.name, "' got the argument '", name, "' twice"));
    }
    bound[at] = value;
  }
  for (int i = 0; i < builtin.n_required; ++i) {
    if (bound[i].is_missing()) {
      run.fail(cat("'", builtin.name, "' needs ", builtin.n_required, " arguments"));
    }
  }
  return builtin.call(run, self, {bound, n});
}

// --- Finding and reading ------------------------------------------------------------------------

std::int64_t take_int(Run& run, const Value& arg, std::string_view what, std::int64_t otherwise) {
  if (arg.is_missing()) return otherwise;
  if (!arg.is_integral()) run.fail_type(cat("given as ", what), arg);
  return arg.as_int();
}

bool take_bool(Run& run, const Value& arg) {
  return !arg.is_missing() && is_true(run, arg);
}

bool take_flag(Run& run, const Value& arg) {
  return take_int(run, arg, "a direction", 0) != 0;
}

const Text* take_text(Run& run, const Value& arg, std::string_view what, const Text* otherwise) {
  if (arg.is_missing()) return otherwise;
  if (!arg.is_string()) run.fail_type(cat("given as ", what), arg);
  return arg.text;
}

Value ignore_case(Run& run, const Value& value) {
  return value.is_string() ? change_case(run, *value.text, Case::kLower) : value;
}

AttributePath::AttributePath(Run& run, const Value& attribute) {
  if (attribute.is_missing() || attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_ = run.keep(std::span(&attribute, 1));
    return;
  }
  const std::string_view path = attribute.bytes();
  Vector<Value> parts(run.memory());
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    const bool is_number =
        !part.empty() && part.size() < 18 &&
        std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts.push_back(is_number ? Value::of(static_cast<std::int64_t>(std::stoll(std::string(part))))
                              : run.cut(*attribute.text, at, end));
    run.charge(2 + part.size() / 16);
    at = end + 1;
  }
  parts_ = run.keep(std::span<const Value>(parts));
}

Value AttributePath::get(Run& run, const Value& item, const Value& otherwise) const {
  Value at = item;
  for (const Value& part : parts_) {
    at = get_item(run, at, part);
    if (at.is_undefined() && !otherwise.is_missing() && !otherwise.is_none()) at = otherwise;
  }
  return at;
}

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) noexcept {
  const auto at = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Builtin& row, std::string_view wanted) { return row.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

const Builtin* find_filter(std::string_view name) noexcept {
  for (const std::span<const Builtin>* table : kFilterTables) {
    if (const Builtin* row = find_in(*table, name)) return row;
  }
  return nullptr;
}

bool is_unbuilt_filter(std::string_view name) noexcept {
  constexpr std::string_view kUnbuilt[] = {"pprint", "random", "urlize", "wordwrap", "xmlattr"};
  return std::find(std::begin(kUnbuilt), std::end(kUnbuilt), name) != std::end(kUnbuilt);
}

}  // namespace wick::jinja
