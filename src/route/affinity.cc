#include "route/affinity.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "base/mix.h"

namespace wick::route {

namespace {

class Prefix {
 public:
  void add(std::string_view text) {
    text_ += text.substr(0, kAffinityBytes - text_.size());
    if (!is_full()) text_ += '\0';  // "ab", "c" is not "a", "bc"
  }

  bool is_full() const noexcept { return text_.size() >= kAffinityBytes; }

  std::string_view text() const noexcept { return text_; }

 private:
  std::string text_ = {};
};

void add(const Part& part, Prefix& prefix) {
  if (const auto* const text = std::get_if<TextPart>(&part)) prefix.add(text->text);
  if (const auto* const text = std::get_if<ReasoningPart>(&part)) prefix.add(text->text);
  if (const auto* const result = std::get_if<ToolResult>(&part)) prefix.add(result->text);
  if (const auto* const call = std::get_if<ToolCall>(&part)) {
    prefix.add(call->name);
    prefix.add(call->arguments);
  }
}

std::uint64_t hash(std::uint64_t h, std::string_view text) {
  h = mix_hash(h, text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), n);
    h = mix_hash(h, word);
    text.remove_prefix(n);
  }
  return h;
}

}  // namespace

std::uint64_t prefix_hash(const Request& request) {
  Prefix prefix;
  for (const Tool& tool : request.generation.tools) {
    if (prefix.is_full()) break;
    prefix.add(tool.name);
    prefix.add(tool.description);
  }
  if (const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt)) {
    for (const Message& message : *messages) {
      if (prefix.is_full()) break;
      prefix.add(message.role);
      for (const Part& part : message.content.parts)
        add(part, prefix);
    }
  } else if (const auto* const text = std::get_if<std::string>(&request.prompt)) {
    prefix.add(*text);
  } else {
    const auto& ids = std::get<std::vector<TokenId>>(request.prompt);
    prefix.add({reinterpret_cast<const char*>(ids.data()),
                std::min(ids.size() * sizeof(TokenId), kAffinityBytes)});
  }
  return hash(0, prefix.text());
}

std::uint64_t affinity(std::uint64_t prefix, std::string_view replica) {
  return splitmix64(hash(prefix, replica), 0);
}

int bounded_load(std::span<const int> running) {
  if (running.empty()) return 0;
  const std::int64_t all = std::accumulate(running.begin(), running.end(), std::int64_t{1});
  const auto n = static_cast<std::int64_t>(running.size());
  return static_cast<int>((5 * all + 4 * n - 1) / (4 * n));
}

}  // namespace wick::route
