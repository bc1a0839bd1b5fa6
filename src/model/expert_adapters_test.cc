// LoRA adapters of experts, in each form in which files have them, against the model whose matrices
// have the changes added; the same bits in any chunks, on two devices and beside other adapters.
// tools/parity/adapters.py compares with PEFT.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "base/strings.h"
#include "model/adapter.h"
#include "model/run_test.h"
#include "support/gguf_writer.h"
#include "support/hot_counters.h"
#include "support/safetensors_writer.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

constexpr int kExpertCount = 5, kLayers = 2, kRank = 3, kIds = 40;
constexpr float kScale = 2;
constexpr int kMissing = 2;  // the expert whose gate no adapter changes

// A and B of n matrices [out, in], one after the other.
struct Factors {
  int n = 0, out = 0, in = 0, rank = 0;
  std::vector<float> a = {}, b = {};

  float& a_at(int e, int r, int i) { return a[static_cast<std::size_t>((e * rank + r) * in + i)]; }

  float& b_at(int e, int o, int r) { return b[static_cast<std::size_t>((e * out + o) * rank + r)]; }
};

Factors zeros(int n, int out, int in, int rank) {
  Factors zero{.n = n, .out = out, .in = in, .rank = rank};
  zero.a.resize(static_cast<std::size_t>(n * rank * in));
  zero.b.resize(static_cast<std::size_t>(n * out * rank));
  return zero;
}

bool is_gate(const std::string& name) {
  return name.ends_with("ffn_gate_exps.weight");
}

bool is_changed(const std::string& name) {
  return name.find("_exps.") != std::string::npos ||
         (name.find("_shexp.") != std::string::npos && name.find("_inp_") == std::string::npos);
}

Factors factors_of(const std::string& name, int rows, int cols) {
  const int n = name.find("_exps.") == std::string::npos ? 1 : kExpertCount;
  Factors own = zeros(n, rows / n, cols, kRank);
  std::uint32_t seed = 1;
  for (const char c : name)
    seed = seed * 31 + static_cast<std::uint32_t>(c);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-0.3F, 0.3F);
  for (float& x : own.a)
    x = value(random);
  for (float& x : own.b)
    x = value(random);
  for (int i = 0; i < own.out * kRank && is_gate(name); ++i)
    own.b_at(kMissing, i / kRank, i % kRank) = 0;
  return own;
}

// One rank for all: what is added are zeros.
Factors padded(Factors from, int rank) {
  Factors to = zeros(from.n, from.out, from.in, rank);
  for (int e = 0; e < from.n; ++e) {
    for (int r = 0; r < from.rank; ++r) {
      for (int i = 0; i < from.in; ++i)
        to.a_at(e, r, i) = from.a_at(e, r, i);
      for (int o = 0; o < from.out; ++o)
        to.b_at(e, o, r) = from.b_at(e, o, r);
    }
  }
  return to;
}

// Gate and up as one matrix.
Factors fused(Factors gate, Factors up) {
  Factors both = zeros(gate.n, 2 * gate.out, gate.in, 2 * kRank);
  for (int e = 0; e < gate.n; ++e) {
    for (int r = 0; r < kRank; ++r) {
      for (int i = 0; i < gate.in; ++i) {
        both.a_at(e, r, i) = gate.a_at(e, r, i);
        both.a_at(e, kRank + r, i) = up.a_at(e, r, i);
      }
      for (int o = 0; o < gate.out; ++o) {
        both.b_at(e, o, r) = gate.b_at(e, o, r);
        both.b_at(e, gate.out + o, kRank + r) = up.b_at(e, o, r);
      }
    }
  }
  return both;
}

using Changes = std::map<std::string, Factors>;  // by the name of the matrix

// Also the model with the changes added, `merged`.
Changes write_models(const fs::path& plain, const fs::path& merged, DType type) {
  Changes changes;
  test::TinyModel model{
      .arch = "qwen2moe", .n_layers = kLayers, .experts = kExpertCount, .type = type};
  model.edit = [&](const std::string& name, DType, int rows, int cols, std::span<std::byte>) {
    if (is_changed(name)) changes[name] = factors_of(name, rows, cols);
  };
  test::write_tiny_model(plain, model);
  if (type != DType::kF32) return changes;
  model.edit = [&](const std::string& name, DType, int rows, int cols, std::span<std::byte> bytes) {
    if (!is_changed(name)) return;
    Factors& own = changes[name];
    std::vector<float> w(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    std::memcpy(w.data(), bytes.data(), bytes.size());
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < cols; ++i) {
        double sum = 0;
        for (int r = 0; r < kRank; ++r)
          sum += double{own.b_at(row / own.out, row % own.out, r)} *
                 double{own.a_at(row / own.out, r, i)};
        w[static_cast<std::size_t>(row * cols + i)] += static_cast<float>(kScale * sum);
      }
    }
    std::memcpy(bytes.data(), w.data(), bytes.size());
  };
  test::write_tiny_model(merged, model);
  return changes;
}

// With gate and up as one, and one rank for all.
Changes with_fused(const Changes& from) {
  Changes to;
  for (const auto& [name, own] : from) {
    if (name.find("ffn_up_exps") != std::string::npos) continue;
    if (!is_gate(name)) {
      to[name] = padded(own, 2 * kRank);
      continue;
    }
    const std::string blk = name.substr(0, name.find("ffn_"));
    to[blk + "ffn_gate_up_exps.weight"] = fused(own, from.at(blk + "ffn_up_exps.weight"));
  }
  return to;
}

void write_gguf(const fs::path& path, const Changes& changes) {
  test::GgufWriter gguf;
  gguf.add_string("general.type", "adapter").add_string("adapter.type", "lora");
  gguf.add_string("general.architecture", "qwen2moe");
  gguf.add_number("adapter.lora.alpha", kScale * static_cast<float>(changes.begin()->second.rank));
  for (const auto& [name, own] : changes) {
    const bool is_one = own.n == 1;
    using Dims = std::vector<std::int64_t>;
    gguf.add_tensor(name + ".lora_a", DType::kF32,
                    is_one ? Dims{own.rank, own.in} : Dims{own.n, own.rank, own.in},
                    test::bytes_of(own.a));
    gguf.add_tensor(name + ".lora_b", DType::kF32,
                    is_one ? Dims{own.out, own.rank} : Dims{own.n, own.out, own.rank},
                    test::bytes_of(own.b));
  }
  gguf.write(path);
}

std::string module_of(const std::string& name) {
  const std::string layer = name.substr(4, 1);
  const std::string kind = name.substr(name.find("ffn_") + 4);
  const std::string matrix = kind.substr(0, kind.find('_')) + "_proj";
  const bool is_shared = name.find("_shexp.") != std::string::npos;
  return cat("base_model.model.model.layers.", layer, ".mlp.",
             is_shared ? cat("shared_expert.", matrix) : std::string("experts"));
}

std::string matrix_of(const std::string& name) {
  const std::string kind = name.substr(name.find("ffn_") + 4);
  return kind.substr(0, kind.find('_')) + "_proj";
}

class Peft {
 public:
  Peft(const fs::path& folder, int rank) : folder_(folder) {
    fs::create_directories(folder);
    test::write_file(folder / "adapter_config.json",
                     std::string_view(cat(R"({"peft_type": "LORA", "r": )", rank,
                                          R"(, "lora_alpha": )", int(kScale) * rank, "}")));
  }

  void add(const std::string& module, const std::vector<std::int64_t>& a_shape, test::Bytes a,
           const std::vector<std::int64_t>& b_shape, test::Bytes b) {
    file_.add(module + ".lora_A.weight", "F32", a_shape, std::move(a));
    file_.add(module + ".lora_B.weight", "F32", b_shape, std::move(b));
  }

  void write() { file_.write(folder_ / "adapter_model.safetensors"); }

 private:
  fs::path folder_;
  test::SafetensorsWriter file_;
};

void write_single(const fs::path& folder, const Changes& changes) {
  Peft peft(folder, kRank);
  for (const auto& [name, own] : changes) {
    const auto a = static_cast<std::size_t>(own.rank * own.in);
    const auto b = static_cast<std::size_t>(own.out * own.rank);
    for (std::size_t e = 0; e < static_cast<std::size_t>(own.n); ++e) {
      if (is_gate(name) && e == kMissing) continue;
      const std::string one = own.n == 1 ? "" : cat(".", e, ".", matrix_of(name));
      peft.add(module_of(name) + one, {own.rank, own.in},
               test::bytes_of(std::span<const float>(own.a).subspan(e * a, a)), {own.out, own.rank},
               test::bytes_of(std::span<const float>(own.b).subspan(e * b, b)));
    }
  }
  peft.write();
}

// target_parameters: gate_up_proj and down_proj of one module, one wrapped into the other.
void write_parameters(const fs::path& folder, const Changes& changes) {
  Peft peft(folder, 2 * kRank);
  for (const auto& [name, each] : changes) {
    Factors own = each;
    std::vector<float> b(own.b.size());
    for (int o = 0; o < own.out; ++o) {
      for (int r = 0; r < own.rank; ++r) {
        for (int e = 0; e < own.n; ++e)
          b[static_cast<std::size_t>((o * own.rank + r) * own.n + e)] = own.b_at(e, o, r);
      }
    }
    const bool is_inner = name.find("gate_up") != std::string::npos;
    peft.add(module_of(name) + (is_inner ? ".base_layer" : ""), {own.n * own.rank, own.in},
             test::bytes_of(own.a), {own.out, own.rank * own.n}, test::bytes_of(b));
  }
  peft.write();
}

class ExpertAdapters {
 public:
  explicit ExpertAdapters(DType type = DType::kF32)
      : changes_(write_models(path("plain.gguf"), path("merged.gguf"), type)) {
    const Changes fused = with_fused(changes_);
    write_gguf(path("stacked.gguf"), changes_);
    write_gguf(path("fused.gguf"), fused);
    write_single(path("single"), changes_);
    write_parameters(path("parameters"), fused);
  }

  fs::path path(const char* name) const { return dir_.path() / name; }

  // `model` with these adapters.
  std::unique_ptr<Running> load(const char* model, const std::vector<const char*>& adapters,
                                const std::vector<int>& parts = {}) {
    adapters_.clear();
    for (const char* const name : adapters) {
      auto adapter = Adapter::open(path(name));
      EXPECT_TRUE(adapter) << to_string(adapter.error());
      adapters_.push_back(*std::move(adapter));
    }
    auto running = run_model(path(model), {.threads = 2,
                                           .context = kIds,
                                           .max_batch_tokens = 4 * kIds,
                                           .max_seqs = 4,
                                           .parts = parts,
                                           .adapters = adapters_});
    EXPECT_TRUE(running) << to_string(running.error());
    return running ? *std::move(running) : nullptr;
  }

 private:
  test::TempDir dir_;
  Changes changes_;
  std::vector<Adapter> adapters_;
};

std::vector<float> adapted(Running& model, std::vector<AdapterRun> uses, int chunk = kIds) {
  const std::vector<TokenId> ids = some_ids(kIds, test::kTinyVocab);
  std::vector<float> all;
  model.memory.release(0);
  for (int begin = 0; begin < kIds; begin += chunk) {
    const int end = std::min(kIds, begin + chunk);
    Slice slice;
    for (int pos = begin; pos < end; ++pos)
      slice.add(0, pos, ids[static_cast<std::size_t>(pos)]);
    EXPECT_TRUE(model.memory.extend(0, end));
    for (AdapterRun& use : uses)
      use.count = end - begin;
    Batch batch = slice.batch();
    batch.adapters = uses;
    model.decoder.launch(batch, model.memory);
    const auto rows = model.decoder.logits();
    EXPECT_TRUE(rows);
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

float most_apart(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST(ParityExpertAdapters, ComputeWhatMergedMatricesDoInEachForm) {
  ExpertAdapters files;
  const auto merged = adapted(*files.load("merged.gguf", {}), {});
  for (const char* const form : {"stacked.gguf", "fused.gguf", "single", "parameters"}) {
    const auto model = files.load("plain.gguf", {form});
    ASSERT_NE(model, nullptr) << form;
    EXPECT_LE(most_apart(adapted(*model, {{.adapter = 0}}), merged), 2e-4F) << form;
    EXPECT_GT(most_apart(adapted(*model, {}), merged), 0.1F) << form;
  }
}

TEST(ParityExpertAdapters, AddUpByTheirScales) {
  ExpertAdapters files;
  const auto merged = adapted(*files.load("merged.gguf", {}), {});
  const auto model = files.load("plain.gguf", {"stacked.gguf", "parameters"});
  ASSERT_NE(model, nullptr);
  const auto both =
      adapted(*model, {{.adapter = 0, .scale = 0.25F}, {.adapter = 1, .scale = 0.75F}});
  EXPECT_LE(most_apart(both, merged), 2e-4F);
}

TEST(SameBitsExpertAdapters, InAnyChunksOnTwoDevicesAndBesideOthers) {
  ExpertAdapters files(DType::kQ8_0);
  const std::vector<const char*> names = {"stacked.gguf", "single"};
  const std::vector<std::vector<AdapterRun>> kinds{{},
                                                   {{.adapter = 0}},
                                                   {{.adapter = 1, .scale = 3}},
                                                   {{.adapter = 0, .scale = -1}, {.adapter = 1}}};
  const auto model = files.load("plain.gguf", names);
  ASSERT_NE(model, nullptr);
  std::vector<std::vector<float>> alone;
  for (const auto& uses : kinds)
    alone.push_back(adapted(*model, uses));
  for (const int chunk : {1, 3, 16})
    EXPECT_TRUE(same_bits(adapted(*model, kinds[3], chunk), alone[3])) << chunk;

  const std::vector<TokenId> ids = some_ids(kIds, test::kTinyVocab);
  model->memory.release(0);
  Slice slice;
  std::vector<AdapterRun> all;
  for (SeqId seq = 0; seq < 4; ++seq) {
    ASSERT_TRUE(model->memory.extend(seq, kIds));
    for (AdapterRun use : kinds[static_cast<std::size_t>(seq)]) {
      use.first = seq * kIds;
      use.count = kIds;
      all.push_back(use);
    }
    for (Pos pos = 0; pos < kIds; ++pos)
      slice.add(seq, pos, ids[static_cast<std::size_t>(pos)]);
  }
  Batch batch = slice.batch();
  batch.adapters = all;
  test::reset_hot_counts();
  model->decoder.launch(batch, model->memory);
  EXPECT_EQ(test::hot_counts().allocations, 0);
  const auto rows = model->decoder.logits();
  ASSERT_TRUE(rows);
  const std::size_t n = alone[0].size();
  for (std::size_t seq = 0; seq < 4; ++seq) {
    const auto own = rows->subspan(seq * n, n);
    EXPECT_TRUE(same_bits({own.begin(), own.end()}, alone[seq])) << seq;
  }

  const auto split = files.load("plain.gguf", names, test::all_cuts(kLayers)[2]);
  ASSERT_NE(split, nullptr);
  EXPECT_TRUE(same_bits(adapted(*split, kinds[3]), alone[3]));
}

}  // namespace
}  // namespace wick
