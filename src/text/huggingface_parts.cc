// Normaliser, pre-tokenizer, post-processor and decoder of tokenizer.json. Each component that the
// families wick runs make use of is read; any other is refused by its name.
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
namespace {

using Kind = NormaliserStep::Kind;

Result<void> add_step(NormaliserStep step, std::vector<NormaliserStep>& steps) {
  const bool needs_from = step.kind == Kind::kReplace;
  const bool needs_to = step.kind != Kind::kNfc && step.kind != Kind::kReplace;
  if ((needs_from && step.from.empty()) || (needs_to && step.to.empty()) ||
      step.from.size() > kMaxNormaliserBytes || step.to.size() > kMaxNormaliserBytes ||
      steps.size() >= kMaxStages) {
    return corrupt_json(cat("a normalizer step replaces '", printable(step.from), "' by '",
                            printable(step.to), "', wick takes 1 to ", kMaxNormaliserBytes,
                            " bytes and ", kMaxStages, " steps"));
  }
  steps.push_back(std::move(step));
  if (grows_too_much(steps)) return corrupt_json("the normalizer multiplies the text");
  return {};
}

Result<Split> read_split(const Json& node) {
  const Json& pattern = member(node, "pattern");
  const std::string_view regex = text_member(pattern, "Regex");
  const std::string_view literal = text_member(pattern, "String");
  Result<Pattern> compiled = regex.empty() ? Pattern::literal(literal) : Pattern::compile(regex);
  if (!compiled) return std::move(compiled).error();
  Split split{.pattern = *std::move(compiled), .is_inverted = flag_member(node, "invert", false)};
  const std::string_view behaviour = text_member(node, "behavior");
  if (behaviour == "Isolated") {
    split.behaviour = SplitBehaviour::kIsolated;
  } else if (behaviour == "Removed") {
    split.behaviour = SplitBehaviour::kRemoved;
  } else if (behaviour == "Contiguous") {
    split.behaviour = SplitBehaviour::kContiguous;
  } else if (behaviour == "MergedWithPrevious") {
    split.behaviour = SplitBehaviour::kMergedWithPrevious;
  } else if (behaviour == "MergedWithNext") {
    split.behaviour = SplitBehaviour::kMergedWithNext;
  } else {
    return unsupported_part("pre_tokenizer", cat("Split behaviour '", printable(behaviour), "'"));
  }
  return split;
}

Result<void> add_pattern(std::string_view regex, TokenizerParts& parts) {
  WICK_TRY(Pattern compiled, Pattern::compile(regex));
  parts.pre.add({.pattern = std::move(compiled)});
  return {};
}

// ByteLevel also spells bytes as characters, which wick, working on bytes, has no need of.
Result<void> read_byte_level(const Json& node, TokenizerParts& parts) {
  if (flag_member(node, "add_prefix_space", true)) {
    if (!parts.pre.is_empty() || !parts.opening.empty()) {
      return unsupported_part("pre_tokenizer", "ByteLevel with add_prefix_space behind a split");
    }
    WICK_DO(add_step({.kind = Kind::kLead, .to = " "}, parts.opening));
  }
  if (flag_member(node, "use_regex", true)) return add_pattern(gpt2_pattern(), parts);
  return {};
}

Result<void> read_metaspace(const Json& node, TokenizerParts& parts) {
  if (!parts.pre.is_empty()) return unsupported_part("pre_tokenizer", "Metaspace behind a split");
  const std::string mark(text_member(node, "replacement"));
  std::string_view scheme = text_member(node, "prepend_scheme");
  if (scheme.empty()) scheme = flag_member(node, "add_prefix_space", true) ? "always" : "never";
  WICK_DO(add_step({.kind = Kind::kReplace, .from = " ", .to = mark}, parts.opening));
  if (scheme != "never") {
    const Kind kind = scheme == "first" ? Kind::kLeadFirst : Kind::kLead;
    WICK_DO(add_step({.kind = kind, .to = mark}, parts.opening));
  }
  if (!flag_member(node, "split", true)) return {};
  WICK_TRY(Pattern compiled, Pattern::literal(mark));
  parts.pre.add({.pattern = std::move(compiled), .behaviour = SplitBehaviour::kMergedWithNext});
  return {};
}

Result<void> read_one_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level) {
  const std::string_view type = type_of(node);
  if (is_byte_level)
    return unsupported_part("pre_tokenizer", cat("'", printable(type), "' behind ByteLevel"));
  if (parts.pre.size() >= kMaxStages) return unsupported_part("pre_tokenizer", "a longer sequence");
  if (type == "Split") {
    WICK_TRY(Split split, read_split(node));
    parts.pre.add(std::move(split));
    return {};
  }
  if (type == "Digits") {
    return add_pattern(digits_pattern(flag_member(node, "individual_digits", false)), parts);
  }
  if (type == "ByteLevel") {
    is_byte_level = true;
    return read_byte_level(node, parts);
  }
  if (type == "Metaspace") return read_metaspace(node, parts);
  return unsupported_part("pre_tokenizer", cat("'", printable(type), "'"));
}

TokenId special_id(const Json& specials, std::string_view name) {
  const Json& ids = member(member(specials, std::string(name).c_str()), "ids");
  if (!ids.is_array() || ids.size() != 1 || !ids[0].is_number_integer()) return -1;
  const auto id = ids[0].get<std::int64_t>();
  return id >= 0 && id < static_cast<std::int64_t>(kMaxVocab) ? static_cast<TokenId>(id) : -1;
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
    const TokenId id = special_id(member(node, "special_tokens"), text_member(special, "id"));
    if (!parts.vocab.has(id)) {
      return corrupt_json(cat("the post_processor names '", printable(text_member(special, "id")),
                              "', which is no token"));
    }
    (is_behind ? parts.suffix : parts.prefix).push_back(id);
  }
  return {};
}

}  // namespace

Result<void> read_normaliser(const Json& node, std::vector<NormaliserStep>& steps) {
  if (node.is_null()) return {};
  const std::string_view type = type_of(node);
  if (type == "Sequence") {
    for (const Json& part : member(node, "normalizers")) {
      WICK_DO(read_normaliser(part, steps));
    }
    return {};
  }
  if (type == "NFC") return add_step({.kind = Kind::kNfc}, steps);
  if (type == "Prepend") {
    return add_step({.kind = Kind::kPrepend, .to = std::string(text_member(node, "prepend"))},
                    steps);
  }
  if (type == "Replace" && member(member(node, "pattern"), "String").is_string()) {
    return add_step({.kind = Kind::kReplace,
                     .from = std::string(text_member(member(node, "pattern"), "String")),
                     .to = std::string(text_member(node, "content"))},
                    steps);
  }
  return unsupported_part("normalizer", cat("'", printable(type), "'"));
}

Result<void> read_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level) {
  if (node.is_null()) return {};
  if (type_of(node) != "Sequence") return read_one_pre_tokenizer(node, parts, is_byte_level);
  for (const Json& part : member(node, "pretokenizers")) {
    WICK_DO(read_pre_tokenizer(part, parts, is_byte_level));
  }
  return {};
}

Result<void> read_post_processor(const Json& node, TokenizerParts& parts) {
  if (node.is_null()) return {};
  const std::string_view type = type_of(node);
  if (type == "ByteLevel") return {};  // it moves offsets, not ids
  if (type == "TemplateProcessing") return read_template(node, parts);
  if (type == "Sequence") {
    for (const Json& part : member(node, "processors")) {
      WICK_DO(read_post_processor(part, parts));
    }
    return {};
  }
  return unsupported_part("post_processor", cat("'", printable(type), "'"));
}

Result<bool> read_decoder(const Json& node) {
  if (node.is_null()) return false;
  const std::string_view type = type_of(node);
  if (type == "ByteLevel" || type == "ByteFallback" || type == "Fuse" || type == "Replace") {
    return false;
  }
  if (type == "Metaspace") {
    return text_member(node, "prepend_scheme") != "never" &&
           flag_member(node, "add_prefix_space", true);
  }
  if (type == "Strip") {
    const Json& start = member(node, "start");
    return text_member(node, "content") == " " && start.is_number_integer() && start == 1;
  }
  if (type == "Sequence") {
    bool strips = false;
    for (const Json& part : member(node, "decoders")) {
      WICK_TRY(const bool part_strips, read_decoder(part));
      strips = strips || part_strips;
    }
    return strips;
  }
  return unsupported_part("decoder", cat("'", printable(type), "'"));
}

}  // namespace wick
