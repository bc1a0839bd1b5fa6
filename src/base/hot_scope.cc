#include "base/hot_scope.h"

namespace wick {

thread_local int HotScope::depth_ = 0;

}  // namespace wick
