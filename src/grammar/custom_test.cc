// A caller's recognizer has the masks of the language that it describes.
#include "grammar/custom.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "base/strings.h"
#include "grammar/constraint.h"
#include "grammar/limits.h"
#include "grammar/regex_recognizer.h"

namespace wick::grammar {
namespace {

// A regular language as a caller would write it: an object that is pushed and popped.
class RegexBytes final : public ByteRecognizer {
 public:
  explicit RegexBytes(const std::string& pattern) : regex_(*RegexRecognizer::parse(pattern)) {
    states_ = {regex_->start()};
  }

  bool push(unsigned char byte) override {
    regex_->begin(kMaskFuel);
    const StateId next = regex_->step(states_.back(), byte);
    if (next == kDeadState || next == kFailedState) return false;
    states_.push_back(next);
    return true;
  }

  void pop() override { states_.pop_back(); }

  bool accepting() override { return regex_->accepts(states_.back()); }

 private:
  std::unique_ptr<RegexRecognizer> regex_;
  std::vector<StateId> states_;
};

std::shared_ptr<const TokenTrie> small_vocabulary() {
  static const std::vector<std::string> kTokens = {"</s>", "a",   "b",   "c",  "0",  "1",
                                                   "7",    "ab",  "abc", "bc", "a0", "01",
                                                   "17",   "171", "-",   "-1", "0-", "a-b"};
  std::vector<std::string_view> bytes(kTokens.begin(), kTokens.end());
  bytes[0] = "";
  const TokenId end[] = {0};
  return std::make_shared<const TokenTrie>(TokenTrie::make(bytes, end));
}

std::unique_ptr<Recognizer> custom(const std::string& pattern) {
  return *CustomRecognizer::make([pattern] { return std::make_unique<RegexBytes>(pattern); });
}

std::vector<std::uint64_t> bits_of(Constraint& constraint) {
  std::vector<std::uint64_t> bits(1);
  const auto mask = constraint.mask();
  EXPECT_TRUE(mask) << to_string(mask.error());
  if (mask) (*mask)->fill(bits);
  return bits;
}

TEST(CustomRecognizer, MasksAreThoseOfTheLanguage) {
  const auto trie = small_vocabulary();
  std::mt19937 random(1);
  int n_compared = 0;
  for (const std::string pattern :
       {"[abc]*", "(ab|c)*-?[017]+", "a{2,5}(0|1)*", "abc017|a-b", "(a|ab|abc)*(-1|7)"}) {
    for (int round = 0; round < 20; ++round) {
      Constraint real(std::make_shared<TokenMasks>(*RegexRecognizer::parse(pattern), trie));
      Constraint own(std::make_shared<TokenMasks>(custom(pattern), trie));
      for (int step = 0; step < 12; ++step) {
        const auto allowed = bits_of(real);
        ASSERT_EQ(bits_of(own), allowed) << pattern;
        ++n_compared;
        if (allowed[0] <= 1) break;
        TokenId id = 0;
        while (id == 0 || ((allowed[0] >> id) & 1U) == 0)
          id = static_cast<TokenId>(random() % 18);
        ASSERT_TRUE(*real.accept(id));
        ASSERT_TRUE(*own.accept(id));
        if (random() % 4 == 0) {
          real.rollback(1);
          own.rollback(1);
        }
      }
    }
  }
  EXPECT_GT(n_compared, 400);
}

TEST(CustomRecognizer, FindsAShortEnd) {
  const auto end_of = [](const std::string& pattern) {
    const auto made = custom(pattern);
    auto end = made->shortest(made->start());
    return end ? *end : end.error().id;
  };
  EXPECT_EQ(end_of(R"(\d{4}-\d\d-\d\d)").size(), 10U);
  EXPECT_EQ(end_of(R"("[a-z ]*")"), "\"\"");
  EXPECT_EQ(end_of("a*"), "");
  EXPECT_EQ(end_of("x{300}"), std::string(300, 'x'));
  EXPECT_EQ(end_of(R"([\s\S]{2000000})"), "no_short_end");
}

// Takes a few bytes, and then throws or takes none.
struct Broken final : ByteRecognizer {
  int n = 0;
  bool throws;

  explicit Broken(bool does_throw) : throws(does_throw) {}

  bool push(unsigned char /*byte*/) override {
    if (++n > 3 && throws) throw std::runtime_error("no\nmore");
    return n < 3;
  }

  void pop() override {}

  bool accepting() override { return false; }
};

TEST(CustomRecognizer, CodeThatFailsIsAnError) {
  const auto id_of = [](const RecognizerFactory& factory) {
    auto made = CustomRecognizer::make(factory);
    if (!made) return made.error().id;
    Constraint constraint(std::make_shared<TokenMasks>(*std::move(made), small_vocabulary()));
    const auto mask = constraint.mask();
    return mask ? std::string("none") : mask.error().id;
  };
  EXPECT_EQ(id_of([] { return nullptr; }), "callback_failed");
  EXPECT_EQ(id_of([]() -> std::unique_ptr<ByteRecognizer> { throw 7; }), "callback_failed");
  EXPECT_EQ(id_of([] { return std::make_unique<Broken>(true); }), "callback_failed");
  CustomRecognizer changed(std::make_unique<Broken>(false));
  changed.begin(kMaskFuel);
  const StateId a = changed.step(changed.start(), 'a');
  ASSERT_NE(changed.step(changed.start(), 'b'), kFailedState);
  EXPECT_EQ(changed.step(a, 'c'), kFailedState);  // 'a' is pushed again
  EXPECT_EQ(changed.failure().id, "recognizer_changed");
}

TEST(PredicateRecognizer, TextsAreThoseForWhichItIsTrue) {
  const auto sum_is_seven = [](std::string_view text) {
    int sum = 0;
    for (const char c : text)
      sum += c - '0';
    return sum % 7 == 0;
  };
  PredicateRecognizer made(*RegexRecognizer::parse("[0-9]{1,3}"), sum_is_seven);
  for (int number = 0; number < 1000; ++number) {
    const std::string text = cat(number);
    made.begin(kMaskFuel);
    StateId state = made.start();
    for (const char c : text)
      state = state == kDeadState ? state : made.step(state, static_cast<unsigned char>(c));
    EXPECT_EQ(state != kDeadState && made.accepts(state), sum_is_seven(text)) << text;
    if (text.size() == 3) {
      EXPECT_EQ(state == kDeadState, !sum_is_seven(text)) << text;
    }
  }
  const auto end = made.shortest(made.start());
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_TRUE(*end == "0" || *end == "7") << *end;
}

}  // namespace
}  // namespace wick::grammar
