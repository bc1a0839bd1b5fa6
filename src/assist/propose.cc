#include "assist/propose.h"

#include <algorithm>

#include "assist/limits.h"
#include "assist/reply.h"
#include "base/clock.h"
#include "base/strings.h"
#include "chat/json_value.h"
#include "provider/gather.h"

namespace wick::assist {

namespace {

constexpr double kRetryTemperature = 0.6;
constexpr double kAlternativeTemperature = 0.8;
constexpr int kTriesPerAlternative = 3;
constexpr int kSeedsApart = 100;      // alternatives have the seeds 1 to 27, retries are 100 apart
constexpr int kMaxExplanation = 160;  // tokens
constexpr std::size_t kMaxQuoted = 2000;  // bytes of an unusable answer in the next turn

Error interrupted() {
  return {.code = ErrorCode::kCancelled, .id = "interrupted", .message = "interrupted"};
}

Error unusable(std::string what) {
  return {.code = ErrorCode::kInvalid, .id = "bad_reply", .message = std::move(what)};
}

bool has_only_comments(std::string_view command, shell::Dialect dialect) {
  const shell::Parsed parsed = shell::parse(command, dialect, shell::Mode::kScript);
  const auto* const script = std::get_if<shell::Script>(&parsed);
  return script != nullptr && script->body.empty();
}

}  // namespace

bool is_parsed(shell::Dialect dialect) {
  const shell::Parsed parsed = shell::parse("pwd", dialect, shell::Mode::kScript);
  return std::holds_alternative<shell::Script>(parsed);
}

// `seed` 0: the most likely answer.
Result<Conversation::Turn> Conversation::answer(const std::vector<Message>& messages, int seed,
                                                int max_tokens, bool is_retry) {
  if (settings_.cancel.stop_requested()) return interrupted();
  Request request{.model = settings_.model, .prompt = messages};
  Generation& generation = request.generation;
  generation.cancel = settings_.cancel;
  generation.max_tokens = max_tokens;
  generation.temperature = seed == 0            ? 0
                           : seed < kSeedsApart ? kAlternativeTemperature
                                                : kRetryTemperature;
  if (seed != 0) generation.seed = static_cast<std::uint64_t>(seed);
  if (!settings_.is_remote) generation.thinking = false;
  if (has_format_)
    generation.response_format = reply_format(settings_.frame, settings_.is_remote, is_retry);
  LoopFinder loop;
  const EventSink sink = [&loop](const Event& event) {
    const auto* const text = std::get_if<TextEvent>(&event);
    return text == nullptr || !loop.add(text->text);
  };
  auto completion = ask(provider_, request, sink);
  if (!completion && has_format_ &&
      ((settings_.is_remote && completion.error().code == ErrorCode::kInvalid) ||
       completion.error().code == ErrorCode::kUnsupported)) {
    has_format_ = false;  // an API without it: the prompt alone holds the answer to its form
    generation.response_format = {};
    completion = ask(provider_, request, sink);
  }
  if (!completion) return std::move(completion).error();
  if (completion->finish == FinishReason::kCancelled && !loop.is_found()) return interrupted();
  const bool is_cut = loop.is_found() || completion->finish == FinishReason::kLength ||
                      completion->usage.steered_tokens > 0;
  return Turn{.text = std::move(completion->text),
              .usage = completion->usage,
              .is_cut = is_cut,
              .is_loop = loop.is_found()};
}

// kInvalid, id "bad_reply": the next turn may do better.
Result<Proposal> Conversation::used(const Turn& turn) const {
  if (turn.is_loop) return unusable("the answer repeats itself without end");
  if (turn.is_cut) return unusable("the answer is too long and was cut");
  WICK_TRY(Reply reply, read_reply(turn.text, settings_.frame));
  Proposal out{.usage = turn.usage};
  if (reply.is_question) {
    out.question = std::move(reply.text);
    return out;
  }
  if (reply.text.size() > settings_.max_command) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "command_too_long",
                 .message = cat("the command has ", reply.text.size(), " bytes, the limit is ",
                                settings_.max_command),
                 .hint = "safety.max_command_length sets the limit"};
  }
  out.command = std::move(reply.text);
  if (has_only_comments(out.command, settings_.dialect))
    return unusable("the answer has comments and no command");
  const shell::Verdict verdict =
      shell::judge(out.command, settings_.dialect, settings_.mode, settings_.profile);
  const auto& error = verdict.error;
  // Of other dialects the parser knows a part: what it does not know may still be right.
  const bool is_whole =
      settings_.dialect == shell::Dialect::kBash || settings_.dialect == shell::Dialect::kPosix;
  if (error && !error->is_limit && is_whole) {
    return unusable(cat("the command does not parse: line ", error->line, ", column ",
                        error->column, ": ", error->message));
  }
  return out;
}

Result<Proposal> Conversation::answered(const std::vector<Message>& messages, int seed) {
  const std::int64_t begin = monotonic_ns();
  const bool is_remote = settings_.is_remote;
  const int n_retries = is_remote || seed != 0 ? 1 : kMaxRetries;
  std::vector<Message> asked = messages;
  int max_tokens = is_remote ? kMaxRemoteTokens : kMaxReplyTokens;
  for (int retry = 0;; ++retry) {
    const int its_seed = is_remote ? seed : seed + retry * kSeedsApart;
    WICK_TRY(const Turn turn, answer(asked, its_seed, max_tokens, retry > 0));
    auto proposal = used(turn);
    if (proposal) {
      constexpr double kNsPerMs = 1e6;
      proposal->ms = static_cast<double>(monotonic_ns() - begin) / kNsPerMs;
      proposal->retries = retry;
    }
    if (proposal || proposal.error().id != "bad_reply") return proposal;
    if (retry == n_retries) {
      return Error{.code = ErrorCode::kUnavailable,
                   .id = "no_usable_reply",
                   .message = cat("the model gave no usable command: ", proposal.error().message),
                   .hint = "say it in other words, or use a larger model (-m)"};
    }
    if (!is_remote) {
      max_tokens = turn.is_cut ? kMaxRetryTokens : kMaxReplyTokens;
      continue;
    }
    if (!turn.text.empty())
      asked.push_back({.role = "assistant",
                       .content = repair_utf8(std::string_view(turn.text).substr(0, kMaxQuoted))});
    asked.push_back({.role = "user",
                     .content = cat("This cannot be used: ", proposal.error().message,
                                    ". Answer again, in the form that was asked for.")});
  }
}

Result<Proposal> Conversation::propose() {
  WICK_TRY(Proposal proposal, answered(messages_, 0));
  const std::string& question = proposal.question;
  messages_.push_back({.role = "assistant",
                       .content = question.empty() ? framed(proposal.command, settings_.frame)
                                                   : framed_question(question, settings_.frame)});
  return proposal;
}

Result<Proposal> Conversation::revise(const std::string& sentence, const std::string& command) {
  const std::vector<Message> before = messages_;
  if (!command.empty() && !messages_.empty() && messages_.back().role == "assistant")
    messages_.back().content = framed(command, settings_.frame);
  messages_.push_back({.role = "user", .content = sentence});
  auto proposal = propose();
  if (!proposal) messages_ = before;  // the command that is there stays
  return proposal;
}

Result<std::string> Conversation::explain(const std::string& command) {
  Request request{.model = settings_.model, .prompt = messages_};
  auto& messages = std::get<std::vector<Message>>(request.prompt);
  messages.push_back({.role = "user",
                      .content = cat("Explain in one or two sentences, as plain text, what this "
                                     "command does: ",
                                     command)});
  request.generation.cancel = settings_.cancel;
  request.generation.temperature = 0;
  request.generation.max_tokens = kMaxExplanation;
  if (!settings_.is_remote) request.generation.thinking = false;
  WICK_TRY(const Completion completion, ask(provider_, request));
  if (completion.finish == FinishReason::kCancelled) return interrupted();
  return completion.text;
}

Result<std::vector<Proposal>> Conversation::alternatives(const Proposal& first, int n) {
  std::vector<Message> question(messages_.begin(), messages_.end());
  if (!question.empty() && question.back().role == "assistant") question.pop_back();
  std::vector<Proposal> found;
  n = std::min(n, kMaxAlternatives);
  for (int seed = 1; seed <= n * kTriesPerAlternative && static_cast<int>(found.size()) < n;
       ++seed) {
    auto other = answered(question, seed);
    if (!other && other.error().id == "no_usable_reply") continue;
    if (!other) return std::move(other).error();
    const auto is_same = [&](const Proposal& one) { return one.command == other->command; };
    if (other->command.empty() || is_same(first) ||
        std::any_of(found.begin(), found.end(), is_same))
      continue;
    found.push_back(*std::move(other));
  }
  return found;
}

}  // namespace wick::assist
