// A state machine that poll() drives: choose the next target, reserve its cost, start it, pass on
// its events, settle. A reader with a Wake of its own does not wait for the reservation: poll()
// goes on when the ledger has committed it. Everything that ends an attempt goes through book(), so
// a reservation is settled exactly once. After the first event with content the target is fixed: a
// second answer could contradict what the reader has seen. Before it, a failure moves on by the
// table of retry.h, within one deadline for all attempts. A target that sent Retry-After is waited
// for only when no other one is left.
#include "route/routed_answer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/mix.h"
#include "base/strings.h"
#include "provider/rule_refusal.h"
#include "route/attempt_errors.h"
#include "route/bill.h"
#include "route/continuation.h"

namespace wick::route {

namespace {

std::size_t content_bytes(const Event& event) {
  if (const auto* const text = std::get_if<TextEvent>(&event)) return text->text.size();
  if (const auto* const text = std::get_if<ReasoningEvent>(&event)) return text->text.size();
  if (const auto* const text = std::get_if<ArgumentsEvent>(&event)) return text->text.size();
  return 0;
}

class RoutedAnswer final : public Answer {
 public:
  RoutedAnswer(std::shared_ptr<Core> core, Request&& request, Decision&& decision,
               std::shared_ptr<Wake> wake, bool may_wait, StartAttempt start)
      : Answer(wake),
        core_(std::move(core)),
        request_(std::make_unique<Request>(std::move(request))),
        decision_(std::move(decision)),
        wake_(std::move(wake)),
        may_wait_(may_wait),
        start_(std::move(start)),
        begun_ms_(now()) {
    const int limit = request_->generation.time_limit_ms;
    deadline_ms_ = begun_ms_ + (limit > 0 ? limit : core_->options.total_ms);
  }

  ~RoutedAnswer() override {
    leave_asked();
    if (inner_ == nullptr) return;
    settle_rest();
    health_->left(now());
    core_->limiter(candidate()).end(pass_, pass_.tokens);
  }

  // The first attempt.
  Result<void> begin() {
    if (auto done = attempt()) return *done->error;
    return {};
  }

  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    if (inner_ != nullptr) inner_->cancel();
    wake_->set();
  }

  AnswerReport report() const override {
    if (inner_ == nullptr) return report_;
    AnswerReport report = inner_->report();
    if (report.provider.empty()) report.provider = member().name;
    return report;
  }

  bool is_accepted() const noexcept override {
    return is_committed_ || (inner_ != nullptr && inner_->is_accepted());
  }

 protected:
  std::optional<Event> next() override {
    for (;;) {
      if (inner_ == nullptr) {
        if (is_cancelled_) {
          leave_asked();
          return DoneEvent{.finish = FinishReason::kCancelled};
        }
        if (auto done = go_ahead()) return *std::move(done);
        if (inner_ == nullptr) return std::nullopt;
      }
      std::optional<Event> event = inner_->poll();
      if (!event) return std::nullopt;
      if (auto* const done = std::get_if<DoneEvent>(&*event)) {
        if (auto last = end_attempt(std::move(*done))) return *std::move(last);
        continue;
      }
      note(*event);
      return event;
    }
  }

 private:
  std::int64_t now() const { return core_->options.clock->now_ms(); }

  const Candidate& candidate() const { return decision_.candidates[at_]; }

  const Member& member() const { return core_->options.members[candidate().member]; }

  bool is_paid() const { return candidate().most_cost > 0; }

  // Where nothing is under way: sends what was reserved meanwhile, or makes an attempt if its time
  // has come.
  std::optional<DoneEvent> go_ahead() {
    if (asked_ != nullptr) {
      const auto sent = send_if_reserved();
      if (sent) return std::nullopt;
      if (auto done = could_not_start(sent.error())) return done;
      ++at_;
      n_retries_ = 0;
    } else if (now() < resume_ms_) {
      return std::nullopt;
    }
    resume_ms_ = 0;
    return attempt();
  }

  // Gives back the reservation that was asked for: nothing was sent.
  void leave_asked() {
    if (asked_ == nullptr) return;
    asked_ = nullptr;
    health_->left(now());
    core_->limiter(candidate()).undo(pass_);
  }

  // Starts an attempt on the next candidate that takes it; behind the last one on those that were
  // passed over. Returns the end if there is none. Where all that is left must be waited for, it
  // waits for the first of it, within the deadline.
  std::optional<DoneEvent> attempt() {
    return_to_cooled_down();
    std::optional<std::int64_t> least_wait;  // of those that are at their limits
    const std::size_t n = decision_.candidates.size(), first = at_;
    for (std::size_t i = 0; i < n; ++i, n_retries_ = 0) {
      at_ = (first + i) % n;
      if (is_over(at_)) continue;
      if (!candidate().rejected.empty()) {
        told().set(at_, member().name, rejection(candidate(), member()));
        continue;
      }
      const std::int64_t wait = take_limits();
      if (wait != 0) {
        const bool can_wait = wait == Limiter::kOnWake || wait > 0;
        if (!can_wait || now() + std::max<std::int64_t>(wait, 0) >= deadline_ms_) {
          told().set(at_, member().name, over_limit(member(), wait));
        } else {
          least_wait = std::min(least_wait.value_or(wait), wait);  // kOnWake is below all times
        }
        continue;
      }
      health_ = &core_->health(candidate());
      if (!health_->admit(now(), core_->next_turn())) {
        core_->limiter(candidate()).undo(pass_);
        told().set(at_, member().name, resting(member(), *health_, now()));
        continue;
      }
      const auto started = start_one();
      if (started) return std::nullopt;
      if (auto done = could_not_start(started.error())) return done;
    }
    return wait_for_first(least_wait);
  }

  std::optional<DoneEvent> wait_for_first(std::optional<std::int64_t> least_wait) {
    if (!least_wait && cooldowns_.empty()) return end_with(told().all_failed(asked_model_));
    at_ = 0;
    n_retries_ = 0;
    const bool is_on_wake = least_wait == Limiter::kOnWake;  // which comes before any timer
    std::int64_t until = least_wait && !is_on_wake ? now() + *least_wait : deadline_ms_;
    for (const Cooldown& one : cooldowns_)
      until = std::min(until, one.until_ms);
    resume_ms_ = is_on_wake ? 0 : until;
    if (timer_ms_ != until) core_->options.clock->at(until, wake_);
    timer_ms_ = until;
    return std::nullopt;
  }

  // Back to the first candidate whose cooldown is over, if it may be retried.
  void return_to_cooled_down() {
    while (!cooldowns_.empty()) {
      const auto first = std::min_element(
          cooldowns_.begin(), cooldowns_.end(), [](const Cooldown& a, const Cooldown& b) {
            return std::tie(a.until_ms, a.at) < std::tie(b.until_ms, b.at);
          });
      if (first->until_ms > now()) return;
      const Cooldown one = *first;
      cooldowns_.erase(first);
      if (!core_->health(decision_.candidates[one.at]).take_retry()) continue;
      at_ = one.at;
      n_retries_ = one.n_retries;
      std::erase(over_, at_);
      return;
    }
  }

  bool is_over(std::size_t at) const {
    return std::find(over_.begin(), over_.end(), at) != over_.end();
  }

  std::int64_t take_limits() {
    const std::int64_t tokens = tokens_for_limits(candidate(), decision_.facts);
    return core_->limiter(candidate()).take(tokens, now(), wake_, pass_);
  }

  // The end, if no other candidate may be asked after this.
  std::optional<DoneEvent> could_not_start(const Error& error) {
    core_->limiter(candidate()).undo(pass_);
    const Failure failure = failure_of(error);
    health_->failed(is_rule_refusal(error) ? Failure::kRequest : failure, -1, now());
    tell(error);
    over_.push_back(at_);
    const bool is_final = after_failure(failure, core_->options.retry.max_retries,
                                        core_->options.retry) == Next::kStop;
    if (is_final) return end_with(error);
    return std::nullopt;
  }

  // Reserves and sends the request to the candidate. Where the reservation has to be waited for,
  // `asked_` is set.
  Result<void> start_one() {
    if (may_wait_ || !is_paid()) {
      WICK_DO(core_->reserve(candidate(), decision_.facts, held_));
      return send_asked();
    }
    WICK_TRY(asked_, core_->ask(candidate(), decision_.facts, wake_));
    return send_if_reserved();
  }

  Result<void> send_if_reserved() {
    auto held = asked_->take();
    if (!held) return {};
    asked_ = nullptr;
    WICK_TRY(held_, *std::move(held));
    return send_asked();
  }

  Result<void> send_asked() {
    const int most = candidate().max_tokens;
    request_->generation.max_tokens = most > 0 ? most : asked_max_tokens_;
    return send(*request_);
  }

  // `request` has the model and the time of the candidate from here on.
  Result<void> send(Request& request) {
    request.model = candidate().model;
    if (request.generation.time_limit_ms > 0)
      request.generation.time_limit_ms =
          static_cast<int>(std::max<std::int64_t>(deadline_ms_ - now(), 1));
    attempt_ms_ = now();
    n_bytes_ = 0;
    Provider& provider = *member().provider;
    auto started = start_ ? start_(provider, request, wake_) : provider.start(request, wake_);
    if (!started) {
      book({.has_failed = true});
      return std::move(started).error();
    }
    const std::lock_guard lock(mutex_);
    inner_ = *std::move(started);
    if (is_cancelled_) inner_->cancel();
    return {};
  }

  void note(const Event& event) {
    if (std::holds_alternative<UsageEvent>(event)) return;
    if (!is_committed_) health_->saw_first_token(static_cast<double>(now() - attempt_ms_));
    is_committed_ = true;
    n_bytes_ += content_bytes(event);
    if (!decision_.continues) return;
    const auto* const text = std::get_if<TextEvent>(&event);
    is_text_ = is_text_ && text != nullptr;
    if (text != nullptr) said_ += text->text;
  }

  // The end for the reader, or nothing: another attempt follows.
  std::optional<DoneEvent> end_attempt(DoneEvent done) {
    report_ = inner_->report();
    const bool is_failed = done.finish == FinishReason::kError;
    if (is_failed && report_.failure == Failure::kNone && done.error)
      report_.failure = failure_of(*done.error);
    settle(done, report_);
    {
      const std::lock_guard lock(mutex_);
      inner_ = nullptr;
    }
    const std::int64_t used = done.usage.prompt_tokens + done.usage.generated_tokens;
    core_->limiter(candidate()).end(pass_, used > 0 ? used : pass_.tokens);
    Health& health = *health_;
    if (done.finish == FinishReason::kCancelled) {
      health.left(now());
    } else if (is_failed) {
      health.failed(report_.failure, report_.retry_after_ms, now());
    } else {
      health.succeeded(now());
    }
    if (report_.provider.empty()) report_.provider = member().name;
    if (is_failed && go_on_locally(done)) return std::nullopt;
    done.parameters.push_back({"route", decision_.rule, "router"});
    if (!broke_off_at_.empty()) {
      done.usage.prompt_tokens += earlier_.prompt_tokens;
      done.usage.generated_tokens += earlier_.generated_tokens;
      done.parameters.push_back({"continued_from", broke_off_at_, "router"});
    }
    if (!is_failed || is_committed_ || !done.error) return done;
    if (report_.retry_after_ms > 0)
      done.error->retry_after_s = static_cast<int>((report_.retry_after_ms + 999) / 1000);
    tell(*done.error);
    return go_on(health) ? std::nullopt : std::optional(std::move(done));
  }

  // After a failure behind content, where the rule wants it: once, on this machine.
  bool go_on_locally(const DoneEvent& done) {
    if (!decision_.continues || !is_text_ || said_.empty() || !broke_off_at_.empty() ||
        member().is_local || !may_continue(*request_))
      return false;
    const std::optional<std::size_t> local = local_candidate();
    if (!local) return false;
    const std::string from = cat(member().name, "/", candidate().model);
    const std::size_t before = std::exchange(at_, *local);
    if (take_limits() == 0) {
      request_->generation.max_tokens = asked_max_tokens_;
      auto request = continuation_of(*member().provider, *request_, candidate().model, said_);
      Health& health = core_->health(candidate());
      const bool is_admitted = request && health.admit(now(), core_->next_turn());
      if (is_admitted && start_local(*request)) {
        health_ = &health;
        broke_off_at_ = from;
        earlier_ = done.usage;
        return true;
      }
      if (is_admitted) health.left(now());
      core_->limiter(candidate()).undo(pass_);
    }
    at_ = before;
    return false;
  }

  Result<void> start_local(Request& request) {
    WICK_DO(core_->reserve(candidate(), decision_.facts, held_));
    return send(request);
  }

  // Of the rule's, else the default model of a local member.
  std::optional<std::size_t> local_candidate() {
    const std::vector<Member>& members = core_->options.members;
    std::vector<Candidate>& all = decision_.candidates;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (members[all[i].member].is_local && all[i].rejected.empty()) return i;
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].is_local) continue;
      all.push_back({.member = i});
      return all.size() - 1;
    }
    return std::nullopt;
  }

  // After a failure without content: here again, elsewhere, or not at all.
  bool go_on(Health& health) {
    const RetryOptions& retry = core_->options.retry;
    const Next next = after_failure(report_.failure, n_retries_, retry);
    if (next == Next::kStop) return false;
    const std::int64_t until =
        now() + pause_ms(n_retries_, report_.retry_after_ms, core_->random(), retry);
    const bool has_time = next == Next::kSame && until < deadline_ms_;
    const bool asks_for_cooldown = report_.retry_after_ms > 0;
    if (has_time && !asks_for_cooldown && health.take_retry()) {
      ++n_retries_;
      resume_ms_ = until;
      core_->options.clock->at(resume_ms_, wake_);
      return true;
    }
    if (has_time && asks_for_cooldown)
      cooldowns_.push_back({.at = at_, .n_retries = n_retries_ + 1, .until_ms = until});
    over_.push_back(at_++);
    n_retries_ = 0;
    return true;  // attempt() ends it if there is no other
  }

  // Of a reader that leaves: what has come may already be the whole answer, with its usage.
  void settle_rest() {
    DoneEvent done{.finish = FinishReason::kCancelled};
    AnswerReport report;
    while (std::optional<Event> event = is_paid() ? inner_->poll() : std::nullopt) {
      n_bytes_ += content_bytes(*event);
      auto* const last = std::get_if<DoneEvent>(&*event);
      if (last == nullptr) continue;
      done = std::move(*last);
      report = inner_->report();
      break;
    }
    settle(done, report);
  }

  void settle(const DoneEvent& done, const AnswerReport& report) {
    book(bill({candidate(), decision_.facts, held_.amount, n_bytes_}, done, report));
  }

  void book(const Settlement& end) {
    if (core_->options.ledger == nullptr || (held_.id == 0 && end.has_failed)) return;
    core_->options.ledger->settle(std::move(held_), end);
  }

  AttemptErrors& told() {
    if (told_ == nullptr) told_ = std::make_unique<AttemptErrors>();
    return *told_;
  }

  void tell(const Error& error) { told().add(at_, member().name, error); }

  DoneEvent end_with(Error error) const {
    return {.finish = FinishReason::kError,
            .parameters = {{"route", decision_.rule, "router"}},
            .error = std::move(error)};
  }

  // A candidate that sent Retry-After: it is asked again after that if no other one has answered.
  struct Cooldown {
    std::size_t at = 0;
    int n_retries = 0;
    std::int64_t until_ms = 0;
  };

  const std::shared_ptr<Core> core_;
  // As the present candidate gets it; a prompt may be large, so it is no copy. Not in the answer:
  // glibc's malloc gives a block of 1 kB or more only after a look at all small ones that are free.
  const std::unique_ptr<Request> request_;
  const std::string asked_model_ = request_->model;
  const int asked_max_tokens_ = request_->generation.max_tokens;
  Decision decision_;
  const std::shared_ptr<Wake> wake_;
  const bool may_wait_;  // its reader does, in start()
  const StartAttempt start_;
  const std::int64_t begun_ms_;
  std::int64_t deadline_ms_ = 0, attempt_ms_ = 0, resume_ms_ = 0;
  std::size_t at_ = 0, n_bytes_ = 0;  // the candidate; bytes of content that it has sent
  Health* health_ = nullptr;          // of the last candidate that was asked
  int n_retries_ = 0;
  std::int64_t timer_ms_ = -1;  // of the last timer of wait_for_first()
  std::vector<Cooldown> cooldowns_ = {};
  std::vector<std::size_t> over_ = {};  // candidates that failed and are not asked again
  bool is_committed_ = false;
  bool is_text_ = true;            // nothing but text was said
  std::string said_ = {};          // where the rule goes on with it
  std::string broke_off_at_ = {};  // "openai/gpt-4o-mini", before this attempt went on
  Usage earlier_ = {};             // there
  std::unique_ptr<AskedReservation> asked_ = {};  // not there yet
  Reservation held_ = {};
  Limiter::Pass pass_ = {};
  AnswerReport report_ = {};
  std::unique_ptr<AttemptErrors> told_ = {};  // made when there is one

  std::mutex mutex_;  // of the two below, for cancel()
  std::unique_ptr<Answer> inner_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

std::int64_t tokens_for_limits(const Candidate& candidate, const Facts& facts) {
  const int most = candidate.max_tokens > 0 ? candidate.max_tokens : candidate.about.max_tokens;
  return facts.prompt_tokens + most;
}

Core::Core(RouterOptions its_options)
    : options(std::move(its_options)), healths_(options.members.size()) {
  for (const Member& member : options.members) {
    limiters_.push_back(
        make_limiter(options.limits.get(), cat("provider ", member.name), member.limits));
  }
}

Health& Core::health(const Candidate& candidate) {
  const std::lock_guard lock(mutex_);
  return healths_[candidate.member].try_emplace(candidate.model, options.health).first->second;
}

Measured Core::measured() {
  return {.first_token_ms = [this](const Candidate& one) { return health(one).first_token_ms(); },
          .running = [this](const Candidate& one) { return limiter(one).running(); },
          .last_turn = [this](const Candidate& one) { return health(one).last_turn(); },
          .random = [this] { return random(); }};
}

std::uint64_t Core::random() noexcept {
  return splitmix64(options.seed, n_random_.fetch_add(1, std::memory_order_relaxed));
}

Charge Core::charge(const Candidate& candidate, const Facts& facts) const {
  const Member& member = options.members[candidate.member];
  const bool is_named = !candidate.model.empty() || !member.default_model;
  return {.provider = member.name,
          .model = is_named ? candidate.model : member.default_model(),
          .key = facts.key,
          .tag = facts.tag,
          .price = candidate.most_cost > 0 ? candidate.about.price_version : std::string()};
}

std::optional<Error> Core::refusal(const Candidate& candidate, const Facts& facts) const {
  if (candidate.most_cost <= 0) return std::nullopt;
  if (options.ledger == nullptr) return no_ledger(options.members[candidate.member]);
  return with_budgets(facts, [&](std::span<const Budget> budgets) {
    return route::refusal(*options.ledger, charge(candidate, facts), budgets, candidate.most_cost,
                          options.clock->unix_s());
  });
}

Result<void> Core::reserve(const Candidate& candidate, const Facts& facts,
                           Reservation& held) const {
  held = {.unix_s = options.clock->unix_s(), .origin = origin_of(charge(candidate, facts))};
  if (candidate.most_cost <= 0) return {};
  if (options.ledger == nullptr) return no_ledger(options.members[candidate.member]);
  WICK_TRY(held, with_budgets(facts, [&](std::span<const Budget> budgets) {
             return options.ledger->reserve(held.origin->charge, budgets, candidate.most_cost,
                                            held.unix_s);
           }));
  return {};
}

Result<std::unique_ptr<AskedReservation>> Core::ask(const Candidate& candidate, const Facts& facts,
                                                    std::shared_ptr<Wake> wake) const {
  if (options.ledger == nullptr) return no_ledger(options.members[candidate.member]);
  return with_budgets(facts, [&](std::span<const Budget> budgets) {
    return options.ledger->ask(charge(candidate, facts), budgets, candidate.most_cost,
                               options.clock->unix_s(), std::move(wake));
  });
}

Result<std::unique_ptr<Answer>> start_routed(std::shared_ptr<Core> core, Request&& request,
                                             Decision&& decision, std::shared_ptr<Wake> wake,
                                             StartAttempt start) {
  const bool may_wait = wake == nullptr;
  if (may_wait) wake = std::make_shared<Wake>();
  auto answer =
      std::make_unique<RoutedAnswer>(std::move(core), std::move(request), std::move(decision),
                                     std::move(wake), may_wait, std::move(start));
  WICK_DO(answer->begin());
  return std::unique_ptr<Answer>(std::move(answer));
}

}  // namespace wick::route
