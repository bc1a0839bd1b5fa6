#include "route/routed_embed.h"

#include "provider/rule_refusal.h"
#include "route/bill.h"

namespace wick::route {

namespace {

using Embedded = Result<std::vector<Embedding>>;

// A request that was refused, or never sent, costs nothing.
bool is_refused(const Embedded& embedded) {
  if (embedded) return false;
  const Error& error = embedded.error();
  return error.id != "provider_timeout" && error.id != "bad_answer" &&
         error.code != ErrorCode::kCancelled;
}

Settlement bill_of(const Candidate& to, const Facts& facts, const Embedded& embedded) {
  Settlement end{.has_failed = !embedded};
  if (embedded) {
    for (const Embedding& one : *embedded)
      end.usage.prompt_tokens += one.tokens;
  }
  if (is_refused(embedded)) return end;
  end.is_estimated = end.usage.prompt_tokens == 0 || !is_plausible(end.usage, facts, 0);
  if (to.most_cost == 0) return end;
  end.cost = end.is_estimated ? cost_of(*to.about.price, facts.most_tokens, 0)
                              : cost_of(*to.about.price, end.usage);
  return end;
}

Embedded embed_at(Core& core, const Candidate& to, const Facts& facts, const EmbedTexts& request) {
  const Member& member = core.options.members[to.member];
  Limiter& limiter = core.limiter(to);
  Limiter::Pass pass;
  const std::int64_t wait =
      limiter.take(facts.prompt_tokens, core.options.clock->now_ms(), {}, pass);
  if (wait != 0) return over_limit(member, wait);
  auto held = core.reserve(to, facts);
  if (!held) {
    limiter.undo(pass);
    return std::move(held).error();
  }
  EmbedTexts named = request;
  named.model = to.model;
  auto embedded = member.provider->embed(named);
  limiter.end(pass, facts.prompt_tokens);
  if (core.options.ledger != nullptr)
    core.options.ledger->settle(*held, bill_of(to, facts, embedded));
  return embedded;
}

}  // namespace

Embedded embed_routed(Core& core, const Decision& decision, const EmbedTexts& request) {
  if (decision.candidates.empty()) {
    return Error{
        .code = ErrorCode::kNotFound,
        .id = "model_not_found",
        .message = cat("no provider has the model '", printable(decision.facts.model), "'")};
  }
  const Candidate& first = decision.candidates.front();
  Embedded failed = rejection(first, core.options.members[first.member]);
  for (const Candidate& to : decision.candidates) {
    if (!to.rejected.empty() || to.model != first.model) continue;
    Health& health = core.health(to);
    const std::int64_t now = core.options.clock->now_ms();
    if (!health.admit(now)) {
      if (&to == &first) failed = resting(core.options.members[to.member], health, now);
      continue;
    }
    auto embedded = embed_at(core, to, decision.facts, request);
    if (embedded) {
      if (request.answered_by != nullptr)
        *request.answered_by = core.options.members[to.member].name;
      health.succeeded(core.options.clock->now_ms());
      return embedded;
    }
    const Error& error = embedded.error();
    const bool is_ours = is_rule_refusal(error) || error.id == "rate_limit_exceeded" ||
                         error.code == ErrorCode::kCancelled;
    const Failure failure = is_ours ? Failure::kRequest : failure_of(error);
    health.failed(failure, -1, core.options.clock->now_ms());
    failed = std::move(embedded);
    const bool is_final = !is_ours && after_failure(failure, core.options.retry.max_retries,
                                                    core.options.retry) == Next::kStop;
    if (is_final || failed.error().code == ErrorCode::kCancelled) break;
  }
  return failed;
}

}  // namespace wick::route
