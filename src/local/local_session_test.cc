// Sessions on disk: what comes back is what was there, and nothing else ever comes back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/sha256.h"
#include "local/local.h"
#include "provider/gather.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

struct Fixture {
  test::TempDir dir;
  std::filesystem::path file = dir.path() / "talk.session";

  std::shared_ptr<LocalModel> open(const test::TinyModel& tiny = {.context = 1024},
                                   EngineOptions engine = {}) const {
    // Renamed over the one before, which a model may have mapped.
    test::write_tiny_model(dir.path() / "new.gguf", tiny);
    std::filesystem::rename(dir.path() / "new.gguf", dir.path() / "tiny.gguf");
    auto opened = LocalModel::open(dir.path() / "tiny.gguf", {.threads = 1, .engine = engine});
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    return opened ? *std::move(opened) : nullptr;
  }
};

Message message(std::string_view role, std::string_view content) {
  return {.role = std::string(role), .content = content};
}

using Messages = std::vector<Message>;

Completion say(LocalModel& model, const Messages& messages) {
  const auto done = ask(
      model, {.prompt = messages, .generation = {.temperature = 3, .seed = 1, .max_tokens = 20}});
  EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
  return done ? *done : Completion();
}

// Says something long, gets an answer, and writes both to the file.
Messages talk_and_save(LocalModel& model, const std::filesystem::path& file) {
  std::string question(150, 'a');
  question += "the heat of the day";
  Messages messages = {message("user", question)};
  const Completion said = say(model, messages);
  messages.push_back(message("assistant", said.text));
  const auto saved = model.save_session(file, messages);
  EXPECT_TRUE(saved) << (saved ? "" : to_string(saved.error()));
  return messages;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string error_id(LocalModel& model, const std::filesystem::path& file) {
  const auto loaded = model.load_session(file);
  return loaded ? "loaded" : loaded.error().id;
}

TEST(LocalSession, GoesOnWithoutComputingThePastAndSaysTheSame) {
  for (const KvType type : kKvTypes) {
    if (type == KvType::kQ8_0 || type == KvType::kQ4_0) continue;  // heads of 8 are too small
    SCOPED_TRACE(name(type));
    const Fixture f;
    const EngineOptions engine{.k_type = type, .v_type = type};
    const auto before = f.open({.context = 1024}, engine);
    Messages messages = talk_and_save(*before, f.file);
    const auto after = f.open({.context = 1024}, engine);
    const auto loaded = after->load_session(f.file);
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(messages_to_json(*loaded), messages_to_json(messages));
    messages.push_back(message("user", "and then?"));
    const Completion uninterrupted = say(*before, messages);
    const Completion restored = say(*after, messages);
    EXPECT_EQ(restored.text, uninterrupted.text);
    EXPECT_EQ(restored.usage.cached_tokens, uninterrupted.usage.cached_tokens);
    EXPECT_GT(restored.usage.cached_tokens, 170);
  }
}

TEST(LocalSession, ASecondLoadAndASecondSaveChangeNothing) {
  const Fixture f;
  const auto model = f.open();
  const Messages messages = talk_and_save(*model, f.file);
  const std::string bytes = read(f.file);
  ASSERT_TRUE(model->load_session(f.file));
  ASSERT_TRUE(model->load_session(f.file));
  ASSERT_TRUE(model->save_session(f.file, messages));
  EXPECT_EQ(read(f.file), bytes);
  EXPECT_FALSE(std::filesystem::exists(f.file.string() + ".part"));
}

TEST(LocalSession, ACacheThatIsTooSmallTakesTheBeginning) {
  const Fixture f;
  const auto large = f.open();
  Messages messages = talk_and_save(*large, f.file);
  const auto small = f.open({.context = 1024}, {.max_seqs = 1, .context = 96, .kv_limit_bytes = 1});
  ASSERT_TRUE(small->load_session(f.file));
  EXPECT_GT(say(*small, {message("user", std::string(20, 'a'))}).usage.cached_tokens, 20);
}

TEST(LocalSession, RefusesAnotherModelAndAnotherCacheType) {
  const Fixture f;
  talk_and_save(*f.open(), f.file);
  EXPECT_EQ(error_id(*f.open({.context = 1024, .seed = 2}), f.file), "session_of_other_model");
  EXPECT_EQ(error_id(*f.open({.n_layers = 3, .context = 1024}), f.file), "session_of_other_model");
  EXPECT_EQ(error_id(*f.open({.context = 1024}, {.k_type = KvType::kF16}), f.file),
            "session_of_other_cache");
  EXPECT_EQ(error_id(*f.open(), f.file), "loaded");
  EXPECT_EQ(error_id(*f.open(), f.dir.path() / "absent"), "file_not_found");
}

// Appends the SHA-256 as write_session does.
std::string signed_again(std::string bytes) {
  bytes.resize(bytes.size() - 32);
  const std::string hex = sha256_text(bytes);
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(HostileLocalSession, RefusesValuesThatAreNotFiniteAndNamesTheFile) {
  for (const KvType type : {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0}) {
    SCOPED_TRACE(name(type));
    const Fixture f;
    const test::TinyModel tiny{.n_heads = 2, .n_kv_heads = 1, .head_dim = 32, .context = 1024};
    const auto model = f.open(tiny, {.k_type = type, .v_type = type});
    const Messages messages = talk_and_save(*model, f.file);
    const std::string good = read(f.file);
    const Completion before = say(*f.open(tiny, {.k_type = type, .v_type = type}), messages);
    // The last block's first numbers: a key or a scale of the first layer.
    std::uint64_t block_bytes = 0;
    std::memcpy(&block_bytes, good.data() + 72, sizeof(block_bytes));
    for (const char* const number : {"\xff\xff\xff\x7f", "\x80\x7f\x80\x7f"}) {
      std::string bad = good;
      bad.replace(good.size() - 32 - block_bytes, 4, number, 4);
      write(f.file, signed_again(bad));
      const auto fresh = f.open(tiny, {.k_type = type, .v_type = type});
      const auto loaded = fresh->load_session(f.file);
      ASSERT_FALSE(loaded);
      EXPECT_EQ(loaded.error().id, "bad_session_file");
      EXPECT_NE(loaded.error().message.find("talk.session"), std::string::npos);
      EXPECT_EQ(say(*fresh, messages).text, before.text) << "the model answers as before";
    }
    write(f.file, signed_again(good));
    EXPECT_EQ(error_id(*model, f.file), "loaded");
  }
}

// With a window the answer recovers from a token that makes NaN; what is saved ends before it.
TEST(LocalSession, WhatIsSavedIsFinite) {
  const Fixture f;
  const test::TinyModel tiny{
      .n_layers = 1,
      .context = 1024,
      .window = 5,
      .edit = [](const std::string& name, DType, int rows, int, std::span<std::byte> bytes) {
        const float nan = std::nanf("");
        const std::size_t row = bytes.size() / static_cast<std::size_t>(rows);
        if (name == "token_embd.weight") std::memcpy(&bytes['Z' * row], &nan, sizeof(nan));
      }};
  const auto model = f.open(tiny);
  Messages messages = {message("user", std::string(40, 'a') + "Z" + std::string(60, 'b'))};
  const Completion said = say(*model, messages);
  messages.push_back(message("assistant", said.text));
  const auto saved = model->save_session(f.file, messages);
  ASSERT_TRUE(saved) << to_string(saved.error());
  const auto fresh = f.open(tiny);
  const auto loaded = fresh->load_session(f.file);
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  messages.push_back(message("user", "and then?"));
  EXPECT_EQ(say(*fresh, messages).text, say(*model, messages).text);
}

TEST(HostileLocalSession, RefusesEveryTruncationAndEveryFlippedByte) {
  const Fixture f;
  const auto model = f.open();
  talk_and_save(*model, f.file);
  const std::string good = read(f.file);
  for (std::size_t n = 0; n < good.size(); n += n < 600 ? 1 : 997) {
    write(f.file, std::string_view(good).substr(0, n));
    ASSERT_NE(error_id(*model, f.file), "loaded") << n;
  }
  for (std::size_t i = 0; i < good.size(); i += i < 600 ? 1 : 997) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    write(f.file, bad);
    ASSERT_NE(error_id(*model, f.file), "loaded") << i;
  }
  write(f.file, good + "x");
  EXPECT_EQ(error_id(*model, f.file), "bad_session_file");
  write(f.file, good);
  EXPECT_EQ(error_id(*model, f.file), "loaded");
}

}  // namespace
}  // namespace wick
