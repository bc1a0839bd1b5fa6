// A tiny model behind the public face.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/fake_process.h"  // where tests say so
#include "support/temp_dir.h"
#include "support/tiny_model.h"
#include "wick/model.h"

namespace wick {

struct Fixture {
  test::TempDir dir;
  std::string path = (dir.path() / "tiny.gguf").string();
  std::optional<Model> model;

  explicit Fixture(const test::TinyModel& tiny = {.context = 1024}, ModelOptions options = {}) {
    test::write_tiny_model(path, tiny);
    options.threads = 1;
    auto opened = Model::open(path, options);
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    if (opened) model = *std::move(opened);
  }
};

// Answers of tiny models are noise; these settings make it long enough to look at.
inline Generation noise(std::uint64_t seed, int max_tokens = 20) {
  return {.temperature = 3, .seed = seed, .max_tokens = max_tokens};
}

}  // namespace wick
