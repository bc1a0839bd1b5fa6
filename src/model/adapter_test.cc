// LoRA adapters on the tiny Llama of tests/data/model/families: the logits of PEFT
// (tools/goldens/adapters.py), the same bits beside sequences with other adapters, and what is
// refused. tools/parity/adapters.py compares more families, from GGUF too.
#include "model/adapter.h"

#include <cmath>
#include <optional>

#include "model/run_test.h"
#include "support/hot_counters.h"
#include "support/safetensors_writer.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

constexpr int kTokens = 96;

fs::path golden() {
  return test::test_data("model/adapters/llama");
}

// A model with the golden adapter twice, so that a request may use either or both.
class AdapterModel {
 public:
  explicit AdapterModel(bool is_split = false) {
    for (int i = 0; i < 2; ++i) {
      auto adapter = Adapter::open(golden());
      EXPECT_TRUE(adapter) << to_string(adapter.error());
      adapters_.push_back(*std::move(adapter));
    }
    const fs::path folder = test::test_data("model/families/llama");
    ids = test::read_values<TokenId>(folder / "ids.bin");
    auto file = open_model(folder);
    EXPECT_TRUE(file);
    file_.emplace(*std::move(file));
    second_ = std::make_unique<test::FakeDevice>(*choose_isa());
    placement_ = test::placed(*device_, second_.get(),
                              is_split ? std::vector<int>{0, 0, 1, 1, 0, 1} : std::vector<int>{});
    auto decoder = Decoder::load(*file_, placement_,
                                 {.max_batch_tokens = 4 * kTokens,
                                  .max_logit_rows = 4 * kTokens,
                                  .context = kTokens,
                                  .max_seqs = 4,
                                  .threads = 2,
                                  .adapters = adapters_});
    EXPECT_TRUE(decoder) << to_string(decoder.error());
    decoder_.emplace(*std::move(decoder));
    auto memory = SequenceMemory::create(
        placement_, decoder_->spec(),
        {.k_type = KvType::kF32, .v_type = KvType::kF32, .max_seqs = 4, .context = kTokens});
    EXPECT_TRUE(memory);
    memory_.emplace(*std::move(memory));
  }

  // The logits of a text in sequence 0, computed `chunk` tokens at a time.
  std::vector<float> logits(std::vector<AdapterRun> uses, int chunk = kTokens) {
    std::vector<float> all;
    memory_->release(0);
    for (int begin = 0; begin < kTokens; begin += chunk) {
      const int end = std::min(kTokens, begin + chunk);
      Slice slice;
      for (int pos = begin; pos < end; ++pos)
        slice.add(0, pos, ids[static_cast<std::size_t>(pos)]);
      EXPECT_TRUE(memory_->extend(0, end));
      for (AdapterRun& use : uses)
        use.count = end - begin;
      const std::vector<float> rows = launch(slice, uses);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }

  std::vector<float> launch(const Slice& slice, const std::vector<AdapterRun>& uses) {
    Batch batch = slice.batch();
    batch.adapters = uses;
    decoder_->launch(batch, *memory_);
    const auto rows = decoder_->logits();
    EXPECT_TRUE(rows);
    return {rows->begin(), rows->end()};
  }

  SequenceMemory& memory() noexcept { return *memory_; }

  std::vector<TokenId> ids;

 private:
  std::vector<Adapter> adapters_;
  std::optional<ModelFile> file_;
  std::unique_ptr<Device> device_ = test::make_device(*choose_isa());
  std::unique_ptr<Device> second_;
  Placement placement_;
  std::optional<Decoder> decoder_;
  std::optional<SequenceMemory> memory_;
};

float difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST(ParityAdapter, LogitsDifferFromPeftByAtMostThreeTenThousandths) {
  AdapterModel model;
  const auto want = test::read_values<float>(golden() / "logits.bin");
  EXPECT_LE(difference(model.logits({{.adapter = 0}}), want), 3e-4F);
  EXPECT_LE(
      difference(model.logits({{.adapter = 0, .scale = 0.25F}, {.adapter = 1, .scale = 0.75F}}),
                 want),
      3e-4F);
  const auto plain =
      test::read_values<float>(test::test_data("model/families/llama") / "logits.bin");
  EXPECT_LE(difference(model.logits({}), plain), 3e-4F);
  EXPECT_GT(difference(want, plain), 0.5F);
}

TEST(SameBitsAdapter, InChunksOfAnySizeAndOnTwoDevices) {
  AdapterModel model, split(true);
  const std::vector<AdapterRun> uses{{.adapter = 0, .scale = 0.5F}, {.adapter = 1, .scale = -2}};
  const auto whole = model.logits(uses);
  for (const int chunk : {1, 3, 16})
    EXPECT_TRUE(same_bits(model.logits(uses, chunk), whole)) << chunk;
  EXPECT_TRUE(same_bits(split.logits(uses), whole));
}

TEST(SameBitsAdapter, BesideSequencesWithOtherAdapters) {
  AdapterModel model;
  const std::vector<std::vector<AdapterRun>> kinds{{},
                                                   {{.adapter = 0}},
                                                   {{.adapter = 1, .scale = 3}},
                                                   {{.adapter = 0, .scale = -1}, {.adapter = 1}}};
  std::vector<std::vector<float>> alone;
  for (const auto& uses : kinds)
    alone.push_back(model.logits(uses));
  model.memory().release(0);
  Slice slice;
  std::vector<AdapterRun> all;
  for (SeqId seq = 0; seq < 4; ++seq) {
    ASSERT_TRUE(model.memory().extend(seq, kTokens));
    for (AdapterRun use : kinds[static_cast<std::size_t>(seq)]) {
      use.first = seq * kTokens;
      use.count = kTokens;
      all.push_back(use);
    }
    for (Pos pos = 0; pos < kTokens; ++pos)
      slice.add(seq, pos, model.ids[static_cast<std::size_t>(pos)]);
  }
  const auto together = model.launch(slice, all);
  const auto n = static_cast<std::ptrdiff_t>(alone[0].size());
  for (std::ptrdiff_t seq = 0; seq < 4; ++seq) {
    EXPECT_TRUE(same_bits({together.begin() + seq * n, together.begin() + (seq + 1) * n},
                          alone[static_cast<std::size_t>(seq)]))
        << seq;
  }
}

TEST(HotPathAdapter, PassesNeitherAllocateNorLock) {
  AdapterModel model;
  Slice slice;
  for (Pos pos = 0; pos < kTokens; ++pos)
    slice.add(0, pos, model.ids[static_cast<std::size_t>(pos)]);
  ASSERT_TRUE(model.memory().extend(0, kTokens));
  test::reset_hot_counts();
  model.launch(slice, {{.adapter = 0, .count = 50}, {.adapter = 1, .first = 50, .count = 46}});
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().frees, 0);
}

// ---- refused

constexpr const char* kModule = "base_model.model.model.layers.0.self_attn.q_proj.lora_";

struct PeftSketch {
  std::string config = R"({"peft_type": "LORA", "lora_alpha": 4})";
  std::vector<std::int64_t> a = {2, 32}, b = {32, 2};
  std::string name_a = std::string(kModule) + "A.weight",
              name_b = std::string(kModule) + "B.weight";

  void write(const fs::path& folder) const {
    test::SafetensorsWriter file;
    const auto zeros = [](const std::vector<std::int64_t>& shape) {
      std::int64_t n = 4;
      for (const std::int64_t dim : shape)
        n *= dim;
      return test::Bytes(static_cast<std::size_t>(n));
    };
    file.add(name_a, "F32", a, zeros(a));
    if (!name_b.empty()) file.add(name_b, "F32", b, zeros(b));
    fs::create_directories(folder);
    file.write(folder / "adapter_model.safetensors");
    test::write_file(folder / "adapter_config.json", std::string_view(config));
  }
};

std::string refused(const PeftSketch& sketch) {
  const test::TempDir dir;
  sketch.write(dir.path() / "mine");
  auto adapter = Adapter::open(dir.path() / "mine");
  if (!adapter) return to_string(adapter.error());
  const auto file = open_model(test::test_data("model/families/llama"));
  const auto device = test::make_device(*choose_isa());
  const auto decoder = Decoder::load(*file, *device, {.adapters = {&*adapter, 1}});
  return decoder ? "loaded" : to_string(decoder.error());
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* const word : words)
    EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(Adapter, SaysWhatOfAFileItCannotRun) {
  EXPECT_EQ(refused({}), "loaded");
  expect_words(refused({.a = {2, 48}}), {"lora_A.weight' is [2, 48]", "needs [2, 32]"});
  expect_words(refused({.b = {64, 2}}), {"lora_B.weight' is [64, 2]", "needs [32, 2]"});
  expect_words(refused({.name_b = {}}), {"q_proj.lora_B.weight' is missing"});
  expect_words(refused({.config = R"({"peft_type": "IA3", "lora_alpha": 4})"}), {"IA3", "LORA"});
  expect_words(refused({.config = R"({"lora_alpha": 4, "use_dora": true})"}), {"use_dora is true"});
  expect_words(refused({.config = R"({"r": 2})"}), {"lora_alpha is missing", "a number"});
  expect_words(refused({.name_a = "base_model.model.model.embed_tokens.lora_A.weight",
                        .name_b = "base_model.model.model.embed_tokens.lora_B.weight"}),
               {"embed_tokens.lora_A.weight' changes no matrix"});
  expect_words(refused({.name_a = "x.magnitude"}), {"x.magnitude", "ends neither with"});
  expect_words(refused({.config = R"({"lora_alpha": 4, "alpha_pattern": {".*q": 3}})"}),
               {"alpha_pattern has '.*q'"});
  const auto model = Adapter::open(test::test_data("model/families/llama"));
  ASSERT_FALSE(model);
  expect_words(to_string(model.error()), {"adapter_model.safetensors"});
}

}  // namespace
}  // namespace wick
