#include "chat/json_value.h"

#include <functional>

namespace wick {
namespace {

constexpr std::size_t kScanItems = 12;  // as many keys are found faster by looking at each

}  // namespace

std::size_t Object::position(std::string_view key) const noexcept {
  if (index_.empty()) {
    std::size_t at = 0;
    while (at < items_.size() && items_[at].first != key)
      ++at;
    return at;
  }
  const std::size_t mask = index_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>{}(key)&mask;; at = (at + 1) & mask) {
    if (index_[at] == 0) return items_.size();
    if (items_[index_[at] - 1].first == key) return index_[at] - 1;
  }
}

void Object::rebuild_index() {
  index_.clear();
  if (items_.size() <= kScanItems) return;
  std::size_t slots = 64;
  while (slots < items_.size() * 4)
    slots *= 2;
  index_.resize(slots);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::size_t at = std::hash<std::string_view>{}(items_[i].first) & (slots - 1);
    while (index_[at] != 0)
      at = (at + 1) & (slots - 1);
    index_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

const JsonValue* Object::find(std::string_view key) const noexcept {
  const std::size_t at = position(key);
  return at < items_.size() ? &items_[at].second : nullptr;
}

JsonValue* Object::find(std::string_view key) noexcept {
  const std::size_t at = position(key);
  return at < items_.size() ? &items_[at].second : nullptr;
}

JsonValue& Object::operator[](std::string_view key) {
  const std::size_t at = position(key);
  if (at < items_.size()) return items_[at].second;
  items_.emplace_back(std::string(key), JsonValue());
  if (items_.size() > kScanItems && index_.size() < items_.size() * 2) {
    rebuild_index();
  } else if (!index_.empty()) {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(key)&mask;
    while (index_[slot] != 0)
      slot = (slot + 1) & mask;
    index_[slot] = static_cast<std::uint32_t>(items_.size());
  }
  return items_.back().second;
}

Object json_object(std::initializer_list<std::pair<std::string_view, JsonValue>> fields) {
  Object object;
  for (const auto& [key, value] : fields)
    object[key] = value;
  return object;
}

void Object::erase(std::string_view key) {
  const std::size_t at = position(key);
  if (at == items_.size()) return;
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  rebuild_index();
}

}  // namespace wick
