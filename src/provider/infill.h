// A text with a gap, for models that were trained to fill one (FIM, fill in the middle). Plain
// data.
#pragma once

#include <string>
#include <vector>

#include "wick/token.h"

namespace wick {

struct Infill {
  struct File {
    std::string name = {}, text = {};
  };

  std::string prefix = {}, suffix = {};
  std::string begun = {};        // the text that fills the gap begins with this
  std::vector<File> files = {};  // of the same project
};

struct InfillPrompt {
  std::vector<TokenId> ids = {};
  std::vector<TokenId> ends = {};  // tokens that end the answer, beside the model's own
};

}  // namespace wick
