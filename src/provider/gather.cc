#include "provider/gather.h"

#include <algorithm>
#include <utility>

namespace wick {

namespace {

constexpr int kMaxToolCalls = 1024;  // of one answer; a larger index is nobody's call

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};

template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

ToolCall* call_of(Completion& completion, int index) {
  if (index < 0 || index >= kMaxToolCalls) return nullptr;
  const auto n = static_cast<std::size_t>(index) + 1;
  completion.tool_calls.resize(std::max(completion.tool_calls.size(), n));
  return &completion.tool_calls[n - 1];
}

}  // namespace

void Gather::add(Event event) {
  Completion& c = completion;
  if (std::holds_alternative<TextEvent>(event)) {
    for (std::size_t i = n_told_; i < c.logprobs.size(); ++i)
      text_tokens.push_back(i);
  }
  n_told_ = std::holds_alternative<LogprobsEvent>(event) ? n_told_ : c.logprobs.size();
  std::visit(Overload{[&](const TextEvent& e) { c.text += e.text; },
                      [&](const ReasoningEvent& e) { c.reasoning += e.text; },
                      [&](ToolCallEvent& e) {
                        if (ToolCall* const call = call_of(c, e.index)) {
                          call->id = std::move(e.id);
                          call->name = std::move(e.name);
                        }
                      },
                      [&](const ArgumentsEvent& e) {
                        if (ToolCall* const call = call_of(c, e.index)) call->arguments += e.text;
                      },
                      [&](const LogprobsEvent& e) {
                        c.logprobs.insert(c.logprobs.end(), e.tokens.begin(), e.tokens.end());
                      },
                      [&](const UsageEvent& e) { c.usage = e.usage; },
                      [&](DoneEvent& e) {
                        c.finish = e.finish;
                        c.usage = e.usage;
                        c.parameters = std::move(e.parameters);
                        c.prompt_logprobs = std::move(e.prompt_logprobs);
                        error = std::move(e.error);
                      }},
             event);
}

Gather read_all(Answer& answer, const EventSink& sink, const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [&answer] { answer.cancel(); });
  Gather whole;
  bool is_wanted = true;
  while (const auto event = answer.wait()) {
    whole.add(*event);
    if (is_wanted && sink && !sink(*event)) {
      is_wanted = false;
      answer.cancel();
    }
  }
  return whole;
}

Result<Completion> ask(Provider& provider, const Request& request, const EventSink& sink) {
  WICK_TRY(const auto answer, provider.start(request));
  Gather whole = read_all(*answer, sink, request.generation.cancel);
  if (whole.error) return *std::move(whole.error);
  return std::move(whole.completion);
}

}  // namespace wick
