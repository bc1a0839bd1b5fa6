// The conversation at the terminal: reads a line, answers, obeys /commands.
#pragma once

#include "base/result.h"
#include "hub/atomic_file.h"
#include "provider/conversation.h"
#include "provider/provider.h"

namespace wick {

// Until /quit or the end of input; returns the exit status. `inputs`: files that /save does not
// replace.
Result<int> talk(Provider& provider, Conversation& conversation, Generation generation,
                 std::vector<FileId> inputs);

}  // namespace wick
