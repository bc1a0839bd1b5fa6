// The pattern that holds a fenced answer, against the reader of such answers.
#include <gtest/gtest.h>

#include <string>

#include "assist/prompt.h"
#include "assist/reply.h"
#include "base/strings.h"
#include "grammar/output_format.h"

namespace wick {
namespace {

using assist::Frame;

bool is_taken(const std::string& text, bool is_retry) {
  const auto recognizer =
      grammar::make_recognizer(assist::reply_format(Frame::kFence, false, is_retry));
  return recognizer &&
         (*recognizer)->accepts((*recognizer)->step_all((*recognizer)->start(), text));
}

TEST(AskFormat, AFenceIsHeldToWhatItsReaderTakes) {
  const std::string lines = "Use this:\n```bash\nfor f in *; do\n  echo `wc $f`\ndone\n```";
  const std::string line = "Use this:\n```\nls | wc -l\n```", question = "ask: which file?";
  for (const std::string& text : {lines, line, question}) {
    EXPECT_TRUE(is_taken(text, false)) << text;
    EXPECT_EQ(is_taken(text, true), text != lines) << "a retry is simple: " << text;
    EXPECT_TRUE(assist::read_reply(text, Frame::kFence)) << text;
  }
  for (const char* const text :
       {"", "ls", "```\n \n```", "```\n```", "```\nls", "```\nls\n``` It lists.", "ask: "}) {
    EXPECT_FALSE(is_taken(text, false)) << text;
    EXPECT_FALSE(is_taken(text, true)) << text;
  }
  for (const char* const command :
       {R"(find . -name '*.c' -exec wc -l {} \; | sort)", R"(echo "a \" $HOME" \( && ls >f)"})
    EXPECT_TRUE(is_taken(cat("```\n", command, "\n```"), true)) << command;
  for (const char* const command :
       {"# ls", "f(x)", "{ ls", "echo 'a", "echo \"a", " ", "echo \"${a\""})
    EXPECT_FALSE(is_taken(cat("```\n", command, "\n```"), true)) << command;
  EXPECT_TRUE(is_taken(std::string(300, 'a') + line.substr(10), false));
  EXPECT_FALSE(is_taken(std::string(301, 'a') + line.substr(10), false)) << "prose without an end";
  EXPECT_EQ(assist::reply_format(Frame::kFence, true, false).type, "text");
}

}  // namespace
}  // namespace wick
