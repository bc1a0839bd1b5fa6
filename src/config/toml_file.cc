#include "config/toml_file.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/strings.h"
#include "config/limits.h"

// The library's header alone, once: no exceptions, and a bound on what may nest. Some of its
// asserts do not hold for text that it then refuses in order ("[" and a line's end, found by
// fuzzing), and with NDEBUG clang is told to assume them: here they neither stop nor promise
// anything.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 8
#define TOML_ENABLE_FORMATTERS 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace wick {

namespace {

static_assert(TOML_MAX_NESTED_VALUES == kMaxConfigNesting);

Error bad_file(std::string_view where, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_config_file",
          .message = cat(printable(where), ": ", what)};
}

// A dotted key of a thousand parts is a thousand tables in each other, which the library builds and
// frees by recursion.
Result<void> check_lines(std::string_view text, std::string_view path) {
  for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const auto dots = static_cast<std::size_t>(std::count(part.begin(), part.end(), '.'));
    if (dots > kMaxConfigLineDots) {
      return bad_file(cat(path, ":", line),
                      cat("the line has ", dots, " dots, the limit is ", kMaxConfigLineDots));
    }
    at = end + 1;
  }
  return {};
}

// Of one type, or nothing.
template <class T, class Out>
std::optional<std::vector<Out>> list_of(const toml::array& array) {
  std::vector<Out> list;
  for (const toml::node& node : array) {
    const auto* const item = node.as<T>();
    if (item == nullptr) return std::nullopt;
    list.emplace_back(item->get());
  }
  return list;
}

SettingValue value_of(const toml::node& node) {
  if (const auto* const b = node.as_boolean()) return b->get();
  if (const auto* const i = node.as_integer()) return std::int64_t{i->get()};
  if (const auto* const d = node.as_floating_point()) return d->get();
  if (const auto* const s = node.as_string()) return s->get();
  if (const auto* const array = node.as_array()) {
    if (auto texts = list_of<std::string, std::string>(*array)) return *std::move(texts);
    if (auto whole = list_of<std::int64_t, std::int64_t>(*array)) return *std::move(whole);
  }
  return {};
}

// Depth is bounded by check_lines() and the library's limit on nesting.
void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = cat(prefix, std::string_view(key.str()));
    const toml::source_position at = key.source().begin;
    if (const toml::table* const inner = node.as_table(); inner && !inner->empty()) {
      flatten(*inner, name + ".", out);
      continue;
    }
    if (node.is_table()) {
      out.push_back({.key = name + ".", .value = {}, .line = at.line, .column = at.column});
      continue;
    }
    out.push_back({.key = name, .value = value_of(node), .line = at.line, .column = at.column});
  }
}

}  // namespace

Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view path) {
  if (text.size() > kMaxConfigBytes) {
    return bad_file(path, cat("has ", text.size(), " bytes, the limit is ", kMaxConfigBytes));
  }
  WICK_DO(check_lines(text, path));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const toml::source_position at = error.source().begin;
    return bad_file(cat(path, ":", at.line, ":", at.column), printable(error.description()));
  }
  std::vector<TomlEntry> entries;
  flatten(parsed.table(), "", entries);
  return entries;
}

Result<std::vector<TomlEntry>> read_toml(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(path, ignored);
  if (is_file) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!is_file || (in.fail() && !in.eof()) || in.bad()) {
    Error error = bad_file(path.string(), "is no file that can be read");
    error.id = "no_config_file";
    error.hint = "wick config path names the files that are looked for";
    return error;
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_toml(text, path.string());
}

}  // namespace wick
