// A C program's constraints hold the answers, and what they return otherwise is an error.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "library/library_fixture_test.h"

namespace wick {
namespace {

// One or more digits, in C.
struct CDigits {
  int n;
  int* n_freed;
};

int push_digit(void* self, unsigned char byte) {
  if (byte < '0' || byte > '9') return 0;
  ++static_cast<CDigits*>(self)->n;
  return 1;
}

int pop_digit(void* self) {
  --static_cast<CDigits*>(self)->n;
  return 1;
}

int has_digit(void* self) {
  return static_cast<CDigits*>(self)->n > 0 ? 1 : 0;
}

void free_digits(void* self) {
  auto* const digits = static_cast<CDigits*>(self);
  ++*digits->n_freed;
  delete digits;
}

int make_digits(void* user, wick_recognizer* out) {
  *out = {.self = new CDigits{0, static_cast<int*>(user)},
          .push = push_digit,
          .pop = pop_digit,
          .accepting = has_digit,
          .forced = nullptr,
          .free = free_digits};
  return 1;
}

struct CConstraint : testing::Test {
  CFixture f;
  wick_generation g = {};

  CConstraint() {
    wick_generation_init(&g);
    g.max_tokens = 12;
    g.has_seed = 1;
  }

  std::string answer() {
    ++g.seed;
    wick_completion* const made = wick_complete(f.model, "abc", &g, nullptr, nullptr, &f.error);
    if (made == nullptr) return f.error_id();
    std::string text(made->text, made->length);
    wick_completion_free(made);
    return text;
  }
};

TEST_F(CConstraint, ARecognizerHoldsAndIsFreed) {
  int n_freed = 0;
  g.recognizer = make_digits;
  g.recognizer_user = &n_freed;
  for (int i = 0; i < 8; ++i) {
    const std::string text = answer();
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find_first_not_of("0123456789"), std::string::npos) << text;
  }
  wick_model_free(std::exchange(f.model, nullptr));  // its thread has let go of the last one
  EXPECT_EQ(n_freed, 8);
}

TEST_F(CConstraint, ATokenMaskAndAPredicateHold) {
  g.response_format = "regex";
  g.response_schema = "[0-9]{2,9}";
  g.token_mask = [](void*, const wick_token_place* place, uint64_t* allowed, size_t n_words) {
    size_t length = 0;
    const char* const bytes = wick_token_bytes(place, '7', &length);
    if (n_words < 1 || std::string_view(bytes, length) != "7") return -1;
    allowed[0] &= ~(uint64_t{1} << '7');
    return 1;
  };
  g.predicate = [](void*, const char* text, size_t length) {
    return (text[length - 1] - '0') % 2 == 0 ? 1 : 0;
  };
  for (int i = 0; i < 12; ++i) {
    g.max_tokens = 0;
    const std::string text = answer();
    EXPECT_EQ(text.find_first_not_of("012345689"), std::string::npos) << text;
    EXPECT_EQ(text.back() % 2, 0) << text;
  }
}

TEST_F(CConstraint, ATextConstraintHolds) {
  static const wick_text_constraint upper = {
      .is_valid_next_token =
          [](void*, const char*, size_t length, const char* token, size_t token_length) {
            return token_length == 1 && length < 5 && token[0] >= 'A' && token[0] <= 'Z' ? 1 : 0;
          },
      .is_complete = [](void*, const char*, size_t length) { return length >= 3 ? 1 : 0; },
      .user = nullptr,
      .candidates = 4};
  g.text_constraint = &upper;
  for (int i = 0; i < 12; ++i) {
    const std::string text = answer();
    EXPECT_TRUE(text.size() >= 3 && text.size() <= 5) << text;
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos) << text;
  }
}

TEST_F(CConstraint, WhatIsNeitherYesNorNoIsAnError) {
  g.predicate = [](void*, const char*, size_t) { return 2; };
  EXPECT_EQ(answer(), "callback_failed");
  g.predicate = nullptr;
  g.recognizer = [](void*, wick_recognizer*) { return 1; };
  EXPECT_EQ(answer(), "callback_failed");
  g.recognizer = [](void*, wick_recognizer*) { return 0; };
  EXPECT_EQ(answer(), "callback_failed");
  g.recognizer = nullptr;
  static const wick_text_constraint none = {};
  g.text_constraint = &none;
  EXPECT_EQ(answer(), "null_argument");
  g.token_mask = [](void*, const wick_token_place*, uint64_t*, size_t) { return 1; };
  EXPECT_EQ(answer(), "null_argument");
}

}  // namespace
}  // namespace wick
