// A process that has keys or other people's texts in its memory writes none of it to a core dump.
#pragma once

namespace wick {

// For this process, from now on: no dump to a file, and no memory in those that Linux passes to a
// program in spite of that limit. Any thread.
void forbid_core_dumps() noexcept;

}  // namespace wick
