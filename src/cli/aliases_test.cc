#include "cli/aliases.h"

#include <gtest/gtest.h>

namespace wick {
namespace {

std::string own(std::vector<std::string> words) {
  words.insert(words.begin(), "wick");
  const auto read = own_words(words);
  if (!read) return read.error().message + " | " + read.error().hint;
  std::string line;
  for (const std::string& word : read->words)
    line += (line.empty() ? "" : " ") + word;
  for (const std::string& note : read->notes)
    line += " | " + note;
  return line;
}

TEST(Aliases, OllamasCommandsAreWicks) {
  EXPECT_EQ(own({"ls", "--json"}), "wick model list --json");
  EXPECT_EQ(own({"show", "m"}), "wick model info m");
  EXPECT_EQ(own({"rm", "m"}), "wick model rm m");
  EXPECT_EQ(own({"help", "chat"}), "wick chat --help");
  EXPECT_EQ(own({"version"}), "wick --version");
  EXPECT_EQ(own({"run", "m", "hi", "--format", "json"}),
            R"(wick run m hi --schema {"type":"object"})");
  EXPECT_EQ(own({}), "wick");
}

TEST(Aliases, LlamaCppsFlagsAreWicks) {
  EXPECT_EQ(own({"run", "-hf", "a/b", "-p", "-ngl", "-n", "-1", "--seed", "-1"}),
            "wick run --model hf:a/b -p -ngl -n 0");
  EXPECT_EQ(own({"serve", "-np", "4", "--n-predict", "-1", "-md=d.gguf"}),
            "wick serve --parallel 4 --n-predict 0 --spec draft --draft-model d.gguf");
  EXPECT_EQ(own({"chat", "-ctk", "q8_0"}), "wick chat --kv-type q8_0,f16");
  EXPECT_EQ(own({"chat", "-ctv", "q4_0", "-ctk", "q8_0"}), "wick chat --kv-type q8_0,q4_0");
  EXPECT_EQ(own({"tokenize", "-s", "7"}), "wick tokenize -s 7");
  EXPECT_EQ(own({"run", "--", "-ngl"}), "wick run -- -ngl");
}

TEST(Aliases, AFlagThatIsNotNeededIsDroppedWithANote) {
  EXPECT_EQ(own({"chat", "-b", "512", "-ub", "256"}),
            "wick chat --prefill-chunk 256 | -b is ignored: --prefill-chunk (ubatch) is the only "
            "size of a pass");
  EXPECT_EQ(own({"chat", "-fa", "m.gguf"}),
            "wick chat m.gguf | -fa is ignored: attention never stores a matrix of scores");
  EXPECT_EQ(own({"chat", "-fa", "on", "m.gguf"}),
            "wick chat m.gguf | -fa is ignored: attention never stores a matrix of scores");
  EXPECT_EQ(own({"chat", "-ngl=9"}).substr(0, 25), "wick chat | -ngl is ignor");
}

TEST(Aliases, FlagsOfServersAreWicks) {
  EXPECT_EQ(own({"serve", "--max-model-len", "512", "--max-num-seqs=8"}),
            "wick serve --context 512 --parallel 8");
  EXPECT_EQ(own({"serve", "-cb"}),
            "wick serve | -cb is ignored: requests are always batched continuously");
  EXPECT_EQ(own({"serve", "--embedding", "--slots"}),
            "wick serve | --embedding is ignored: /v1/embeddings is always served | --slots is "
            "ignored: GET /slots is always served");
  EXPECT_EQ(own({"serve", "--api-key", "x"}),
            "wick serve has no --api-key | wick key create --api-key-file keys, then wick serve "
            "--api-key-file keys");
  EXPECT_EQ(own({"serve", "--alias", "x"}),
            "wick serve has no --alias | requests use a name of GET /v1/models");
}

TEST(Aliases, AFlagWithoutACounterpartIsRefusedWithAHint) {
  EXPECT_EQ(own({"run", "-cnv"}), "wick run has no -cnv | wick chat is a conversation");
  EXPECT_EQ(own({"run", "-hf"}), "-hf needs a value | wick run --help");
}

}  // namespace
}  // namespace wick
