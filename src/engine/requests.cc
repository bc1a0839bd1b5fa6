// Between two steps: takes new requests and cancellations, checks time limits, retires finished
// sequences.
#include <algorithm>
#include <future>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/strings.h"
#include "engine/limits.h"
#include "engine/state.h"

namespace wick {

void Engine::State::take_requests() {
  do_tasks();
  take_arrivals();
  apply_cancels();
  end_late_and_unread();
  retire();
}

void Engine::State::take_arrivals() {
  static const Error kNoMemory{
      .code = ErrorCode::kNoMemory, .id = "out_of_memory", .message = "out of memory"};
  for (Sequence* list = inbox.take_all(); list != nullptr;) {
    std::unique_ptr<Sequence> arrived(list);
    list = list->inbox_next;
    const auto taken = catch_bad_alloc([&]() -> Result<void> {
      take(arrived);
      return {};
    });
    if (taken) continue;
    arrived->error = &kNoMemory;
    arrived->finish = FinishReason::kError;
    deliver(*arrived, now_ns());
    n_queued.fetch_sub(1, std::memory_order_relaxed);
  }
}

void Engine::State::do_tasks() {
  for (Task* list = tasks.take_all(); list != nullptr;) {
    const std::unique_ptr<Task> task(list);
    list = task->inbox_next;
    task->work();
  }
}

void Engine::State::wait_for(const std::function<void()>& work) {
  const auto done = std::make_shared<std::promise<void>>();
  auto task = std::make_unique<Task>();
  task->work = [&work, done] {
    work();
    done->set_value();
  };
  tasks.push(std::move(task));
  inbox.wake();
  done->get_future().wait();
}

EngineLoad Engine::load() {
  EngineLoad load;
  state_->wait_for([&] {
    const SequenceMemory& memory = state_->memory;
    load = {.running = static_cast<int>(state_->scheduler.live().size()),
            .waiting = state_->n_queued.load(std::memory_order_relaxed),
            .slots = state_->options.max_seqs,
            .cache_blocks = memory.total_blocks(),
            .free_blocks = memory.free_blocks() + memory.evictable_blocks()};
  });
  return load;
}

int Engine::close_tenant(std::uint64_t tenant, bool wipe) {
  int n_blocks = 0;
  state_->wait_for([&] { n_blocks = state_->close_tenant(tenant, wipe); });
  return n_blocks;
}

// Takes arrivals first, so that requests submitted before are cancelled, too.
int Engine::State::close_tenant(std::uint64_t tenant, bool wipe) {
  take_arrivals();
  for (const auto& s : sequences) {
    if (s->tenant != tenant || s->finish != FinishReason::kNone) continue;
    s->finish = FinishReason::kCancelled;
    deliver(*s, now_ns());
  }
  retire();
  if (draft != nullptr) draft->forget(wipe);
  return scheduler.close_tenant(tenant, wipe);
}

// Moves `arrived` in; if memory runs out, nothing has changed.
void Engine::State::take(std::unique_ptr<Sequence>& arrived) {
  if (sequences.size() == sequences.capacity()) sequences.reserve(2 * sequences.size() + 8);
  arrived->entry = &scheduler.add({.id = arrived->id,
                                   .tenant = arrived->tenant,
                                   .client = arrived->client,
                                   .adapters = key_of(arrived->adapters),
                                   .priority = arrived->priority,
                                   .prompt_output = arrived->prompt_output,
                                   .tokens = &arrived->tokens,
                                   .owner = arrived.get()});
  sequences.push_back(std::move(arrived));
}

void Engine::State::apply_cancels() noexcept {
  for (Cancel* list = cancels.take_all(); list != nullptr;) {
    const std::unique_ptr<Cancel> message(list);
    list = message->inbox_next;
    for (const auto& s : sequences) {
      if (s->id != message->id || s->finish != FinishReason::kNone) continue;
      s->finish = FinishReason::kCancelled;
      deliver(*s, now_ns());
    }
  }
}

void Engine::State::end_late_and_unread() {
  const std::int64_t now = now_ns();
  for (const auto& s : sequences) {
    if (!s->is_over && s->sink != nullptr && s->sink->is_closed()) {
      if (s->finish == FinishReason::kNone) s->finish = FinishReason::kCancelled;
      s->is_over = true;
    }
    if (s->finish != FinishReason::kNone || s->deadline_ns == 0 || now < s->deadline_ns) continue;
    const std::int64_t limit_ms = (s->deadline_ns - s->submitted_ns) / 1'000'000;
    const std::int64_t took_ms = (now - s->submitted_ns) / 1'000'000;
    s->own_error = {.code = ErrorCode::kCancelled,
                    .id = "time_limit",
                    .message = cat("the time limit of ", limit_ms, " ms ended the answer after ",
                                   s->usage.generated_tokens, " tokens and ", took_ms, " ms"),
                    .hint = "raise the limit, lower max_tokens, or ask when less is going on"};
    s->error = &s->own_error;
    s->finish = FinishReason::kError;
    deliver(*s, now);
  }
}

// The earliest deadline of running requests; 0 = none.
std::int64_t Engine::State::next_deadline_ns() const noexcept {
  std::int64_t first = 0;
  for (const auto& s : sequences) {
    if (s->finish != FinishReason::kNone || s->deadline_ns == 0) continue;
    first = first == 0 ? s->deadline_ns : std::min(first, s->deadline_ns);
  }
  return first;
}

Result<RequestEstimate> Engine::State::estimate(const GenerateRequest& request,
                                                PromptOutput prompt_output) {
  RequestEstimate plan{.prompt_tokens = static_cast<int>(request.prompt.size())};
  WICK_TRY(plan.max_tokens, check_request(request, prompt_output));
  plan.blocks = blocks_for(plan.prompt_tokens + plan.max_tokens);
  plan.cache_bytes = static_cast<std::uint64_t>(plan.blocks) * kBlockTokens *
                     kv_bytes_per_position(decoder.spec(), options.k_type, options.v_type);
  wait_for([&] {
    take_arrivals();  // earlier requests are counted
    const PrefixCache::Match match = scheduler.find({.tenant = request.tenant,
                                                     .adapters = key_of(request.adapters),
                                                     .prompt_output = prompt_output,
                                                     .tokens = &request.prompt});
    plan.cached_tokens = match.tokens();
    plan.miss = match.miss;
    plan.free_blocks = memory.free_blocks() + memory.evictable_blocks();
    std::int64_t to_compute = plan.prompt_tokens - plan.cached_tokens;
    for (const auto entries : {scheduler.live(), scheduler.waiting()}) {
      for (const SchedulerEntry* entry : entries) {
        ++plan.requests_before;
        if (!entry->is_decoding()) to_compute += entry->missing();
      }
    }
    // Prompts with logprobs run in small steps whose time is not measured.
    if (prompt_output == PromptOutput::kLogprobs || cost.prompt_token_ns() <= 0) return;
    plan.ttft_ms = static_cast<double>(to_compute) * cost.prompt_token_ns() * 1e-6;
  });
  return plan;
}

void Engine::State::begin_admitted() noexcept {
  const std::int64_t now = now_ns();
  for (SchedulerEntry* entry : scheduler.live()) {
    Sequence& s = *entry->owner;
    if (s.started_ns != 0) continue;
    s.started_ns = now;
    s.usage.queue_ms = static_cast<double>(now - s.submitted_ns) * 1e-6;
    n_queued.fetch_sub(1, std::memory_order_relaxed);
  }
}

// A stopped sequence releases its slot at once and is removed when its reader has taken the last
// delta.
void Engine::State::retire() {
  for (auto& s : sequences) {
    if (s->finish == FinishReason::kNone) continue;
    if (s->entry != nullptr) scheduler.remove(*std::exchange(s->entry, nullptr));
    if (!s->is_over) continue;
    if (s->started_ns == 0) n_queued.fetch_sub(1, std::memory_order_relaxed);
    s.reset();
  }
  std::erase(sequences, nullptr);
}

void Engine::State::cancel_all() noexcept {
  for (const auto& s : sequences) {
    if (s->finish == FinishReason::kNone) s->finish = FinishReason::kCancelled;
    deliver(*s, now_ns());
    s->is_over = true;
  }
}

}  // namespace wick
