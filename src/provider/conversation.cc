#include "provider/conversation.h"

#include <algorithm>

#include "provider/messages.h"

namespace wick {

namespace {

bool is_system(const Message& message) {
  return message.role == "system";
}

}  // namespace

void Conversation::answer(const Completion& completion) {
  add(to_message(completion));
}

void Conversation::set_system(std::string_view text) {
  std::erase_if(messages_, is_system);
  if (!text.empty()) messages_.insert(messages_.begin(), {.role = "system", .content = text});
}

void Conversation::reset() {
  std::erase_if(messages_, [](const Message& m) { return !is_system(m); });
}

std::vector<Message>::const_iterator Conversation::last_user() const noexcept {
  const auto last = std::find_if(messages_.rbegin(), messages_.rend(),
                                 [](const Message& m) { return m.role == "user"; });
  return last == messages_.rend() ? messages_.end() : last.base() - 1;
}

bool Conversation::undo() {
  const auto question = last_user();
  if (question == messages_.end()) return false;
  messages_.erase(question, messages_.end());
  return true;
}

bool Conversation::drop_answer() {
  const auto question = last_user();
  if (question == messages_.end() || question + 1 == messages_.end()) return false;
  messages_.erase(question + 1, messages_.end());
  return true;
}

std::string Conversation::last_question() const {
  const auto question = last_user();
  return question == messages_.end() ? std::string() : question->content.text();
}

std::string Conversation::to_json() const {
  return wick::to_json(json_object({{"messages", to_array(messages_)}}));
}

Result<void> Conversation::read_json(std::string_view json) {
  WICK_TRY(const JsonValue root, parse_json(json));
  const Object* const object = root.object();
  const JsonValue* const messages = object == nullptr ? nullptr : object->find("messages");
  if (messages == nullptr || messages->array() == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_conversation",
                 .message = "it holds no array \"messages\""};
  }
  WICK_TRY(messages_, to_messages(*messages->array()));
  return {};
}

}  // namespace wick
