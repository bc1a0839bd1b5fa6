#include "grammar/recognizer.h"

#include "grammar/limits.h"

namespace wick::grammar {

StateId Recognizer::step_all(StateId state, std::string_view bytes) {
  for (const char c : bytes) {
    if (state == kFailedState || state == kDeadState) return state;
    state = step(state, static_cast<unsigned char>(c));
  }
  return state;
}

Result<std::string> Recognizer::forced(StateId& state, std::size_t max_bytes) {
  begin(kMaskFuel);
  std::string out;
  while (out.size() < max_bytes && !accepts(state)) {
    StateId only = kDeadState;
    unsigned char its_byte = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const StateId next = step(state, static_cast<unsigned char>(b));
      if (next == kFailedState) return failure();
      if (next == kDeadState) continue;
      if (only != kDeadState) return out;
      only = next;
      its_byte = static_cast<unsigned char>(b);
    }
    if (only == kDeadState) break;
    out.push_back(static_cast<char>(its_byte));
    state = only;
  }
  return out;
}

Result<std::string> Recognizer::shortest(StateId /*state*/) {
  return Error{
      ErrorCode::kUnsupported, "no_short_end", "no short end of the document was found", {}};
}

}  // namespace wick::grammar
