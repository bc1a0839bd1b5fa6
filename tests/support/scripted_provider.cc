#include "support/scripted_provider.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "provider/messages.h"

namespace wick::test {

std::vector<Event> remote_script(std::string_view name) {
  const Usage usage{.prompt_tokens = 12, .generated_tokens = 7, .reasoning_tokens = 3};
  if (name == "fragments") {
    return {ReasoningEvent{"The user wants "},
            ReasoningEvent{"two cities."},
            TextEvent{"I look them up."},
            ToolCallEvent{.index = 0, .id = "call_a", .name = "weather"},
            ArgumentsEvent{.index = 0, .text = "{\"city\": "},
            ToolCallEvent{.index = 1, .id = "call_b", .name = "weather"},
            ArgumentsEvent{.index = 1, .text = "{\"city\": \"Os"},
            ArgumentsEvent{.index = 0, .text = "\"Rome\"}"},
            ArgumentsEvent{.index = 1, .text = "lo\"}"},
            UsageEvent{usage},
            DoneEvent{.finish = FinishReason::kToolCalls, .usage = usage}};
  }
  if (name == "broken") {
    return {TextEvent{"Half of "}, TextEvent{"an answer"},
            DoneEvent{.finish = FinishReason::kError,
                      .usage = usage,
                      .error = Error{.code = ErrorCode::kUnavailable,
                                     .id = "connection_lost",
                                     .message = "the connection was lost after 17 bytes"}}};
  }
  if (name == "silent") return {TextEvent{"And then"}};
  return {TextEvent{"Hello "}, TextEvent{"there."}, UsageEvent{usage},
          DoneEvent{.finish = FinishReason::kEos, .usage = usage}};
}

struct ScriptedProvider::Telling {
  explicit Telling(std::shared_ptr<Wake> given) : wake(std::move(given)) {}

  std::shared_ptr<Wake> wake;
  std::mutex mutex;
  std::size_t n_told = 0, n_read = 0;
  bool is_cancelled = false;
};

class ScriptedProvider::ScriptedAnswer final : public Answer {
 public:
  ScriptedAnswer(std::vector<Event> script, std::shared_ptr<Telling> telling)
      : Answer(telling->wake), script_(std::move(script)), telling_(std::move(telling)) {}

  ~ScriptedAnswer() override { cancel(); }

  void cancel() noexcept override {
    {
      const std::lock_guard lock(telling_->mutex);
      telling_->is_cancelled = true;
    }
    telling_->wake->set();
  }

 protected:
  std::optional<Event> next() override {
    const std::lock_guard lock(telling_->mutex);
    if (telling_->n_read < telling_->n_told) return script_[telling_->n_read++];
    if (!telling_->is_cancelled) return std::nullopt;
    return DoneEvent{.finish = FinishReason::kCancelled};
  }

 private:
  std::vector<Event> script_;
  std::shared_ptr<Telling> telling_;
};

ScriptedProvider::ScriptedProvider(std::vector<Event> script)
    : script_(std::move(script)), thread_([this] { tell(); }) {}

ScriptedProvider::~ScriptedProvider() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Result<std::unique_ptr<Answer>> ScriptedProvider::start(const Request& request,
                                                        std::shared_ptr<Wake> wake) {
  if (wake == nullptr) wake = std::make_shared<Wake>();
  auto telling = std::make_shared<Telling>(std::move(wake));
  {
    const std::lock_guard lock(mutex_);
    seen_.push_back(request);
    told_.push_back(telling);
  }
  changed_.notify_one();
  return std::unique_ptr<Answer>(new ScriptedAnswer(script_, std::move(telling)));
}

std::vector<Request> ScriptedProvider::seen() {
  const std::lock_guard lock(mutex_);
  return seen_;
}

// One event of each answer in turn, so that many are on their way at once.
void ScriptedProvider::tell() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_over_ || !told_.empty(); });
    if (is_over_) return;
    const std::shared_ptr<Telling> one = std::move(told_.front());
    told_.pop_front();
    lock.unlock();
    bool has_more = false;
    {
      const std::lock_guard telling(one->mutex);
      has_more = !one->is_cancelled && ++one->n_told < script_.size();
    }
    one->wake->set();
    lock.lock();
    if (has_more) told_.push_back(one);
  }
}

namespace {

class LinesProvider final : public Provider {
 public:
  explicit LinesProvider(std::string file) : file_(std::move(file)) {}

  std::string_view name() const noexcept override { return "scripted"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override {
    const std::lock_guard lock(mutex_);
    if (const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt))
      std::ofstream(file_ + ".asked", std::ios::app) << to_json(to_array(*messages)) << "\n";
    std::ifstream in(file_);
    std::string line, last;
    for (int i = 0; i <= n_asked_ && std::getline(in, line); ++i)
      last = line;
    ++n_asked_;
    std::vector<Event> script = {TextEvent{"{"}};
    if (last != "hang") {
      WICK_TRY(const JsonValue text, parse_json(last));
      script = {TextEvent{*text.string()}, DoneEvent{.finish = FinishReason::kEos}};
    }
    parts_.push_back(std::make_unique<ScriptedProvider>(std::move(script)));
    return parts_.back()->start(request, std::move(wake));
  }

 private:
  const std::string file_;
  std::mutex mutex_;
  int n_asked_ = 0;
  std::vector<std::unique_ptr<ScriptedProvider>> parts_;
};

}  // namespace

std::shared_ptr<Provider> lines_provider(std::string file) {
  return std::make_shared<LinesProvider>(std::move(file));
}

}  // namespace wick::test
