// The "normalizer" and the "pre_tokenizer" of tokenizer.json: one row for each type.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/strings.h"
#include "text/byte_spelling.h"
#include "text/charsmap.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/wordpiece.h"

namespace wick {

namespace {

using Step = Result<NormalizerStep>;

// A text that a step may insert, or look for.
Result<std::string> short_text(std::string_view text, bool may_be_empty) {
  if (text.size() <= kMaxNormalizerBytes && (may_be_empty || !text.empty())) {
    return std::string(text);
  }
  return corrupt_json(cat("a normalizer step has the text '", printable(text), "', wick takes ",
                          may_be_empty ? 0 : 1, " to ", kMaxNormalizerBytes, " bytes"));
}

template <UnicodeForm kForm>
Step read_form(const Json& /*node*/) {
  return make_form(kForm);
}

template <NormalizerStep (*kMake)()>
Step read_plain(const Json& /*node*/) {
  return kMake();
}

Step read_prepend(const Json& node) {
  WICK_TRY(std::string text, short_text(text_member(node, "prepend"), false));
  return make_prepend(std::move(text));
}

Step read_replace(const Json& node) {
  WICK_TRY(std::string to, short_text(text_member(node, "content"), true));
  const Json& pattern = member(node, "pattern");
  if (member(pattern, "Regex").is_string()) {
    WICK_TRY(Pattern from, Pattern::compile(text_member(pattern, "Regex")));
    return make_replace(std::move(from), std::move(to));
  }
  WICK_TRY(std::string from, short_text(text_member(pattern, "String"), false));
  return make_replace(std::move(from), std::move(to));
}

Step read_strip(const Json& node) {
  return make_strip(flag_member(node, "strip_left", true), flag_member(node, "strip_right", true));
}

Step read_bert(const Json& node) {
  const bool lowers = flag_member(node, "lowercase", true);
  return make_bert({.cleans = flag_member(node, "clean_text", true),
                    .spaces_ideographs = flag_member(node, "handle_chinese_chars", true),
                    .strips_accents = flag_member(node, "strip_accents", lowers),
                    .lowers = lowers});
}

Step read_precompiled(const Json& node) {
  std::string bytes;
  if (!append_from_base64(bytes, text_member(node, "precompiled_charsmap"))) {
    return corrupt_json("the normalizer's precompiled_charsmap is no base64");
  }
  WICK_TRY(Charsmap map, Charsmap::parse(bytes));
  return make_precompiled(std::move(map));
}

constexpr PartRow<Step(const Json& node)> kNormalizers[] = {
    {"NFC", read_form<UnicodeForm::kNfc>},
    {"NFD", read_form<UnicodeForm::kNfd>},
    {"NFKC", read_form<UnicodeForm::kNfkc>},
    {"NFKD", read_form<UnicodeForm::kNfkd>},
    {"Prepend", read_prepend},
    {"Replace", read_replace},
    {"Strip", read_strip},
    {"StripAccents", read_plain<make_strip_accents>},
    {"Lowercase", read_plain<make_lowercase>},
    {"Nmt", read_plain<make_nmt>},
    {"ByteLevel", read_plain<make_byte_alphabet>},
    {"BertNormalizer", read_bert},
    {"Precompiled", read_precompiled},
};

}  // namespace

Result<void> read_normalizer(const Json& node, Normalizer& steps) {
  const auto add = [&](const auto& row, const Json& part) -> Result<void> {
    if (steps.size() >= kMaxStages) {
      return corrupt_json(cat("the normalizer has more than ", kMaxStages, " steps"));
    }
    WICK_TRY(NormalizerStep step, row.read(part));
    steps.add(std::move(step));
    return {};
  };
  return read_parts(node, "normalizer", "normalizers", kNormalizers, add);
}

// --- Pre-tokenizers ------------------------------------------------------------------------------

namespace {

// What Rust's regular expressions take for \w.
constexpr std::string_view kWordOrMarks =
    R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149})"
    R"(\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}]+)"
    R"(|[^\s\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149})"
    R"(\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}]+)";

Result<SplitBehavior> behavior_of(std::string_view name) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, SplitBehavior>>({
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"Contiguous", SplitBehavior::kContiguous},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
  });
  for (const auto& [known, behavior] : kNames) {
    if (known == name) return behavior;
  }
  return unsupported_part("pre_tokenizer", cat("Split behavior '", printable(name), "'"));
}

Result<void> add_split(Result<Pattern> pattern, SplitBehavior behavior, bool is_inverted,
                       PreTokenizer& pre) {
  if (!pattern) return std::move(pattern).error();
  pre.add({.pattern = *std::move(pattern), .behavior = behavior, .is_inverted = is_inverted});
  return {};
}

Result<void> read_split(const Json& node, PreTokenizer& pre) {
  const Json& pattern = member(node, "pattern");
  const std::string_view regex = text_member(pattern, "Regex");
  WICK_TRY(const SplitBehavior behavior, behavior_of(text_member(node, "behavior")));
  return add_split(
      regex.empty() ? Pattern::literal(text_member(pattern, "String")) : Pattern::compile(regex),
      behavior, flag_member(node, "invert", false), pre);
}

Result<void> read_digits(const Json& node, PreTokenizer& pre) {
  const bool is_single = flag_member(node, "individual_digits", false);
  return add_split(Pattern::compile(digits_pattern(is_single)), SplitBehavior::kIsolated, false,
                   pre);
}

Result<void> read_punctuation(const Json& node, PreTokenizer& pre) {
  const bool says = member(node, "behavior").is_string();
  WICK_TRY(const SplitBehavior behavior,
           behavior_of(says ? text_member(node, "behavior") : "Isolated"));
  return add_split(Pattern::compile(punctuation_pattern()), behavior, false, pre);
}

Result<void> read_whitespace(const Json& /*node*/, PreTokenizer& pre) {
  return add_split(Pattern::compile(kWordOrMarks), SplitBehavior::kRemoved, true, pre);
}

Result<void> read_whitespace_split(const Json& /*node*/, PreTokenizer& pre) {
  return add_split(Pattern::compile(R"(\s)"), SplitBehavior::kRemoved, false, pre);
}

Result<void> read_delimiter(const Json& node, PreTokenizer& pre) {
  return add_split(Pattern::literal(text_member(node, "delimiter")), SplitBehavior::kRemoved, false,
                   pre);
}

Result<void> read_fixed_length(const Json& node, PreTokenizer& pre) {
  const std::int64_t length = integer_member(node, "length", 5);
  if (length < 1 || length > kMaxFixedLength) {
    return unsupported_part("pre_tokenizer", cat("FixedLength of ", length, " characters"));
  }
  return add_split(Pattern::compile(cat(R"([\s\S]{1,)", length, "}")), SplitBehavior::kIsolated,
                   false, pre);
}

Result<void> read_bert(const Json& /*node*/, PreTokenizer& pre) {
  return add_bert_splits(pre);
}

// ByteLevel also spells bytes as characters, which a byte-level model, working on bytes, has no
// need of; the others do it themselves.
Result<void> read_byte_level(const Json& node, PreTokenizer& pre) {
  if (flag_member(node, "add_prefix_space", true)) {
    Normalizer rewriting;
    rewriting.add(make_lead(" ", false));
    pre.add(std::move(rewriting));
  }
  if (!flag_member(node, "use_regex", true)) return {};
  return add_split(Pattern::compile(gpt2_pattern()), SplitBehavior::kIsolated, false, pre);
}

Result<void> read_metaspace(const Json& node, PreTokenizer& pre) {
  const std::string mark(text_member(node, "replacement"));
  if (mark.empty() || mark.size() > kMaxNormalizerBytes) {
    return corrupt_json(cat("Metaspace replaces spaces by '", printable(mark),
                            "', wick takes 1 to ", kMaxNormalizerBytes, " bytes"));
  }
  std::string_view scheme = text_member(node, "prepend_scheme");
  if (scheme.empty()) scheme = flag_member(node, "add_prefix_space", true) ? "always" : "never";
  Normalizer rewriting;
  rewriting.add(make_replace(" ", mark));
  if (scheme != "never") rewriting.add(make_lead(mark, scheme == "first"));
  pre.add(std::move(rewriting));
  if (!flag_member(node, "split", true)) return {};
  return add_split(Pattern::literal(mark), SplitBehavior::kMergedWithNext, false, pre);
}

constexpr PartRow<Result<void>(const Json& node, PreTokenizer& pre)> kPreTokenizers[] = {
    {"Split", read_split},
    {"Digits", read_digits},
    {"Punctuation", read_punctuation},
    {"Whitespace", read_whitespace},
    {"WhitespaceSplit", read_whitespace_split},
    {"CharDelimiterSplit", read_delimiter},
    {"FixedLength", read_fixed_length},
    {"BertPreTokenizer", read_bert},
    {"ByteLevel", read_byte_level},
    {"Metaspace", read_metaspace},
};

}  // namespace

Result<void> read_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level) {
  const auto add = [&](const auto& row, const Json& part) -> Result<void> {
    if (is_byte_level) {
      return unsupported_part("pre_tokenizer", cat("'", row.type, "' behind ByteLevel"));
    }
    if (parts.pre.size() >= kMaxStages)
      return unsupported_part("pre_tokenizer", "a longer sequence");
    is_byte_level = row.type == "ByteLevel";
    return row.read(part, parts.pre);
  };
  return read_parts(node, "pre_tokenizer", "pretokenizers", kPreTokenizers, add);
}

}  // namespace wick
