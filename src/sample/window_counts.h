// Which tokens the last positions of a growing history hold, and how often each: kept up token by
// token, so that a look costs as much as there are different tokens. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace wick {

class WindowCounts {
 public:
  WindowCounts() = default;

  // `window`: positions; below 0 = all.
  WindowCounts(int vocab, int window)
      : window_(window < 0 ? ~std::size_t{0} : static_cast<std::size_t>(window)),
        counts_(static_cast<std::size_t>(vocab)),
        places_(counts_.size()),
        ids_(std::min(counts_.size(), window_)) {}

  // Hot:
  // The history now; a shorter one than last time is a new one. Ids outside the vocabulary do not
  // count.
  void follow(std::span<const TokenId> history) noexcept {
    if (history.size() < end_ || history.size() - end_ >= window_) {
      for (const TokenId id : ids())
        counts_[static_cast<std::size_t>(id)] = 0;
      n_ = 0;
      begin_ = end_ = history.size() - std::min(history.size(), window_);
    }
    for (; end_ < history.size(); ++end_) {
      if (end_ - begin_ == window_) remove(history[begin_++]);
      add(history[end_]);
    }
  }

  std::span<const TokenId> ids() const noexcept { return std::span(ids_).first(n_); }

  std::int32_t count(TokenId id) const noexcept { return counts_[static_cast<std::size_t>(id)]; }

 private:
  void add(TokenId id) noexcept {
    const auto i = static_cast<std::size_t>(id);
    if (i >= counts_.size() || counts_[i]++ > 0) return;
    places_[i] = static_cast<std::int32_t>(n_);
    ids_[n_++] = id;
  }

  void remove(TokenId id) noexcept {
    const auto i = static_cast<std::size_t>(id);
    if (i >= counts_.size() || --counts_[i] > 0) return;
    const TokenId last = ids_[--n_];  // takes the free place
    ids_[static_cast<std::size_t>(places_[i])] = last;
    places_[static_cast<std::size_t>(last)] = places_[i];
  }

  std::size_t window_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // of the history: counted
  std::vector<std::int32_t> counts_, places_;
  std::vector<TokenId> ids_;
  std::size_t n_ = 0;
};

}  // namespace wick
