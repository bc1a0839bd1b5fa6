#include "local/adapters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "model/limits.h"

namespace wick {

namespace {

Error bad_adapter(std::string message, std::string hint = {}) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_adapter",
          .message = std::move(message),
          .hint = std::move(hint)};
}

std::optional<float> number_of(std::string_view text) noexcept {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// Splits "TEXT:SCALE"; the scale is 1 where none follows.
std::pair<std::string_view, float> split_scale(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 1.0F};
  const auto scale = number_of(text.substr(colon + 1));
  if (!scale) return {text, 1.0F};
  return {text.substr(0, colon), *scale};
}

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.find('/') == std::string_view::npos;
}

}  // namespace

Result<AdapterOption> parse_adapter(std::string_view text) {
  AdapterOption option;
  const std::size_t equals = text.find('=');
  std::string_view file = text;
  if (equals != std::string_view::npos && is_name(text.substr(0, equals))) {
    option.name = text.substr(0, equals);
    file = text.substr(equals + 1);
  }
  const auto [path, scale] = split_scale(file);
  if (path.empty()) {
    return bad_adapter(cat("'", printable(text), "' names no file"),
                       "wanted is [NAME=]FILE[:SCALE]");
  }
  option.path = std::filesystem::path(path).lexically_normal();
  option.scale = scale;
  if (!option.path.has_filename()) option.path = option.path.parent_path();  // "folder/"
  if (option.name.empty()) option.name = option.path.stem().string();
  return option;
}

namespace {

Result<void> check(std::span<const AdapterOption> options) {
  if (options.size() > static_cast<std::size_t>(kMaxAdapters)) {
    return bad_adapter(cat(options.size(), " adapters, allowed are ", kMaxAdapters));
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto before = options.first(i);
    const bool is_twice = std::any_of(before.begin(), before.end(), [&](const AdapterOption& one) {
      return one.name == options[i].name;
    });
    if (!is_twice) continue;
    return bad_adapter(cat("two adapters are called '", printable(options[i].name), "'"),
                       "give one another name: NAME=FILE");
  }
  return {};
}

}  // namespace

Result<std::vector<AdapterOption>> parse_adapters(std::span<const std::string> texts) {
  std::vector<AdapterOption> options;
  for (const std::string& text : texts) {
    WICK_TRY(AdapterOption option, parse_adapter(text));
    options.push_back(std::move(option));
  }
  WICK_DO(check(options));
  return options;
}

Result<std::unique_ptr<Adapters>> Adapters::open(std::span<const AdapterOption> options) {
  WICK_DO(check(options));
  auto made = std::make_unique<Adapters>();
  for (const AdapterOption& option : options) {
    WICK_TRY(Adapter adapter, Adapter::open(option.path));
    made->all_.push_back(std::move(adapter));
    made->names_.push_back(option.name);
    made->scales_.push_back(option.scale);
  }
  return made;
}

std::vector<AdapterInfo> Adapters::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<AdapterInfo> list;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    list.push_back({.id = static_cast<int>(i),
                    .name = names_[i],
                    .path = all_[i].path().string(),
                    .scale = scales_[i]});
  }
  return list;
}

Result<std::vector<float>> Adapters::scales_of(std::span<const std::string> wanted) const {
  std::vector<float> scales(all_.size());
  if (wanted.size() == 1 && wanted[0] == "none") return scales;
  std::vector<bool> is_set(all_.size());
  for (const std::string& text : wanted) {
    const auto [name, scale] = split_scale(text);
    auto at =
        static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
    if (const auto number = number_of(name); at == names_.size() && number) {
      if (*number >= 0 && *number < static_cast<float>(names_.size())) {
        at = static_cast<std::size_t>(*number);
      }
    }
    if (at == names_.size()) {
      return bad_adapter(
          cat("the model has no adapter '", printable(name), "' among its ", names_.size()),
          "load it with the model: --lora NAME=FILE");
    }
    if (is_set[at]) return bad_adapter(cat("adapter '", printable(name), "' stands twice"));
    is_set[at] = true;
    scales[at] = scale;
  }
  return scales;
}

Result<std::vector<AdapterUse>> Adapters::uses(std::span<const std::string> wanted) const {
  std::vector<float> scales;
  if (wanted.empty()) {
    const std::lock_guard lock(mutex_);
    scales = scales_;
  } else {
    WICK_TRY(scales, scales_of(wanted));
  }
  std::vector<AdapterUse> uses;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] != 0) uses.push_back({.adapter = static_cast<int>(i), .scale = scales[i]});
  }
  return uses;
}

Result<void> Adapters::set(std::span<const std::string> wanted) {
  WICK_TRY(std::vector<float> scales, scales_of(wanted));
  const std::lock_guard lock(mutex_);
  scales_ = std::move(scales);
  return {};
}

}  // namespace wick
