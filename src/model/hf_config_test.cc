// What config.json files of the families mean (format/hf_config.h), beside what transformers reads.
#include "format/hf_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/strings.h"
#include "model/spec.h"
#include "support/test_data.h"

namespace wick {
namespace {

using nlohmann::json;

Result<Metadata> translate(std::string_view config) {
  return hf_metadata({.folder = "m", .config = config, .families = hf_families()});
}

Metadata must(Result<Metadata> meta) {
  EXPECT_TRUE(meta) << to_string(meta.error());
  return meta ? *std::move(meta) : Metadata();
}

std::vector<std::int64_t> windows(const Metadata& meta, const std::string& arch,
                                  std::size_t layers) {
  const auto window = meta.integer(arch + ".attention.sliding_window").value_or(0);
  auto pattern = meta.integers(arch + ".attention.sliding_window_pattern")
                     .value_or(std::vector<std::int64_t>(layers, 1));
  for (std::int64_t& is_sliding : pattern)
    is_sliding *= window;
  return pattern;
}

// The factor that YaRN puts on q and k, from GGUF's keys.
double attention_scale(const Metadata& meta, const std::string& scaling, double factor) {
  const double usual = factor > 1 ? 1 + 0.1 * std::log(factor) : 1;
  return meta.number(scaling + "attn_factor").value_or(1) * usual;
}

void expect_scaling(const Metadata& meta, const std::string& scaling, const json& expected) {
  const std::string kind = expected["rope_type"];
  EXPECT_EQ(meta.string(scaling + "type"), kind);
  EXPECT_EQ(meta.number(scaling + "factor"), expected["factor"].get<double>());
  if (kind == "yarn") {
    EXPECT_NEAR(attention_scale(meta, scaling, expected["factor"]), expected["attention_scale"],
                1e-12);
    EXPECT_EQ(meta.number(scaling + "yarn_beta_fast"), expected["beta_fast"].get<double>());
    EXPECT_EQ(meta.number(scaling + "yarn_beta_slow"), expected["beta_slow"].get<double>());
    EXPECT_EQ(meta.number(scaling + "yarn_ext_factor"), 1.0);
  }
  if (kind == "llama3") {
    for (const char* name : {"low_freq_factor", "high_freq_factor"}) {
      EXPECT_EQ(meta.number(scaling + name), expected[name].get<double>());
    }
  }
  if (kind != "linear") {
    EXPECT_EQ(meta.integer(scaling + "original_context_length"),
              expected["original_max_position_embeddings"].get<std::int64_t>());
  }
}

void expect_case(const json& expected, const Metadata& meta) {
  const std::string arch(meta.string("general.architecture").value_or(""));
  const auto integer = [&](const char* name) { return meta.integer(arch + name).value_or(-1); };
  EXPECT_EQ(integer(".block_count"), expected["layers"]);
  EXPECT_EQ(integer(".embedding_length"), expected["hidden"]);
  EXPECT_EQ(integer(".feed_forward_length"), expected["ffn"]);
  EXPECT_EQ(integer(".context_length"), expected["context"]);
  EXPECT_EQ(integer(".vocab_size"), expected["vocab"]);
  EXPECT_EQ(integer(".attention.head_count"), expected["heads"]);
  EXPECT_EQ(integer(".attention.head_count_kv"), expected["kv_heads"]);
  EXPECT_EQ(integer(".rope.dimension_count"), expected["rotated"]);
  const std::int64_t usual = integer(".embedding_length") / integer(".attention.head_count");
  EXPECT_EQ(meta.integer(arch + ".attention.key_length").value_or(usual), expected["head_dim"]);
  EXPECT_EQ(meta.integer(arch + ".attention.value_length").value_or(usual), expected["head_dim"]);
  EXPECT_EQ(meta.number(arch + ".attention.layer_norm_rms_epsilon").value_or(0), expected["eps"]);
  EXPECT_EQ(meta.number(arch + ".rope.freq_base").value_or(0), expected["theta"]);
  EXPECT_EQ(meta.string("wick.hidden_act").value_or(""), expected["act"].get<std::string>());
  EXPECT_EQ(meta.boolean("wick.tie_word_embeddings"), expected["tied"].get<bool>());
  EXPECT_EQ(windows(meta, arch, expected["layers"]), expected["windows"]);
  EXPECT_EQ(meta.integers("wick.end_token_ids").value_or(std::vector<std::int64_t>()),
            expected["eos"]);
  if (!expected["eos"].empty()) {
    EXPECT_EQ(meta.integer("tokenizer.ggml.eos_token_id").value_or(-1), expected["eos"][0]);
  }
  EXPECT_EQ(meta.has("tokenizer.ggml.bos_token_id"), !expected["bos"].empty());
  if (expected["rope_type"] == "default") {
    EXPECT_FALSE(meta.has(arch + ".rope.scaling.type"));
  } else {
    expect_scaling(meta, arch + ".rope.scaling.", expected);
  }
}

TEST(ParityHfConfig, ReadsWhatTransformersReadsInBothSpellings) {
  const auto file = MappedFile::open(test::test_data("format/configs.json"));
  ASSERT_TRUE(file) << to_string(file.error());
  const std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  const json cases = json::parse(text, nullptr, false);
  ASSERT_GE(cases.size(), 40U);
  for (const json& item : cases) {
    SCOPED_TRACE(item["name"].get<std::string>());
    const std::string config = item["config"].dump();
    expect_case(item["expected"], must(translate(config)));
  }
}

TEST(HfConfig, NamesArchitecturesAsGgufDoes) {
  const auto arch = [](const char* type) {
    const std::string config = cat(R"({"model_type":")", type, R"("})");
    return std::string(must(translate(config)).string("general.architecture").value_or(""));
  };
  EXPECT_EQ(arch("llama"), "llama");
  EXPECT_EQ(arch("mistral"), "llama");
  EXPECT_EQ(arch("qwen2"), "qwen2");
  EXPECT_EQ(arch("qwen3"), "qwen3");
  EXPECT_EQ(arch("gemma9"), "gemma9");
}

TEST(HfConfig, TranslatesWhatIsGenericForAnUnknownArchitecture) {
  const Metadata meta = must(translate(R"({"model_type": "novel", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "layer_norm_eps": 1e-5,
    "architectures": ["NovelForCausalLM"], "torch_dtype": "bfloat16"})"));
  EXPECT_EQ(meta.integer("novel.embedding_length"), 64);
  EXPECT_EQ(meta.integer("novel.attention.head_count_kv"), 4);
  EXPECT_EQ(meta.number("novel.attention.layer_norm_epsilon"), 1e-5);
  EXPECT_EQ(meta.string("wick.hf_architecture"), "NovelForCausalLM");
  EXPECT_EQ(meta.string("wick.dtype"), "bfloat16");
  EXPECT_FALSE(meta.has("novel.vocab_size"));
}

TEST(HfConfig, ReadsRopeParametersNestedByLayerType) {
  const Metadata meta = must(translate(R"({"model_type": "novel", "rope_parameters": {
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})"));
  EXPECT_EQ(meta.number("novel.rope.freq_base"), 1e6);
  EXPECT_EQ(meta.number("novel.rope.freq_base_swa"), 1e4);
  EXPECT_EQ(meta.string("novel.rope.scaling.type"), "linear");
  EXPECT_EQ(meta.number("novel.rope.scaling.factor"), 8.0);
}

// Models that see images, too: the language model's own config counts, where it is silent the outer
// one.
TEST(HfConfig, ReadsTheLanguageModelOfANestedConfig) {
  const Metadata meta = must(translate(
      R"({"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"],
          "tie_word_embeddings": true, "eos_token_id": 7, "hidden_size": 1,
          "text_config": {"model_type": "qwen3_5_text", "hidden_size": 64, "eos_token_id": 9,
                          "linear_value_head_dim": 24, "linear_num_value_heads": 6}})"));
  EXPECT_EQ(meta.string("general.architecture"), "qwen35");
  EXPECT_EQ(meta.string("wick.hf_architecture"), "Qwen3_5ForConditionalGeneration");
  EXPECT_EQ(meta.integer("qwen35.embedding_length"), 64);
  EXPECT_EQ(meta.integer("qwen35.ssm.inner_size"), 144);
  EXPECT_EQ(meta.integer("tokenizer.ggml.eos_token_id"), 9);
  EXPECT_EQ(meta.boolean("wick.tie_word_embeddings"), true);
}

// As Gemma 4's published files say it; newer ones of transformers list the layers
// (per_layer_config).
TEST(HfConfig, ReadsWhatDiffersBetweenLayers) {
  constexpr const char* kConfig =
      R"({"model_type": "gemma4_text", "num_hidden_layers": 4, "num_key_value_heads": 8,
      "intermediate_size": 100, "head_dim": 16, "global_head_dim": 32, "sliding_window": 20,
      "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                      "full_attention"],
      "num_kv_shared_layers": 2, "use_double_wide_mlp": true, "hidden_size_per_layer_input": 8,
      "attention_k_eq_v": %, "num_global_key_value_heads": 2})";
  const std::string config = kConfig;
  const std::size_t at = config.find('%');
  for (const bool are_values_keys : {false, true}) {
    std::string one = config;
    one.replace(at, 1, are_values_keys ? "true" : "false");
    const Metadata meta = must(translate(one));
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(meta.boolean("wick.values_are_keys"), are_values_keys);
    EXPECT_EQ(meta.integer("gemma4.attention.key_length"), 32);
    EXPECT_EQ(meta.integer("gemma4.attention.value_length"), 32);
    EXPECT_EQ(meta.integer("gemma4.attention.key_length_swa"), 16);
    EXPECT_EQ(meta.integer("gemma4.attention.value_length_swa"), 16);
    EXPECT_EQ(meta.integer("gemma4.attention.shared_kv_layers"), 2);
    EXPECT_EQ(meta.integer("gemma4.embedding_length_per_layer_input"), 8);
    EXPECT_EQ(meta.integers("gemma4.feed_forward_length"), (Numbers{100, 100, 200, 200}));
    if (are_values_keys) {
      EXPECT_EQ(meta.integers("gemma4.attention.head_count_kv"), (Numbers{8, 2, 8, 2}));
    } else {
      EXPECT_EQ(meta.integer("gemma4.attention.head_count_kv"), 8);
    }
  }
}

TEST(HfConfig, CountsExpertsThatTheModelUses) {
  const std::string config = R"({"model_type": "gemma4_text", "num_hidden_layers": 1,
      "num_experts": 16, "top_k_experts": 4, "moe_intermediate_size": 12)";
  const Metadata uses = must(translate(config + R"(, "enable_moe_block": true})"));
  EXPECT_EQ(uses.integer("gemma4.expert_count"), 16);
  EXPECT_EQ(uses.integer("gemma4.expert_used_count"), 4);
  EXPECT_EQ(uses.integer("gemma4.expert_feed_forward_length"), 12);
  for (const char* const end : {"}", R"(, "enable_moe_block": false})"})
    EXPECT_EQ(must(translate(config + end)).integer("gemma4.expert_count"), std::nullopt);
}

TEST(HfConfig, TakesSamplingHintsAndMoreEndsFromGenerationConfig) {
  const Metadata meta = must(hf_metadata(
      {.folder = "m",
       .config = R"({"model_type": "llama", "eos_token_id": 9, "pad_token_id": -1})",
       .generation_config = R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.9,
                                "min_p": 0.1, "repetition_penalty": 1.1,
                                "eos_token_id": [8, 9]})"}));
  EXPECT_EQ(meta.number("general.sampling.temp"), 0.6);
  EXPECT_EQ(meta.integer("general.sampling.top_k"), 20);
  EXPECT_EQ(meta.number("general.sampling.top_p"), 0.9);
  EXPECT_EQ(meta.number("general.sampling.min_p"), 0.1);
  EXPECT_EQ(meta.number("general.sampling.penalty_repeat"), 1.1);
  EXPECT_EQ(meta.integer("tokenizer.ggml.eos_token_id"), 9);
  EXPECT_EQ(meta.integers("wick.end_token_ids"), (std::vector<std::int64_t>{9, 8}));
  EXPECT_FALSE(meta.has("tokenizer.ggml.padding_token_id"));
}

TEST(HfConfig, IgnoresSamplingHintsOfAModelThatDoesNotSample) {
  const Metadata meta =
      must(hf_metadata({.folder = "m",
                        .config = R"({"model_type": "llama"})",
                        .generation_config = R"({"do_sample": false, "temperature": 0.6})"}));
  EXPECT_FALSE(meta.has("general.sampling.temp"));
}

TEST(HfConfig, HandsTokenizerFilesOverAsTheyAre) {
  const std::string_view tokenizer = "any bytes";
  const std::string_view config = R"({"chat_template": "T", "add_bos_token": true})";
  const Metadata meta = must(hf_metadata({.folder = "m",
                                          .config = R"({"model_type": "llama"})",
                                          .tokenizer = tokenizer,
                                          .tokenizer_config = config}));
  EXPECT_EQ(meta.string("tokenizer.huggingface.json")->data(), tokenizer.data());
  EXPECT_EQ(meta.string("tokenizer.huggingface.config")->data(), config.data());
  EXPECT_EQ(meta.string("tokenizer.chat_template"), "T");
}

HfTexts with_templates() {
  return {.folder = "m",
          .config = R"({"model_type": "llama"})",
          .tokenizer_config = R"({"chat_template": "from config"})",
          .chat_template = "from jinja",
          .chat_template_json = R"({"chat_template": "from json"})"};
}

TEST(HfConfig, PrefersTheJinjaFileThenTokenizerConfigThenJson) {
  HfTexts texts = with_templates();
  EXPECT_EQ(must(hf_metadata(texts)).string("tokenizer.chat_template"), "from jinja");
  texts.chat_template = std::nullopt;
  EXPECT_EQ(must(hf_metadata(texts)).string("tokenizer.chat_template"), "from config");
  texts.tokenizer_config = "{}";
  EXPECT_EQ(must(hf_metadata(texts)).string("tokenizer.chat_template"), "from json");
}

TEST(HfConfig, ReadsNamedTemplates) {
  const Metadata meta = must(
      hf_metadata({.folder = "m",
                   .config = R"({"model_type": "llama"})",
                   .tokenizer_config = R"({"chat_template": [{"name": "default", "template": "D"},
                                                 {"name": "tool_use", "template": "T"}]})"}));
  EXPECT_EQ(meta.string("tokenizer.chat_template"), "D");
  EXPECT_EQ(meta.string("tokenizer.chat_template.tool_use"), "T");
  EXPECT_EQ(meta.strings("tokenizer.chat_templates"), (std::vector<std::string_view>{"tool_use"}));
}

TEST(HfConfig, TemplatesInFilesOfTheirOwnReplaceThoseOfTheJsonFiles) {
  HfTexts texts{.folder = "m",
                .config = R"({"model_type": "llama"})",
                .tokenizer_config = R"({"chat_template": [{"name": "default", "template": "D"},
                                               {"name": "rag", "template": "R"}]})",
                .chat_template = "from jinja",
                .named_templates = {{"tool_use", "T"}}};
  const Metadata meta = must(hf_metadata(texts));
  EXPECT_EQ(meta.string("tokenizer.chat_template"), "from jinja");
  EXPECT_EQ(meta.string("tokenizer.chat_template.tool_use"), "T");
  EXPECT_FALSE(meta.has("tokenizer.chat_template.rag"));
  EXPECT_EQ(meta.strings("tokenizer.chat_templates"), (std::vector<std::string_view>{"tool_use"}));
}

std::string error_message(std::string_view config) {
  const auto meta = translate(config);
  return meta ? "" : meta.error().message;
}

TEST(HostileHfConfig, NamesFileFieldValueAndWish) {
  EXPECT_EQ(error_message(R"({"model_type": "llama", "hidden_size": "big"})"),
            "m/config.json: 'hidden_size' is 'big', wanted an integer");
  EXPECT_EQ(error_message(R"({"model_type": "llama", "hidden_size": 1.5})"),
            "m/config.json: 'hidden_size' is 1.5, wanted an integer");
  EXPECT_EQ(error_message(R"({"model_type": "llama", "rms_norm_eps": []})"),
            "m/config.json: 'rms_norm_eps' is an array of 0, wanted a number");
  EXPECT_EQ(error_message("{}"),
            "m/config.json: 'model_type' is missing, wanted the name of an architecture");
  EXPECT_EQ(error_message(R"({"model_type": "llama", "rope_scaling": {"type": "linear"}})"),
            "m/config.json: 'factor' is missing, wanted a number");
  EXPECT_EQ(error_message(R"({"model_type": "llama", "rope_scaling": "yes"})"),
            "m/config.json: 'rope_scaling' is 'yes', wanted an object");
}

TEST(HostileHfConfig, SurvivesExtremeNumbers) {
  for (const char* number : {"0", "-1", "9223372036854775807", "-9223372036854775808",
                             "18446744073709551615", "1e308", "-1e308", "1e-320"}) {
    for (const char* name : {"hidden_size", "num_attention_heads", "num_hidden_layers", "head_dim",
                             "max_window_layers", "sliding_window", "eos_token_id", "rope_theta",
                             "partial_rotary_factor", "max_position_embeddings"}) {
      const std::string config =
          cat(R"({"model_type": "qwen3", "use_sliding_window": true, "rope_scaling": )",
              R"({"type": "yarn", "factor": 2.0}, ")", name, "\": ", number, "}");
      const auto meta = translate(config);
      if (!meta) {
        EXPECT_EQ(meta.error().id, "bad_config") << config;
      }
    }
  }
}

TEST(HostileHfConfig, RefusesTextThatIsNoObject) {
  EXPECT_EQ(translate("").error().id, "truncated_json");
  EXPECT_EQ(translate("[1]").error().id, "bad_json");
  EXPECT_EQ(translate(R"({"model_type": "llama")").error().id, "truncated_json");
  EXPECT_EQ(translate(std::string(100'000, '[')).error().id, "bad_json");
  EXPECT_EQ(translate("{\"a\":" + std::string(100'000, '[')).error().id, "deep_json");
  EXPECT_EQ(translate("{\"model_type\": \"\xff\"}").error().id, "bad_json");
}

TEST(HostileHfConfig, RefusesListsThatNoModelNeeds) {
  std::string ids = "0";
  for (int i = 1; i < 5000; ++i)
    ids += cat(",", i);
  const std::string config = cat(R"({"model_type": "llama", "eos_token_id": [)", ids, "]}");
  EXPECT_EQ(error_message(config),
            "m/config.json: 'eos_token_id' is an array of 5000, wanted at most 1024 token ids");
}

TEST(HostileHfConfig, SaysWhereATextStopsBeingJson) {
  EXPECT_EQ(error_message(R"({"a": 1, nonsense})"), "m/config.json: is not valid JSON at byte 11");
}

}  // namespace
}  // namespace wick
