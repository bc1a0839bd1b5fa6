#include "backend/cpu/shared_team.h"

#include "base/clock.h"

namespace wick {
namespace {

// A token of a small model takes less; handing over costs some 10 us.
constexpr std::int64_t kTurnNs = 10'000'000;

}  // namespace

Result<std::shared_ptr<SharedTeam>> SharedTeam::create(int members) {
  WICK_TRY(ThreadTeam team, ThreadTeam::create(members));
  return std::make_shared<SharedTeam>(std::move(team));
}

Result<void> SharedTeam::grow(int members) {
  if (members <= team_.size()) return {};
  begin_turn();
  auto grown = team_.grow(members);
  end_turn();
  return grown;
}

void SharedTeam::begin_turn() noexcept {
  const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t now = now_.load(std::memory_order_acquire); now != mine;
       now = now_.load(std::memory_order_acquire)) {
    now_.wait(now, std::memory_order_acquire);
  }
}

void SharedTeam::end_turn() noexcept {
  now_.fetch_add(1, std::memory_order_release);
  now_.notify_all();
}

void TeamShare::begin() noexcept {
  team_->begin_turn();
  began_ns_ = monotonic_ns();
}

void TeamShare::yield() noexcept {
  if (!team_->is_awaited() || monotonic_ns() - began_ns_ < kTurnNs) return;
  team_->end_turn();
  begin();
}

}  // namespace wick
