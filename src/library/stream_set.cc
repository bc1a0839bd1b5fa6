#include "wick/stream_set.h"

#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/wake.h"

namespace wick {

StreamSet::StreamSet(std::unique_ptr<WakeSet> set) noexcept : set_(std::move(set)) {}

StreamSet::StreamSet(StreamSet&&) noexcept = default;
StreamSet& StreamSet::operator=(StreamSet&&) noexcept = default;
StreamSet::~StreamSet() = default;

Result<StreamSet> StreamSet::create() {
  return catch_bad_alloc([]() -> Result<StreamSet> {
    WICK_TRY(auto set, WakeSet::create());
    return StreamSet(std::move(set));
  });
}

int StreamSet::fd() const noexcept {
  return set_->fd();
}

Result<std::shared_ptr<Wake>> StreamSet::add(std::uint64_t key) const {
  return catch_bad_alloc([&]() -> Result<std::shared_ptr<Wake>> { return set_->add(key); });
}

void StreamSet::take(const std::function<void(std::uint64_t key)>& visit) {
  set_->take(visit);
}

}  // namespace wick
