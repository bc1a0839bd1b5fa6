#include "route/attempt_errors.h"

#include <algorithm>

#include "base/strings.h"
#include "provider/rule_refusal.h"

namespace wick::route {

namespace {

ErrorCode code_of(std::string_view id) {
  if (id == "model_not_found") return ErrorCode::kNotFound;
  if (id == "not_supported") return ErrorCode::kUnsupported;
  if (id == "context_length_exceeded") return ErrorCode::kInvalid;
  return ErrorCode::kUnavailable;
}

// With the member's name before it.
std::string named(const std::string& name, const Error& error) {
  const std::string head = cat(name, ": ");
  return cat(error.message.starts_with(head) ? "" : head, error.message);
}

}  // namespace

Error rejection(const Candidate& candidate, const Member& member) {
  return {.code = code_of(candidate.rejected_id),
          .id = candidate.rejected_id,
          .message = cat(member.name, ": ", candidate.rejected)};
}

Failure failure_of(const Error& error) {
  if (error.id == "context_length_exceeded") return Failure::kContextLength;
  if (error.id == "no_key") return Failure::kCredential;
  switch (error.code) {
    case ErrorCode::kUnavailable:
    case ErrorCode::kNoMemory:
      return Failure::kOverload;
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
    case ErrorCode::kDevice:
      return Failure::kNoModel;  // another one may have it
    default:
      return Failure::kRequest;
  }
}

Error resting(const Member& member, const Health& health, std::int64_t now_ms) {
  const std::int64_t left_ms = std::max<std::int64_t>(health.open_until_ms() - now_ms, 1);
  const auto left_s = static_cast<int>((left_ms + 999) / 1000);
  std::string_view id = "breaker_open", why = "it failed too often";
  switch (health.opened_by()) {
    case Failure::kRateLimit:
      id = "provider_rate_limit";
      why = "its rate limit was reached";
      break;
    case Failure::kCredential:
      id = "provider_credential";
      why = "it refused the credential";
      break;
    case Failure::kQuota:
      id = "provider_quota";
      why = "its quota is used up";
      break;
    default:
      break;
  }
  return {.code = ErrorCode::kUnavailable,
          .id = std::string(id),
          .message = cat(member.name, ": ", why, ", it is asked again in ", left_s, " s"),
          .retry_after_s = left_s};
}

Error no_ledger(const Member& member) {
  return {.code = ErrorCode::kUnavailable,
          .id = "ledger_unavailable",
          .message = cat(member.name, ": it has a price, and there is no ledger")};
}

Error over_limit(const Member& member, std::int64_t wait_ms) {
  const LimitOptions& limits = member.limits;
  Error error{.code = ErrorCode::kUnavailable, .id = "rate_limit_exceeded"};
  if (wait_ms == Limiter::kNever) {
    error.code = ErrorCode::kInvalid;
    error.message = cat(member.name, ": the request may take more than its ",
                        limits.tokens_per_minute, " tokens_per_minute");
  } else if (wait_ms == Limiter::kOnWake) {
    error.message = cat(member.name, ": ", limits.parallel, " requests (parallel) are under way");
  } else {
    error.retry_after_s = static_cast<int>((wait_ms + 999) / 1000);
    error.message =
        cat(member.name, ": its limits per minute leave room in ", error.retry_after_s, " s");
  }
  return error;
}

void AttemptErrors::add(std::size_t candidate, const std::string& name, const Error& error) {
  std::string text = named(name, error);
  if (std::none_of(told_.begin(), told_.end(), [&](const Told& one) { return one.text == text; }))
    told_.push_back({.candidate = candidate, .id = error.id, .text = std::move(text)});
  note(candidate, error);
}

void AttemptErrors::set(std::size_t candidate, const std::string& name, const Error& error) {
  const auto before = std::find_if(told_.begin(), told_.end(), [&](const Told& one) {
    return one.candidate == candidate && one.id == error.id;
  });
  if (before == told_.end()) return add(candidate, name, error);
  before->text = named(name, error);
  note(candidate, error);
}

void AttemptErrors::note(std::size_t candidate, const Error& error) {
  if (!has_refusal_ && is_rule_refusal(error)) {
    has_refusal_ = true;
    refusal_ = error;
  }
  if (error.code == ErrorCode::kUnavailable) waits_[candidate] = error.retry_after_s;
  has_one_kind_ = has_one_kind_ && (last_.id.empty() || error.id == last_.id);
  last_ = error;
}

Error AttemptErrors::all_failed(std::string_view asked_model) const {
  if (told_.empty()) {
    return {.code = ErrorCode::kNotFound,
            .id = "model_not_found",
            .message = cat("no provider has the model '", printable(asked_model), "'")};
  }
  std::string all;
  for (const Told& one : told_)
    all += cat(all.empty() ? "" : "; ", one.text);
  Error error = has_refusal_ ? refusal_ : last_;
  if (has_refusal_) error.message = all;
  if (has_refusal_ || told_.size() == 1) return error;
  if (!has_one_kind_) error = {.code = ErrorCode::kUnavailable, .id = "all_providers_failed"};
  error.message = cat("no provider answered: ", all);
  const auto soonest = std::min_element(waits_.begin(), waits_.end(), [](auto& a, auto& b) {
    return a.second < b.second;
  });
  if (soonest != waits_.end()) error.retry_after_s = soonest->second;
  return error;
}

}  // namespace wick::route
