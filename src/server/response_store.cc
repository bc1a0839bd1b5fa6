#include "server/response_store.h"

#include "provider/messages.h"
#include "server/limits.h"

namespace wick::server {

namespace {

std::size_t bytes_of(const StoredResponse& response) {
  std::size_t n = sizeof(StoredResponse) + response.body.size() + 2 * response.id.size();
  for (const Message& message : response.talk) {
    n += sizeof(Message) + message.role.size();
    for (const Part& part : message.content.parts) {
      n += sizeof(Part);
      if (const auto* const text = std::get_if<TextPart>(&part)) n += text->text.size();
      if (const auto* const thought = std::get_if<ReasoningPart>(&part)) n += thought->text.size();
      if (const auto* const call = std::get_if<ToolCall>(&part))
        n += call->id.size() + call->name.size() + call->arguments.size();
      if (const auto* const result = std::get_if<ToolResult>(&part))
        n += result->call_id.size() + result->text.size();
    }
  }
  return n;
}

}  // namespace

void ResponseStore::drop(Entries::iterator entry) {
  bytes_ -= bytes_of(*entry);
  by_id_.erase(entry->id);
  entries_.erase(entry);
}

void ResponseStore::put(StoredResponse response) {
  const std::size_t bytes = bytes_of(response);
  if (bytes > kMaxStoredBytes) return;
  const std::lock_guard lock(mutex_);
  while (!entries_.empty() &&
         (entries_.size() >= kMaxStoredResponses || bytes_ + bytes > kMaxStoredBytes))
    drop(std::prev(entries_.end()));
  bytes_ += bytes;
  entries_.push_front(std::move(response));
  by_id_[entries_.front().id] = entries_.begin();
}

std::optional<StoredResponse> ResponseStore::find(const std::string& id, std::uint64_t tenant) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second->tenant != tenant) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return *found->second;
}

bool ResponseStore::erase(const std::string& id, std::uint64_t tenant) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second->tenant != tenant) return false;
  drop(found->second);
  return true;
}

}  // namespace wick::server
