// A tiny model of any architecture, number format and cache types, with NaN, infinities and huge
// values planted in any of its tensors; and a schedule: two sequences that append chunks, alone or
// in one pass, go back, begin with each other's prefixes and begin anew. The logits of every
// position have the bits that its text has alone, from an empty cache, in one chunk.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/cpu_device.h"
#include "base/check.h"
#include "base/strings.h"
#include "model/decoder.h"
#include "model/tiny_archs_test.h"
#include "quant/half.h"
#include "support/tiny_model.h"

namespace {

using namespace wick;

constexpr int kVocab = 16, kContext = 48, kSeqs = 2, kMaxChunk = 20;
constexpr std::size_t kMaxInput = 160, kMaxSteps = 8;
constexpr std::uint32_t kValues[] = {0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001,  // NaN
                                     0x7f800000, 0xff800000,                          // infinities
                                     0x7149f2ca, 0xf149f2ca, 0x4af42400, 0xcaf42400,  // 1e30, 8e6
                                     0x7f7fffff, 0x477fef00, 0x000116c2, 0x80000000};

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }

  int below(int n) {
    if (rest_.empty()) return 0;
    const int byte = rest_[0];
    rest_ = rest_.subspan(1);
    return byte % n;
  }

  template <class T, std::size_t n>
  const T& one_of(const T (&all)[n]) {
    return all[below(static_cast<int>(n))];
  }

 private:
  std::span<const std::uint8_t> rest_;
};

struct Plant {  // a value and its place
  int tensor = 0, at = 0;
  float value = 0;
};

struct Plan {
  test::TinyModel model = {};
  KvType k = KvType::kF32, v = KvType::kF32;
  Isa isa = Isa::kScalar;
  std::vector<Plant> plants = {};
};

Isa isa_of(Input& in) {
  const Isa isa = in.below(2) == 0 ? Isa::kAvx2 : Isa::kAvx512;
  return is_supported(isa) ? isa : *choose_isa();
}

Plan plan_of(Input& in) {
  constexpr const char* kArchs[] = {"llama", "qwen2", "qwen3", "tiny-delta", "tiny-mla"};
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0};
  Plan plan{.k = in.one_of(kKvTypes), .v = in.one_of(kKvTypes), .isa = isa_of(in)};
  plan.model = {.arch = in.one_of(kArchs),
                .n_layers = 1 + in.below(2),
                .d_model = 32,
                .n_heads = 2,
                .n_kv_heads = 1,
                .head_dim = 32,
                .hidden = 32,
                .context = kContext,
                .window = in.below(2) == 0 ? 0 : 1 + in.below(40),
                .window_alternates = in.below(2) == 0,
                .is_tied = in.below(2) == 0,
                .type = in.one_of(kTypes),
                .has_tokenizer = false,
                .vocab = kVocab};
  if (plan.model.arch == test::kTinyDelta.gguf_name) plan.model.delta_heads = 1;
  if (plan.model.arch == test::kTinyMla.gguf_name) {
    plan.model.latent = 32;
    plan.model.has_joint_kv = in.below(2) == 0;
  }
  plan.model.seed = static_cast<std::uint32_t>(in.below(256));
  for (int n = in.below(6); n > 0; --n) {
    const int tensor = in.below(2) == 0 ? 0 : in.below(24), at = in.below(256);
    plan.plants.push_back({tensor, at, std::bit_cast<float>(in.one_of(kValues))});
  }
  return plan;
}

// Into a block format as the scale, with which each block begins. `at` runs over the tensor's
// bytes, so that a few bits reach all of its rows.
void put(DType type, const Plant& plant, std::span<std::byte> bytes) {
  const DTypeInfo& info = dtype_info(type);
  const auto size = static_cast<std::size_t>(info.block_bytes);
  const std::size_t block = bytes.size() / size * static_cast<std::size_t>(plant.at) / 256;
  if (type == DType::kF32) {
    std::memcpy(&bytes[block * size], &plant.value, 4);
    return;
  }
  const std::uint16_t half =
      type == DType::kBF16 ? f32_to_bf16(plant.value) : f32_to_f16(plant.value);
  std::memcpy(&bytes[block * size], &half, 2);
}

// The model as a file in memory.
class TinyFile {
 public:
  explicit TinyFile(Plan& plan) {
    int tensor = 0;
    plan.model.edit = [&](const std::string&, DType type, int, int, std::span<std::byte> bytes) {
      for (const Plant& plant : plan.plants) {
        if (plant.tensor == tensor) put(type, plant, bytes);
      }
      ++tensor;
    };
    static const int fd = memfd_create("tiny.gguf", 0);
    WICK_CHECK(fd >= 0, "a file in memory can be made");
    const std::filesystem::path path = cat("/proc/self/fd/", fd);
    test::write_tiny_model(path, plan.model);
    auto file = open_model(path);
    WICK_CHECK(file, "a tiny model opens");
    file_ = *std::move(file);
  }

  const ModelFile& get() const { return *file_; }

 private:
  std::optional<ModelFile> file_;
};

Device& device_of(Isa isa) {
  static std::map<Isa, std::unique_ptr<Device>> devices;
  auto& device = devices[isa];
  if (device == nullptr) device = std::make_unique<CpuDevice>(isa);
  return *device;
}

// A model and its cache.
class Runner {
 public:
  Runner(const Plan& plan, const ModelFile& file, Isa isa, int max_batch)
      : decoder_(load(plan, file, isa, max_batch)), memory_(make_memory(plan, isa)) {}

  SequenceMemory& memory() { return memory_; }

  struct Piece {  // the next n tokens of a text
    SeqId seq = 0;
    std::span<const TokenId> text = {};
    int begin = 0;
  };

  // Rows of logits in the pieces' order.
  std::vector<float> run(std::span<const Piece> pieces) {
    std::vector<TokenId> tokens;
    std::vector<Pos> positions;
    std::vector<SeqId> seqs;
    std::vector<int> rows;
    for (const Piece& piece : pieces) {
      const int end = static_cast<int>(piece.text.size());
      WICK_CHECK(memory_.extend(piece.seq, end), "the cache has room for both");
      for (Pos pos = piece.begin; pos < end; ++pos) {
        rows.push_back(static_cast<int>(rows.size()));
        tokens.push_back(piece.text[static_cast<std::size_t>(pos)]);
        positions.push_back(pos);
        seqs.push_back(piece.seq);
      }
    }
    decoder_.launch({.tokens = tokens, .positions = positions, .seqs = seqs, .logit_rows = rows},
                    memory_);
    const auto logits = decoder_.logits();
    WICK_CHECK(logits, "a CPU does not fail");
    for (const Piece& piece : pieces) {
      memory_.advance(piece.seq, static_cast<Pos>(piece.text.size()));
      memory_.snapshot(piece.seq, false);
    }
    return {logits->begin(), logits->end()};
  }

 private:
  static Decoder load(const Plan& plan, const ModelFile& file, Isa isa, int max_batch) {
    const Arch* const arch = test::tiny_arch(plan.model.arch);
    auto decoder = Decoder::load(file, arch == nullptr ? **find_arch(file) : *arch, device_of(isa),
                                 {.max_batch_tokens = max_batch,
                                  .max_logit_rows = max_batch,
                                  .context = kContext,
                                  .max_seqs = kSeqs,
                                  .threads = 1});
    WICK_CHECK(decoder, "a tiny model loads");
    return *std::move(decoder);
  }

  SequenceMemory make_memory(const Plan& plan, Isa isa) const {
    auto memory = SequenceMemory::create(device_of(isa), decoder_.spec(),
                                         {.k_type = plan.k,
                                          .v_type = plan.v,
                                          .max_seqs = kSeqs,
                                          .context = kContext,
                                          .max_batch_tokens = decoder_.options().max_batch_tokens});
    WICK_CHECK(memory, "a small cache can be made");
    return *std::move(memory);
  }

  Decoder decoder_;
  SequenceMemory memory_;
};

class Player {
 public:
  Player(const Plan& plan, const ModelFile& file, Isa other)
      : tested_(plan, file, plan.isa, kSeqs * kMaxChunk), alone_(plan, file, other, kContext) {}

  // The sequences of `which`, a bit each, get up to n tokens, all in one pass.
  void append(int which, int n, Input& in) {
    std::vector<Runner::Piece> pieces;
    for (SeqId seq = 0; seq < kSeqs; ++seq) {
      auto& text = texts_[static_cast<std::size_t>(seq)];
      const int begin = static_cast<int>(text.size());
      const int count = std::min({n, kMaxChunk, kContext - begin});
      if ((which >> seq & 1) == 0 || count <= 0) continue;
      const int first = in.below(kVocab), step = in.below(kVocab);
      for (int i = 0; i < count; ++i)
        text.push_back((first + i * step) % kVocab);
      pieces.push_back({.seq = seq, .text = text, .begin = begin});
    }
    if (pieces.empty()) return;
    const std::vector<float> rows = tested_.run(pieces);
    auto from = rows.begin();
    for (const Runner::Piece& piece : pieces) {
      auto& known = rows_[static_cast<std::size_t>(piece.seq)];
      const auto to = from + static_cast<std::ptrdiff_t>(piece.text.size() * kVocab - known.size());
      known.insert(known.end(), from, to);
      from = to;
    }
  }

  void go_back(SeqId seq, int end) {
    auto& text = texts_[static_cast<std::size_t>(seq)];
    if (end >= static_cast<int>(text.size())) return;
    check(seq);
    text.resize(static_cast<std::size_t>(tested_.memory().rollback(seq, end)));
    rows_[static_cast<std::size_t>(seq)].resize(text.size() * kVocab);
  }

  void mark(SeqId seq) {
    if (!texts_[static_cast<std::size_t>(seq)].empty()) tested_.memory().mark(seq);
  }

  // `seq` begins with the first n positions of the other one, or with fewer, where those can be
  // resumed.
  void share(SeqId seq, int n) {
    SequenceMemory& memory = tested_.memory();
    const auto& from = texts_[static_cast<std::size_t>(1 - seq)];
    auto& text = texts_[static_cast<std::size_t>(seq)];
    auto& rows = rows_[static_cast<std::size_t>(seq)];
    check(seq);
    memory.release(seq);
    text.clear();
    rows.clear();
    n = std::min(n, static_cast<int>(from.size()));
    const auto blocks = memory.blocks(1 - seq);
    SequenceMemory::Path path;
    const auto n_whole = static_cast<std::size_t>(n / kBlockTokens);
    std::size_t resumed = 0;
    for (std::size_t i = 0; i < n_whole; ++i) {
      memory.append(path, blocks[i]);
      if (memory.can_resume(path)) resumed = i + 1;
    }
    const int n_tail = n % kBlockTokens;
    const bool has_tail =
        n_tail > 0 && memory.can_cut_blocks() && memory.can_resume(path, blocks[n_whole], n_tail);
    if (has_tail) resumed = n_whole;
    if (!has_tail && resumed == 0) return;
    memory.attach(seq, blocks.first(resumed), has_tail ? blocks[n_whole] : -1,
                  has_tail ? n_tail : 0);
    const int n_taken = static_cast<int>(resumed) * kBlockTokens + (has_tail ? n_tail : 0);
    text.assign(from.begin(), from.begin() + n_taken);
    const auto& shared = rows_[static_cast<std::size_t>(1 - seq)];
    rows.assign(shared.begin(), shared.begin() + std::ptrdiff_t{n_taken} * kVocab);
  }

  // Compares the rows that a sequence got with those of its text alone. Called before rows go.
  void check(SeqId seq) {
    const auto& text = texts_[static_cast<std::size_t>(seq)];
    const auto& rows = rows_[static_cast<std::size_t>(seq)];
    if (text.empty()) return;
    alone_.memory().release(0);
    const std::vector<float> wanted = alone_.run(std::array{Runner::Piece{.text = text}});
    WICK_CHECK(rows.size() == wanted.size() &&
                   std::memcmp(rows.data(), wanted.data(), rows.size() * sizeof(float)) == 0,
               "a position has the bits that its text has alone");
  }

 private:
  Runner tested_, alone_;
  std::array<std::vector<TokenId>, kSeqs> texts_;
  std::array<std::vector<float>, kSeqs> rows_;  // of logits, for each position of the texts
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(std::span(data, std::min(size, kMaxInput)));
  Plan plan = plan_of(in);
  const Isa other = isa_of(in);
  const TinyFile file(plan);
  Player player(plan, file.get(), other);
  for (std::size_t step = 0; step < kMaxSteps && !in.is_empty(); ++step) {
    const int what = in.below(8);
    const SeqId seq = in.below(kSeqs);
    if (what == 0) {
      player.share(seq, in.below(kContext));
    } else if (what == 1) {
      player.go_back(seq, in.below(kContext));
    } else if (what == 2) {
      player.mark(seq);
    } else {
      player.append(what < 5 ? 3 : 1 << seq, 1 + in.below(kMaxChunk), in);
    }
  }
  for (const SeqId seq : {0, 1})
    player.check(seq);
  return 0;
}
