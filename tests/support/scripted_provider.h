// A provider whose answers are written down: events that are told in order, by a thread of the
// provider's, with pauses, errors and silence where the script has them. It sees no engine, so a
// test program of base, net, chat and provider can use it.
//
//   auto provider = std::make_shared<test::ScriptedProvider>(test::remote_script("fragments"));
//   WICK_TRY(const auto answer, provider->start({.prompt = "x"}));
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "provider/provider.h"

namespace wick::test {

// What a remote API may send, by name:
//   "text"       two pieces of text, usage, the end
//   "fragments"  reasoning in two pieces, text, two tool calls whose arguments come in turns
//   "broken"     two pieces of text, then an error instead of the rest
//   "silent"     a piece of text, then nothing until it is cancelled
std::vector<Event> remote_script(std::string_view name);

class ScriptedProvider final : public Provider {
 public:
  // A script without a DoneEvent is silent at its end until it is cancelled.
  explicit ScriptedProvider(std::vector<Event> script);
  ~ScriptedProvider() override;

  std::string_view name() const noexcept override { return "scripted"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake = {}) override;

  std::vector<Request> seen();  // the requests so far

 private:
  struct Telling;
  class ScriptedAnswer;
  void tell();

  const std::vector<Event> script_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Telling>> told_;  // answers with something left to tell
  std::vector<Request> seen_;
  bool is_over_ = false;
  std::thread thread_;  // one for all answers
};

// Answers its requests with the lines of a file, in turn; the last one again and again. A line is a
// JSON text; "hang" without quotes is an answer that never ends. What was asked is appended to
// FILE.asked, the messages of a request a line.
std::shared_ptr<Provider> lines_provider(std::string file);

}  // namespace wick::test
