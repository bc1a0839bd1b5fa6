// Models on several devices: the bits of one device, wherever a model is cut; and who gets what.
#include "model/placement.h"

#include <gtest/gtest.h>

#include "backend/device_registry.h"
#include "base/hot_scope.h"
#include "model/run_test.h"
#include "model/tiny_archs_test.h"
#include "support/hot_counters.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

constexpr int kTokens = 100, kChunk = 48;

struct Kind {
  const char* name;
  test::TinyModel model = {};
  const char* file = nullptr;  // of the tests' data, instead
};

test::TinyModel wide(test::TinyModel model) {  // heads of 32 features, as Q8_0 wants them
  model.d_model = 64;
  model.n_heads = 2;
  model.n_kv_heads = 1;
  model.head_dim = 32;
  return model;
}

// Each kind of mixer, of memory and of feed-forward; heads of their own and tied ones; weights that
// are in no file: keys of a latent layer, divisors of rotations.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"dense", wide({.arch = "qwen2", .type = DType::kQ8_0})},
      {"untied", wide({.arch = "qwen3", .is_tied = false})},
      {"window", wide({.window = 24})},
      {"window_and_all", wide({.n_layers = 3, .window = 37, .window_alternates = true})},
      {"delta", wide({.arch = "tiny-delta", .n_layers = 3, .delta_heads = 2})},
      {"mla", wide({.arch = "tiny-mla", .n_layers = 3, .latent = 32, .query_rank = 32})},
      {"mla_joint", wide({.arch = "tiny-mla", .latent = 32, .has_joint_kv = true})},
      {"experts", wide({.arch = "qwen3moe", .n_layers = 3, .experts = 7, .type = DType::kQ8_0})},
      {"experts_shared", wide({.arch = "qwen2moe", .experts = 9})},
      {"llama3", {}, "model/tiny/llama_llama3"},
      {"llama3_gguf", {}, "model/tiny/llama_llama3_tied/model.gguf"}};
  return all;
}

class SameBitsPlacement : public testing::TestWithParam<int> {
 protected:
  SameBitsPlacement() {
    if (kind_.file == nullptr) test::write_tiny_model(path_, kind_.model);
    setup_ = {.context = 128, .max_batch_tokens = kChunk, .max_seqs = 2};
    if (kind_.file == nullptr) setup_.arch = test::tiny_arch(kind_.model.arch);
    one_ = load({});
    ids_ = some_ids(kTokens, vocab());
    whole_ = logits_of(*one_, ids_, kChunk);
  }

  std::unique_ptr<Running> load(const std::vector<int>& parts) {
    setup_.parts = parts;
    return *run_model(path_, setup_);
  }

  int vocab() const { return one_->decoder.spec().vocab; }

  std::vector<std::vector<int>> cuts() const {
    return test::all_cuts(static_cast<int>(one_->decoder.spec().blocks.size()));
  }

  // Positions [begin, end) of a sequence that has those before; rows of logits for each.
  std::vector<float> go_on(Running& model, SeqId seq, Pos begin, Pos end) const {
    EXPECT_TRUE(model.memory.extend(seq, end));
    Slice slice;
    for (Pos pos = begin; pos < end; ++pos)
      slice.add(seq, pos, ids_[static_cast<std::size_t>(pos)]);
    model.decoder.launch(slice.batch(), model.memory);
    const auto logits = model.decoder.logits();
    EXPECT_TRUE(logits);
    return {logits->begin(), logits->end()};
  }

  const Kind& kind_ = kinds()[static_cast<std::size_t>(GetParam())];
  test::TempDir dir_;
  std::filesystem::path path_ =
      kind_.file == nullptr ? dir_.path() / "m.gguf" : test::test_data(kind_.file);
  RunSetup setup_;
  std::unique_ptr<Running> one_;  // all on one device
  std::vector<TokenId> ids_;
  std::vector<float> whole_;
};

TEST_P(SameBitsPlacement, CutBehindAnyPart) {
  for (const auto& parts : cuts()) {
    setup_.threads = 1 + parts[1];
    const auto model = load(parts);
    for (const int chunk : {1, 7, kChunk})
      EXPECT_TRUE(same_bits(logits_of(*model, ids_, chunk), whole_))
          << test::to_string(parts) << ", chunks of " << chunk;
  }
}

// Of its last block two positions, so that it is copied on each device.
TEST_P(SameBitsPlacement, FromASharedPrefix) {
  for (const auto& parts : cuts()) {
    const auto model = load(parts);
    SequenceMemory& memory = model->memory;
    go_on(*model, 0, 0, 48);
    memory.snapshot(0, false);
    const int n_tail = memory.can_cut_blocks() ? 2 : 0;
    if (n_tail > 0) go_on(*model, 0, 48, 50);
    const auto blocks = memory.blocks(0);
    memory.attach(1, blocks.first(3), n_tail > 0 ? blocks[3] : -1, n_tail);
    const auto rest = go_on(*model, 1, 48 + n_tail, 90);
    const auto want = whole_.begin() + std::ptrdiff_t{48 + n_tail} * vocab();
    const std::vector<float> wanted(want, want + static_cast<std::ptrdiff_t>(rest.size()));
    EXPECT_TRUE(same_bits(rest, wanted)) << test::to_string(parts);
  }
}

TEST_P(SameBitsPlacement, StatesBehindTheLastNorm) {
  const auto states_of = [&](Running& model) {
    model.memory.release(0);
    go_on(model, 0, 0, 20);
    const auto states = model.decoder.states(5, 10);
    return std::vector<float>(states->begin(), states->end());
  };
  const auto whole = states_of(*one_);
  for (const auto& parts : cuts())
    EXPECT_TRUE(same_bits(states_of(*load(parts)), whole)) << test::to_string(parts);
}

std::string kind_name(const testing::TestParamInfo<int>& info) {
  return kinds()[static_cast<std::size_t>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SameBitsPlacement,
                         testing::Range(0, static_cast<int>(kinds().size())), kind_name);

TEST(HotPathPlacement, CrossesDevicesWithoutHeapOrLock) {
  const test::TempDir dir;
  test::write_tiny_model(dir.path() / "m.gguf", {.window = 24, .window_alternates = true});
  for (const auto& parts : test::all_cuts(2)) {
    const auto model = *run_model(dir.path() / "m.gguf", {.threads = 2, .parts = parts});
    Slice slice;
    for (Pos pos = 0; pos < 40; ++pos)
      slice.add(0, pos, 1);
    test::reset_hot_counts();
    {
      const HotScope hot;
      WICK_CHECK(model->memory.extend(0, 40), "the context has room");
      model->decoder.launch(slice.batch(), model->memory);
      WICK_CHECK(model->decoder.logits(), "there are logits");
    }
    EXPECT_EQ(test::hot_counts().allocations, 0) << test::to_string(parts);
    EXPECT_EQ(test::hot_counts().locks, 0) << test::to_string(parts);
  }
}

// ---- place()

class Place : public testing::Test {
 protected:
  void write(const test::TinyModel& model) {
    test::write_tiny_model(dir_.path() / "m.gguf", model);
    file_ = std::make_unique<ModelFile>(*open_model(dir_.path() / "m.gguf"));
  }

  // By index of `devices_`, for each part: "0112".
  std::string placed(std::vector<DeviceShare> shares) {
    for (std::size_t i = 0; i < shares.size(); ++i)
      shares[i].device = &devices_[i];
    const auto placement = place(*file_, **find_arch(*file_), shares, cache_);
    EXPECT_TRUE(placement);
    left_ = shares;
    std::string text;
    for (const int part : placement->parts) {
      const auto is_it = [&](const CpuDevice& device) {
        return &device == placement->devices[static_cast<std::size_t>(part)];
      };
      const auto at = std::find_if(devices_.begin(), devices_.end(), is_it);
      text += std::to_string(at - devices_.begin());
    }
    return text;
  }

  test::TempDir dir_;
  std::unique_ptr<ModelFile> file_;
  std::array<CpuDevice, 3> devices_ = {CpuDevice(Isa::kScalar), CpuDevice(Isa::kScalar),
                                       CpuDevice(Isa::kScalar)};
  MemoryOptions cache_ = {
      .k_type = KvType::kF32, .v_type = KvType::kF32, .max_seqs = 2, .context = 64};
  std::vector<DeviceShare> left_;
};

// Bytes of the parts of the default tiny model, in floats: a table of 262 x 32; q, k, v, out and a
// gain, with keys and values of 2 heads x 8; gate, up, down and a gain; the last gain.
constexpr std::uint64_t kTable = 4 * 262 * 32, kMixer = 4 * (32 * (32 + 16 + 16 + 32) + 32),
                        kCache = 128 * 4 * (16 + 16), kFfn = 4 * (3 * 32 * 64 + 32), kGain = 4 * 32;

// Room for so many bytes of a model: a tenth is kept for scratch.
DeviceShare room(std::uint64_t bytes) {
  return {.free_bytes = bytes + (bytes + 8) / 9};
}

TEST_F(Place, TakesOneDeviceWhereItHoldsTheModel) {
  write({});
  const std::uint64_t all = kTable + 2 * (kMixer + kCache + kFfn) + kGain;
  EXPECT_EQ(placed({room(all), room(all)}), "000000");
  EXPECT_LT(left_[0].free_bytes, 9U);
  EXPECT_EQ(placed({room(all - kGain), room(all)}), "000001") << "a tied head has its own table";
  EXPECT_LT(left_[1].free_bytes - (all - kTable - kGain), 9U);
}

TEST_F(Place, FillsDevicesInTheirOrder) {
  write({.is_tied = false});
  EXPECT_EQ(placed({room(kTable), room(kMixer + kCache), {}}), "012222");
  EXPECT_EQ(placed({room(kTable), room(kMixer + kCache - 9), {}}), "022222");
  EXPECT_EQ(placed({room(0), room(kTable + kMixer + kCache + kFfn), {}}), "111222");
  EXPECT_EQ(placed({room(0), room(0), {}}), "222222") << "the last one takes the rest";
  EXPECT_EQ(placed({room(kTable), {}}), "011111");
}

TEST_F(Place, CountsWhatTheCacheTakes) {
  write({});
  const std::uint64_t two = kTable + kMixer + kFfn;
  cache_.positions = 1024;  // of all sequences
  EXPECT_EQ(placed({room(two + 8 * kCache), {}}), "000111");
  EXPECT_EQ(placed({room(two + 8 * kCache - 9), {}}), "001111");
  cache_.k_type = KvType::kBF16;
  EXPECT_EQ(placed({room(two + 6 * kCache), {}}), "000111");
}

TEST_F(Place, FollowsTheShares) {
  write({.n_layers = 3});  // with the head four
  const auto by = [&](double a, double b, double c) {
    return placed({{.share = a}, {.share = b}, {.share = c}});
  };
  EXPECT_EQ(by(1, 0, 0), "00000000");
  EXPECT_EQ(by(0, 1, 0), "11111111");
  EXPECT_EQ(by(2, 1, 1), "00000112");
  EXPECT_EQ(by(0.5, 0, 0.5), "00000222");
  EXPECT_EQ(by(1, 1, 1e9), "00022222") << "who has a share begins";
  EXPECT_EQ(by(3, 1, 0), "00000001");
}

TEST_F(Place, EveryByteIsOnSomeDevice) {
  write({.window = 24, .window_alternates = true});
  for (const auto& parts : test::all_cuts(2)) {
    const auto model = *run_model(dir_.path() / "m.gguf", {.parts = parts});
    const Decoder& decoder = model->decoder;
    EXPECT_EQ(model->memory.bytes_on(0) + model->memory.bytes_on(1), model->memory.bytes());
    EXPECT_GT(decoder.bytes_on(0) + decoder.bytes_on(1), decoder.weight_bytes());
    EXPECT_LE(model->memory.bytes_on(0), model->device->bytes_in_use());
    EXPECT_LE(model->memory.bytes_on(1), model->second->bytes_in_use());
  }
}

}  // namespace
}  // namespace wick
