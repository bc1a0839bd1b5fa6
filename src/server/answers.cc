#include "server/answers.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"
#include "chat/json_value.h"
#include "server/fields.h"
#include "server/limits.h"
#include "server/openai_parts.h"

namespace wick::server {

http::Response Dialect::head() const {
  return {.type = "text/event-stream", .headers = {{"cache-control", "no-cache"}}};
}

// What an answer had said before it failed is kept.
http::Response Dialect::refuse(const ApiError& error, const std::vector<Gather>& /*answers*/) {
  return error_response(error);
}

void write_arguments(JsonOut& json, const std::string& arguments) {
  const auto value = parse_json(arguments);
  if (value && value->object() != nullptr) {
    json.raw(to_json(*value));
  } else {
    json.object().field("arguments", arguments).end_object();
  }
}

std::uint64_t choice_seed(std::uint64_t seed, int i) noexcept {
  return i == 0 ? seed : splitmix64(seed, static_cast<std::uint64_t>(i));
}

Result<Started> start_answers(Context& context, ParsedRequest& parsed,
                              const std::shared_ptr<Wake>& wake) {
  const std::size_t n_prompts = std::max<std::size_t>(1, parsed.prompts.size());
  if (n_prompts * static_cast<std::size_t>(parsed.n) > kMaxAnswers) {
    return bad_field("prompt", "has ", n_prompts, " texts and n is ", parsed.n,
                     ", allowed are together ", kMaxAnswers, " answers");
  }
  Started started;
  started.pass = parsed.pass;
  const int n_answers = static_cast<int>(n_prompts) * parsed.n;
  WICK_TRY(started.place,
           context.admission.enter(parsed.request.model, n_answers,
                                   settings_now(context)->admission, *context.options.clock));
  started.answers.reserve(static_cast<std::size_t>(n_answers));
  Request& request = parsed.request;
  const auto seed = request.generation.seed;
  for (int i = 0; i < n_answers; ++i) {
    const int choice = i % parsed.n;
    if (!parsed.prompts.empty() && choice == 0)
      request.prompt = parsed.prompts[static_cast<std::size_t>(i / parsed.n)];
    if (seed) request.generation.seed = choice_seed(*seed, choice);
    WICK_TRY(auto answer, i + 1 < n_answers
                              ? context.provider->start(request, wake)
                              : context.provider->start_last(std::move(request), wake));
    started.answers.push_back(std::move(answer));
  }
  if (started.pass != nullptr) started.pass->begin();
  return started;
}

namespace {

Error cancelled(bool is_stopping) {
  return {.code = ErrorCode::kCancelled,
          .id = "cancelled",
          .message = is_stopping ? "the server is stopping and ended the answer"
                                 : "the answer was cancelled before its end"};
}

class AnswersWork final : public http::Work {
 public:
  explicit AnswersWork(AnswersSetup&& setup)
      : setup_(std::move(setup)),
        wholes_(setup_.started.answers.size()),
        pace_(setup_.context->counters.paces.of(setup_.model)) {
    pace_->begin(static_cast<int>(wholes_.size()), now_ns());
  }

  ~AnswersWork() override {
    const int n_left = static_cast<int>(wholes_.size()) - n_ended_;
    if (n_left > 0) pace_->drop(n_left, now_ns());
    end_span();
  }

  State advance(http::Writer& out) override {
    if (is_over_) return State::kDone;
    return setup_.streams ? stream(out) : gather(out);
  }

  std::string_view heartbeat() const noexcept override {
    return has_begun_ ? setup_.dialect->heartbeat() : std::string_view();
  }

  // The first time answers go on to their end, the second time they end now.
  void drain() override {
    if (!std::exchange(is_stopping_, true)) return;
    for (const auto& answer : setup_.started.answers)
      answer->cancel();
  }

 private:
  std::int64_t now_ns() const noexcept { return setup_.context->options.clock->now_ns(); }

  // What ends the answer instead of its own end.
  std::optional<Error> failure(const DoneEvent& event) const {
    if (event.error) return event.error;
    if (event.finish == FinishReason::kCancelled) return cancelled(is_stopping_);
    return std::nullopt;
  }

  void count(std::size_t choice, const DoneEvent& event) {
    ++n_ended_;
    if (setup_.span != nullptr) note_in_span(*setup_.span, choice, event);
    if (setup_.started.place != nullptr) setup_.started.place->end(event.usage);
    usage_.add(event.usage, n_ended_ == 1);
    n_tokens_ += event.usage.prompt_tokens + event.usage.generated_tokens;
    const bool is_last = n_ended_ == static_cast<int>(wholes_.size());
    if (is_last && setup_.started.pass != nullptr) setup_.started.pass->used(n_tokens_);
    pace_->end(now_ns());
    setup_.context->counters.add(event);
  }

  void note_in_span(Span& span, std::size_t choice, const DoneEvent& event) {
    span.provider = setup_.started.answers[choice]->report().provider;
    for (const EffectiveParameter& one : event.parameters) {
      const auto* const rule = std::get_if<std::string>(&one.value);
      if (one.key == "route" && rule != nullptr) span.rule = *rule;
    }
    span.finish = name(event.finish);
    if (const auto error = failure(event)) span.error = error->id;
  }

  State gather(http::Writer& out) {
    for (std::size_t i = 0; i < setup_.started.answers.size(); ++i) {
      while (auto event = setup_.started.answers[i]->poll()) {
        std::optional<Error> error;
        if (const auto* const done = std::get_if<DoneEvent>(&*event)) {
          count(i, *done);
          error = failure(*done);
        }
        wholes_[i].add(*std::move(event));
        if (error) return refuse(*error, out);
      }
    }
    const auto is_over = [](const auto& answer) { return answer->is_over(); };
    if (!std::all_of(setup_.started.answers.begin(), setup_.started.answers.end(), is_over))
      return State::kWaits;
    http::Response response = setup_.dialect->whole(wholes_);
    add_headers(response);
    out.whole(std::move(response));
    return over();
  }

  State stream(http::Writer& out) {
    while (out.room() > 0) {
      if (has_begun_) buffer_.clear();
      if (!has_started_) {
        has_started_ = true;
        setup_.dialect->start(buffer_);
      }
      const bool is_last = read(std::min(out.room(), kStreamPiece));
      if (error_ && !has_begun_ && !has_said_) return refuse(*error_, out);
      if (!has_begun_ && !has_said_ && !is_last && !are_accepted()) return State::kWaits;
      if (!has_begun_) {
        has_begun_ = true;
        http::Response head = setup_.dialect->head();
        add_headers(head);
        head.body = std::move(buffer_);
        out.begin(std::move(head));
      } else if (!buffer_.empty()) {
        out.write(buffer_);
      } else {
        return State::kWaits;
      }
      if (is_last) return over();
    }
    return State::kWaits;
  }

  bool are_accepted() const {
    return std::all_of(setup_.started.answers.begin(), setup_.started.answers.end(),
                       [](const auto& answer) { return answer->is_accepted(); });
  }

  // Appends what there is, an event of each answer in turn, until `room` is used. True at the end.
  bool read(std::size_t room) {
    bool has_more = true;
    while (has_more && buffer_.size() < room) {
      has_more = false;
      for (std::size_t i = 0; i < setup_.started.answers.size(); ++i) {
        const auto event = setup_.started.answers[i]->poll();
        if (!event) continue;
        has_more = true;
        if (const auto* const done = std::get_if<DoneEvent>(&*event)) {
          if (end_of(i, *done)) return true;
        } else {
          has_said_ = true;
          setup_.dialect->add(i, *event, buffer_);
        }
      }
    }
    return false;
  }

  bool end_of(std::size_t choice, const DoneEvent& done) {
    count(choice, done);
    if (auto error = failure(done)) {
      error_ = std::move(error);
      if (has_begun_ || has_said_)
        setup_.dialect->fail(refusal(*setup_.context, *error_, setup_.model), buffer_);
      return true;
    }
    setup_.dialect->done(choice, done, buffer_);
    if (++n_done_ < setup_.started.answers.size()) return false;
    setup_.dialect->finish(buffer_);
    return true;
  }

  void end_span() {
    if (setup_.span == nullptr) return;
    setup_.span->usage = usage_.usage;
    const bool is_whole = n_ended_ == static_cast<int>(wholes_.size());
    if (!is_whole && setup_.span->error.empty()) setup_.span->error = "cancelled";
    server::end_span(*setup_.context, std::move(setup_.span));
  }

  State refuse(const Error& error, http::Writer& out) {
    http::Response response =
        setup_.dialect->refuse(refusal(*setup_.context, error, setup_.model), wholes_);
    add_ignored(setup_.ignored, response);
    out.whole(std::move(response));
    return over();
  }

  // Which provider answers, and what it and this server have ignored.
  void add_headers(http::Response& response) const {
    const Answers& answers = setup_.started.answers;
    std::vector<std::string> names = setup_.ignored;
    std::string provider;
    for (const auto& answer : answers) {
      const AnswerReport report = answer->report();
      if (answer == answers.front()) provider = report.provider;
      for (std::string& name : names_of(report.ignored, setup_.given)) {
        if (std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(std::move(name));
      }
    }
    add_ignored(names, response);
    add_provider(provider, response);
  }

  State over() {
    is_over_ = true;
    setup_.started = {};  // what still runs is cancelled
    return State::kDone;
  }

  AnswersSetup setup_;
  std::vector<Gather> wholes_;
  const std::shared_ptr<Pace> pace_;  // of the model
  UsageSum usage_;
  std::string buffer_;
  std::optional<Error> error_ = {};
  std::size_t n_done_ = 0;
  int n_ended_ = 0;  // the same, with those that failed
  std::int64_t n_tokens_ = 0;
  bool has_started_ = false, has_said_ = false, has_begun_ = false;
  bool is_stopping_ = false, is_over_ = false;
};

}  // namespace

std::unique_ptr<Span> begin_span(const Context& context, const ParsedRequest& parsed,
                                 std::string_view operation) {
  if (context.options.traces == nullptr && context.options.audit == nullptr) return nullptr;
  return std::make_unique<Span>(Span{.parent = parse_trace_parent(parsed.trace_parent),
                                     .request_id = parsed.request_id,
                                     .model = parsed.request.model,
                                     .operation = std::string(operation),
                                     .begin_ns = unix_ns(),
                                     .key = parsed.request.key,
                                     .tag = parsed.request.tag});
}

void end_span(Context& context, std::unique_ptr<Span> span) {
  if (span == nullptr) return;
  const auto& traces = context.options.traces;
  const auto& audit = context.options.audit;
  span->end_ns = unix_ns();
  if (audit != nullptr) audit->add(*span);
  if (traces != nullptr) traces->add(std::move(*span));
}

std::unique_ptr<http::Work> make_work(AnswersSetup&& setup) {
  return std::make_unique<AnswersWork>(std::move(setup));
}

http::Reply answer(const SharedContext& context, ParsedRequest& parsed,
                   std::unique_ptr<Dialect> dialect, const std::shared_ptr<Wake>& wake) {
  std::string model = parsed.request.model;
  auto span = begin_span(*context, parsed, parsed.api == kCompletions ? "text_completion" : "chat");
  auto started = start_answers(*context, parsed, wake);
  if (!started) {
    if (context->options.audit != nullptr) {
      span->error = started.error().id;
      span->end_ns = unix_ns();
      context->options.audit->add(*span);
    }
    const ApiError error = refusal(*context, started.error(), model);
    http::Response response = dialect->refuse(error, {});
    add_ignored(parsed.ignored, response);
    return response;
  }
  return make_work({.context = context,
                    .model = std::move(model),
                    .streams = parsed.streams,
                    .ignored = std::move(parsed.ignored),
                    .given = std::move(parsed.given),
                    .started = *std::move(started),
                    .dialect = std::move(dialect),
                    .span = std::move(span)});
}

}  // namespace wick::server
