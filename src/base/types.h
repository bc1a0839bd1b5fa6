// Integer types that all modules share.
#pragma once

#include <cstdint>

namespace wick {

using TokenId = std::int32_t;
using Pos = std::int32_t;      // position in a sequence, 0-based
using SeqId = std::int32_t;    // slot in the engine, 0 .. max_seqs-1
using BlockId = std::int32_t;  // cache block: 16 positions of every layer

}  // namespace wick
