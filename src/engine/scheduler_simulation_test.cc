// Years of random load on the scheduler and its cache: conversations that go on, edits, tenants,
// priorities, slow readers, cancels, and a cache too small for all of them. After every step no
// block is lost and every position holds what its text says; nobody waits longer than the bound.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <random>
#include <string>

#include "engine/limits.h"
#include "engine/scheduler_fixture_test.h"

namespace wick {
namespace {

constexpr int kTenants = 3, kQueue = 24, kMaxPrompt = 150, kMaxAnswer = 60;

// A request that is ready waits for its next token at most until it has aged to the top, and then
// until those before it have had their whole work, one token a step at the worst.
constexpr std::int64_t kBound =
    2LL * kMaxPriority * kAgeingSteps + std::int64_t{kQueue} * (kMaxPrompt + kMaxAnswer);

struct Client {
  TestRequest request;
  int left = 0;                // answer tokens
  std::int64_t last_step = 0;  // it got a token, or was paused
};

class Simulation {
 public:
  Simulation(std::uint32_t seed, const SchedulerFixture::Sizes& sizes)
      : random_(seed), sizes_(sizes), f_(sizes) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      // Calm and storm: now the queue runs empty, now it overflows.
      const int rate = i / 500 % 3 == 0 ? 3 : 40;
      if (below(rate) == 0) arrive();
      for (auto client = clients_.begin(); client != clients_.end();)
        client = disturb(client);
      step();
      if (i % 16 == 0) f_.check_blocks();
    }
    while (!clients_.empty() && !testing::Test::HasFatalFailure()) {
      for (Client& client : clients_)
        client.request->is_paused = false;
      step();
    }
    f_.check_blocks();
    EXPECT_EQ(f_.memory.free_blocks() + f_.memory.evictable_blocks(), f_.memory.total_blocks());
  }

  std::int64_t longest_wait() const { return longest_wait_; }

  int n_preempted() const { return n_preempted_; }

  int n_reused() const { return n_reused_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void arrive() {
    if (f_.scheduler.waiting().size() >= kQueue) return;
    std::vector<TokenId> tokens = text(1 + below(kMaxPrompt / 2), below(5));
    if (!last_said_.empty() && below(3) == 0) tokens = last_said_;
    if (below(4) == 0)
      tokens[static_cast<std::size_t>(below(static_cast<int>(tokens.size())))] = 250;
    for (int more = below(kMaxPrompt / 3); more > 0; --more)
      tokens.push_back(below(250));
    tokens.resize(std::min<std::size_t>(tokens.size(), kMaxPrompt));
    const auto tenant = static_cast<std::uint64_t>(below(kTenants));
    const int priority = below(2 * kMaxPriority + 1) - kMaxPriority;
    clients_.push_back({.request = f_.request(std::move(tokens), tenant, priority),
                        .left = 1 + below(kMaxAnswer),
                        .last_step = f_.scheduler.step()});
    f_.add(clients_.back().request);
  }

  std::list<Client>::iterator disturb(std::list<Client>::iterator client) {
    SchedulerEntry& request = *client->request.entry;
    if (below(2000) == 0) return end(client);
    if (request.is_paused ? below(30) == 0 : below(300) == 0)
      request.is_paused = !request.is_paused;
    if (request.is_paused) client->last_step = f_.scheduler.step();
    return std::next(client);
  }

  std::list<Client>::iterator end(std::list<Client>::iterator client) {
    n_preempted_ += client->request->n_preempted;
    n_reused_ += client->request->cached > 0 ? 1 : 0;
    last_said_ = client->request.tokens;
    f_.remove(client->request);
    return clients_.erase(client);
  }

  void step() {
    const StepBudget budget{.shared = 8 + below(40), .exclusive = 64, .decode = below(40)};
    const auto slices = f_.step(budget, [this](TestRequest& request) {
      request.tokens.push_back(static_cast<TokenId>(request.tokens.size() * 31 % 250));
      --client_of(request.terms.id).left;
    });
    check_slices(slices);
    for (auto client = clients_.begin(); client != clients_.end();) {
      const std::int64_t waited = f_.scheduler.step() - client->last_step;
      longest_wait_ = std::max(longest_wait_, waited);
      ASSERT_LE(waited, kBound) << "request " << client->request->id << " starves";
      client = client->left == 0 ? end(client) : std::next(client);
    }
  }

  void check_slices(const std::vector<Slice>& slices) {
    int sum = 0;
    for (const Slice& slice : slices) {
      ASSERT_GT(slice.count, 0);
      sum += slice.count;
      client_of(slice.entry->id).last_step = f_.scheduler.step();
    }
    ASSERT_LE(sum, sizes_.batch);
    const bool has_ready = std::any_of(clients_.begin(), clients_.end(),
                                       [](Client& c) { return !c.request->is_paused; });
    idle_steps_ = has_ready && slices.empty() ? idle_steps_ + 1 : 0;
    ASSERT_LE(idle_steps_, kParkingSteps + 1) << "work waits and nothing moves";
  }

  Client& client_of(std::uint64_t id) {
    return *std::find_if(clients_.begin(), clients_.end(),
                         [&](const Client& c) { return c.request.terms.id == id; });
  }

  std::mt19937 random_;
  SchedulerFixture::Sizes sizes_;
  SchedulerFixture f_;
  std::list<Client> clients_;
  std::vector<TokenId> last_said_;
  std::int64_t longest_wait_ = 0;
  int n_preempted_ = 0, n_reused_ = 0, idle_steps_ = 0;
};

void simulate(int steps) {
  int n_preempted = 0, n_reused = 0;
  std::int64_t longest = 0;
  const SchedulerFixture::Sizes cases[] = {
      {.max_seqs = 6, .batch = 64, .context = 224, .blocks = 30},
      {.max_seqs = 4, .batch = 8, .context = 224, .blocks = 15},
      {.max_seqs = 8, .batch = 64, .context = 224, .blocks = 200},
      {.max_seqs = 6, .batch = 64, .context = 224, .blocks = 40, .enable_prefix_caching = false},
      {.max_seqs = 6, .batch = 64, .context = 224, .blocks = 30, .window = 20},
      {.max_seqs = 4,
       .batch = 32,
       .context = 224,
       .blocks = 60,
       .window = 45,
       .has_paged_too = true},
      {.max_seqs = 6, .batch = 64, .context = 224, .blocks = 40, .has_state = true},
      {.max_seqs = 6, .batch = 64, .context = 224, .blocks = 30, .is_latent = true},
      {.max_seqs = 4,
       .batch = 32,
       .context = 224,
       .blocks = 60,
       .window = 45,
       .has_paged_too = true,
       .has_state = true}};
  std::uint32_t seed = 1;
  for (const auto& sizes : cases) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << sizes.blocks << " blocks");
    Simulation simulation(seed++, sizes);
    simulation.run(steps / static_cast<int>(std::size(cases)));
    if (testing::Test::HasFatalFailure()) return;
    n_preempted += simulation.n_preempted();
    n_reused += simulation.n_reused();
    longest = std::max(longest, simulation.longest_wait());
  }
  EXPECT_GT(n_preempted, steps / 2000) << "the cache was never short";
  EXPECT_GT(n_reused, steps / 500) << "nothing was ever reused";
  testing::Test::RecordProperty("longest_wait_steps", std::to_string(longest));
  std::printf("%d steps: longest wait %lld of at most %lld steps, %d preemptions, %d reuses\n",
              steps, static_cast<long long>(longest), static_cast<long long>(kBound), n_preempted,
              n_reused);
}

TEST(SchedulerSimulation, LosesNoBlockAndStarvesNobody) {
  simulate(40'000);
}

TEST(SlowSchedulerSimulation, LosesNoBlockAndStarvesNobodyInAMillionSteps) {
  simulate(1'000'000);
}

}  // namespace
}  // namespace wick
