// Prices of models in a file of LiteLLM's format (model_prices_and_context_window.json): an object
// with a row for each model, whose costs are dollars for a token. Immutable; any thread.
//
//   {"gpt-4o-mini": {"litellm_provider": "openai", "input_cost_per_token": 1.5e-07,
//                    "output_cost_per_token": 6e-07, "max_input_tokens": 128000}}
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"
#include "route/rules.h"

namespace wick {

class PriceFile {
 public:
  // kInvalid, id "bad_prices".
  static Result<PriceFile> read(const std::string& path);
  // Of a text; its rows name no file and no day.
  static Result<PriceFile> parse(std::string_view text, std::string_view path);

  // Sets the price and the context of a model of such a provider ("openai", "azure", …), where they
  // are not set and the file has them: in the row "KIND/MODEL", or in the row "MODEL" of that
  // provider. Of a price that rises with the length of the prompt it takes the highest.
  void complete(std::string_view kind, route::MemberModel& model) const;

 private:
  Object rows_ = {};
  std::string version_ = {};  // "prices.json of 2026-11-20"
};

}  // namespace wick
