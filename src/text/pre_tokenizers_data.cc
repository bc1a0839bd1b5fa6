// The pre-tokenizers by the names that GGUF files give them (tokenizer.ggml.pre), in the patterns
// of the families' own tokenizer.json files. A new name is one row in kRows.
#include <algorithm>
#include <array>

#include "text/pre_tokenizer.h"

namespace wick {
namespace {

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// Digits of Hugging Face's library: Rust's classes are those of Unicode 17, one later than those of
// its regular expressions.
constexpr std::string_view kDigit = "[\\p{N}\U00011DE0-\U00011DE9\U00016FF4-\U00016FF6]";
constexpr std::string_view kDigits = "[\\p{N}\U00011DE0-\U00011DE9\U00016FF4-\U00016FF6]+";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kKimiK2 =
    R"([\p{Han}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepSeekV3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Letters of both cases, as they were when the family was trained.
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫ)"
    R"(ᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿ)"
    R"(ⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";

constexpr std::string_view kYoutuScripts =
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-"
    "ゟ゠-"
    "ヿ]"
    "+";
constexpr std::string_view kYoutu =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing = R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                                      R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kUfakZeka =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
// White space in steps of powers of two.
constexpr std::string_view kJais2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S))"
    R"(|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
constexpr std::string_view kMiniCpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+)"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
// Digits in groups of three, counted from the last one.
constexpr std::string_view kThreesFromTheRight = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
constexpr std::string_view kAfmoeScripts =
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-"
    "꧿가-"
    "힯ᄀ-"
    "ᇿ]"
    "+";

struct Row {
  std::string_view names;  // separated by spaces
  std::array<std::string_view, 6> patterns;
  bool is_nfc = false, ignore_merges = false, adds_bos = false;
};

constexpr auto kRows = std::to_array<Row>({
    {.names = "gpt-2 phi-2 mpt olmo jais jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe "
              "jina-es jina-de gigachat a.x-4.0 mellum modern-bert exaone4 trillion "
              "granite-docling default",
     .patterns = {kGpt2}},
    {.names = "smollm starcoder refact command-r cohere2_moe codeshell exaone minerva-7b mellum2",
     .patterns = {kDigit, kGpt2}},
    {.names = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 "
              "jina-v5-nano",
     .patterns = {kLlama3},
     .ignore_merges = true,
     .adds_bos = true},
    {.names = "dbrx smaug-bpe chatglm-bpe glm4", .patterns = {kLlama3}},
    {.names = "glm5", .patterns = {kLlama3}, .ignore_merges = true},
    {.names = "minicpm5", .patterns = {R"(\p{N}{1,3})", kMiniCpm5}, .ignore_merges = true},
    {.names = "qwen2", .patterns = {kQwen2}, .is_nfc = true},
    {.names = "deepseek-r1-qwen megrez kormo openpangu f2llmv2 stablelm2 hunyuan solar-open grok-2",
     .patterns = {kQwen2}},
    {.names = "laguna", .patterns = {R"([^\n]+|[\n]+)", kQwen2}},
    {.names = "qwen35", .patterns = {kQwen35}, .is_nfc = true},
    {.names = "gpt-4o llama4 kanana2 minimax-m2 talkie", .patterns = {kGpt4o}},
    {.names = "granite-embed-multi-97m", .patterns = {kGpt4o}, .ignore_merges = true},
    {.names = "tiny_aya cohere2moe", .patterns = {R"(\d{1,3}(?=(?:\d{3})*\b))", kGpt4o}},
    {.names = "youtu", .patterns = {kYoutuScripts, kYoutu}, .ignore_merges = true},
    {.names = "kimi-k2", .patterns = {kKimiK2}},
    {.names = "tekken", .patterns = {kTekken}, .ignore_merges = true, .adds_bos = true},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
     .patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", kDeepSeekV3}},
    {.names = "deepseek-llm",
     .patterns = {R"([\r\n])", kDeepSeekLetters, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)",
                  "[一-龥ࠀ-一가-퟿]+", R"(\p{N}+)"}},
    {.names = "deepseek-coder",
     .patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+",
                  R"(\p{N})"}},
    {.names = "afmoe", .patterns = {kThreesFromTheRight, kAfmoeScripts, kDeepSeekV3}},
    {.names = "bailingmoe bailingmoe2 llada-moe", .patterns = {kBailing}},
    {.names = "seed-coder", .patterns = {kSeedCoder}},
    {.names = "ufakzeka", .patterns = {kUfakZeka}},
    {.names = "exaone-moe", .patterns = {kExaoneMoe}},
    {.names = "jais-2", .patterns = {kJais2}},
    {.names = "bloom poro-chat gpt3-finnish", .patterns = {kBloom}},
    {.names = "viking", .patterns = {kBloom, R"(\p{N})"}},
    {.names = "superbpe", .patterns = {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}},
    {.names = "falcon", .patterns = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, "[0-9][0-9][0-9]"}},
});

bool has_name(std::string_view names, std::string_view name) noexcept {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

std::string_view gpt2_pattern() noexcept {
  return kGpt2;
}

std::string_view digits_pattern(bool is_individual) noexcept {
  return is_individual ? kDigit : kDigits;
}

std::optional<PreTokenizerInfo> find_pre_tokenizer(std::string_view name) {
  const auto* const row = std::find_if(kRows.begin(), kRows.end(),
                                       [&](const Row& r) { return has_name(r.names, name); });
  if (row == kRows.end() || name.empty()) return std::nullopt;
  PreTokenizerInfo info{.name = name,
                        .patterns = {},
                        .is_nfc = row->is_nfc,
                        .ignore_merges = row->ignore_merges,
                        .adds_bos = row->adds_bos};
  for (const std::string_view pattern : row->patterns) {
    if (!pattern.empty()) info.patterns.push_back(pattern);
  }
  return info;
}

}  // namespace wick
