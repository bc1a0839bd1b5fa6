// Handlers for signals that would otherwise end the program silently. The library installs none.
#pragma once

namespace wick {

// SIGBUS: a mapped file, usually the model, was truncated or its disk failed while it was read.
// Says which, on stderr or with `as_json` as an error on stdout, and ends with kExitFailure.
// SIGXFSZ is ignored: a write beyond the limit of file sizes is then an error like that of a full
// disk.
void set_up_signals(bool as_json) noexcept;

}  // namespace wick
