// Sessions on disk: what comes back is what was there, and nothing else ever comes back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "provider/local.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

struct Fixture {
  test::TempDir dir;
  std::filesystem::path file = dir.path() / "talk.session";

  std::unique_ptr<LocalModel> open(const test::TinyModel& tiny = {.context = 1024},
                                   EngineOptions engine = {}) const {
    test::write_tiny_model(dir.path() / "tiny.gguf", tiny);
    auto opened = LocalModel::open(dir.path() / "tiny.gguf", {.threads = 1, .engine = engine});
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    return opened ? *std::move(opened) : nullptr;
  }
};

Value message(std::string_view role, std::string_view content) {
  Object object;
  object["role"] = role;
  object["content"] = content;
  return Value(std::move(object));
}

struct Said {
  std::string text;
  Usage usage;
};

Said ask(LocalModel& model, const Array& messages) {
  ChatRequest request;
  request.input["messages"] = messages;
  request.settings = {.sampling = {{"seed", 1}, {"temperature", 3}}, .max_tokens = 20};
  Said said;
  const auto done = model.chat(request,
                               [&](const ChatEvent& event) {
                                 if (const auto* piece = std::get_if<TextEvent>(&event))
                                   said.text += piece->text;
                                 if (const auto* end = std::get_if<DoneEvent>(&event))
                                   said.usage = end->usage;
                               },
                               {});
  EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
  return said;
}

// Says something long, gets an answer, and writes both to the file.
Array talk_and_save(LocalModel& model, const std::filesystem::path& file) {
  std::string question(150, 'a');
  question += "the heat of the day";
  Array messages = {message("user", question)};
  const Said said = ask(model, messages);
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
    Array messages = talk_and_save(*before, f.file);
    const auto after = f.open({.context = 1024}, engine);
    const auto loaded = after->load_session(f.file);
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(to_json(Value(*loaded)), to_json(Value(messages)));
    messages.push_back(message("user", "and then?"));
    const Said uninterrupted = ask(*before, messages);
    const Said restored = ask(*after, messages);
    EXPECT_EQ(restored.text, uninterrupted.text);
    EXPECT_EQ(restored.usage.cached_tokens, uninterrupted.usage.cached_tokens);
    EXPECT_GT(restored.usage.cached_tokens, 170);
  }
}

TEST(LocalSession, ASecondLoadAndASecondSaveChangeNothing) {
  const Fixture f;
  const auto model = f.open();
  const Array messages = talk_and_save(*model, f.file);
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
  Array messages = talk_and_save(*large, f.file);
  const auto small = f.open({.context = 1024}, {.max_seqs = 1, .context = 96, .kv_limit_bytes = 1});
  ASSERT_TRUE(small->load_session(f.file));
  EXPECT_GT(ask(*small, {message("user", std::string(20, 'a'))}).usage.cached_tokens, 20);
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
