// Every codec. A new format adds its line here and its name to WICK_CODECS (quant/dtype.h); the
// tables, the tests and this header's checks follow.
#pragma once

#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace wick {

#define WICK_X(name) static_assert(Codec<name> && name::kType == DType::k##name);
WICK_CODECS(WICK_X)
#undef WICK_X

}  // namespace wick
