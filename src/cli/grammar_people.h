// wick grammar check, sample and explain, for a person: one constraint from the flags, in plain
// text.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/format_flags.h"
#include "grammar/schema/sources.h"

namespace wick {

// What a text of the user may cost: fuel of a Recognizer for each of its bytes.
constexpr std::uint64_t kFuelForByte = 10;

struct GrammarFlags {
  FormatOptions format = {};
  std::string registry = {}, file = {};
  bool is_batch = false, is_json = false, has_any_order = false;
  int seed = 1, n = 5, max_bytes = 200;
};

// Documents below the folder `registry`, for references to http://localhost:1234/.
grammar::FetchDocument registry_at(const std::string& folder);

// Each returns an exit status. An error of the constraint's text is shown with its place.
Result<int> check_text(const GrammarFlags& flags);
Result<int> sample_documents(const GrammarFlags& flags);
Result<int> explain_constraint(const GrammarFlags& flags);

}  // namespace wick
