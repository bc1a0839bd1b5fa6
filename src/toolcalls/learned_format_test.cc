#include "toolcalls/learned_format.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "toolcalls/tool_calls.h"

namespace wick {
namespace {

// What an answer in the format of the template is taken apart into; empty if none is learned.
std::string read_by_learned(const std::string& jinja, const std::string& said) {
  const auto learned = learn_tool_format(*ChatTemplate::parse(jinja));
  if (learned == nullptr) return {};
  ToolCallSplit split(learned->format, {{"f", {}}, {"g", {}}});
  std::vector<ToolPiece> pieces;
  split.push(said, pieces);
  split.finish(pieces);
  std::string out;
  for (const ToolPiece& piece : pieces)
    out += cat(static_cast<int>(piece.kind), ":", piece.text, "\n");
  return out;
}

// `calls` writes m.tool_calls.
std::string talk_template(const std::string& calls) {
  return cat("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.tool_calls %}", calls,
             "{% endif %}{{ eos_token }}{% endfor %}");
}

// The tags of two calls begin alike with the one that ends all of them.
TEST(LearnedFormat, TagsAroundAllCallsAreNoText) {
  const std::string jinja = talk_template(
      "<calls:x>\n{% for c in m.tool_calls %}<call:x>{{ c.function.name }}<sep:x>\n"
      "{% for k, v in c.function.arguments.items() %}<key:x>{{ k }}</key:x>\n"
      "<value:x>{{ v if v is string else v | tojson }}</value:x>\n{% endfor %}</call:x>\n"
      "{% endfor %}</calls:x>");
  const std::string call = "<call:x>f<sep:x>\n<key:x>a</key:x>\n<value:x>b</value:x>\n</call:x>\n";
  EXPECT_EQ(read_by_learned(jinja, cat("Hm.<calls:x>\n", call, call, "</calls:x>")),
            "0:Hm.\n2:f\n3:{\"a\": \"b\"}\n2:f\n3:{\"a\": \"b\"}\n");
}

TEST(LearnedFormat, ArgumentsAsJsonBehindTheName) {
  const std::string jinja = talk_template(
      "{% for c in m.tool_calls %}<|do|>{{ c.function.name }}<|with|>"
      "{{ c.function.arguments | tojson }}<|done|>{% endfor %}");
  EXPECT_EQ(read_by_learned(jinja, "<|do|>g<|with|>{\"a\": 1}<|done|>"), "2:g\n3:{\"a\": 1}\n");
}

TEST(LearnedFormat, ATemplateWithoutCallsTeachesNone) {
  EXPECT_EQ(learn_tool_format(*ChatTemplate::parse(talk_template(""))), nullptr);
}

}  // namespace
}  // namespace wick
