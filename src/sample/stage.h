// The interface of a sampler stage. A stage is one file and one row of samplers(); its flag, API
// field, range check and property tests are generated from the row. Engine thread; apply and choose
// are hot, prepare is not.
//
// The tokens in play begin as the whole vocabulary, unlisted: stages that change a few logits edit
// them in place, stages that only need a bound raise `least`. The first stage that needs the tokens
// themselves lists them, top-k by selecting. So a chain that begins like the default one never
// touches more than a few hundred tokens.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "sample/elementary.h"
#include "sample/random.h"
#include "sample/sampler.h"
#include "sample/scan.h"
#include "sample/window_counts.h"

namespace wick {

// The random numbers of a request, in the order in which its stages ask for them.
struct Draws {
  std::uint64_t seed = 0, count = 0;

  double next() noexcept { return uniform(seed, count++); }
};

// The state of a request between tokens, and scratch; allocated once.
struct SamplerMemory {
  Draws draws;
  int n_drawn = 0;                               // tokens so far
  std::vector<TokenId> ends;                     // what `ends` bans
  WindowCounts counts;                           // of penalties
  std::vector<std::int32_t> matches;             // of DRY: one a position
  std::vector<std::int32_t> longest;             // of DRY: one a token, zero between draws
  std::vector<TokenId> repeating;                // of DRY: the tokens that are not zero there
  std::vector<bool> breaks;                      // of DRY: one a token
  double mirostat_mu = 0;                        // the surprise above which tokens are left out
  double adaptive_sum = 0, adaptive_weight = 0;  // of the probabilities of past tokens
  std::vector<Candidate> edits;                  // logits as they were, oldest first
  std::vector<float> maxima;                     // of the chunks, for select_top_k()
};

// The tokens still in play. Sorted: by logit descending, equal logits by id ascending; shrinking
// keeps the order.
struct Candidates {
  std::span<float> logits = {};                 // of the whole vocabulary
  std::span<const std::uint64_t> allowed = {};  // of it; empty = all
  float least = kLowest;                        // while unlisted: tokens below are out
  std::span<const TokenId> history = {};
  SamplerMemory* memory = nullptr;

  bool is_listed = false, is_sorted = false;
  std::span<Candidate> items = {};  // before listing: room for them
  std::span<double> weights = {};   // scratch, as long as that room
  std::size_t n_weights = 0;        // of these, in the items' order, are exp(logit - largest)
  std::size_t n_edits = 0;

  Vocabulary vocabulary() const noexcept { return {.logits = logits, .allowed = allowed}; }
};

enum class SamplerKind : std::uint8_t {
  kFirst,    // edits logits before everything else; not part of the order
  kEdit,     // changes the logits of a few tokens
  kCut,      // leaves tokens out
  kScale,    // changes all logits
  kChoose,   // draws the token, instead of a plain draw
  kReplace,  // the same, instead of all cuts, too; not part of the order
};

constexpr bool is_movable(SamplerKind kind) noexcept {
  return kind != SamplerKind::kFirst && kind != SamplerKind::kReplace;
}

struct SamplerInfo {
  std::string_view name;
  SamplerKind kind;
  std::span<const SamplerParam> params = {};
  bool (*is_on)(const SamplingParams&) noexcept = nullptr;
  void (*apply)(Candidates&, const SamplingParams&) noexcept = nullptr;
  std::size_t (*choose)(Candidates&, const SamplingParams&) noexcept = nullptr;  // an item
  void (*prepare)(SamplerMemory&, const SamplingParams&, const ChainSizes&) = nullptr;
  bool works_unlisted = false;  // kCut: needs no list of the tokens
};

// In the default order.
std::span<const SamplerInfo> samplers() noexcept;

inline bool is_likelier(const Candidate& a, const Candidate& b) noexcept {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// Hot:
void list(Candidates& c) noexcept;  // nothing if listed already
void sort(Candidates& c) noexcept;  // lists first; nothing if sorted already
// Moves the k most likely tokens to the front, in no order; nothing if sorted already. Lists first.
void bring_to_front(Candidates& c, std::size_t k) noexcept;
float largest(Candidates& c) noexcept;  // of the logits in play; -infinity if there are none
void keep_from(Candidates& c, double least) noexcept;  // leaves out the logits below
// weights[i] = exp(logit[i] - largest); returns their sum, added in the order of items. Lists
// first.
double exp_weights(Candidates& c) noexcept;
// An item by these weights, which sum to `sum`.
std::size_t draw_item(Candidates& c, double sum) noexcept;

// Their sum, and the entropy of the distribution in nats.
struct Spread {
  double sum = 0;
  double log_sum = 0;  // token i has -log p = log_sum - (logit[i] - largest)
  double entropy = 0;
};

Spread measure_spread(Candidates& c) noexcept;

// A new logit for one token, before the listing.
inline void edit_one(Candidates& c, TokenId id, float value) noexcept {
  float& logit = c.logits[static_cast<std::size_t>(id)];
  c.memory->edits[c.n_edits++] = {id, logit};
  logit = value;
}

// Gives each of `ids` change(id, logit) as its logit. For a token that is not one of `ids` change
// must return the logit it got.
template <class Change>
void edit(Candidates& c, std::span<const TokenId> ids, Change&& change) noexcept {
  if (c.is_listed) {
    for (Candidate& item : c.items)
      item.logit = change(item.id, item.logit);
    c.is_sorted = false;
    c.n_weights = 0;
    return;
  }
  for (const TokenId id : ids)
    edit_one(c, id, change(id, c.logits[static_cast<std::size_t>(id)]));
}

void apply_ends(Candidates& c, const SamplingParams& p) noexcept;
void apply_logit_bias(Candidates& c, const SamplingParams& p) noexcept;
void apply_penalties(Candidates& c, const SamplingParams& p) noexcept;
void apply_dry(Candidates& c, const SamplingParams& p) noexcept;
void apply_top_n_sigma(Candidates& c, const SamplingParams& p) noexcept;
void apply_top_k(Candidates& c, const SamplingParams& p) noexcept;
void apply_typical(Candidates& c, const SamplingParams& p) noexcept;
void apply_top_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_min_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_xtc(Candidates& c, const SamplingParams& p) noexcept;
void apply_temperature(Candidates& c, const SamplingParams& p) noexcept;
std::size_t choose_mirostat(Candidates& c, const SamplingParams& p) noexcept;
std::size_t choose_adaptive_p(Candidates& c, const SamplingParams& p) noexcept;

// Cold:
void prepare_ends(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);
void prepare_logit_bias(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);
void prepare_penalties(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);
void prepare_dry(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);
void prepare_mirostat(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);
void prepare_adaptive_p(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes);

}  // namespace wick
