#include "local/infill.h"

#include <algorithm>
#include <string_view>

namespace wick {

namespace {

struct Row {
  TokenId InfillTokens::*token;
  std::string_view keys[2];   // of GGUF, the older one behind
  std::string_view names[7];  // Qwen, StarCoder and Granite, DeepSeek, Code Llama, GLM, and others
};

constexpr Row kRows[] = {
    {&InfillTokens::prefix,
     {"tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id"},
     {"<|fim_prefix|>", "<fim_prefix>", "<｜fim▁begin｜>", "▁<PRE>", "<|code_prefix|>",
      "<fim-prefix>", "<PRE>"}},
    {&InfillTokens::suffix,
     {"tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id"},
     {"<|fim_suffix|>", "<fim_suffix>", "<｜fim▁hole｜>", "▁<SUF>", "<|code_suffix|>",
      "<fim-suffix>", "<SUF>"}},
    {&InfillTokens::middle,
     {"tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id"},
     {"<|fim_middle|>", "<fim_middle>", "<｜fim▁end｜>", "▁<MID>", "<|code_middle|>",
      "<fim-middle>", "<MID>"}},
    {&InfillTokens::project,
     {"tokenizer.ggml.fim_rep_token_id", {}},
     {"<|repo_name|>", "<reponame>", "<|fim_repo|>", "<fim-repo>"}},
    {&InfillTokens::file, {"tokenizer.ggml.fim_sep_token_id", {}}, {"<|file_sep|>", "<file_sep>"}},
    {&InfillTokens::padding,
     {"tokenizer.ggml.fim_pad_token_id", {}},
     {"<|fim_pad|>", "<fim_pad>", "<fim-pad>", "<PAD>"}},
};

constexpr std::string_view kSpaceMark = "▁";

// Where a tokenizer decodes the mark of a space, its token's bytes have the space.
bool is_named(std::string_view bytes, std::string_view wanted) noexcept {
  if (bytes == wanted) return true;
  return wanted.starts_with(kSpaceMark) && bytes.starts_with(' ') &&
         bytes.substr(1) == wanted.substr(kSpaceMark.size());
}

void take_name(const Tokenizer& tokenizer, TokenId id, InfillTokens& found) {
  const std::string_view bytes = tokenizer.bytes(id);
  for (const Row& row : kRows) {
    if (found.*row.token >= 0) continue;
    const auto is_it = [&](std::string_view wanted) {
      return !wanted.empty() && is_named(bytes, wanted);
    };
    if (std::any_of(std::begin(row.names), std::end(row.names), is_it)) found.*row.token = id;
  }
}

}  // namespace

InfillTokens find_infill_tokens(const Metadata& metadata, const Tokenizer& tokenizer) {
  InfillTokens found;
  for (const Row& row : kRows) {
    for (const std::string_view key : row.keys) {
      const auto id = key.empty() ? std::nullopt : metadata.integer(key);
      if (id && *id >= 0 && *id < tokenizer.size() && found.*row.token < 0)
        found.*row.token = static_cast<TokenId>(*id);
    }
  }
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    const TokenKind kind = tokenizer.kind(id);
    if (kind == TokenKind::kControl || kind == TokenKind::kUserDefined)
      take_name(tokenizer, id, found);
  }
  return found;
}

namespace {

class Builder {
 public:
  Builder(const Tokenizer& tokenizer, std::vector<TokenId>& ids)
      : tokenizer_(tokenizer), ids_(ids) {}

  void add(TokenId id) {
    if (id >= 0) ids_.push_back(id);
  }

  // All of it is the user's.
  Result<void> add(std::string_view text) {
    WICK_TRY(const auto ids, tokenizer_.encode_plain(text));
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    return {};
  }

 private:
  const Tokenizer& tokenizer_;
  std::vector<TokenId>& ids_;
};

// The project's other files, and the name of the one that has the gap. A model without a token for
// files gets their texts in front.
Result<void> add_files(const Infill& gap, const InfillTokens& tokens, Builder& out) {
  if (tokens.project >= 0) {
    out.add(tokens.project);
    WICK_DO(out.add("project\n"));
  }
  for (const Infill::File& file : gap.files) {
    out.add(tokens.file);
    if (tokens.file >= 0) WICK_DO(out.add(file.name + "\n"));
    WICK_DO(out.add(file.text));
    if (tokens.file < 0) WICK_DO(out.add("\n\n"));
  }
  out.add(tokens.file);
  if (tokens.file >= 0) WICK_DO(out.add("file\n"));
  return {};
}

}  // namespace

Result<InfillPrompt> infill_prompt(const Infill& gap, const InfillTokens& tokens,
                                   const Tokenizer& tokenizer) {
  if (!tokens.is_complete()) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "infill_unsupported",
                 .message = "the model has no tokens for a gap between two texts",
                 .hint = "models for code have them, such as Qwen2.5-Coder"};
  }
  InfillPrompt prompt;
  const auto begin = tokenizer.prefix();
  prompt.ids.assign(begin.begin(), begin.end());
  Builder out(tokenizer, prompt.ids);
  if (!gap.files.empty()) WICK_DO(add_files(gap, tokens, out));
  out.add(tokens.prefix);
  WICK_DO(out.add(gap.prefix));
  out.add(tokens.suffix);
  WICK_DO(out.add(gap.suffix));
  out.add(tokens.middle);
  WICK_DO(out.add(gap.begun));
  for (const TokenId id : {tokens.project, tokens.file, tokens.padding}) {
    if (id >= 0) prompt.ends.push_back(id);
  }
  return prompt;
}

}  // namespace wick
