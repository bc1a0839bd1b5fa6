// A conversation: the messages so far and the settings that hold for the next answer. Plain data of
// one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/value.h"
#include "provider/provider.h"

namespace wick {

class Conversation {
 public:
  explicit Conversation(GenerationSettings settings) : settings_(std::move(settings)) {}

  const GenerationSettings& settings() const noexcept { return settings_; }

  const Array& messages() const noexcept { return messages_; }

  // The request for an answer to what was said last.
  ChatRequest request() const;

  void say(std::string_view text);         // the user
  void answer(std::string_view text);      // the model
  void set_system(std::string_view text);  // empty = none
  void reset();                            // forgets all but the system message
  bool undo();         // takes back the last question and its answer; false if there is none
  bool drop_answer();  // takes back the last answer only
  std::string last_question() const;  // empty if there is none

  // "temperature" "0.2"; "seed"; "max_tokens". The value is checked when it is used.
  Result<void> set(std::string_view key, std::string_view value);

  Result<void> save(const std::string& path) const;
  Result<void> load(const std::string& path);
  // Takes over what a file held; its path goes into the error about a message that makes no sense.
  Result<void> set_messages(const Array& messages, std::string_view path);

 private:
  Array messages_;
  GenerationSettings settings_;
};

}  // namespace wick
