// Log-probabilities piece by piece, held against those of the whole answer, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <ostream>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "library/library_fixture_test.h"
#include "library/model_state.h"
#include "library/stream_state.h"
#include "local/local.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

Generation scored(std::uint64_t seed, int max_tokens) {
  Generation g = noise(seed, max_tokens);
  g.logprobs = true;
  g.top_logprobs = 4;
  return g;
}

void expect_same(std::span<const TokenLogprob> a, std::span<const TokenLogprob> b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, b[i].id) << i;
    EXPECT_EQ(a[i].bytes, b[i].bytes) << i;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[i].logprob),
              std::bit_cast<std::uint64_t>(b[i].logprob))
        << i;
    expect_same(a[i].top_logprobs, b[i].top_logprobs);
  }
}

struct Piece {
  std::string text = {};  // of the end: none
  std::vector<std::string> tokens = {};

  bool operator==(const Piece&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  out << '"' << piece.text << "\":";
  for (const std::string& token : piece.tokens)
    out << ' ' << token;
  return out;
}

// What a reader of `stream` keeps.
struct Kept {
  std::vector<TokenLogprob> logprobs;
  std::vector<Piece> pieces;

  // False once the answer is over; what came with the end is then kept, too.
  bool read(Stream& stream) {
    const auto text = stream.next();
    Piece piece{.text = std::string(text.value_or(""))};
    for (const TokenLogprob& token : stream.logprobs()) {
      logprobs.push_back(token);
      piece.tokens.push_back(token.bytes);
    }
    pieces.push_back(std::move(piece));
    return text.has_value();
  }
};

// How many of `tokens` it takes until a TextStream has shown `text`.
std::size_t tokens_until(std::string_view text, const std::vector<TokenLogprob>& tokens,
                         const Tokenizer& tokenizer) {
  TextStream stream(tokenizer, true);
  std::string shown;
  std::size_t n = 0;
  for (; n < tokens.size() && shown.size() < text.size(); ++n)
    shown += stream.push(tokens[n].id);
  EXPECT_EQ(shown, text);
  return n;
}

// Draws these tokens, one byte each or "<end>". Before one that follows a piece it waits until the
// reader has read the piece, so that each comes alone.
class Script {
 public:
  explicit Script(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
    for (const Piece& piece : pieces_) {
      for (const std::string& token : piece.tokens)
        ids_.push_back(token.size() > 1 ? test::kTinyImEnd : static_cast<std::uint8_t>(token[0]));
      if (!piece.text.empty()) waits_before_.push_back(ids_.size());
    }
  }

  LogitsHook hook() {
    return [this](std::span<float> logits, std::span<const TokenId> history) {
      const std::size_t at = history.size() - 3;  // behind the prompt "abc"
      if (std::find(waits_before_.begin(), waits_before_.end(), at) != waits_before_.end() &&
          !has_read_.try_acquire_for(std::chrono::seconds(20))) {
        throw std::runtime_error("the reader did not get its piece");
      }
      std::fill(logits.begin(), logits.end(), -1e9F);
      logits[static_cast<std::size_t>(ids_.at(at))] = 0;
    };
  }

  // The pieces that a reader gets.
  std::vector<Piece> play(const Model& model, std::vector<std::string> stop) {
    Generation g = scored(1, 50);
    g.logits = hook();
    g.stop = std::move(stop);
    auto stream = model.stream("abc", g);
    EXPECT_TRUE(stream);
    Kept kept;
    while (kept.read(*stream))
      has_read_.release();
    const auto answer = stream->finish();
    EXPECT_TRUE(answer) << (answer ? "" : to_string(answer.error()));
    if (answer) expect_same(kept.logprobs, answer->logprobs);
    return kept.pieces;
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<TokenId> ids_;
  std::vector<std::size_t> waits_before_;
  std::counting_semaphore<> has_read_{0};
};

const std::string kEndName = "<|im_end|>";

TEST(LibraryStreamScores, ACharacterOfSeveralTokensComesWithAllOfThem) {
  const Fixture f;
  const std::vector<Piece> wanted = {{"a", {"a"}},
                                     {"é", {"\xC3", "\xA9"}},
                                     {"€", {"\xE2", "\x82", "\xAC"}},
                                     {"b", {"b"}},
                                     {"", {kEndName}}};
  EXPECT_EQ(Script(wanted).play(*f.model, {}), wanted);
}

TEST(LibraryStreamScores, WhatAStopTextHeldBackComesWithTheTextThatFreedIt) {
  const Fixture f;
  const std::vector<Piece> wanted = {
      {"x", {"x"}}, {"yzq", {"y", "z", "q"}}, {"x", {"x"}}, {"", {"y", "z", "z"}}};
  EXPECT_EQ(Script(wanted).play(*f.model, {"yzz"}), wanted);
}

TEST(LibraryStreamScores, WhatIsHeldBackAtTheEndComesWithTheEndToken) {
  const Fixture f;
  const std::vector<Piece> wanted = {{"x", {"x"}}, {"yz", {"y", "z", kEndName}}, {"", {}}};
  EXPECT_EQ(Script(wanted).play(*f.model, {"yzz"}), wanted);
  const std::vector<Piece> half = {{"\uFFFD", {"\xC3", kEndName}}, {"", {}}};
  EXPECT_EQ(Script(half).play(*f.model, {}), half);
  const std::vector<Piece> nothing = {{"", {kEndName}}};
  EXPECT_EQ(Script(nothing).play(*f.model, {}), nothing);
}

TEST(LibraryStreamScores, AfterEachPieceTheTokensAreThoseOfTheTextWhoeverElseIsThere) {
  const Fixture f({.context = 2048});
  const auto local = *LocalModel::open(f.path, {.threads = 1});
  std::vector<Completion> alone;
  for (std::uint64_t i = 0; i < 4; ++i)
    alone.push_back(*f.model->complete("abc", scored(i, 400)));
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 4; ++i)
    streams.push_back(*f.model->stream("abc", scored(i, 400)));
  std::vector<Kept> kept(4);
  for (std::size_t n_open = 4; n_open > 0;) {
    n_open = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      Kept& k = kept[i];
      if (!k.pieces.empty() && k.pieces.back().text.empty()) continue;
      if (!k.read(streams[i])) continue;
      ++n_open;
      const std::size_t n = k.logprobs.size();
      if (n == static_cast<std::size_t>(alone[i].usage.generated_tokens)) continue;  // the rest
      EXPECT_EQ(tokens_until(streams[i].text(), k.logprobs, local->tokenizer()), n);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    expect_same(kept[i].logprobs, alone[i].logprobs);
    EXPECT_TRUE(streams[i].finish());
  }
}

TEST(LibraryStreamScores, SpeculationChangesNoneOfThem) {
  const Fixture f;
  const std::string text = "abcdefgh";
  Generation g = scored(3, 200);
  g.logits = [&](std::span<float> logits, std::span<const TokenId> history) {
    std::fill(logits.begin(), logits.end(), logits[0]);
    logits[static_cast<std::size_t>(text[history.size() % text.size()])] += 1e3F;
  };
  const auto plain = f.model->complete("abc", g);
  ASSERT_TRUE(plain);
  const std::shared_ptr<LocalModel> drafting = *LocalModel::open(
      f.path, {.threads = 1, .engine = {.draft_max = 8, .adaptive_drafting = false}});
  auto state = begin_stream(drafting, "abc", g);
  ASSERT_TRUE(state);
  Stream stream(*std::move(state));
  Kept kept;
  while (kept.read(stream))
    EXPECT_EQ(tokens_until(stream.text(), kept.logprobs, drafting->tokenizer()),
              kept.logprobs.size());
  EXPECT_GT(stream.finish()->usage.accepted_tokens, 100);
  expect_same(kept.logprobs, plain->logprobs);
  EXPECT_EQ(stream.text(), plain->text);
}

TEST(LibraryStreamScores, ACancelledAnswerHasToldThoseOfWhatItSaid) {
  const Fixture f({.context = 8192});
  Generation endless = scored(1, 8000);
  endless.logit_bias = {{test::kTinyImEnd, -1e6}, {test::kTinyBeginOfText, -1e6}};
  auto stream = f.model->stream("abc", endless);
  ASSERT_TRUE(stream);
  Kept kept;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(kept.read(*stream));
  stream->cancel();
  while (kept.read(*stream)) {
  }
  const auto answer = stream->finish();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->finish, FinishReason::kCancelled);
  EXPECT_EQ(kept.logprobs.size(), static_cast<std::size_t>(answer->usage.generated_tokens));
  expect_same(kept.logprobs, answer->logprobs);
}

TEST(LibraryStreamScores, AFailedAnswerHasToldThoseOfWhatItSaid) {
  const Fixture f;
  Generation g = scored(1, 20);
  g.logits = [](std::span<float> logits, std::span<const TokenId> history) {
    if (history.size() == 8) throw std::runtime_error("enough");
    std::fill(logits.begin(), logits.end(), -1e9F);
    logits[history.size() == 7 ? 0xC3 : 'x'] = 0;
  };
  auto stream = f.model->stream("abc", g);
  ASSERT_TRUE(stream);
  Kept kept;
  while (kept.read(*stream)) {
  }
  EXPECT_FALSE(stream->finish());
  EXPECT_EQ(stream->text(), "xxxx\uFFFD");
  ASSERT_EQ(kept.logprobs.size(), 5U);
  EXPECT_EQ(kept.logprobs[3].bytes, "x");
  EXPECT_EQ(kept.logprobs[4].bytes, "\xC3");
}

TEST(LibraryStreamScores, FinishBringsTheRestAndNothingTwice) {
  const Fixture f;
  auto stream = f.model->stream("abc", scored(2, 200));
  ASSERT_TRUE(stream);
  EXPECT_TRUE(stream->logprobs().empty());
  Kept kept;
  ASSERT_TRUE(kept.read(*stream));
  const auto answer = stream->finish();
  ASSERT_TRUE(answer);
  ASSERT_TRUE(stream->finish());  // brings nothing, and takes nothing away
  kept.logprobs.insert(kept.logprobs.end(), stream->logprobs().begin(), stream->logprobs().end());
  expect_same(kept.logprobs, answer->logprobs);
  EXPECT_FALSE(stream->next());
  EXPECT_TRUE(stream->logprobs().empty());
}

TEST(LibraryStreamScores, AreThereOnlyWhereTheyWereAskedFor) {
  const Fixture f;
  Generation prompt_only = noise(2);
  prompt_only.prompt_logprobs = true;
  for (const Generation& g : {noise(2), prompt_only}) {
    auto stream = f.model->stream("abc", g);
    ASSERT_TRUE(stream);
    while (stream->next())
      EXPECT_TRUE(stream->logprobs().empty());
    EXPECT_TRUE(stream->logprobs().empty());
    EXPECT_EQ(stream->finish()->prompt_logprobs.size(), g.prompt_logprobs ? 2U : 0U);
  }
}

TEST(HotPathStreamScores, ReachTheirReaderWithNeitherHeapNorLock) {
  const Fixture f;
  for (const bool logprobs : {false, true}) {
    Generation g = scored(5, 200);
    g.logprobs = logprobs;
    if (!logprobs) g.top_logprobs = 0;
    test::reset_hot_counts();
    auto stream = f.model->stream("abc", g);
    ASSERT_TRUE(stream);
    std::size_t n = 0;
    while (stream->next())
      n += stream->logprobs().size();
    EXPECT_EQ(n > 10, logprobs);
    EXPECT_EQ(test::hot_counts().allocations, 0);
    EXPECT_EQ(test::hot_counts().locks, 0);
  }
}

}  // namespace
}  // namespace wick
