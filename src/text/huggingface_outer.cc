// What stands around the model in tokenizer.json: the "post_processor", which adds control tokens,
// and the "decoder", which turns tokens back into text.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
namespace {

// --- post-processors ----------------------------------------------------------------------------

// Appends the tokens that a template calls `name`: most often one of that text.
Result<void> append_special(const Json& specials, std::string_view name, const Vocab& vocab,
                            std::vector<TokenId>& out) {
  const Json& ids = member(member(specials, std::string(name).c_str()), "ids");
  if (!ids.is_array()) {
    return corrupt_json(
        cat("the post_processor names '", printable(name), "', for which it lists no ids"));
  }
  for (const Json& item : ids) {
    const std::int64_t id = item.is_number_integer() ? item.get<std::int64_t>() : -1;
    if (id < 0 || id >= vocab.size()) {
      return corrupt_json(
          cat("the post_processor names '", printable(name), "', which is no token"));
    }
    if (out.size() >= kMaxPutAround) {
      return corrupt_json(
          cat("the post_processor adds more than ", kMaxPutAround, " tokens before or behind"));
    }
    out.push_back(static_cast<TokenId>(id));
  }
  return {};
}

Result<void> read_template(const Json& node, TokenizerParts& parts) {
  const Json& items = member(node, "single");
  if (!items.is_array()) return corrupt_json("the post_processor's 'single' is no list");
  bool is_behind = false;
  for (const Json& item : items) {
    const Json& special = member(item, "SpecialToken");
    if (special.is_null()) {
      is_behind = true;
      continue;
    }
    WICK_DO(append_special(member(node, "special_tokens"), text_member(special, "id"), parts.vocab,
                           is_behind ? parts.suffix : parts.prefix));
  }
  return {};
}

// BertProcessing and RobertaProcessing: "cls" and "sep" are [text, id].
Result<void> read_cls_and_sep(const Json& node, TokenizerParts& parts) {
  for (const char* const key : {"cls", "sep"}) {
    const Json& pair = member(node, key);
    const bool is_pair = pair.is_array() && pair.size() == 2 && pair[1].is_number_integer();
    const std::int64_t id = is_pair ? pair[1].get<std::int64_t>() : -1;
    if (id < 0 || id >= parts.vocab.size()) {
      return corrupt_json(cat("the post_processor's '", key, "' is no [text, id] of a token"));
    }
    (*key == 'c' ? parts.prefix : parts.suffix).push_back(static_cast<TokenId>(id));
  }
  return {};
}

Result<void> read_nothing(const Json& /*node*/, TokenizerParts& /*parts*/) {
  return {};  // ByteLevel moves offsets, not ids
}

constexpr PartRow<Result<void>(const Json& node, TokenizerParts& parts)> kPostProcessors[] = {
    {"TemplateProcessing", read_template},
    {"BertProcessing", read_cls_and_sep},
    {"RobertaProcessing", read_cls_and_sep},
    {"ByteLevel", read_nothing},
};

// --- decoders -----------------------------------------------------------------------------------

Result<void> add_replaced(std::string_view from, std::string_view to, TokenSpelling& spelling) {
  if (from.empty() || to.size() > from.size() + 1 || spelling.replaced.size() >= kMaxStages) {
    return unsupported_part(
        "decoder", cat("a replacement of '", printable(from), "' by '", printable(to), "'"));
  }
  spelling.replaced.emplace_back(from, to);
  return {};
}

Result<void> decode_as_is(const Json& /*node*/, TokenSpelling& /*spelling*/,
                          DecodingHabits& /*h*/) {
  return {};  // ByteFallback: tokens are put together as bytes anyway
}

Result<void> decode_fuse(const Json& /*node*/, TokenSpelling& spelling,
                         DecodingHabits& /*habits*/) {
  spelling.is_fused = true;
  return {};
}

Result<void> decode_byte_level(const Json& /*node*/, TokenSpelling& spelling,
                               DecodingHabits& /*h*/) {
  spelling.is_byte_level = spelling.is_fused = true;
  return {};
}

Result<void> decode_replace(const Json& node, TokenSpelling& spelling, DecodingHabits& /*habits*/) {
  const Json& pattern = member(node, "pattern");
  if (const std::string_view regex = text_member(pattern, "Regex"); !regex.empty()) {
    return unsupported_part("decoder", cat("a Replace of the regex '", printable(regex), "'"));
  }
  const std::string_view from = text_member(pattern, "String");
  // One character is never spread over two tokens that are text.
  if (spelling.is_byte_level || (spelling.is_fused && count_characters(from) > 1)) {
    return unsupported_part("decoder", cat("a Replace of '", printable(from), "' behind ",
                                           spelling.is_byte_level ? "ByteLevel" : "Fuse"));
  }
  return add_replaced(from, text_member(node, "content"), spelling);
}

Result<void> decode_metaspace(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  habits.strips_leading_space =
      text_member(node, "prepend_scheme") != "never" && flag_member(node, "add_prefix_space", true);
  if (habits.strips_leading_space) spelling.start_mark = text_member(node, "replacement");
  return add_replaced(text_member(node, "replacement"), " ", spelling);
}

Result<void> decode_strip(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  const std::string_view content = text_member(node, "content");
  const std::int64_t start = integer_member(node, "start", 0);
  const std::int64_t stop = integer_member(node, "stop", 0);
  if (start == 0 && stop == 0) return {};
  if (!spelling.is_fused || content != " " || start < 0 || start > 1 || stop < 0 || stop > 1) {
    return unsupported_part(
        "decoder", cat("a Strip of ", start, " '", printable(content), "' at the start and ", stop,
                       " at the end", spelling.is_fused ? "" : " of each token"));
  }
  habits.strips_leading_space = habits.strips_leading_space || start == 1;
  habits.strips_trailing_space = habits.strips_trailing_space || stop == 1;
  return {};
}

Result<void> decode_wordpiece(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  spelling.has_words = true;
  spelling.continuing_prefix = text_member(node, "prefix");
  spelling.cleans_up = flag_member(node, "cleanup", true);
  habits.strips_leading_space = true;
  return {};
}

Result<void> decode_bpe(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  spelling.word_end = text_member(node, "suffix");
  habits.strips_trailing_space = !spelling.word_end.empty();
  return {};
}

Result<void> decode_ctc(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  spelling.blank = text_member(node, "pad_token");
  spelling.cleans_up = flag_member(node, "cleanup", true);
  habits.joins_repeats = true;
  return add_replaced(text_member(node, "word_delimiter_token"), " ", spelling);
}

constexpr PartRow<Result<void>(const Json& node, TokenSpelling& spelling, DecodingHabits& habits)>
    kDecoders[] = {
        {"ByteLevel", decode_byte_level}, {"ByteFallback", decode_as_is},  {"Fuse", decode_fuse},
        {"Replace", decode_replace},      {"Metaspace", decode_metaspace}, {"Strip", decode_strip},
        {"WordPiece", decode_wordpiece},  {"BPEDecoder", decode_bpe},      {"CTC", decode_ctc},
};

}  // namespace

Result<void> read_post_processor(const Json& node, TokenizerParts& parts) {
  return read_parts(node, "post_processor", "processors", kPostProcessors,
                    [&](const auto& row, const Json& part) { return row.read(part, parts); });
}

Result<void> read_decoder(const Json& node, TokenSpelling& spelling, DecodingHabits& habits) {
  spelling.has_decoder = !node.is_null();
  if (!spelling.has_decoder) spelling.replaced = {{"▁", " "}};
  const auto read = [&](const auto& row, const Json& part) {
    return row.read(part, spelling, habits);
  };
  return read_parts(node, "decoder", "decoders", kDecoders, read);
}

}  // namespace wick
