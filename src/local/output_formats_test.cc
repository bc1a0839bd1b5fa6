// Structured output of a local model: what it says is in the format, however few tokens it has and
// however the engine runs it.
#include "local/output_formats.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/output_format.h"
#include "local/local.h"
#include "local/tiny_local_test.h"
#include "provider/gather.h"
#include "support/instrumented.h"

namespace wick {
namespace {

using test::TinyLocal;

bool fulfills(const ResponseFormat& format, const std::string& text) {
  const auto recognizer = *grammar::make_recognizer(format);
  recognizer->begin(grammar::kMaskFuel);
  grammar::StateId state = recognizer->start();
  for (const char c : text)
    state = recognizer->step(state, static_cast<unsigned char>(c));
  return recognizer->accepts(state);
}

const ResponseFormat kPerson = {.type = "json_schema", .schema = R"({"type":"object","properties":
  {"n":{"type":"string"},"y":{"type":"integer"},"z":{"type":"array","items":{"type":"string"}}},
  "required":["n","z"],"additionalProperties":false})"};
const ResponseFormat kAny = {.type = "json_schema", .schema = "true"};
const ResponseFormat kSums = {.type = "grammar",
                              .schema =
                                  "root ::= term (\"+\" term)*\n"
                                  "term ::= [0-9]+ | \"(\" root \")\""};

Request asking(const ResponseFormat& format, std::uint64_t seed, int max_tokens) {
  return {.prompt = "abc",
          .generation = {
              .temperature = 3, .seed = seed, .max_tokens = max_tokens, .response_format = format}};
}

TEST(OutputFormats, EveryAnswerIsADocumentHoweverShort) {
  const TinyLocal f;
  int n_steered = 0, n_free = 0;
  for (const ResponseFormat& format : {kPerson, kAny, kSums}) {
    const int least = format.schema == kPerson.schema ? 15 : 1;
    for (int most = least; most < 60; most += 1 + most / 8) {
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto answer = ask(*f.model, asking(format, seed, most));
        ASSERT_TRUE(answer) << to_string(answer.error());
        EXPECT_TRUE(fulfills(format, answer->text)) << most << " " << answer->text;
        EXPECT_LE(answer->usage.generated_tokens, most);
        const bool is_steered = answer->usage.steered_tokens > 0;
        (is_steered ? n_steered : n_free) += 1;
        EXPECT_TRUE(!is_steered || answer->finish == FinishReason::kLength);
      }
    }
  }
  EXPECT_GT(n_steered, 30);
  EXPECT_GT(n_free, 10);
}

TEST(OutputFormats, WhatCannotFitIsRefusedAtOnce) {
  const TinyLocal f;
  const auto id_of = [&](const Request& request) {
    const auto answer = f.model->start(request);
    return answer ? std::string("taken") : answer.error().id;
  };
  EXPECT_EQ(id_of(asking(kPerson, 1, 14)), "max_tokens_too_small");
  EXPECT_EQ(id_of(asking(kPerson, 1, 15)), "taken");
  EXPECT_EQ(id_of(asking({.type = "regex", .schema = "a{400}"}, 1, 0)), "max_tokens_too_small");
  EXPECT_EQ(id_of(asking({.type = "regex", .schema = "(a"}, 1, 9)), "regex_syntax");
}

constexpr double kMaxSeconds = test::kIsInstrumented ? 40 : 2;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(OutputFormats, NoFormatBreaksAtMaxTokens) {
  const TinyLocal f;
  std::string choices = "[";
  for (int i = 0; i < 3000; ++i)
    choices += cat(i == 0 ? "" : ",", "\"", std::string(400, 'q'), i, "\"");
  choices += "]";
  const auto schema = [](std::string text) {
    return ResponseFormat{.type = "json_schema", .schema = std::move(text)};
  };

  const struct {
    ResponseFormat format;
    std::string id, says;
  } rows[] = {
      {{.type = "regex", .schema = "c{100000}[01]"}, "max_tokens_too_small", " 100001 tokens"},
      {{.type = "regex", .schema = "(?:ab|c{300}){2000}x"}, "max_tokens_too_small", " 4001 tokens"},
      {{.type = "choice", .schema = choices}, "max_tokens_too_small", " 401 tokens"},
      {schema(cat(R"({"enum":)", choices, "}")), "max_tokens_too_small", " 403 tokens"},
      {schema(R"({"type":"string","minLength":100000})"), "max_tokens_too_small", "100002 tokens"},
      {schema(R"({"type":"string","minLength":1000000})"), "no_short_end", "short end"},
      {schema(R"({"type":"array","minItems":100000})"), "no_short_end", "cells of memory"},
      {schema(R"({"type":"array","items":{"type":"string"},"minItems":100000})"), "no_short_end",
       "short end"},
      {schema(R"({"type":"object","minProperties":1000})"), "no_short_end", "short end"},
      {schema(R"({"type":"object","required":["a"],"minProperties":300})"), "max_tokens_too_small",
       " tokens"},
      {{.type = "grammar", .schema = "root ::= \"a\"{100000} [01]"},
       "max_tokens_too_small",
       " 100001 tokens"},
  };

  for (const auto& row : rows) {
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = f.model->start(asking(row.format, 1, 50));
    const std::string shown = row.format.schema.substr(0, 60);
    EXPECT_LT(seconds_since(begin), kMaxSeconds) << shown;
    ASSERT_FALSE(answer) << shown;
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(answer.error().id, row.id) << shown;
    EXPECT_NE(answer.error().message.find("max_tokens is 50, "), std::string::npos);
    EXPECT_NE(answer.error().message.find(row.says), std::string::npos) << answer.error().message;
  }
}

TEST(OutputFormats, ASearchWithoutResultIsNotRepeatedForEachToken) {
  const TinyLocal f;
  Request request = asking({.type = "json_schema", .schema = R"({"type":"array",
    "items":{"type":"string"},"minItems":100000})"},
                           1, 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = ask(*f.model, request);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_GT(answer->usage.generated_tokens, 200);
  EXPECT_LT(seconds_since(begin), 2 * kMaxSeconds);
}

TEST(OutputFormats, ATokenAfterWhichNoEndIsKnownIsNotTaken) {
  const TinyLocal f;
  const ResponseFormat format = {.type = "regex", .schema = "[vwx]+|[y-z](?=[a-z]*$)c{100000}"};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto answer = ask(*f.model, asking(format, seed, 20));
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_TRUE(fulfills(format, answer->text)) << answer->text;
  }
}

TEST(OutputFormats, FormatsBeyondTheirBytesAreCompiledAgain) {
  const TinyLocal f;
  const auto n_compiled = [&](OutputFormats& formats, const std::string& keys) {
    int n = 0;
    for (const char key : keys) {
      const std::string schema = cat(R"({"enum":[")", std::string(1, key), R"("]})");
      const auto make = [&n, schema] {
        ++n;
        return grammar::make_recognizer({.type = "json_schema", .schema = schema});
      };
      const auto filter =
          formats.filter(f.model->tokenizer(), {.key = schema, .make = make, .max_tokens = 20});
      EXPECT_TRUE(filter) << to_string(filter.error());
    }
    return n;
  };
  OutputFormats many, one(1);
  EXPECT_EQ(n_compiled(many, "abcabca"), 3);
  EXPECT_EQ(n_compiled(one, "abcabca"), 7);
  EXPECT_EQ(n_compiled(one, "aabb"), 1);  // the last one used is kept
}

TEST(OutputFormats, BatchesAndDraftTokensChangeNothing) {
  const TinyLocal one;
  const TinyLocal many({.engine = {.max_seqs = 6, .draft_max = 4, .adaptive_drafting = false}});
  for (const ResponseFormat& format : {kPerson, kAny, kSums}) {
    std::vector<std::unique_ptr<Answer>> answers;
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      answers.push_back(*many.model->start(asking(format, seed, 60)));
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const auto alone = ask(*one.model, asking(format, seed, 60));
      const auto beside = read_all(*answers[seed]);
      ASSERT_TRUE(alone);
      EXPECT_EQ(beside.completion.text, alone->text);
      EXPECT_EQ(beside.completion.usage.steered_tokens, alone->usage.steered_tokens);
    }
  }
}

TEST(OutputFormats, AHookAndBansStayWithinTheFormat) {
  const TinyLocal f;
  Request request = asking({.type = "choice", .schema = R"(["ax","bx","cx"])"}, 1, 9);
  request.generation.logits = [](std::span<float> logits, std::span<const TokenId>) {
    logits['z'] = 1e9F;
    logits['b'] = 1e8F;
  };
  EXPECT_EQ(ask(*f.model, request)->text, "bx");
  request.generation.logits = {};
  constexpr double kBan = -std::numeric_limits<double>::infinity();
  for (const char c : {'a', 'b', 'c'})
    request.generation.logit_bias.push_back({.id = c, .bias = kBan});
  const auto banned = *f.model->start(request);
  const Gather whole = read_all(*banned);
  ASSERT_TRUE(whole.error);
  EXPECT_EQ(whole.error->id, "banned_format");
}

TEST(OutputFormats, TheTextBeginsBehindTheReasoning) {
  for (const std::string mark : {"<think>", "<seed:think>"}) {
    const TinyLocal f({.chat_template = cat("{{ messages[0].content }}{% if enable_thinking %}",
                                            mark, "\n{% endif %}")});
    int n_reasoned = 0;
    for (const int most : {45, 80}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        Request request = asking(kPerson, seed, most);
        request.prompt = std::vector<Message>{{.content = "abc"}};
        request.generation.thinking = true;
        const auto answer = ask(*f.model, request);
        ASSERT_TRUE(answer) << to_string(answer.error());
        EXPECT_TRUE(fulfills(kPerson, answer->text)) << answer->text;
        n_reasoned += answer->reasoning.empty() ? 0 : 1;
      }
    }
    EXPECT_GT(n_reasoned, 4) << mark;
  }
}

}  // namespace
}  // namespace wick
