// Architectures that a program describes: the golden Llama under another name, with other names of
// tensors, gives the same bits; and what a description may not say.
#include <fstream>
#include <iterator>

#include "model/arch/common.h"
#include "model/run_test.h"
#include "support/temp_dir.h"
#include "support/test_data.h"
#include "wick/architecture.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

// Before main(), and so before a test opens a model.
const Result<void> kTensors = add_architecture(R"({
  "name": "acme", "like": "llama", "model_type": "acme_lm",
  "tensors": {"trunk.layers.{}.self_attn.q_proj.weight": "blk.{}.attn_q.weight",
              "trunk.layers.{}.self_attn.k_proj.weight": "blk.{}.attn_k.weight",
              "trunk.layers.{}.self_attn.v_proj.weight": "blk.{}.attn_v.weight",
              "trunk.layers.{}.self_attn.o_proj.weight": "blk.{}.attn_output.weight",
              "trunk.layers.{}.mlp.gate_proj.weight": "blk.{}.ffn_gate.weight",
              "trunk.layers.{}.mlp.up_proj.weight": "blk.{}.ffn_up.weight",
              "trunk.layers.{}.mlp.down_proj.weight": "blk.{}.ffn_down.weight",
              "trunk.layers.{}.input_layernorm.weight": "blk.{}.attn_norm.weight",
              "trunk.layers.{}.post_attention_layernorm.weight": "blk.{}.ffn_norm.weight"}})");
const Result<void> kChanged = add_architecture(R"({
  "name": "acme-changed", "like": "llama", "model_type": "acme_changed", "activation": "gelu_tanh",
  "rotation": "none", "parallel": true, "embedding_scale": 3, "residual_scale": 0.5,
  "attention_scale": 0.25, "logit_scale": 2,
  "defaults": {"hidden_size": 7, "rms_norm_eps": 0.125}})");
const Result<void> kTaken = add_architecture(R"({"name": "llama", "like": "qwen2"})");
const Result<void> kTakenByAnother = add_architecture(R"({"name": "acme", "like": "qwen2"})");
const Result<void> kUnknownField =
    add_architecture(R"({"name": "x", "like": "llama", "color": "green"})");
const Result<void> kUnknownBase = add_architecture(R"({"name": "x", "like": "nobody"})");
const Result<void> kNoName = add_architecture(R"({"like": "llama"})");
const Result<void> kNoObject = add_architecture("[1]");
const Result<void> kNoFactor =
    add_architecture(R"({"name": "x", "like": "llama", "logit_scale": 0})");
const Result<void> kNoActivation =
    add_architecture(R"({"name": "x", "like": "llama", "activation": "tanh"})");

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The golden Llama under `model_type`, with "trunk" for "model" in the names of layers' tensors.
void write_copy(const fs::path& folder, const std::string& model_type, bool renames) {
  const fs::path golden = test::test_data("model/families/llama");
  std::string config = read(golden / "config.json");
  replace_all(config, "\"model_type\": \"llama\"", "\"model_type\": \"" + model_type + "\"");
  std::ofstream(folder / "config.json", std::ios::binary) << config;
  std::string weights = read(golden / "model.safetensors");
  if (renames) replace_all(weights, "\"model.layers.", "\"trunk.layers.");
  std::ofstream(folder / "model.safetensors", std::ios::binary) << weights;
}

std::vector<float> logits(const fs::path& folder, const std::vector<TokenId>& ids) {
  const int n = static_cast<int>(ids.size());
  const auto model = run_model(folder, {.context = n, .max_batch_tokens = n});
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? logits_of(**model, ids, n) : std::vector<float>{};
}

TEST(Described, GivesTheBitsOfTheArchitectureThatItIsLike) {
  ASSERT_TRUE(kTensors) << to_string(kTensors.error());
  const auto golden = test::test_data("model/families/llama");
  const auto ids = test::read_values<TokenId>(golden / "ids.bin");
  const test::TempDir copy;
  write_copy(copy.path(), "acme_lm", true);
  EXPECT_TRUE(same_bits(logits(copy.path(), ids), logits(golden, ids)));
  const auto file = open_model(copy.path());
  ASSERT_TRUE(file);
  EXPECT_EQ((*find_arch(*file))->gguf_name, "acme");
}

TEST(Described, ChangesWhatTheDescriptionSays) {
  ASSERT_TRUE(kChanged) << to_string(kChanged.error());
  const test::TempDir copy;
  write_copy(copy.path(), "acme_changed", false);
  const auto file = open_model(copy.path());
  ASSERT_TRUE(file) << to_string(file.error());
  auto spec = (*find_arch(*file))->spec(*file);
  ASSERT_TRUE(spec) << to_string(spec.error());
  EXPECT_EQ(spec->d_model, 32) << "config.json wins over defaults";
  EXPECT_EQ(spec->embed_scale, 3);
  EXPECT_EQ(spec->logit_scale, 2);
  for (int i = 0; i < static_cast<int>(spec->blocks.size()); ++i) {
    EXPECT_TRUE(spec->blocks[static_cast<std::size_t>(i)].is_parallel);
    EXPECT_EQ(spec->blocks[static_cast<std::size_t>(i)].residual_scale, 0.5F);
    EXPECT_EQ(gqa(*spec, i).scale, 0.25F);
    EXPECT_EQ(gqa(*spec, i).rope.layout, RopeParams::kNone);
    EXPECT_EQ(dense(*spec, i).act, Act::kGeluTanh);
  }
}

TEST(Described, SaysWhatADescriptionMayNotSay) {
  struct Refused {
    const Result<void>& result;
    const char* what;
  };

  const Refused all[] = {{kTaken, "'llama' is taken"},
                         {kTakenByAnother, "'acme' is taken"},
                         {kUnknownField, "'color' is unknown"},
                         {kUnknownBase, "'nobody'"},
                         {kNoName, "name is missing"},
                         {kNoObject, "no JSON object"},
                         {kNoFactor, "logit_scale is 0"},
                         {kNoActivation, "activation is"}};
  for (const Refused& one : all) {
    ASSERT_FALSE(one.result) << one.what;
    EXPECT_EQ(one.result.error().id, "bad_architecture");
    EXPECT_NE(one.result.error().message.find(one.what), std::string::npos)
        << one.result.error().message;
  }
}

TEST(Described, ComesBeforeTheFirstModel) {
  ASSERT_TRUE(open_model(test::test_data("model/families/llama")));
  const auto late = add_architecture(R"({"name": "late", "like": "llama"})");
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("opened before"), std::string::npos);
}

}  // namespace
}  // namespace wick
