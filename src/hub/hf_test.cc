#include "hub/hf.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

std::vector<HubFile> files(std::initializer_list<const char*> paths) {
  std::vector<HubFile> out;
  for (const char* path : paths)
    out.push_back({.path = path});
  return out;
}

// The picked paths, joined; or the error's message.
std::string pick(const std::vector<HubFile>& there, const std::string& rest) {
  const auto picked = pick_files(there, {.repo = "org/repo", .rest = rest});
  if (!picked) return picked.error().message + " | " + picked.error().hint;
  std::string text;
  for (const HubFile& file : *picked)
    text += (text.empty() ? "" : " ") + file.path;
  return text;
}

TEST(HubRef, IsRepositoryAndFileOrQuant) {
  EXPECT_EQ(parse_hub_ref("hf:a/b")->repo, "a/b");
  EXPECT_EQ(parse_hub_ref("hf:a/b:Q4_0")->rest, "Q4_0");
  EXPECT_FALSE(parse_hub_ref("hf:a/b:Q4_0")->is_file());
  EXPECT_TRUE(parse_hub_ref("hf:a/b:x/y.gguf")->is_file());
}

TEST(HostileHubRef, NothingLeavesTheRepository) {
  for (const char* spec : {"", "hf:", "hf:a", "hf:/b", "hf:a/", "hf:../b", "hf:a/..", "hf:a/b/c",
                           "hf:a/b:", "hf:a/b:../x.gguf", "hf:a/b:x/../../y.gguf",
                           "hf:a/b:/etc/passwd", "hf:a/b:x\n.gguf", "hf:a?x=/b", "hf:a#/b",
                           "hf:a@evil/b", "hf:-a/b", "hf:a/b:.x", "HF:a/b"}) {
    EXPECT_FALSE(parse_hub_ref(spec)) << spec;
  }
}

TEST(HubPick, DefaultIsQ4KMThenTheOthersInOrder) {
  EXPECT_EQ(pick(files({"m-Q4_0.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf"}), ""), "m-Q4_K_M.gguf");
  EXPECT_EQ(pick(files({"m-Q8_0.gguf", "m-Q4_1.gguf"}), ""), "m-Q4_1.gguf");
  EXPECT_EQ(pick(files({"m-F16.gguf"}), ""), "m-F16.gguf");
}

TEST(HubPick, SeveralUnknownOnesAreListed) {
  const std::string text = pick(files({"m-F16.gguf", "m-F32.gguf"}), "");
  EXPECT_NE(text.find("it has: m-F16.gguf, m-F32.gguf"), std::string::npos) << text;
}

TEST(HubPick, QuantIsAWholeWordInAnyCase) {
  const auto there =
      files({"m-IQ4_K.gguf", "m-Q4_0_4_4.gguf", "m-q4_0.gguf", "m-Q4_K_S.gguf", "m_Q4_K.gguf"});
  EXPECT_EQ(pick(there, "Q4_0"), "m-q4_0.gguf");
  EXPECT_EQ(pick(there, "q4_k"), "m_Q4_K.gguf");
  EXPECT_EQ(pick(there, "Q4_K_S"), "m-Q4_K_S.gguf");
}

TEST(HubPick, PartOfAWordServesWhenNoWordDoes) {
  EXPECT_EQ(pick(files({"m-Q4_K_S.gguf"}), "Q4_K"), "m-Q4_K_S.gguf");
}

TEST(HubPick, ProjectorsAreNoModels) {
  EXPECT_EQ(pick(files({"mmproj-Q4_K_M.gguf", "m-Q4_K_M.gguf"}), ""), "m-Q4_K_M.gguf");
}

TEST(HubPick, SplitComesWithAllItsPartsInOrder) {
  const auto there = files({"q/m-Q4_K_M-00001-of-00002.gguf", "q/m-Q4_K_M-00002-of-00002.gguf"});
  const std::string all = "q/m-Q4_K_M-00001-of-00002.gguf q/m-Q4_K_M-00002-of-00002.gguf";
  EXPECT_EQ(pick(there, ""), all);
  EXPECT_EQ(pick(there, "q/m-Q4_K_M-00002-of-00002.gguf"), all);
}

TEST(HubPick, SplitWithAMissingPartIsRefused) {
  const std::string text = pick(files({"m-Q4_K_M-00001-of-00003.gguf"}), "");
  EXPECT_NE(text.find("holds 1 of the 3 parts"), std::string::npos) << text;
}

TEST(HubPick, RepositoryWithoutGgufGivesAFolder) {
  EXPECT_EQ(pick(files({"README.md", "chat_template.jinja", "config.json", "model.safetensors",
                        "pytorch_model.bin", "tokenizer.json"}),
                 ""),
            "config.json chat_template.jinja tokenizer.json model.safetensors");
}

TEST(HubPick, ShardsComeWithTheirIndex) {
  EXPECT_EQ(pick(files({"config.json", "model-00001-of-00002.safetensors",
                        "model-00002-of-00002.safetensors", "model.safetensors.index.json"}),
                 ""),
            "config.json model.safetensors.index.json model-00001-of-00002.safetensors "
            "model-00002-of-00002.safetensors");
}

TEST(HubPick, RepositoryWithNeitherIsRefused) {
  EXPECT_NE(pick(files({"README.md"}), "").find("holds neither"), std::string::npos);
  EXPECT_NE(pick(files({}), "Q4_0").find("holds no GGUF of Q4_0"), std::string::npos);
  EXPECT_NE(pick(files({}), "x.gguf").find("holds no file x.gguf"), std::string::npos);
}

TEST(HubSplit, PartsAreCountedFromOne) {
  EXPECT_EQ(split_part("a/x-00002-of-00003.gguf").part, 2);
  EXPECT_EQ(split_part("a/x-00002-of-00003.gguf").stem, "a/x");
  for (const char* name : {"x.gguf", "x-00000-of-00003.gguf", "x-00004-of-00003.gguf",
                           "x-0001-of-0003.gguf", "-00001-of-00002.gguf", "x-00001-of-00002", ""}) {
    EXPECT_EQ(split_part(name).part, 0) << name;
  }
}

TEST(HubList, TakesHashesOfLargeFilesOnly) {
  const std::string hex(64, 'a');
  const auto list =
      parse_hub_list(R"([{"type":"directory","path":"q"},{"type":"file",)"
                     R"("path":"config.json","size":7,"oid":"1234"},)"
                     R"({"type":"file","path":"a.gguf","size":9,"lfs":{"oid":")" +
                     hex + R"(","size":10}},{"type":"file","path":"../evil","size":1}])");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].sha256, hex);
  EXPECT_EQ((*list)[0].bytes, 10u);
  EXPECT_EQ((*list)[1].sha256, "");
  EXPECT_EQ((*list)[1].bytes, 7u);
}

TEST(HostileHubList, OtherShapesAreErrorsNotCrashes) {
  for (const char* text : {"", "{}", "[", "null", R"({"error":"no"})"}) {
    EXPECT_FALSE(parse_hub_list(text)) << text;
  }
  for (const char* text : {"[1]", "[null]", R"([{"type":"file"}])", R"([{"type":1,"path":2}])",
                           R"([{"type":"file","path":"a","lfs":7}])"}) {
    EXPECT_TRUE(parse_hub_list(text)) << text;
  }
}

TEST(HubAccess, FollowsHuggingFacesVariables) {
  ::setenv("HF_ENDPOINT", "http://mirror:8080/", 1);
  ::setenv("HF_TOKEN", "hf_abc", 1);
  const HubAccess access = hub_access();
  EXPECT_EQ(file_url(access, {.repo = "a/b"}, {.path = "x y.gguf"}),
            "http://mirror:8080/a/b/resolve/main/x%20y.gguf");
  ASSERT_EQ(access.headers.size(), 1u);
  EXPECT_EQ(access.headers[0], "Authorization: Bearer hf_abc");
  ::setenv("HF_TOKEN", "hf\r\nHost: evil", 1);
  EXPECT_TRUE(hub_access().headers.empty());
  ::unsetenv("HF_TOKEN");
  ::unsetenv("HF_ENDPOINT");
  EXPECT_EQ(hub_access().base, "https://huggingface.co");
}

TEST(HubCache, ListsTheSnapshotOfMain) {
  const test::TempDir dir;
  ::setenv("HF_HOME", dir.path().c_str(), 1);
  const fs::path repo = dir.path() / "hub/models--a--b";
  const std::string hex(64, 'c');
  fs::create_directories(repo / "refs");
  fs::create_directories(repo / "blobs");
  fs::create_directories(repo / "snapshots/0123abcd");
  std::ofstream(repo / "refs/main") << "0123abcd";
  std::ofstream(repo / "blobs" / hex) << "weights";
  fs::create_symlink("../../blobs/" + hex, repo / "snapshots/0123abcd/x-Q4_0.gguf");
  fs::create_symlink("../../blobs/gone", repo / "snapshots/0123abcd/y-Q8_0.gguf");
  const auto there = list_cached_files({.repo = "a/b"});
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(there[0].path, "x-Q4_0.gguf");
  EXPECT_EQ(there[0].sha256, hex);
  EXPECT_EQ(there[0].bytes, 7u);
  std::ofstream(repo / "refs/main") << "../../..";
  EXPECT_TRUE(list_cached_files({.repo = "a/b"}).empty());
  ::unsetenv("HF_HOME");
}

}  // namespace
}  // namespace wick
