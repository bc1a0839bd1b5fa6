// Files that cannot be run, one row each: the sentence names the tensor or key, what was seen and
// what is wanted, and a hint says what to do.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "model/run_test.h"
#include "support/gguf_writer.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

struct TensorOf {
  std::vector<std::int64_t> shape = {};
  DType type = DType::kF32;
};

// A file before it is written; as it is, it is a Llama of one layer that loads.
struct Sketch {
  std::map<std::string, Value> keys = {
      {"general.architecture", "llama"},    {"llama.block_count", 1},
      {"llama.context_length", 64},         {"llama.embedding_length", 8},
      {"llama.feed_forward_length", 16},    {"llama.attention.head_count", 2},
      {"llama.attention.head_count_kv", 1}, {"llama.attention.layer_norm_rms_epsilon", 1e-5}};
  std::map<std::string, TensorOf> tensors = {
      {"token_embd.weight", {{4, 8}}},      {"output_norm.weight", {{8}}},
      {"blk.0.attn_norm.weight", {{8}}},    {"blk.0.ffn_norm.weight", {{8}}},
      {"blk.0.attn_q.weight", {{8, 8}}},    {"blk.0.attn_k.weight", {{4, 8}}},
      {"blk.0.attn_v.weight", {{4, 8}}},    {"blk.0.attn_output.weight", {{8, 8}}},
      {"blk.0.ffn_gate.weight", {{16, 8}}}, {"blk.0.ffn_up.weight", {{16, 8}}},
      {"blk.0.ffn_down.weight", {{8, 16}}}};

  void be(const std::string& arch) {
    std::map<std::string, Value> renamed;
    for (auto& [key, value] : keys) {
      const bool is_own = key.starts_with("llama.");
      renamed[is_own ? arch + key.substr(5) : key] = value;
    }
    renamed["general.architecture"] = arch;
    keys = std::move(renamed);
  }

  // Two experts in tensors of their own, as old files have them.
  void add_experts() {
    keys["llama.expert_count"] = 2;
    keys["llama.expert_used_count"] = 1;
    tensors["blk.0.ffn_gate_inp.weight"] = {{2, 8}};
    for (const char* expert : {"0", "1"}) {
      tensors[std::string("blk.0.ffn_gate.") + expert + ".weight"] = {{16, 8}};
      tensors[std::string("blk.0.ffn_up.") + expert + ".weight"] = {{16, 8}};
      tensors[std::string("blk.0.ffn_down.") + expert + ".weight"] = {{8, 16}};
    }
  }

  // Layers with a window and norms of queries and keys; their values may not be missing.
  void be_gemma4(std::int64_t is_local) {
    keys["llama.attention.sliding_window"] = 16;
    keys["llama.attention.sliding_window_pattern"] = std::vector<std::int64_t>{is_local};
    be("gemma4");
    for (const char* norm : {"post_attention_norm", "post_ffw_norm"})
      tensors[std::string("blk.0.") + norm + ".weight"] = {{8}};
    for (const char* norm : {"attn_q_norm", "attn_k_norm"})
      tensors[std::string("blk.0.") + norm + ".weight"] = {{4}};
  }

  void write(const fs::path& path) const {
    test::GgufWriter gguf;
    for (const auto& [key, value] : keys)
      std::visit(Adder{gguf, key}, value);
    for (const auto& [name, tensor] : tensors) {
      std::int64_t bytes = dtype_info(tensor.type).block_bytes;
      for (const std::int64_t dim : tensor.shape)
        bytes *= dim;
      gguf.add_tensor(name, tensor.type, tensor.shape,
                      test::Bytes(static_cast<std::size_t>(bytes)));
    }
    gguf.write(path);
  }

 private:
  struct Adder {
    test::GgufWriter& gguf;
    const std::string& key;

    void operator()(std::int64_t value) const { gguf.add_integer(key, value); }

    void operator()(double value) const { gguf.add_number(key, value); }

    void operator()(const std::string& value) const { gguf.add_string(key, value); }

    void operator()(const std::vector<std::int64_t>& value) const { gguf.add_integers(key, value); }
  };
};

struct Broken {
  const char* label;
  void (*change)(Sketch& file);
  std::vector<const char*> words;  // where, what was seen, what is wanted
};

// clang-format off
const Broken kBroken[] = {
    {"an architecture of nobody", [](Sketch& f) { f.be("quux"); },
     {"architecture is 'quux'", "wick knows", "qwen3"}},
    {"no architecture", [](Sketch& f) { f.keys.erase("general.architecture"); },
     {"'general.architecture'", "missing"}},
    {"no layers", [](Sketch& f) { f.keys["llama.block_count"] = 0; },
     {"'llama.block_count'", "is 0", "[1, 1024]"}},
    {"too many layers", [](Sketch& f) { f.keys["llama.block_count"] = 2000; },
     {"'llama.block_count'", "is 2000", "[1, 1024]"}},
    {"more layers than tensors", [](Sketch& f) { f.keys["llama.block_count"] = 2; },
     {"tensor 'blk.1.", "is missing"}},
    {"no width", [](Sketch& f) { f.keys.erase("llama.embedding_length"); },
     {"'llama.embedding_length'", "is missing", "wanted an integer"}},
    {"a context in words", [](Sketch& f) { f.keys["llama.context_length"] = "long"; },
     {"'llama.context_length'", "long", "wanted an integer"}},
    {"no heads", [](Sketch& f) { f.keys["llama.attention.head_count"] = 0; },
     {"'llama.attention.head_count'", "is 0", "[1, 2048]"}},
    {"heads that cannot share", [](Sketch& f) { f.keys["llama.attention.head_count_kv"] = 3; },
     {"llama.attention.head_count_kv", "2 heads", "3 key-value heads evenly"}},
    {"heads of no size", [](Sketch& f) { f.keys["llama.embedding_length"] = 9; },
     {"llama.attention.key_length", "9 features", "2 heads"}},
    {"heads too wide", [](Sketch& f) { f.keys["llama.attention.key_length"] = 5000; },
     {"'llama.attention.key_length'", "is 5000", "[1, 1024]"}},
    {"half a pair to rotate", [](Sketch& f) { f.keys["llama.rope.dimension_count"] = 3; },
     {"llama.rope.dimension_count", "3 features", "even"}},
    {"a base of nothing", [](Sketch& f) { f.keys["llama.rope.freq_base"] = 0.0; },
     {"'llama.rope.freq_base'", "is 0", "[1, "}},
    {"a rotation of nobody", [](Sketch& f) { f.keys["llama.rope.scaling.type"] = "spiral"; },
     {"llama.rope.scaling.type", "'spiral'", "yarn"}},
    {"an epsilon of 7", [](Sketch& f) { f.keys["llama.attention.layer_norm_rms_epsilon"] = 7.0; },
     {"'llama.attention.layer_norm_rms_epsilon'", "is 7", "[0, 1]"}},
    {"a vocabulary missing", [](Sketch& f) { f.tensors.erase("token_embd.weight"); },
     {"tensor 'token_embd.weight'", "is missing"}},
    {"a matrix missing", [](Sketch& f) { f.tensors.erase("blk.0.attn_output.weight"); },
     {"tensor 'blk.0.attn_output.weight'", "is missing"}},
    {"a norm missing", [](Sketch& f) { f.tensors.erase("output_norm.weight"); },
     {"tensor 'output_norm.weight'", "is missing"}},
    {"a matrix too low", [](Sketch& f) { f.tensors["blk.0.attn_k.weight"] = {{2, 8}}; },
     {"tensor 'blk.0.attn_k.weight'", "is [2, 8]", "needs [4, 8]"}},
    {"a norm too short", [](Sketch& f) { f.tensors["blk.0.ffn_norm.weight"] = {{7}}; },
     {"tensor 'blk.0.ffn_norm.weight'", "is [7]", "needs [8]"}},
    {"a vector for a matrix", [](Sketch& f) { f.tensors["blk.0.ffn_down.weight"] = {{128}}; },
     {"tensor 'blk.0.ffn_down.weight'", "is [128]", "needs [8, 16]"}},
    {"experts where none may be",
     [](Sketch& f) {
       f.be("qwen2");
       f.keys["qwen2.expert_count"] = 8;
     },
     {"qwen2.expert_count", "8 experts", "does not know"}},
    {"more experts used than there are",
     [](Sketch& f) {
       f.add_experts();
       f.keys["llama.expert_used_count"] = 3;
     },
     {"'llama.expert_used_count'", "is 3", "[1, 2]"}},
    {"a score of nobody",
     [](Sketch& f) {
       f.add_experts();
       f.keys["llama.expert_gating_func"] = 9;
     },
     {"llama.expert_gating_func", "is 9", "2 (sigmoid)"}},
    {"groups that do not divide",
     [](Sketch& f) {
       f.add_experts();
       f.keys["llama.expert_group_count"] = 2;
       f.keys["llama.expert_group_used_count"] = 1;
       f.keys["llama.expert_used_count"] = 2;
     },
     {"2 experts in 2 groups", "1 are used", "2 experts for each token"}},
    {"experts of two types",
     [](Sketch& f) {
       f.add_experts();
       f.tensors["blk.0.ffn_up.1.weight"].type = DType::kF16;
     },
     {"tensor 'blk.0.ffn_up.1.weight'", "F16", "F32"}},
    {"an expert missing",
     [](Sketch& f) {
       f.add_experts();
       f.tensors.erase("blk.0.ffn_down.1.weight");
     },
     {"tensor 'blk.0.ffn_down.1.weight'", "is missing"}},
    {"values missing from a layer with a window",
     [](Sketch& f) {
       f.be_gemma4(1);
       f.tensors.erase("blk.0.attn_v.weight");
     },
     {"tensor 'blk.0.attn_v.weight'", "is missing"}},
    {"keys of no layer",
     [](Sketch& f) {
       f.be_gemma4(0);
       f.keys["gemma4.attention.shared_kv_layers"] = 1;
     },
     {"'gemma4.attention.shared_kv_layers'", "is 1", "[0, 0]"}},
    {"experts of a layer without a router",
     [](Sketch& f) {
       f.be_gemma4(0);
       f.keys["gemma4.expert_count"] = 2;
       f.keys["gemma4.expert_used_count"] = 1;
       f.keys["gemma4.block_count"] = 2;
       f.keys["gemma4.attention.sliding_window_pattern"] = std::vector<std::int64_t>{0, 0};
       f.tensors["blk.0.ffn_gate_inp.weight"] = {{2, 8}};
     },
     {"tensor 'blk.1.ffn_gate_inp.weight'", "is missing"}},
    {"windows of other layers",
     [](Sketch& f) {
       f.keys["llama.attention.sliding_window"] = 16;
       f.keys["llama.attention.sliding_window_pattern"] = std::vector<std::int64_t>{1, 0, 1};
     },
     {"'llama.attention.sliding_window_pattern'", "3", "1 of them"}},
};

// clang-format on

Error error_of(const fs::path& path) {
  const auto model = run_model(path, {});
  EXPECT_FALSE(model);
  return model ? Error{} : model.error();
}

void expect_sentence(const Error& error, const fs::path& path,
                     const std::vector<const char*>& words) {
  const std::string text = to_string(error);
  EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_FALSE(error.hint.empty()) << text;
  for (const char* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << text << "\nlacks " << word;
}

TEST(BrokenFiles, TheSketchItselfAndItsExpertsLoad) {
  const test::TempDir dir;
  Sketch file;
  file.write(dir.path() / "m.gguf");
  const auto model = run_model(dir.path() / "m.gguf", {});
  EXPECT_TRUE(model) << to_string(model.error());
  file.add_experts();
  file.write(dir.path() / "e.gguf");
  const auto experts = run_model(dir.path() / "e.gguf", {});
  EXPECT_TRUE(experts) << to_string(experts.error());
  Sketch without_values;
  without_values.be_gemma4(0);
  without_values.tensors.erase("blk.0.attn_v.weight");
  without_values.write(dir.path() / "g.gguf");
  const auto keys = run_model(dir.path() / "g.gguf", {});
  EXPECT_TRUE(keys) << to_string(keys.error());
}

TEST(BrokenFiles, AreRefusedWithPlaceValueWishAndHint) {
  static_assert(std::size(kBroken) >= 20);
  const test::TempDir dir;
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(broken.label);
    Sketch file;
    broken.change(file);
    file.write(dir.path() / "m.gguf");
    expect_sentence(error_of(dir.path() / "m.gguf"), dir.path() / "m.gguf", broken.words);
  }
}

TEST(BrokenFiles, OfOtherKindsAreRefusedToo) {
  const test::TempDir dir;
  const fs::path path = dir.path() / "m.gguf";
  test::write_file(path, std::string_view("PK\3\4 a zip file, not a model"));
  expect_sentence(error_of(path), path, {"begins with 'PK", "'GGUF'"});
  Sketch{}.write(path);
  fs::resize_file(path, fs::file_size(path) - 64);
  expect_sentence(error_of(path), path, {"tensor '", "needs"});
  fs::resize_file(path, 100);
  expect_sentence(error_of(path), path, {"ends at byte 100", "inside"});
}

}  // namespace
}  // namespace wick
