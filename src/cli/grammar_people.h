// wick grammar check, sample and explain, for a person: one constraint from the flags, in plain
// text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/format_flags.h"
#include "grammar/recognizer.h"
#include "grammar/schema/sources.h"

namespace wick {

struct GrammarFlags {
  FormatOptions format = {};
  std::string registry = {}, file = {};
  bool is_batch = false, is_json = false, has_any_order = false;
  int seed = 1, n = 5, max_bytes = 200;
};

// Documents below the folder `registry`, for references to http://localhost:1234/.
grammar::FetchDocument registry_at(const std::string& folder);

// The byte of `text` at which no document goes on like it, its size if more would have to follow;
// nothing if it is a document. One operation, however long the text is.
Result<std::optional<std::size_t>> fault_of(grammar::Recognizer& recognizer, std::string_view text);

// Each returns an exit status. An error of the constraint's text is shown with its place.
Result<int> check_text(const GrammarFlags& flags);
Result<int> sample_documents(const GrammarFlags& flags);
Result<int> explain_constraint(const GrammarFlags& flags);

}  // namespace wick
