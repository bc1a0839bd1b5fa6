// A conversation: the messages so far. Plain value of one thread.
//
//   conversation.say("Name a river in France.");
//   WICK_TRY(const Completion answer, ask(provider, {.prompt = conversation.messages()}));
//   conversation.answer(answer);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wick/generation.h"
#include "wick/message.h"

namespace wick {

class Conversation {
 public:
  const std::vector<Message>& messages() const noexcept { return messages_; }

  void set_messages(std::vector<Message> messages) { messages_ = std::move(messages); }

  void add(Message message) { messages_.push_back(std::move(message)); }

  void say(std::string_view text) { add({.content = text}); }

  void answer(const Completion& completion);
  void set_system(std::string_view text);  // empty = none
  void reset();                            // forgets all but the system message
  // Removes the last question and all after it; false if there is none.
  bool undo();
  bool drop_answer();                 // removes all messages after the last question
  std::string last_question() const;  // empty if there is none

  void forget_last() { messages_.pop_back(); }  // removes the last message

  // {"messages": […]} (provider/messages.h), and back.
  std::string to_json() const;
  Result<void> read_json(std::string_view json);

 private:
  std::vector<Message>::const_iterator last_user() const noexcept;

  std::vector<Message> messages_;
};

}  // namespace wick
