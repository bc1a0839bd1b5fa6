#include "grammar/composed.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/strings.h"
#include "grammar/captures.h"
#include "grammar/limits.h"
#include "grammar/output_format.h"
#include "grammar/regex_recognizer.h"
#include "grammar/structural_tag.h"

namespace wick::grammar {
namespace {

using Part = Composition::Part;

std::unique_ptr<Recognizer> language_of(const char* pattern) {
  return *RegexRecognizer::parse(pattern);
}

StateId read_composed(Recognizer& recognizer, std::string_view text) {
  recognizer.begin(kMaskFuel);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

bool takes(Recognizer& recognizer, std::string_view text) {
  return recognizer.accepts(read_composed(recognizer, text));
}

ComposedRecognizer composed(Composition&& c, Part whole) {
  return ComposedRecognizer(*std::move(c).compile(whole));
}

TEST(Composed, SequencesAlternativesAndRepetitions) {
  Composition c;
  const Part word = c.document(language_of("[a-z]{1,3}"));
  const Part item = c.any_of({c.text("<>"), c.sequence({c.text("<"), word, c.text(">")})});
  ComposedRecognizer some = composed(std::move(c), c.repeat(item, 1, 2));
  for (const char* const good : {"<>", "<ab>", "<><abc>"})
    EXPECT_TRUE(takes(some, good)) << good;
  for (const char* const bad : {"", "<", "<><><>", "<abcd>", "x", "<>x"})
    EXPECT_FALSE(takes(some, bad)) << bad;
  EXPECT_EQ(read_composed(some, "<abcd"), kDeadState);
  EXPECT_EQ(*some.shortest(read_composed(some, "<a")), ">");
}

TEST(Composed, FreeTextEndsAtATrigger) {
  Composition c;
  const Part call = c.sequence({c.until({.triggers = {"<call>", "<cat>"}}, 0),
                                c.document(language_of("[0-9]+")), c.text("</call>")});
  const Part rest = c.free_text({.triggers = {"<call>", "<cat>"}});
  ComposedRecognizer some =
      composed(std::move(c), c.sequence({c.repeat(call, 0, Composition::kMany), rest}));
  for (const char* const good : {"", "any <text", "<call>1</call>", "a<ca<call>12</call>b<c",
                                 "<call>1</call><call>2</call>"})
    EXPECT_TRUE(takes(some, good)) << good;
  for (const char* const bad : {"<call>", "<call>x", "a<cat>", "<call>1</call><cat>"})
    EXPECT_FALSE(takes(some, bad)) << bad;
  EXPECT_EQ(read_composed(some, "<call>x"), kDeadState);
  EXPECT_EQ(*some.shortest(read_composed(some, "ab <call>")), "0</call>");
  EXPECT_EQ(*some.shortest(read_composed(some, "ab <cal")), "");
}

TEST(Composed, AnchoredTriggersCountAtTheBeginningAlone) {
  Composition c;
  ComposedRecognizer some =
      composed(std::move(c), c.free_text({.triggers = {"{\"n"}, .is_anchored = true}));
  for (const char* const good : {"", " ", "a {\"n", "{", "\n {\"m"})
    EXPECT_TRUE(takes(some, good));
  for (const char* const bad : {"{\"n", " \n{\"n"})
    EXPECT_EQ(read_composed(some, bad), kDeadState);
}

TEST(Composed, FreeTextHasABudget) {
  Composition c;
  ComposedRecognizer some = composed(
      std::move(c), c.sequence({c.until({.triggers = {"END"}, .max_bytes = 4}, 0), c.text("!")}));
  for (const char* const good : {"END!", "abcdEND!", "EENEND!"})
    EXPECT_TRUE(takes(some, good));
  EXPECT_EQ(read_composed(some, "abcde"), kDeadState);
  EXPECT_EQ(*some.shortest(read_composed(some, "abcd")), "END!");
  const StateId far = read_composed(some, "a");
  EXPECT_EQ(some.near_form(far, 1), far);
}

TEST(Composed, WhatCannotBeFulfilledIsRefused) {
  Composition c;
  EXPECT_EQ(std::move(c).compile(c.document(language_of("a(?!a)a"))).error().id, "no_document");
  Composition d;
  EXPECT_EQ(std::move(d).compile(d.until({.triggers = {"b", "abc"}}, 1)).error().id, "no_document");
  Composition e;
  const Part many = e.repeat(e.repeat(e.text("a"), 1000, 1000), 1000, 1000);
  EXPECT_EQ(std::move(e).compile(many).error().id, "composition_size");
}

// Random texts of three letters: the automaton agrees with the definition.
TEST(Composed, EqualsBruteForce) {
  std::mt19937 random(3);
  Composition c;
  const Part item = c.sequence({c.until({.triggers = {"ab", "ba"}}, 0), c.text("c")});
  ComposedRecognizer some = composed(
      std::move(c), c.sequence({c.repeat(item, 0, 2), c.free_text({.triggers = {"ab", "ba"}})}));
  const auto fits = [](std::string text) {
    for (int n = 0; n < 2; ++n) {
      const std::size_t a = text.find("ab"), b = text.find("ba");
      if (a == std::string::npos || b < a) break;
      if (text.size() <= a + 2 || text[a + 2] != 'c') return false;
      text.erase(0, a + 3);
    }
    return text.find("ab") == std::string::npos && text.find("ba") == std::string::npos;
  };
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto n = random() % 10; n > 0; --n)
      text += "abc"[random() % 3];
    ASSERT_EQ(takes(some, text), fits(text)) << text;
  }
}

// ---- Captures

std::string captured(Program& program, std::string_view text, std::size_t piece) {
  CaptureReader reader(program);
  std::vector<CaptureEvent> events;
  std::string out;
  bool is_good = true;
  for (std::size_t at = 0; at < text.size(); at += piece)
    is_good = is_good && reader.push(text.substr(at, piece), events);
  if (!is_good || !reader.finish(events)) out = "bad:";
  for (const CaptureEvent& event : events) {
    if (event.kind == CaptureEvent::Kind::kOpen) out += cat("[", event.name, " ");
    if (event.kind == CaptureEvent::Kind::kText) out += event.text;
    if (event.kind == CaptureEvent::Kind::kClose) out += "]";
  }
  return out;
}

TEST(Captures, AnySplitGivesTheSameEvents) {
  Composition c;
  const Part name = c.capture("name", c.document(language_of("[a-z]+")));
  const Part body = c.capture("arguments", c.document(language_of(R"(\{[0-9,]*\})")));
  const Part call =
      c.capture("call", c.sequence({c.until({.triggers = {"<c>"}}, 0), name, c.text(":"), body}));
  const Part rest = c.capture("text", c.free_text({.triggers = {"<c>"}}));
  Program program =
      *std::move(c).compile(c.sequence({c.repeat(call, 0, Composition::kMany), rest}));
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 100U}) {
    EXPECT_EQ(captured(program, "a<c<c>f:{1,2}b<c", piece),
              "[call a<c<c>[name f]:[arguments {1,2}]][text b<c]")
        << piece;
    EXPECT_EQ(captured(program, "ab", piece), "[text ab]") << piece;
    EXPECT_TRUE(captured(program, "<c>f:x", piece).starts_with("bad:")) << piece;
  }
}

// ---- Structural tags

const char* const kTags = R"({"type": "structural_tag", "format": {"type": "triggered_tags",
  "triggers": ["<function="], "tags": [
    {"type": "tag", "begin": "<function=f>", "content": {"type": "json_schema", "json_schema":
      {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
       "additionalProperties": false}}, "end": "</function>"},
    {"begin": "<function=g>", "type": "tag", "content": {"type": "regex", "pattern": "[ab]+"},
     "end": "</function>"}]}})";

TEST(StructuralTag, CallsInFreeTextAreHeldToTheirSchemas) {
  auto made = structural_tag(kTags, {});
  ASSERT_TRUE(made) << to_string(made.error());
  Recognizer& some = **made;
  for (const char* const good :
       {"", "text < function",
        "So: <function=f>{\"n\": 1}</function> and <function=g>ab</function>"})
    EXPECT_TRUE(takes(some, good)) << good;
  for (const char* const bad : {"<function=h", "<function=f>{\"n\": \"", "<function=g>c",
                                "<function=g>ab</function><function=x"})
    EXPECT_EQ(read_composed(some, bad), kDeadState) << bad;
}

TEST(StructuralTag, TheOlderForm) {
  const auto made = make_recognizer(
      {.type = "structural_tag",
       .schema = R"({"type": "structural_tag", "structures": [{"begin": "<t>", "schema":
         {"const": 7}, "end": "</t>"}], "triggers": ["<t"]})"});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(takes(**made, "a <t>7</t>"));
  EXPECT_EQ(read_composed(**made, "a <t>8"), kDeadState);
}

TEST(StructuralTag, SequencesAndSeparators) {
  auto made = structural_tag(R"~({"format": {"type": "sequence", "elements": [
      {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
      {"type": "or", "elements": [{"type": "const_string", "value": "no"},
        {"type": "tags_with_separator", "separator": ", ", "at_least_one": true, "tags": [
          {"type": "tag", "begin": "f(", "content": {"type": "json_schema", "json_schema":
           {"type": "integer"}}, "end": ")"}]}]},
      {"type": "repeat", "min": 0, "max": 2, "content":
       {"type": "const_string", "value": "!"}}]}})~",
                             {});
  ASSERT_TRUE(made) << to_string(made.error());
  for (const char* const good :
       {"<think>a < b</think>no", "<think></think>f(1), f(-2)!!", "<think>x</think>f(0)!"})
    EXPECT_TRUE(takes(**made, good)) << good;
  for (const char* const bad : {"no", "<think></think>f(1), ", "<think></think>no!!!"})
    EXPECT_FALSE(takes(**made, bad)) << bad;
}

TEST(StructuralTag, ErrorsNameThePlace) {
  const auto message = [](const char* json) {
    const auto made = structural_tag(json, {});
    return made ? std::string() : cat(made.error().id, ": ", made.error().message);
  };
  EXPECT_EQ(
      message(R"({"format": {"type": "sequence", "elements": [{"type": "x"}]}})"),
      "bad_structural_tag: the structural tag's format.elements[0].type 'x' is not supported");
  EXPECT_EQ(message(R"({"format": {"type": "tag", "begin": "a", "end": "b"}})"),
            "bad_structural_tag: the structural tag's format.content is missing");
  EXPECT_EQ(
      message(R"({"type": "triggered_tags", "triggers": ["<"], "tags": []})"),
      "bad_structural_tag: the structural tag's document has no tag that begins with a trigger");
}

}  // namespace
}  // namespace wick::grammar
