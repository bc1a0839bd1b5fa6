#include "route/ledger_store.h"

#include <utility>

namespace wick::route {

namespace {

constexpr LedgerStoreKind kLedgerStores[] = {
    {"postgresql://", open_postgres_store},
    {"postgres://", open_postgres_store},
    {"", open_sqlite_store},
};

}  // namespace

std::shared_ptr<const Origin> origin_of(Charge charge, std::string marks) {
  return std::make_shared<const Origin>(
      Origin{.charge = std::move(charge), .marks = std::move(marks)});
}

EntrySums EntrySums::of(const Settlement& end) noexcept {
  return {.cost = end.cost,
          .prompt_tokens = end.usage.prompt_tokens,
          .cached_tokens = end.usage.cached_tokens,
          .generated_tokens = end.usage.generated_tokens,
          .estimated = end.is_estimated,
          .failed = end.has_failed};
}

void EntrySums::add(const EntrySums& more) noexcept {
  requests += more.requests;
  cost += more.cost;
  prompt_tokens += more.prompt_tokens;
  cached_tokens += more.cached_tokens;
  generated_tokens += more.generated_tokens;
  estimated += more.estimated;
  failed += more.failed;
}

std::span<const LedgerStoreKind> ledger_stores() noexcept {
  return kLedgerStores;
}

}  // namespace wick::route
