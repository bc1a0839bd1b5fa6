// A loaded model and its cache for the tests of this module, and the logits of a text cut into
// chunks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/decoder.h"
#include "model/placed_test.h"
#include "support/test_data.h"
#include "support/test_device.h"

namespace wick {

struct RunSetup {
  Isa isa = *choose_isa();
  int threads = 1;
  KvType kv = KvType::kF32;
  int context = 0;  // 0 = the model's
  int max_batch_tokens = 64;
  int max_seqs = 1;
  const Arch* arch = nullptr;   // instead of the one that the file names
  std::vector<int> parts = {};  // of a Placement over the device (0) and a fake one (1)
  std::span<const Adapter> adapters = {};
};

struct Running {
  ModelFile file;
  std::unique_ptr<Device> device, second;
  Decoder decoder;
  SequenceMemory memory;
};

inline Result<std::unique_ptr<Running>> run_model(const std::filesystem::path& path,
                                                  const RunSetup& setup) {
  WICK_TRY(ModelFile file, open_model(path));
  std::unique_ptr<Device> device = test::make_device(setup.isa);
  std::unique_ptr<Device> second;
  if (!setup.parts.empty()) second = std::make_unique<test::FakeDevice>(setup.isa);
  const Placement placement = test::placed(*device, second.get(), setup.parts);
  const Arch* arch = setup.arch;
  if (arch == nullptr) {
    WICK_TRY(arch, find_arch(file));
  }
  WICK_TRY(Decoder decoder, Decoder::load(file, *arch, placement,
                                          {.max_batch_tokens = setup.max_batch_tokens,
                                           .max_logit_rows = setup.max_batch_tokens,
                                           .context = setup.context,
                                           .max_seqs = setup.max_seqs,
                                           .threads = setup.threads,
                                           .adapters = setup.adapters}));
  WICK_TRY(SequenceMemory memory, SequenceMemory::create(placement, decoder.spec(),
                                                         {.k_type = setup.kv,
                                                          .v_type = setup.kv,
                                                          .max_seqs = setup.max_seqs,
                                                          .context = decoder.options().context}));
  return std::make_unique<Running>(Running{std::move(file), std::move(device), std::move(second),
                                           std::move(decoder), std::move(memory)});
}

// The tokens of one launch, all of one sequence, logits wanted for each.
struct Slice {
  std::vector<TokenId> tokens;
  std::vector<Pos> positions;
  std::vector<SeqId> seqs;
  std::vector<int> rows;

  void add(SeqId seq, Pos pos, TokenId token, bool wants_logits = true) {
    if (wants_logits) rows.push_back(static_cast<int>(rows.size()));
    tokens.push_back(token);
    positions.push_back(pos);
    seqs.push_back(seq);
  }

  Batch batch() const {
    return {.tokens = tokens, .positions = positions, .seqs = seqs, .logit_rows = rows};
  }
};

// [ids, vocab] from sequence 0, computed `chunk` tokens at a time from an empty cache. `each` is
// called with every chunk's rows.
template <class Each>
void for_each_logits(Running& model, const std::vector<TokenId>& ids, int chunk, Each&& each) {
  model.memory.release(0);
  const int n = static_cast<int>(ids.size());
  for (int begin = 0; begin < n; begin += chunk) {
    const int end = std::min(n, begin + chunk);
    ASSERT_TRUE(model.memory.extend(0, end));
    Slice slice;
    for (int pos = begin; pos < end; ++pos)
      slice.add(0, pos, ids[static_cast<std::size_t>(pos)]);
    model.decoder.launch(slice.batch(), model.memory);
    const auto logits = model.decoder.logits();
    ASSERT_TRUE(logits) << logits.error().message;
    each(*logits);
  }
}

inline std::vector<float> logits_of(Running& model, const std::vector<TokenId>& ids, int chunk) {
  std::vector<float> all;
  for_each_logits(model, ids, chunk, [&](std::span<const float> rows) {
    all.insert(all.end(), rows.begin(), rows.end());
  });
  return all;
}

// FNV-1a over the bits of each row: for models whose logits are too many to keep.
inline std::vector<std::uint64_t> row_hashes(Running& model, const std::vector<TokenId>& ids,
                                             int chunk) {
  std::vector<std::uint64_t> hashes;
  const auto vocab = static_cast<std::size_t>(model.decoder.spec().vocab);
  for_each_logits(model, ids, chunk, [&](std::span<const float> rows) {
    for (std::size_t at = 0; at < rows.size(); at += vocab) {
      std::uint64_t hash = 0xcbf29ce484222325U;
      for (const std::byte byte : std::as_bytes(rows.subspan(at, vocab)))
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
      hashes.push_back(hash);
    }
  });
  return hashes;
}

// Ids spread over the whole vocabulary, the same in every run.
inline std::vector<TokenId> some_ids(int n, int vocab) {
  std::vector<TokenId> ids;
  std::uint32_t state = 12345;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    ids.push_back(static_cast<TokenId>((state >> 8) % static_cast<std::uint32_t>(vocab)));
  }
  return ids;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && !a.empty() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
         });
}

using test::default_model;

}  // namespace wick
