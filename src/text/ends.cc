// Which tokens end a generation. Files name one or a few by id and often forget others, so the
// texts that model families use for it are looked for as well.
#include <algorithm>
#include <array>
#include <string_view>

#include "text/pipeline.h"

namespace wick {
namespace {

struct EndText {
  std::string_view text;
  bool is_unmistakable;  // no ordinary text: counts even where the file calls it an ordinary token
};

constexpr auto kEndTexts = std::to_array<EndText>({
    {"<|eot_id|>", true},
    {"<|im_end|>", true},
    {"<|end|>", true},
    {"<|return|>", true},
    {"<|call|>", true},
    {"<|flush|>", true},
    {"<|calls|>", true},
    {"<end_of_turn>", true},
    {"<|endoftext|>", true},
    {"</s>", false},
    {"<|eom_id|>", true},
    {"<EOT>", false},
    {"_<EOT>", false},
    {"[EOT]", false},
    {"[EOS]", false},
    {"<|end_of_text|>", true},
    {"<end_of_utterance>", true},
    {"<eos>", false},
    {"<turn|>", true},
    {"<|tool_response>", true},
    {"<｜end▁of▁sentence｜>", true},
});

struct Found {
  TokenId id;
  std::string_view text;
};

std::vector<Found> find_end_texts(Vocab& vocab) {
  std::vector<Found> found;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const std::string_view bytes = vocab.bytes(id);
    if (bytes.size() < 4 || (bytes[0] != '<' && bytes[0] != '[' && bytes[0] != '_')) continue;
    const auto* const end = std::find_if(kEndTexts.begin(), kEndTexts.end(),
                                         [&](const EndText& e) { return e.text == bytes; });
    if (end == kEndTexts.end()) continue;
    const TokenKind kind = vocab.kind(id);
    const bool is_added = kind == TokenKind::kControl || kind == TokenKind::kUserDefined;
    if (is_added || end->is_unmistakable) found.push_back({id, end->text});
  }
  return found;
}

bool holds(const std::vector<Found>& found, std::string_view text) {
  return std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.text == text; });
}

}  // namespace

void find_ends(const Metadata& meta, TokenizerParts& parts) {
  auto& ends = parts.ends;
  const auto add = [&](std::int64_t id) {
    if (id >= 0 && id < parts.vocab.size()) ends.push_back(static_cast<TokenId>(id));
  };
  add(parts.eos);
  add(meta.integer("tokenizer.ggml.eot_token_id").value_or(-1));
  add(meta.integer("tokenizer.ggml.eom_token_id").value_or(-1));
  for (const std::int64_t id :
       meta.integers("wick.end_token_ids").value_or(std::vector<std::int64_t>{})) {
    add(id);
  }
  const std::vector<Found> found = find_end_texts(parts.vocab);
  // gpt-oss ends its messages with <|end|>, but its turns with <|return|> or <|call|>; Gemma 4 has
  // a </s> that is only a tag of HTML.
  const bool is_harmony = holds(found, "<|return|>") && holds(found, "<|call|>");
  const bool is_gemma4 = holds(found, "<turn|>");
  for (const Found& f : found) {
    if (is_harmony && f.text == "<|end|>") continue;
    if (is_gemma4 && f.text == "</s>") continue;
    add(f.id);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

}  // namespace wick
