// A local model of a tiny file, with one thread, for tests.
#pragma once

#include <memory>

#include "local/local.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick::test {

struct TinyLocal {
  TempDir dir;
  std::shared_ptr<LocalModel> model;

  explicit TinyLocal(LocalOptions options = {}, const TinyModel& tiny = {}) {
    options.threads = 1;
    write_tiny_model(dir.path() / "tiny.gguf", tiny);
    model = *LocalModel::open(dir.path() / "tiny.gguf", options);
  }
};

}  // namespace wick::test
