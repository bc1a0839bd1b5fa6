#include "grammar/framed.h"

#include <gtest/gtest.h>

#include "grammar/limits.h"
#include "grammar/output_format.h"

namespace wick::grammar {
namespace {

FramedRecognizer framed(const std::string& schema, Frame frame) {
  return {*make_recognizer({.type = "json_schema", .schema = schema}), std::move(frame)};
}

FramedRecognizer calls() {
  return framed(R"({"enum": [{"n": 1}, {"n": 12}]})", {"<c>\n", "\n</c>", "\n<c>\n"});
}

// The state behind `text`; the state before its first byte that is not allowed is in `allowed`.
StateId read(FramedRecognizer& recognizer, std::string_view text) {
  recognizer.begin(kMaskFuel);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

TEST(Framed, OneTextOrSeveral) {
  FramedRecognizer some = calls();
  const std::string one = "<c>\n{\"n\":1}\n</c>", two = one + "\n<c>\n{\"n\":12}\n</c>";
  EXPECT_TRUE(some.accepts(read(some, one)));
  EXPECT_TRUE(some.accepts(read(some, two)));
  for (const char* const bad : {"x", "<c>\n\n", "<c>\n{\"n\":2", "<c>\n{\"n\":1}x"})
    EXPECT_EQ(read(some, bad), kDeadState) << bad;
  for (std::size_t n = 0; n < two.size(); ++n) {
    EXPECT_NE(read(some, two.substr(0, n)), kDeadState) << n;
    EXPECT_EQ(some.accepts(read(some, two.substr(0, n))), n == one.size()) << n;
  }
  EXPECT_EQ(read(some, two + "x"), kDeadState);

  FramedRecognizer single = framed(R"({"const": 7})", {"<", ">", ""});
  EXPECT_TRUE(single.accepts(read(single, "<7>")));
  EXPECT_EQ(read(single, "<7><"), kDeadState);
}

TEST(Framed, WithoutAnEnd) {
  FramedRecognizer some = framed(R"({"enum": [{}]})", {"", "", ";"});
  EXPECT_TRUE(some.accepts(read(some, "{}")));
  EXPECT_FALSE(some.accepts(read(some, "{};")));
  EXPECT_TRUE(some.accepts(read(some, "{};{}")));
  EXPECT_EQ(read(some, ";"), kDeadState);
}

TEST(Framed, TheShortestEndIsAllowedEverywhere) {
  FramedRecognizer some = calls();
  const std::string two = "<c>\n{\"n\":1}\n</c>\n<c>\n{\"n\":12}\n</c>";
  for (std::size_t n = 0; n <= two.size(); ++n) {
    const auto end = some.shortest(read(some, two.substr(0, n)));
    ASSERT_TRUE(end) << n;
    EXPECT_TRUE(some.accepts(read(some, two.substr(0, n) + *end))) << n << " " << *end;
  }
  EXPECT_FALSE(some.shortest(kDeadState));
}

TEST(Framed, AnEmptyLanguageStaysEmpty) {
  class Empty final : public Recognizer {
   public:
    StateId start() const noexcept override { return kDeadState; }

    StateId step(StateId, unsigned char) override { return kDeadState; }

    bool accepts(StateId) const noexcept override { return false; }

    void begin(std::uint64_t) override {}

    Error failure() const override { return {}; }
  };

  FramedRecognizer none(std::make_unique<Empty>(), {"<", ">", ""});
  EXPECT_EQ(none.start(), kDeadState);
}

}  // namespace
}  // namespace wick::grammar
