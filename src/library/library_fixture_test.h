// A tiny model behind the public API.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/fake_process.h"  // where tests say so
#include "support/temp_dir.h"
#include "support/tiny_model.h"
#include "wick/model.h"
#include "wick/wick.h"

namespace wick {

struct TinyFile {
  test::TempDir dir;
  std::string path = (dir.path() / "tiny.gguf").string();

  explicit TinyFile(const test::TinyModel& tiny) { test::write_tiny_model(path, tiny); }
};

struct Fixture : TinyFile {
  std::optional<Model> model;

  explicit Fixture(const test::TinyModel& tiny = {.context = 1024}, ModelOptions options = {})
      : TinyFile(tiny) {
    options.threads = 1;
    auto opened = Model::open(path, options);
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    if (opened) model = *std::move(opened);
  }
};

// The same in C, and the last error.
struct CFixture : TinyFile {
  wick_model* model = nullptr;
  wick_error* error = nullptr;

  explicit CFixture(int context = 1024) : TinyFile({.context = context}) {
    wick_model_options options;
    wick_model_options_init(&options);
    options.threads = 1;
    model = wick_model_open(path.c_str(), &options, &error);
    EXPECT_NE(model, nullptr) << error_id();
  }

  CFixture(const CFixture&) = delete;
  CFixture& operator=(const CFixture&) = delete;

  ~CFixture() {
    wick_error_free(error);
    wick_model_free(model);
  }

  std::string error_id() {
    const std::string id = error == nullptr ? "" : error->id;
    wick_error_free(error);
    error = nullptr;
    return id;
  }
};

// Answers of tiny models are noise; these settings make it long enough to look at.
inline Generation noise(std::uint64_t seed, int max_tokens = 20) {
  return {.temperature = 3, .seed = seed, .max_tokens = max_tokens};
}

}  // namespace wick
