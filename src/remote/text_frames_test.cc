#include "remote/text_frames.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/strings.h"
#include "remote/dialect.h"

namespace wick::remote {

namespace {

std::string said(std::string_view text, std::string_view more = "") {
  return cat(R"({"id":"c","model":"mm","choices":[{"index":0,"delta":{"content":")", text, R"("})",
             more, "}]}");
}

// The text of a frame that gives one text event and nothing else, as remote_answer.cc asks; else
// "".
std::string decoded_text(Decoder& decoder, std::string_view frame) {
  EventWriter out;
  const auto read = read_frame(frame, [&](Json json) {
    if (auto refusal = stream_refusal(json)) {
      out.refusal = std::move(refusal);
    } else {
      decoder.add(json, out);
    }
  });
  const bool is_one = read && out.events.size() == 1 && !out.refusal && !out.is_over;
  const auto* const text = is_one ? std::get_if<TextEvent>(&out.events.front()) : nullptr;
  return text == nullptr ? "" : text->text;
}

// After frames with these texts.
TextFrames frames_of(const std::vector<std::string>& frames) {
  TextFrames out;
  const auto decoder = kOpenAi.decoder();
  for (const std::string& frame : frames)
    out.saw(frame, decoded_text(*decoder, frame));
  return out;
}

std::string taken(const TextFrames& frames, std::string_view frame) {
  return std::string(frames.text_of(frame).value_or("(parse it)"));
}

}  // namespace

TEST(TextFrames, AFrameLikeTheLastTwoNeedsNoParser) {
  const TextFrames frames = frames_of({said("one"), said(" two"), said(" three")});
  EXPECT_EQ(taken(frames, said(" four")), " four");
  EXPECT_EQ(taken(frames, said("größer 語")), "größer 語");
  EXPECT_EQ(taken(frames, said("\x7F")), "\x7F");
}

TEST(TextFrames, TwoTextsAreNotEnoughAndTheFirstDoesNotCount) {
  EXPECT_EQ(taken(frames_of({said("one")}), said("x")), "(parse it)");
  EXPECT_EQ(taken(frames_of({said("one"), said("two")}), said("x")), "(parse it)");
}

TEST(TextFrames, AnyOtherFrameIsParsed) {
  const TextFrames frames = frames_of({said("one"), said(" two"), said(" three")});
  for (const std::string& text : {std::string(), std::string(R"(a\nb)"), std::string(R"(a"b)"),
                                  std::string("a\nb"), std::string("a\xFF"), std::string("\xC3"),
                                  std::string(5000, 'x')}) {
    EXPECT_EQ(taken(frames, said(text)), "(parse it)") << text;
  }
  EXPECT_EQ(taken(frames, said("x", R"(,"finish_reason":"stop")")), "(parse it)");
  EXPECT_EQ(taken(frames, R"({"error":{"message":"no"}})"), "(parse it)");
  EXPECT_EQ(taken(frames, ""), "(parse it)");
  EXPECT_EQ(taken(TextFrames(), said("x")), "(parse it)");
}

TEST(TextFrames, AParsedFrameOfAnotherKindEndsIt) {
  std::vector<std::string> all = {said("one"), said(" two"), said(" three")};
  for (const std::string& other :
       {said("x", R"(,"finish_reason":"stop")"), said(R"(\t)"), std::string("{}")}) {
    all.push_back(other);
    EXPECT_EQ(taken(frames_of(all), said("x")), "(parse it)") << other;
    all.pop_back();
  }
}

TEST(TextFrames, ATextThatStandsTwiceInAFrameHasNoPlace) {
  EXPECT_EQ(taken(frames_of({said("one"), said("mm"), said("mm")}), said("x")), "(parse it)");
  EXPECT_EQ(taken(frames_of({said("one"), said("content"), said("content")}), said("x")),
            "(parse it)");
  EXPECT_EQ(taken(frames_of({said("one"), said("m"), said("d")}), said("x")), "x");
}

// A value with an escape may be the same text as a value that stands there.
TEST(TextFrames, AFrameWithAnEscapeHasNoPlace) {
  const auto frame = [](std::string_view text) {
    return cat(R"({"id":")", text, R"(","choices":[{"index":0,"delta":{"content":"\u0041"}}]})");
  };
  EXPECT_EQ(taken(frames_of({said("one"), frame("A"), frame("A")}), frame("B")), "(parse it)");
}

// Bytes of frames are changed at random: what text_of() gives is what a decoder gives.
TEST(TextFrames, TheTextIsTheDecodersForAnyFrame) {
  const std::vector<std::string> shapes = {
      said("one"), said("one", R"(,"logprobs":null,"finish_reason":null)"),
      R"({"choices":[{"text":"abc","index":0}],"model":"x"})",
      R"({"choices":[{"delta":{"role":"assistant","content":"hi there"}}],"usage":null})",
      R"({"choices":[{"delta":{"content":"a","content":"bc"},"index":0}]})",
      R"({"type":"text","choices":[{"delta":{"refusal":"error"}}],"a":"b"})"};
  const std::string_view bytes = "\"\\{}[],:ab e0n\x01\x80\xC3\xA9";
  std::minstd_rand random(7);
  int n_taken = 0;
  for (int i = 0; i < 60'000; ++i) {
    const std::string& shape = shapes[random() % shapes.size()];
    TextFrames frames;
    const auto decoder = kOpenAi.decoder();
    for (int n = 0; n < 3; ++n)
      frames.saw(shape, decoded_text(*decoder, shape));
    std::string frame = shape;
    for (auto n = random() % 3; n < 3; ++n) {
      const std::size_t at = random() % frame.size();
      const char byte = bytes[random() % bytes.size()];
      if (random() % 2 == 0) {
        frame[at] = byte;
      } else {
        frame.insert(at, 1, byte);
      }
    }
    const auto text = frames.text_of(frame);
    if (!text) continue;
    ++n_taken;
    ASSERT_EQ(*text, decoded_text(*decoder, frame)) << frame;
  }
  EXPECT_GT(n_taken, 1000);
}

}  // namespace wick::remote
