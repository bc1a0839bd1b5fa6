// The shapes that each API streams, cut at every byte: the events never depend on the cut.
#include <gtest/gtest.h>

#include <fstream>

#include "base/strings.h"
#include "remote/dialect.h"
#include "remote/limits.h"
#include "remote/text_frames.h"
#include "support/test_data.h"

namespace wick::remote {

namespace {

std::string shown(const EventWriter& out) {
  std::string all;
  for (const Event& event : out.events) {
    if (const auto* const e = std::get_if<TextEvent>(&event)) all += cat("T", e->text, "|");
    if (const auto* const e = std::get_if<ReasoningEvent>(&event)) all += cat("R", e->text, "|");
    if (const auto* const e = std::get_if<ToolCallEvent>(&event))
      all += cat("C", e->index, " ", e->id, " ", e->name, "|");
    if (const auto* const e = std::get_if<ArgumentsEvent>(&event))
      all += cat("A", e->index, " ", e->text, "|");
    if (const auto* const e = std::get_if<LogprobsEvent>(&event))
      all += cat("L", e->tokens.size(), "|");
  }
  all += name(out.finish);
  if (out.usage) {
    all += cat(" ", out.usage->prompt_tokens, "/", out.usage->cached_tokens, "/",
               out.usage->generated_tokens, "/", out.usage->reasoning_tokens);
  }
  if (out.refusal) all += cat(" refused ", out.refusal->status);
  return all;
}

// As remote_answer.cc reads, in pieces that end at `cuts`.
std::string read(const Dialect& dialect, std::string_view bytes, std::vector<std::size_t> cuts) {
  StreamReader reader(dialect.framing);
  const auto decoder = dialect.decoder();
  EventWriter out;
  TextFrames text_frames;
  const FrameSink sink = [&](std::string_view, std::string_view data) -> Result<void> {
    if (!dialect.end_frame.empty() && data.starts_with(dialect.end_frame)) {
      out.is_over = true;
      return {};
    }
    if (const auto text = text_frames.text_of(data)) {
      out.text(*text);
      return {};
    }
    const std::size_t n_before = out.events.size();
    WICK_DO(read_frame(data, [&](Json frame) {
      if (auto refusal = stream_refusal(frame)) {
        out.refusal = std::move(refusal);
      } else {
        decoder->add(frame, out);
      }
    }));
    const auto* const text =
        out.events.size() == n_before + 1 ? std::get_if<TextEvent>(&out.events.back()) : nullptr;
    text_frames.saw(data, text == nullptr ? std::string_view() : text->text);
    return {};
  };
  std::size_t at = 0;
  cuts.push_back(bytes.size());
  for (const std::size_t cut : cuts) {
    EXPECT_TRUE(reader.add(bytes.substr(at, cut - at), sink));
    at = cut;
  }
  EXPECT_TRUE(reader.finish(sink));
  return shown(out);
}

struct Shape {
  std::string name = {}, wanted = {}, bytes = {};
  const Dialect* dialect = nullptr;
};

const Dialect* dialect_of(const std::string& name) {
  const std::pair<const char*, const Dialect*> rows[] = {
      {"OpenAi", &kOpenAi}, {"Anthropic", &kAnthropic}, {"Ollama", &kOllama}, {"Gemini", &kGemini}};
  for (const auto& [key, dialect] : rows) {
    if (name == key) return dialect;
  }
  return nullptr;
}

// "=== DIALECT | NAME", the events, "---", the stream.
std::vector<Shape> shapes() {
  std::vector<Shape> out;
  std::ifstream file(test::test_data("remote/shapes.txt"));
  bool is_stream = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      const std::size_t bar = line.find(" | ");
      out.push_back({.name = line.substr(bar + 3), .dialect = dialect_of(line.substr(4, bar - 4))});
      is_stream = false;
    } else if (line == "---") {
      is_stream = true;
    } else if (is_stream) {
      out.back().bytes += line + "\n";
    } else if (!out.empty()) {
      out.back().wanted = line;
    }
  }
  return out;
}

std::string replaced(std::string text, std::string_view with) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += with.size())
    text.replace(at, 1, with);
  return text;
}

// With each end of line that the standard of SSE knows, and with a BOM and comments.
TEST(Dialects, EventsOfEveryShapeAreTheSameForEveryCut) {
  const std::vector<Shape> all = shapes();
  EXPECT_GE(all.size(), 14U);
  for (const Shape& shape : all) {
    SCOPED_TRACE(shape.name);
    ASSERT_NE(shape.dialect, nullptr);
    std::vector<std::string> forms = {shape.bytes, replaced(shape.bytes, "\r\n")};
    if (shape.dialect->framing == Framing::kSse) {
      forms.push_back(replaced(shape.bytes, "\r"));
      forms.push_back("\xEF\xBB\xBF: hello\n:\n\n" + replaced(shape.bytes, "\n: still there\n"));
    }
    for (const std::string& bytes : forms) {
      ASSERT_EQ(read(*shape.dialect, bytes, {}), shape.wanted);
      std::vector<std::size_t> each;
      for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        ASSERT_EQ(read(*shape.dialect, bytes, {cut}), shape.wanted) << "cut at " << cut;
        each.push_back(cut);
      }
      EXPECT_EQ(read(*shape.dialect, bytes, each), shape.wanted) << "byte by byte";
    }
  }
}

TEST(HostileStream, ALineWithoutEndIsRefusedBeforeItFillsTheMemory) {
  StreamReader reader(Framing::kSse);
  const FrameSink sink = [](std::string_view, std::string_view) -> Result<void> { return {}; };
  const std::string piece(64 << 10, 'a');
  std::size_t taken = 0;
  while (reader.add(piece, sink)) {
    taken += piece.size();
    ASSERT_LE(taken, kMaxLineBytes);
  }
  EXPECT_EQ(taken, kMaxLineBytes);
}

TEST(HostileStream, AnEventOfManyLinesIsRefusedBeforeItFillsTheMemory) {
  StreamReader reader(Framing::kSse);
  const FrameSink sink = [](std::string_view, std::string_view) -> Result<void> { return {}; };
  const std::string line = cat("data: ", std::string(64 << 10, 'a'), "\n");
  std::size_t n = 0;
  while (reader.add(line, sink))
    ASSERT_LE(++n * (64 << 10), kMaxEventBytes);
  EXPECT_GT(n, 60U);
}

TEST(HostileStream, MoreToolCallsThanTheLimitAreRefused) {
  EventWriter out;
  for (int i = 0; i <= kMaxToolCalls; ++i)
    out.call(i, "", "f", "{}");
  EXPECT_EQ(out.n_calls(), kMaxToolCalls);
  EXPECT_TRUE(out.refusal);
}

}  // namespace

}  // namespace wick::remote
