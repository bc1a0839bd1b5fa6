// What the opening of a model tells, and how it is ended: progress, log, cancellation, in C++ and
// in C.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/log.h"
#include "library/library_fixture_test.h"
#include "net/http.h"
#include "net/url.h"
#include "support/range_server.h"
#include "wick/log.h"
#include "wick/wick.h"

namespace wick {
namespace {

// A store of one's own, and a server that has a tiny model.
struct Download {
  test::TempDir dir;
  std::string url = test::range_server().url("/tiny.gguf");

  Download() {
    ::setenv("WICK_HOME", (dir.path() / "store").c_str(), 1);
    ::setenv("HF_HOME", (dir.path() / "hf").c_str(), 1);
    ::setenv("HF_ENDPOINT", test::range_server().url("").c_str(), 1);
    ::setenv("no_proxy", "127.0.0.1", 1);
    const std::string file = (dir.path() / "tiny.gguf").string();
    test::write_tiny_model(file);
    const std::string setting = R"({"path": "/tiny.gguf", "file": ")" + file + R"("})";
    EXPECT_TRUE(
        http_get_text({.url = test::range_server().url("/control?") + escape_path(setting)}, 10));
  }

  ~Download() {
    for (const char* const name : {"WICK_HOME", "HF_HOME", "HF_ENDPOINT", "no_proxy"})
      ::unsetenv(name);
  }
};

TEST(LibraryOpening, TellsOfTheDownloadAndTheLoadWithTheBytes) {
  const Download d;
  EXPECT_EQ(Model::open(d.url).error().id, "model_not_here");
  std::vector<OpenProgress> told;
  const auto model = Model::open(
      d.url, {.threads = 1, .may_download = true, .progress = [&](const OpenProgress& p) {
                told.push_back(p);
                EXPECT_FALSE(p.what.empty());
                return true;
              }});
  ASSERT_TRUE(model) << to_string(model.error());
  const auto size = std::filesystem::file_size(d.dir.path() / "tiny.gguf");
  ASSERT_GE(told.size(), 3U);
  EXPECT_EQ(told.front().phase, OpenPhase::kDownload);
  bool has_all = false;
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].phase, told[i - 1].phase);
    if (told[i].phase == told[i - 1].phase) {
      EXPECT_GE(told[i].done, told[i - 1].done);
    }
    has_all = has_all || (told[i].phase == OpenPhase::kDownload && told[i].done == size);
  }
  EXPECT_TRUE(has_all);
  EXPECT_EQ(told.back().phase, OpenPhase::kLoad);
  EXPECT_EQ(told.back().done, told.back().total);
  EXPECT_GE(told.back().total, model->describe().memory.weight_bytes);
}

TEST(LibraryOpening, ASinkAndATokenEndIt) {
  const auto open = [](ProgressSink progress, std::stop_token cancel = {}) {
    const Download d;
    const auto model = Model::open(d.url, {.threads = 1,
                                           .may_download = true,
                                           .progress = std::move(progress),
                                           .cancel = std::move(cancel)});
    return model ? Error{} : model.error();
  };
  for (const OpenPhase phase : {OpenPhase::kDownload, OpenPhase::kLoad}) {
    const auto refused = open([&](const OpenProgress& p) { return p.phase != phase; });
    EXPECT_EQ(refused.code, ErrorCode::kCancelled) << name(phase);
    const auto failed = open([&](const OpenProgress& p) -> bool {
      if (p.phase == phase) throw std::runtime_error("the bar is broken");
      return true;
    });
    EXPECT_EQ(failed.id, "callback_failed") << name(phase);
    EXPECT_NE(failed.message.find("the bar is broken"), std::string::npos);
    std::stop_source stop;
    const auto on_progress = [&](const OpenProgress& p) {
      if (p.phase == phase) stop.request_stop();
      return true;
    };
    EXPECT_EQ(open(on_progress, stop.get_token()).code, ErrorCode::kCancelled) << name(phase);
    EXPECT_EQ(open({}, stop.get_token()).code, ErrorCode::kCancelled);
  }
}

TEST(LibraryOpening, AQuantizationPicksAFileOfARepository) {
  const auto refused = Model::open("model.gguf", {.quantization = "Q4_0"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "bad_quantization");
  const auto picked = Model::open("hf:org/repo", {.quantization = "Q4_0"});
  ASSERT_FALSE(picked);
  EXPECT_NE(picked.error().message.find("hf:org/repo:Q4_0"), std::string::npos);
}

struct Told {
  std::vector<int> phases = {};
  std::vector<std::string> lines = {};
  int stop_at = -1;
};

int on_progress(void* user, const wick_progress* progress) {
  auto& told = *static_cast<Told*>(user);
  told.phases.push_back(progress->phase);
  return progress->phase == told.stop_at ? 1 : 0;
}

void on_log(void* user, wick_log_level level, const char* message) {
  auto& told = *static_cast<Told*>(user);
  told.lines.push_back((level == WICK_LOG_WARNING ? "warning " : "info ") + std::string(message));
}

TEST(LibraryOpening, CHasTheSameCallbacks) {
  const Fixture f;
  Told told;
  wick_set_log(on_log, &told);
  wick_model_options options;
  wick_model_options_init(&options);
  options.threads = 1;
  options.progress = on_progress;
  options.progress_user = &told;
  wick_model* const model = wick_model_open(f.path.c_str(), &options, nullptr);
  EXPECT_NE(model, nullptr);
  wick_model_free(model);
  ASSERT_FALSE(told.phases.empty());
  EXPECT_EQ(told.phases.back(), WICK_PHASE_LOAD);
  log_message(LogLevel::kWarning, "one device is used for another");
  wick_set_log(nullptr, nullptr);
  log_message(LogLevel::kWarning, "nobody hears this");
  ASSERT_EQ(told.lines.size(), 2U);
  EXPECT_NE(told.lines[0].find("tiny.gguf is loaded"), std::string::npos);
  EXPECT_EQ(told.lines[1], "warning one device is used for another");

  told.stop_at = WICK_PHASE_LOAD;
  wick_error* error = nullptr;
  EXPECT_EQ(wick_model_open(f.path.c_str(), &options, &error), nullptr);
  EXPECT_EQ(error->code, WICK_CANCELLED);
  wick_error_free(error);
  options.progress = nullptr;
  options.cancel = wick_cancel_new();
  wick_cancel_request(options.cancel);
  EXPECT_EQ(wick_model_open(f.path.c_str(), &options, nullptr), nullptr);
  wick_cancel_free(options.cancel);
}

}  // namespace
}  // namespace wick
