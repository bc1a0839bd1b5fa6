// Constraints by the caller's own code on the text of an answer. For local models; remote models
// refuse them (id "not_supported").
//
//   class Digits final : public wick::ByteRecognizer {   // one or more digits
//     int n_ = 0;
//     bool push(unsigned char byte) override { return byte >= '0' && byte <= '9' && ++n_ > 0; }
//     void pop() override { --n_; }
//     bool accepting() override { return n_ > 0; }
//   };
//   auto answer = model->complete("6 * 7 = ", {.recognizer = std::make_unique<Digits>});
//
// Threads: the thread that sends the request calls the constraint first, then the model's engine
// thread does; never both at once for one request. A slow constraint delays all requests of the
// model. It must not call the same model (id "called_in_hook") or wait for a Stream (that
// deadlocks). If its results depend on anything but its arguments, the same seed may give another
// text. An exception ends the request with an error (id "callback_failed").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "wick/result.h"
#include "wick/token.h"

namespace wick {

// A set of texts, read byte by byte. The engine pushes bytes and pops them again: pop() must
// restore the state before the last push() that returned true.
class ByteRecognizer {
 public:
  ByteRecognizer() = default;
  ByteRecognizer(const ByteRecognizer&) = delete;
  ByteRecognizer& operator=(const ByteRecognizer&) = delete;
  virtual ~ByteRecognizer() = default;

  // Adds `byte` and returns true if a text of the set begins with the bytes so far and `byte`.
  // Otherwise returns false and changes nothing.
  virtual bool push(unsigned char byte) = 0;
  virtual void pop() = 0;        // removes the last byte
  virtual bool accepting() = 0;  // the bytes so far are a text of the set

  // Optional: the next bytes, as far as only one continuation is possible. They make the search for
  // the shortest completion faster.
  virtual std::string forced() { return {}; }
};

// Called once for each answer; null is an error (id "callback_failed").
using RecognizerFactory = std::function<std::unique_ptr<ByteRecognizer>()>;

// The answer so far. Valid during the call.
struct TokenPlace {
  std::string_view text = {};            // text of the answer, without its reasoning
  std::span<const TokenId> tokens = {};  // of `text`
  std::span<const float> logits = {};    // [vocabulary], the model's, for the next token
  std::span<const TokenId> ends = {};    // the EOG tokens
  std::function<std::string_view(TokenId)> bytes = {};  // of a token; empty for control tokens
};

// Clears the bits of tokens that are not allowed next. Bit t % 64 of allowed[t / 64] is set if the
// other constraints allow token t. If no bit is left, the request ends with an error (id
// "constraint_dead_end"). Speculative decoding is off for such a request.
using TokenMaskHook =
    std::function<void(const TokenPlace& place, std::span<std::uint64_t> allowed)>;

// Whether an answer may end with this text.
using TextPredicate = std::function<bool(std::string_view text)>;

// A constraint on texts; to_token_mask() converts it to a token mask.
struct TextConstraint {
  std::function<bool(std::string_view text, std::string_view token)> is_valid_next_token = {};
  TextPredicate is_complete = {};  // true: the answer may end here
  // is_valid_next_token is called for the most likely tokens in turn until this many are valid;
  // other tokens are not allowed. 0 = it is called for all tokens.
  int candidates = 64;
};

WICK_API TokenMaskHook to_token_mask(TextConstraint constraint);

}  // namespace wick
