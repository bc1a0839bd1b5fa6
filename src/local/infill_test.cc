#include "local/infill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "local/local.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

// Ids from 256 on are control tokens of these names, those below are bytes.
class NamedTokenizer final : public Tokenizer {
 public:
  explicit NamedTokenizer(std::vector<std::string> names) : names_(std::move(names)) {
    for (int i = 0; i < 256; ++i)
      letters_.push_back(std::string(1, static_cast<char>(i)));
  }

  void begin_with(TokenId id) { prefix_ = {id}; }

  Result<void> encode(const MarkedText& text, std::vector<TokenId>& out) const override {
    EXPECT_TRUE(text.trusted.empty()) << "what stands around a gap is the user's";
    for (const char c : text.text)
      out.push_back(static_cast<unsigned char>(c));
    return {};
  }

  std::string_view bytes(TokenId id) const noexcept override {
    const auto at = static_cast<std::size_t>(id);
    return at < 256 ? letters_[at] : names_[at - 256];
  }

  TokenKind kind(TokenId id) const noexcept override {
    return id < 256 ? TokenKind::kNormal : TokenKind::kControl;
  }

  int size() const noexcept override { return 256 + static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> letters_, names_;
};

std::string shown(const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids)
    out += id < 256 ? std::string(1, static_cast<char>(id)) : "<" + std::to_string(id) + ">";
  return out;
}

TEST(Infill, FindsTheTokensOfKnownFamilies) {
  const std::vector<std::vector<std::string>> families = {
      {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
      {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
      {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},
      {"▁<PRE>", "▁<SUF>", "▁<MID>"},
      {" <PRE>", " <SUF>", " <MID>"},
      {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"}};
  for (const auto& names : families) {
    const NamedTokenizer tokenizer(names);
    const InfillTokens found = find_infill_tokens(Metadata(), tokenizer);
    EXPECT_TRUE(found.is_complete()) << names[0];
    const auto prompt =
        infill_prompt({.prefix = "a", .suffix = "b", .begun = "c"}, found, tokenizer);
    ASSERT_TRUE(prompt);
    EXPECT_EQ(shown(prompt->ids), "<256>a<257>b<258>c") << names[0];
    EXPECT_TRUE(prompt->ends.empty());
  }
}

TEST(Infill, OtherFilesStandInFrontWithTheirNames) {
  NamedTokenizer tokenizer({"<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
                            "<|repo_name|>", "<|file_sep|>", "<s>"});
  tokenizer.begin_with(262);
  const InfillTokens found = find_infill_tokens(Metadata(), tokenizer);
  Infill gap{.prefix = "a", .suffix = "b"};
  EXPECT_EQ(shown(infill_prompt(gap, found, tokenizer)->ids), "<262><256>a<258>b<257>");
  gap.files = {{.name = "x.c", .text = "X;"}, {.name = "y.c", .text = "Y;"}};
  const auto prompt = infill_prompt(gap, found, tokenizer);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(shown(prompt->ids),
            "<262><260>project\n<261>x.c\nX;<261>y.c\nY;<261>file\n<256>a<258>b<257>");
  EXPECT_EQ(prompt->ends, (std::vector<TokenId>{260, 261, 259}));
}

TEST(Infill, WithoutATokenForFilesTheirTextsStandInFront) {
  const NamedTokenizer tokenizer({"<fim_prefix>", "<fim_middle>", "<fim_suffix>"});
  const auto prompt = infill_prompt({.prefix = "a", .files = {{.name = "x.c", .text = "X;"}}},
                                    find_infill_tokens(Metadata(), tokenizer), tokenizer);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(shown(prompt->ids), "X;\n\n<256>a<258><257>");
}

TEST(Infill, NamesOfOrdinaryTokensAreNoneOfThem) {
  const NamedTokenizer tokenizer({"<|fim_prefix|>", "<|fim_suffix|>"});
  const auto refused =
      infill_prompt({.prefix = "a"}, find_infill_tokens(Metadata(), tokenizer), tokenizer);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "infill_unsupported");
}

// The tiny model's vocabulary has none.
TEST(Infill, AModelWithoutTheTokensRefuses) {
  const test::TempDir dir;
  test::write_tiny_model(dir.path() / "tiny.gguf");
  const auto model = LocalModel::open(dir.path() / "tiny.gguf", {.threads = 1});
  ASSERT_TRUE(model);
  const auto refused = (*model)->infill_prompt("", {.prefix = "a"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace wick
