#include "local/output_formats.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "grammar/constraint.h"
#include "grammar/special_tokens.h"
#include "local/caller_mask.h"
#include "local/limits.h"

namespace wick {

using grammar::Constraint;
using grammar::SharedStrings;
using grammar::TokenMasks;
using grammar::TokenTrie;

struct CompiledFormat {
  explicit CompiledFormat(std::shared_ptr<TokenMasks> made) : masks(std::move(made)) {}

  std::shared_ptr<TokenMasks> masks;  // the engine thread's
  std::vector<TokenId> closing = {};  // of the shortest text
  bool can_close = false;
  std::string why_not = {};           // no shortest text was found
  std::atomic<bool> is_worn = false;  // new requests compile it again
  std::atomic<std::size_t> bytes = 0;  // as the engine thread saw it last
};

namespace {

constexpr int kMaxWait = 1 << 20;  // tokens

class FormatFilter final : public TokenFilter {
 public:
  FormatFilter(std::shared_ptr<CompiledFormat> format, std::vector<TokenId> reasoning_end,
               const Tokenizer& tokenizer, const FilterPlan& plan)
      : format_(std::move(format)),
        constraint_(format_->masks),
        tokenizer_(&tokenizer),
        reasoning_mark_(plan.reasoning_end),
        reasoning_end_(std::move(reasoning_end)),
        plan_(format_->closing),
        known_(format_->can_close && plan.mask == nullptr ? Known::kShortest : Known::kNone) {
    if (plan.mask != nullptr) mask_.emplace(plan.mask, tokenizer);
    horizon_ = kClosingHorizon + 4 * static_cast<int>(plan_.size());
    is_reasoning_ = !reasoning_end_.empty();
    if (is_reasoning_) plan_.insert(plan_.begin(), reasoning_end_.begin(), reasoning_end_.end());
  }

  bool allow(std::span<const float> logits, std::span<std::uint64_t> out) noexcept override {
    if (is_reasoning_) {
      std::fill(out.begin(), out.end(), ~std::uint64_t{0});
      for (const TokenId id : tokenizer_->ends())
        out[static_cast<std::size_t>(id) / 64] &= ~(std::uint64_t{1} << (id % 64));
      return true;
    }
    const auto mask = constraint_.mask();
    if (!mask) return fail(mask.error()), false;
    (*mask)->fill(out);
    if (mask_) {
      if (auto masked = mask_->apply(logits, out); !masked) return fail(masked.error()), false;
    }
    const bool is_open = std::any_of(out.begin(), out.end(), [](auto word) { return word != 0; });
    if (!is_open) fail(dead_end());
    return is_open;
  }

  TokenId accept(TokenId id, int n_left) noexcept override {
    const bool was_reasoning = is_reasoning_;
    const TokenId taken = is_reasoning_ ? reason(id, n_left) : restrict(id, n_left);
    if (taken < 0) return taken;
    if (mask_ && !was_reasoning) mask_->add(taken);
    if (format_->masks->recognizer().is_worn()) format_->is_worn.store(true);
    format_->bytes.store(format_->masks->used_bytes(), std::memory_order_relaxed);
    if (is_reasoning_ || !constraint_.is_complete()) return taken;
    const auto more = constraint_.may_continue();
    if (!more) return fail(more.error());
    is_over_ = !*more;
    return taken;
  }

  bool is_over() const noexcept override { return is_over_; }

  int count_allowed(std::span<const TokenId> draft) noexcept override {
    if (mask_) return 0;
    if (is_reasoning_) return static_cast<int>(draft.size());
    const auto n = constraint_.validate(draft);
    return n ? *n : 0;  // accept() reports what is wrong
  }

  const Error& failure() const noexcept override { return failure_; }

 private:
  // What plan_ is for the text before the next token.
  enum class Known : std::uint8_t {
    kNone,     // no end was found
    kOld,      // that of a text before
    kSome,     // an end; a shorter one may be there
    kShortest  // the shortest one that the search finds
  };

  TokenId fail(const Error& error) {
    failure_ = error;
    return -1;
  }

  // A token of the reasoning, which is free until its end is due.
  TokenId reason(TokenId id, int n_left) {
    const bool has_room = static_cast<int>(plan_.size()) <= n_left;
    const bool began_end = plan_.size() < reasoning_end_.size() + format_->closing.size();
    if (known_ != Known::kNone && (began_end || !has_room)) id = take_planned();
    tail_ += tokenizer_->bytes(id);
    const std::size_t end = tail_.find(reasoning_mark_);
    if (end != std::string::npos) {
      is_reasoning_ = false;
      plan_ = format_->closing;
    } else if (tail_.size() > reasoning_mark_.size()) {
      tail_.erase(0, tail_.size() - reasoning_mark_.size());
    }
    return id;
  }

  TokenId take_planned() {
    const TokenId id = plan_.front();
    plan_.erase(plan_.begin());
    return id;
  }

  TokenId restrict(TokenId id, int n_left) {
    const auto is_accepted = constraint_.accept(id);
    if (!is_accepted) return fail(is_accepted.error());
    if (!*is_accepted) {
      return fail({.code = ErrorCode::kUnsupported,
                   .id = "mask_differs",
                   .message = cat("the mask allows the token ", id, ", the format does not")});
    }
    const bool is_waiting = n_unplanned_ > 0;
    if (is_waiting) --n_unplanned_;
    if (mask_ || n_left > horizon_ || is_waiting || constraint_.is_ended()) {
      known_ = Known::kOld;
      return id;
    }
    if (is_closing_) return steer(id, n_left);
    if (keeps_plan(id, n_left)) return id;
    auto after = constraint_.closing();
    if (after && static_cast<int>(after->size()) <= n_left) {
      plan_ = *std::move(after);
      known_ = Known::kShortest;
      next_wait_ = 1;
      return id;
    }
    is_closing_ = !after;
    return steer(id, n_left);
  }

  // The plan of the text before `id`, or what is left of it, completes the text behind `id`, too: a
  // look along a plan costs far less than a search for a shorter one.
  bool keeps_plan(TokenId id, int n_left) {
    if (plan_.empty()) return false;
    const bool is_planned = id == plan_.front();
    const auto rest = std::span<const TokenId>(plan_).subspan(is_planned ? 1 : 0);
    if (static_cast<int>(rest.size()) > n_left) return false;
    const auto is_end = constraint_.is_completed_by(rest);
    if (!is_end || !*is_end) return false;
    if (is_planned) plan_.erase(plan_.begin());
    if (!is_planned || known_ != Known::kShortest) known_ = Known::kSome;
    next_wait_ = 1;
    return true;
  }

  // `id`, which has been accepted, leaves too few tokens, or no end is known from there: takes the
  // next token of the shortest end. Where there is none, the next search waits, each time twice as
  // long.
  TokenId steer(TokenId id, int n_left) {
    constraint_.rollback(1);
    if (known_ == Known::kOld || known_ == Known::kSome) {
      auto before = constraint_.closing();
      if (before && (known_ == Known::kOld || before->size() < plan_.size())) {
        plan_ = *std::move(before);
        known_ = Known::kShortest;
      } else {
        known_ = known_ == Known::kSome ? Known::kShortest : Known::kNone;
      }
    }
    TokenId taken = id;
    if (known_ != Known::kNone && static_cast<int>(plan_.size()) <= n_left + 1) {
      if (!plan_.empty()) {
        taken = take_planned();
      } else if (const auto ends = tokenizer_->ends(); !ends.empty()) {
        taken = ends.front();
      }
    } else {
      is_closing_ = false;
      known_ = Known::kOld;
      n_unplanned_ = std::exchange(next_wait_, std::min(2 * next_wait_, kMaxWait));
    }
    const auto is_accepted = constraint_.accept(taken);
    return is_accepted && *is_accepted ? taken : fail(closing_failed());
  }

  static Error dead_end() {
    return {.code = ErrorCode::kInvalid,
            .id = "constraint_dead_end",
            .message = "the caller's constraint allows no token after the text so far",
            .hint = "a text that may not end here must allow at least one token"};
  }

  static Error closing_failed() {
    return {.code = ErrorCode::kUnsupported,
            .id = "mask_differs",
            .message = "the end of the text that was planned is not allowed"};
  }

  std::shared_ptr<CompiledFormat> format_;
  Constraint constraint_;
  const Tokenizer* tokenizer_;
  std::string_view reasoning_mark_;  // that ends the reasoning
  std::vector<TokenId> reasoning_end_;
  std::vector<TokenId> plan_;  // tokens that complete the text from here
  Known known_;
  bool is_reasoning_ = false, is_over_ = false;
  bool is_closing_ = false;  // the plan is followed to its end, without another search
  int horizon_ = 0;          // tokens left from which on a plan is kept
  // Tokens without a search, as the last ones found no end that fits.
  int n_unplanned_ = 0, next_wait_ = 1;
  std::string tail_;  // of the reasoning
  std::optional<CallerMask> mask_ = {};
  Error failure_ = {};
};

}  // namespace

Result<std::shared_ptr<CompiledFormat>> OutputFormats::compiled(const Tokenizer& tokenizer,
                                                                const FilterPlan& plan) {
  std::shared_ptr<SharedStrings> strings;
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.key == plan.key && !plan.key.empty();
    });
    if (known != entries_.end() && !known->compiled->is_worn.load()) {
      entries_.splice(entries_.begin(), entries_, known);
      return entries_.front().compiled;
    }
    if (known != entries_.end()) entries_.erase(known);
    if (strings_ == nullptr) {
      strings_ = std::make_shared<SharedStrings>(
          std::make_shared<const TokenTrie>(grammar::trie_with_special_tokens(tokenizer)));
    }
    strings = strings_;
  }
  WICK_TRY(auto recognizer, plan.make());
  auto made = std::make_shared<CompiledFormat>(
      std::make_shared<TokenMasks>(std::move(recognizer), strings->trie(), strings));
  auto closing = Constraint(made->masks).closing();
  made->can_close = static_cast<bool>(closing);
  // The caller's code failed.
  if (!closing && closing.error().code == ErrorCode::kInvalid) return std::move(closing).error();
  if (closing) {
    made->closing = *std::move(closing);
  } else {
    made->why_not = closing.error().message;
  }
  made->bytes = made->masks->used_bytes();
  if (!plan.key.empty()) keep(plan.key, made);
  return made;
}

// Formats grow while they are used, so the bound is one of the time when a new one comes.
void OutputFormats::keep(const std::string& key, const std::shared_ptr<CompiledFormat>& made) {
  const std::lock_guard lock(mutex_);
  entries_.push_front({key, made});
  std::size_t n_bytes = 0, n_kept = 0;
  auto entry = entries_.begin();
  for (; entry != entries_.end() && n_kept < kMaxFormats; ++entry, ++n_kept) {
    n_bytes += entry->compiled->bytes.load(std::memory_order_relaxed);
    if (n_bytes > max_bytes_ && n_kept > 0) break;
  }
  entries_.erase(entry, entries_.end());
}

Result<std::shared_ptr<TokenFilter>> OutputFormats::filter(const Tokenizer& tokenizer,
                                                           const FilterPlan& plan) {
  WICK_TRY(auto format, compiled(tokenizer, plan));
  std::vector<TokenId> reasoning_end;
  if (!plan.reasoning_end.empty()) {
    WICK_TRY(reasoning_end, tokenizer.encode_special(plan.reasoning_end));
  }
  const bool may_be_cut = plan.mask != nullptr;
  if (!format->can_close && plan.is_limited && !may_be_cut) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_short_end",
                 .message = cat("max_tokens is ", plan.max_tokens,
                                ", but the search found no text of ", plan.subject,
                                ", so none is known to fit: ", format->why_not),
                 .hint = "simplify the format, or leave max_tokens out"};
  }
  const std::size_t least = format->closing.size() + reasoning_end.size();
  if (format->can_close && !may_be_cut &&
      least > static_cast<std::size_t>(std::max(plan.max_tokens, 0))) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "max_tokens_too_small",
                 .message = cat("max_tokens is ", plan.max_tokens,
                                ", a short text of ", plan.subject, " has ", least, " tokens"),
                 .hint = "raise max_tokens"};
  }
  return std::shared_ptr<TokenFilter>(
      std::make_shared<FormatFilter>(std::move(format), std::move(reasoning_end), tokenizer, plan));
}

}  // namespace wick
