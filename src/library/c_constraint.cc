// A C program's constraints (wick/constraint.h) as C++ ones.
#include <stdexcept>

#include "library/c_convert.h"

namespace wick::c_abi {

namespace {

bool is_yes(int answer) {
  if (answer != 0 && answer != 1) throw std::runtime_error(cat("it returned ", answer));
  return answer == 1;
}

void expect_yes(int answer) {
  if (!is_yes(answer)) throw std::runtime_error("it returned 0");
}

// A recognizer of a program in C.
class CRecognizer final : public ByteRecognizer {
 public:
  CRecognizer(wick_recognizer_factory factory, void* user) {
    expect_yes(factory(user, &c_));
    if (c_.push != nullptr && c_.pop != nullptr && c_.accepting != nullptr) return;
    if (c_.free != nullptr) c_.free(c_.self);
    throw std::runtime_error("push, pop or accepting is NULL");
  }

  ~CRecognizer() override {
    if (c_.free != nullptr) c_.free(c_.self);
  }

  bool push(unsigned char byte) override { return is_yes(c_.push(c_.self, byte)); }

  void pop() override { expect_yes(c_.pop(c_.self)); }

  bool accepting() override { return is_yes(c_.accepting(c_.self)); }

  std::string forced() override {
    if (c_.forced == nullptr) return {};
    std::string bytes(kForcedBytes, '\0');
    const ptrdiff_t n = c_.forced(c_.self, bytes.data(), bytes.size());
    if (n < 0 || static_cast<std::size_t>(n) > bytes.size())
      throw std::runtime_error(cat("forced returned ", n));
    bytes.resize(static_cast<std::size_t>(n));
    return bytes;
  }

 private:
  static constexpr std::size_t kForcedBytes = 256;
  wick_recognizer c_ = {};
};

TextPredicate predicate_of(wick_text_predicate predicate, void* user) {
  if (predicate == nullptr) return {};
  return [predicate, user](std::string_view text) {
    return is_yes(predicate(user, text.data(), text.size()));
  };
}

TokenMaskHook mask_of(wick_token_mask_hook hook, void* user) {
  return [hook, user](const TokenPlace& place, std::span<std::uint64_t> allowed) {
    const wick_token_place c{.text = place.text.data(),
                             .length = place.text.size(),
                             .tokens = place.tokens.data(),
                             .n_tokens = place.tokens.size(),
                             .logits = place.logits.data(),
                             .vocabulary = place.logits.size(),
                             .ends = place.ends.data(),
                             .n_ends = place.ends.size(),
                             .bytes = &place.bytes};
    expect_yes(hook(user, &c, allowed.data(), allowed.size()));
  };
}

TokenMaskHook mask_of(const wick_text_constraint& c) {
  return to_token_mask({.is_valid_next_token =
                            [ask = c.is_valid_next_token, user = c.user](std::string_view text,
                                                                         std::string_view token) {
                              return is_yes(
                                  ask(user, text.data(), text.size(), token.data(), token.size()));
                            },
                        .is_complete = predicate_of(c.is_complete, c.user),
                        .candidates = c.candidates});
}

}  // namespace

Result<void> take_constraints(const wick_generation& c, Generation& out) {
  if (c.recognizer != nullptr) {
    out.recognizer = [factory = c.recognizer, user = c.recognizer_user] {
      return std::make_unique<CRecognizer>(factory, user);
    };
  }
  if (c.token_mask != nullptr) out.token_mask = mask_of(c.token_mask, c.token_mask_user);
  if (c.text_constraint != nullptr) {
    if (c.text_constraint->is_valid_next_token == nullptr) {
      return null_argument("is_valid_next_token");
    }
    if (out.token_mask != nullptr) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "two_constraints",
                   .message = "token_mask and text_constraint are both set; one of them is wanted"};
    }
    out.token_mask = mask_of(*c.text_constraint);
  }
  out.predicate = predicate_of(c.predicate, c.predicate_user);
  return {};
}

}  // namespace wick::c_abi
