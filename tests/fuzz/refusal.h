// What every refusal of a fuzzed parser has.
#pragma once

#include "base/check.h"
#include "base/result.h"

namespace wick::test {

inline void check_refusal(const Error& error) {
  WICK_CHECK(!error.id.empty() && !error.message.empty(), "a refusal has a name");
}

}  // namespace wick::test
