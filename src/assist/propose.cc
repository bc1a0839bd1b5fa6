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

constexpr double kAlternativeTemperature = 0.8;
constexpr int kTriesPerAlternative = 3;
constexpr int kMaxExplanation = 160;      // tokens
constexpr std::size_t kMaxQuoted = 2000;  // bytes of an unusable answer in the next turn

Error interrupted() {
  return {.code = ErrorCode::kCancelled, .id = "interrupted", .message = "interrupted"};
}

Error unusable(std::string what) {
  return {.code = ErrorCode::kInvalid, .id = "bad_reply", .message = std::move(what)};
}

}  // namespace

bool is_parsed(shell::Dialect dialect) {
  const shell::Parsed parsed = shell::parse("pwd", dialect, shell::Mode::kScript);
  return std::holds_alternative<shell::Script>(parsed);
}

// `seed` 0: the most likely answer.
Result<Conversation::Turn> Conversation::answer(const std::vector<Message>& messages, int seed) {
  if (settings_.cancel.stop_requested()) return interrupted();
  Request request{.model = settings_.model, .prompt = messages};
  Generation& generation = request.generation;
  generation.cancel = settings_.cancel;
  generation.max_tokens = settings_.is_remote ? kMaxRemoteTokens : kMaxReplyTokens;
  generation.temperature = seed == 0 ? 0 : kAlternativeTemperature;
  if (seed != 0) generation.seed = static_cast<std::uint64_t>(seed);
  if (!settings_.is_remote) generation.thinking = false;
  if (has_format_) generation.response_format = reply_format(settings_.frame, settings_.is_remote);
  auto completion = ask(provider_, request);
  if (!completion && settings_.is_remote && has_format_ &&
      (completion.error().code == ErrorCode::kInvalid ||
       completion.error().code == ErrorCode::kUnsupported)) {
    has_format_ = false;  // an API without schemas: the prompt alone holds the answer to its form
    generation.response_format = {};
    completion = ask(provider_, request);
  }
  if (!completion) return std::move(completion).error();
  if (completion->finish == FinishReason::kCancelled) return interrupted();
  const bool is_cut =
      completion->finish == FinishReason::kLength || completion->usage.steered_tokens > 0;
  return Turn{.text = std::move(completion->text), .usage = completion->usage, .is_cut = is_cut};
}

// kInvalid, id "bad_reply": the next turn may do better.
Result<Proposal> Conversation::used(const Turn& turn) const {
  // The beginning of a command is another command.
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
  out.verdict = shell::judge(out.command, settings_.dialect, settings_.mode, settings_.profile);
  const auto& error = out.verdict.error;
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
  WICK_TRY(Turn turn, answer(messages, seed));
  auto proposal = used(turn);
  if (!proposal && proposal.error().id == "bad_reply") {
    std::vector<Message> again = messages;
    if (!turn.text.empty())
      again.push_back({.role = "assistant",
                       .content = repair_utf8(std::string_view(turn.text).substr(0, kMaxQuoted))});
    again.push_back({.role = "user",
                     .content = cat("This cannot be used: ", proposal.error().message,
                                    ". Answer again, in the form that was asked for.")});
    WICK_TRY(turn, answer(again, seed));
    proposal = used(turn);
    if (proposal) proposal->is_retry = true;
  }
  if (!proposal && proposal.error().id == "bad_reply") {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "no_usable_reply",
                 .message = cat("the model gave no usable command: ", proposal.error().message),
                 .hint = "say it in other words, or use a larger model (-m)"};
  }
  if (!proposal) return proposal;
  constexpr double kNsPerMs = 1e6;
  proposal->ms = static_cast<double>(monotonic_ns() - begin) / kNsPerMs;
  return proposal;
}

Result<Proposal> Conversation::propose() {
  WICK_TRY(Proposal proposal, answered(messages_, 0));
  const std::string& question = proposal.question;
  messages_.push_back({.role = "assistant",
                       .content = question.empty() ? framed(proposal.command, settings_.frame)
                                  : settings_.frame == Frame::kJson
                                      ? to_json(json_object({{"ask", question}}))
                                      : cat("ask: ", question)});
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
