#include "sample/sampler.h"

#include <algorithm>

#include "base/check.h"
#include "sample/stage.h"

namespace wick {

struct SamplerChain::State {
  SamplingParams params;
  int vocab = 0;
  bool is_greedy = false;
  std::array<const SamplerInfo*, 32> stages = {};  // those that have something to do, in order
  std::size_t n_stages = 0;
  const SamplerInfo* chooser = nullptr;  // nullptr = a plain draw
  SamplerMemory memory;
  std::vector<Candidate> candidates;
  std::vector<double> weights;
  std::shared_ptr<LogitsEditor> editor;
  std::vector<float> copy;  // for the editor, which may change anything

  std::span<const SamplerInfo* const> plan() const noexcept {
    return std::span(stages).first(n_stages);
  }
};

SamplerChain::SamplerChain() = default;
SamplerChain::SamplerChain(SamplerChain&&) noexcept = default;
SamplerChain& SamplerChain::operator=(SamplerChain&&) noexcept = default;
SamplerChain::~SamplerChain() = default;

namespace {

// The samplers of a request that are on, in its order: what edits first comes first, and one that
// replaces the others' choice comes last and turns these off.
std::vector<const SamplerInfo*> find_active(const SamplingParams& p) {
  const auto all = samplers();
  std::vector<const SamplerInfo*> active;
  const auto add = [&](const SamplerInfo& row) {
    if (row.is_on(p)) active.push_back(&row);  // cold: a request begins
  };
  for (const SamplerInfo& row : all) {
    if (row.kind == SamplerKind::kFirst) add(row);
  }
  for (std::size_t i = 0; p.order.n < 0 && i < all.size(); ++i) {
    if (is_movable(all[i].kind)) add(all[i]);
  }
  for (int i = 0; i < p.order.n; ++i)
    add(all[p.order.rows[static_cast<std::size_t>(i)]]);
  for (const SamplerInfo& row : all) {
    if (row.kind != SamplerKind::kReplace || !row.is_on(p)) continue;
    std::erase_if(active, [](const SamplerInfo* other) {
      return other->kind == SamplerKind::kCut || other->kind == SamplerKind::kChoose;
    });
    add(row);
  }
  return active;
}

// Whether the stages list the whole vocabulary, not only what top-k selects.
bool lists_all(std::span<const SamplerInfo* const> plan) noexcept {
  for (const SamplerInfo* stage : plan) {
    if (stage->apply == apply_top_k) return false;
    if (stage->kind == SamplerKind::kScale) return true;
    if (stage->kind == SamplerKind::kCut && !stage->works_unlisted) return true;
  }
  return true;
}

}  // namespace

SamplerChain::SamplerChain(const SamplingParams& params, const ChainSizes& sizes,
                           std::shared_ptr<LogitsEditor> editor)
    : state_(std::make_unique<State>()) {  // cold: a request begins
  State& s = *state_;
  s.params = params;
  s.vocab = sizes.vocab;
  s.memory.draws.seed = params.seed;
  if (editor != nullptr) s.copy.resize(static_cast<std::size_t>(sizes.vocab));
  s.editor = std::move(editor);
  auto active = find_active(params);
  const auto is_scale = [](const SamplerInfo* row) { return row->kind == SamplerKind::kScale; };
  s.is_greedy = params.temperature == 0 && std::any_of(active.begin(), active.end(), is_scale);
  if (s.is_greedy) {
    std::erase_if(active, [](const SamplerInfo* row) {
      return row->kind != SamplerKind::kFirst && row->kind != SamplerKind::kEdit;
    });
  }
  for (const SamplerInfo* row : active) {
    if (row->prepare != nullptr) row->prepare(s.memory, params, sizes);
    if (row->choose != nullptr) {
      s.chooser = row;
    } else {
      s.stages[s.n_stages++] = row;
    }
  }
  if (s.is_greedy) return;
  const auto vocab = static_cast<std::size_t>(sizes.vocab);
  const bool needs_all = lists_all(s.plan());
  s.candidates.resize(needs_all ? vocab : std::min(vocab, static_cast<std::size_t>(params.top_k)));
  s.weights.resize(s.candidates.size());
  s.memory.maxima.resize(2 * count_chunks(vocab));
}

const SamplingParams& SamplerChain::params() const noexcept {
  return state_->params;
}

TokenId SamplerChain::sample(std::span<float> logits, std::span<const std::uint64_t> allowed,
                             std::span<const TokenId> history) noexcept {
  State& s = *state_;
  WICK_CHECK(logits.size() == static_cast<std::size_t>(s.vocab),
             "a chain samples from the vocabulary it was built for");
  if (s.editor != nullptr) {
    std::copy(logits.begin(), logits.end(), s.copy.begin());
    if (!s.editor->edit(s.copy, history)) return -1;
    logits = s.copy;
  }
  Candidates c{.logits = logits,
               .allowed = allowed,
               .history = history,
               .memory = &s.memory,
               .items = s.candidates,
               .weights = s.weights};
  for (const SamplerInfo* stage : s.plan())
    stage->apply(c, s.params);
  TokenId id = -1;
  if (s.is_greedy) {
    id = find_largest(c.vocabulary());
  } else {
    list(c);
    if (!c.items.empty()) {
      const std::size_t item =
          s.chooser != nullptr ? s.chooser->choose(c, s.params) : draw_item(c, exp_weights(c));
      id = c.items[item].id;
    }
  }
  while (c.n_edits > 0) {  // newest first: a token may have been edited twice
    const Candidate& old = s.memory.edits[--c.n_edits];
    logits[static_cast<std::size_t>(old.id)] = old.logit;
  }
  ++s.memory.n_drawn;
  return id;
}

}  // namespace wick
