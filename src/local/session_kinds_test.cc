// Session files of every kind of memory: dense, windows, states. What goes on from a file has the
// bits of what goes on without one, and a file that somebody changed is refused with its name, or
// changes nobody else's answer.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/sha256.h"
#include "engine/engine_fixture_test.h"
#include "local/session_file.h"
#include "model/tiny_archs_test.h"

namespace wick {
namespace {

struct Kind {
  const char* name;
  const char* arch;
  KvType k, v;
  int window = 0;
  bool window_alternates = false;
  int delta_heads = 0;
  int latent = 0;
};

constexpr Kind kKinds[] = {
    {"dense", "llama", KvType::kBF16, KvType::kBF16},
    {"dense_q8_0", "llama", KvType::kQ8_0, KvType::kQ8_0},
    {"window", "llama", KvType::kF32, KvType::kF32, 24},
    {"windows_and_all", "qwen3", KvType::kF16, KvType::kQ4_0, 37, true},
    {"delta", "tiny-delta", KvType::kF32, KvType::kF32, 0, false, 2},
    {"delta_window", "tiny-delta", KvType::kBF16, KvType::kBF16, 33, false, 3},
    {"mla", "tiny-mla", KvType::kBF16, KvType::kF16, 0, false, 0, 64},
    {"mla_window_q8_0", "tiny-mla", KvType::kQ8_0, KvType::kBF16, 33, false, 0, 96}};

constexpr std::size_t kHeaderBytes = 80;
constexpr std::string_view kConversation = R"({"messages": []})";

// An engine that a process would have: it knows nothing but the model file.
class Process {
 public:
  Process(const Kind& kind, int context = 256, const std::vector<int>& parts = {}) {
    test::write_tiny_model(dir_.path() / "m.gguf", {.arch = kind.arch,
                                                    .d_model = 64,
                                                    .n_heads = 2,
                                                    .n_kv_heads = 1,
                                                    .head_dim = 32,
                                                    .context = 256,
                                                    .window = kind.window,
                                                    .window_alternates = kind.window_alternates,
                                                    .delta_heads = kind.delta_heads,
                                                    .latent = kind.latent});
    file_ = *open_model(dir_.path() / "m.gguf");
    device_ = test::make_device();
    const Arch* const arch = test::tiny_arch(kind.arch);
    if (!parts.empty()) second_ = std::make_unique<test::FakeDevice>(*choose_isa());
    auto decoder = Decoder::load(*file_, arch == nullptr ? **find_arch(*file_) : *arch,
                                 test::placed(*device_, second_.get(), parts),
                                 {.max_batch_tokens = 64,
                                  .max_logit_rows = 2,
                                  .context = context,
                                  .max_seqs = 2,
                                  .threads = 1});
    engine_ = *Engine::create(*std::move(decoder), *Tokenizer::from(file_->metadata()),
                              {.max_seqs = 2,
                               .context = context,
                               .prefill_chunk = 64,
                               .k_type = kind.k,
                               .v_type = kind.v});
    kind_ = {.model = model_fingerprint(*file_),
             .k_type = kind.k,
             .v_type = kind.v,
             .least_block_bytes = engine_->least_block_bytes()};
  }

  std::shared_ptr<Reader> submit(GenerateRequest request) {
    auto reader = std::make_shared<Reader>();
    request.sink = reader;
    EXPECT_TRUE(engine_->submit(std::move(request)));
    return reader;
  }

  void finish() {
    while (engine_->step()) {
    }
  }

  std::shared_ptr<Reader> ask(GenerateRequest request) {
    const auto reader = submit(std::move(request));
    finish();
    return reader;
  }

  // The cached part of the text, to a file.
  SavedPrefix save(const std::filesystem::path& path, const std::vector<TokenId>& text) {
    const auto thread = steps();
    SavedSession session{.conversation = std::string(kConversation),
                         .prefix = engine_->save_prefix(0, text)};
    const auto written = write_session(path, kind_, session, {});
    EXPECT_TRUE(written) << (written ? "" : to_string(written.error()));
    return session.prefix;
  }

  // As LocalModel does.
  Result<int> load(const std::filesystem::path& path) {
    WICK_TRY(const SavedSession session, read_session(path, kind_));
    const auto thread = steps();
    const Result<int> restored = engine_->restore_prefix(0, session.prefix);
    if (!restored) return bad_session_file(path, restored.error().message);
    return restored;
  }

  void forget() {
    const auto thread = steps();
    engine_->close_tenant(0, true);
  }

 private:
  // Calls that wait for the engine's thread need one.
  std::jthread steps() {
    return std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested())
        engine_->step();
    });
  }

  test::TempDir dir_;
  std::optional<ModelFile> file_;
  std::unique_ptr<Device> device_, second_;
  std::unique_ptr<Engine> engine_;
  SessionKind kind_ = {};
};

class LocalSessionKinds : public testing::TestWithParam<int> {
 protected:
  const Kind& kind() const { return kKinds[GetParam()]; }

  test::TempDir dir_;
  std::filesystem::path file_ = dir_.path() / "talk.session";
};

// The text of a prompt and its answer, and something new.
std::vector<TokenId> text_of(int n_prompt, const Reader& answered) {
  std::vector<TokenId> text = prompt(n_prompt, 1);
  text.insert(text.end(), answered.tokens.begin(), answered.tokens.end());
  return text;
}

GenerateRequest next_turn(std::vector<TokenId> text, int n_answer = 24) {
  for (int i = 0; i < 20; ++i)
    text.push_back(i * 11 % 256);
  return {.prompt = std::move(text),
          .max_tokens = n_answer,
          .sampling = {.temperature = 0.9F, .seed = 5},
          .ignore_end = true,
          .top_logprobs = 2};
}

void expect_same(const Reader& seen, const Reader& wanted) {
  EXPECT_EQ(seen.error, wanted.error);
  EXPECT_EQ(seen.tokens, wanted.tokens);
  ASSERT_EQ(seen.logprobs.size(), wanted.logprobs.size());
  for (std::size_t i = 0; i < seen.logprobs.size(); ++i) {
    EXPECT_EQ(seen.logprobs[i].id, wanted.logprobs[i].id);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(seen.logprobs[i].logprob),
              std::bit_cast<std::uint32_t>(wanted.logprobs[i].logprob));
  }
}

TEST_P(LocalSessionKinds, GoOnWithTheBitsOfGoingOnWithoutTheFile) {
  // Where the last snapshot of states is: at the end of a prompt's chunk that ends with a block,
  // and at multiples of 64 of an answer.
  struct Case {
    int n_prompt, snapshot;
  };

  for (const auto& [n_prompt, snapshot] :
       {Case{5, 0}, {16, 0}, {50, 64}, {96, 64}, {100, 96}, {150, 144}}) {
    SCOPED_TRACE(n_prompt);
    Process before(kind());
    const auto first = before.ask(request(n_prompt, 1, 20));
    const std::vector<TokenId> text = text_of(n_prompt, *first);
    const SavedPrefix saved = before.save(file_, text);
    const auto uninterrupted = before.ask(next_turn(text));

    Process after(kind());
    const auto loaded = after.load(file_);
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(*loaded, static_cast<int>(saved.tokens.size()));
    const auto restored = after.ask(next_turn(text));
    expect_same(*restored, *uninterrupted);
    EXPECT_EQ(restored->last->usage.cached_tokens, *loaded);
    EXPECT_EQ(restored->last->usage.cached_tokens, uninterrupted->last->usage.cached_tokens);
    EXPECT_EQ(*loaded, kind().delta_heads > 0 ? snapshot : n_prompt + 19)
        << "the last token of an answer is never computed";

    const auto alone = Process(kind()).ask(next_turn(text));
    EXPECT_EQ(alone->last->usage.cached_tokens, 0);
    expect_same(*restored, *alone);
  }
}

// A file says nothing of devices: what some wrote others read.
TEST_P(LocalSessionKinds, GoOnWithTheSameBitsOnOtherDevices) {
  const auto cuts = test::all_cuts(2);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    SCOPED_TRACE(test::to_string(cuts[i]));
    const bool is_cut_before = i % 2 == 0;  // else after
    Process before(kind(), 256, is_cut_before ? cuts[i] : std::vector<int>{});
    const auto first = before.ask(request(100, 1, 20));
    const std::vector<TokenId> text = text_of(100, *first);
    before.save(file_, text);
    const auto uninterrupted = before.ask(next_turn(text));

    Process after(kind(), 256, is_cut_before ? std::vector<int>{} : cuts[i]);
    const auto loaded = after.load(file_);
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    const auto restored = after.ask(next_turn(text));
    expect_same(*restored, *uninterrupted);
    EXPECT_EQ(restored->last->usage.cached_tokens, *loaded);
  }
}

// ---- a file that somebody changed

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// With the SHA-256 that write_session would append.
std::string signed_again(const std::string& file) {
  std::string bytes = file.substr(0, file.size() - std::min<std::size_t>(file.size(), 32));
  const std::string hex = sha256_text(bytes);
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// Changes one thing, of a kind that every part of a file gets: a bit, a byte, a number that is not
// finite or huge, some bytes more or fewer.
std::string mutated(std::string bytes, std::size_t at, std::mt19937& bits) {
  static constexpr std::uint32_t kNumbers[] = {0x7f800000, 0xffc00000, 0x7f7fffff, 0x7c007c00,
                                               0x7f807f80, 0x80808080, 0xffffffff, 0};
  switch (bits() % 6) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bits() % 8));
      break;
    case 1:
      bytes[at] = static_cast<char>(bits());
      break;
    case 2:
      bytes.erase(at, 1 + bits() % 40);
      break;
    case 3:
      bytes.insert(at, 1 + bits() % 40, static_cast<char>(bits()));
      break;
    default: {
      const std::uint32_t number = kNumbers[bits() % std::size(kNumbers)];
      bytes.replace(at, std::min<std::size_t>(4, bytes.size() - at),
                    reinterpret_cast<const char*>(&number), 4);
    }
  }
  return bytes;
}

class HostileSessionKinds : public LocalSessionKinds {};

// Every byte of the header, of the conversation, of the ids and where blocks begin, then any byte.
TEST_P(HostileSessionKinds, AreRefusedByNameOrChangeNobodyElsesAnswer) {
  Process process(kind());
  const std::vector<TokenId> text = text_of(50, *process.ask(request(50, 1, 4)));
  ASSERT_GT(process.save(file_, text).tokens.size(), 30U);
  const auto others = [] { return request(20, 9, 3); };
  const auto wanted = Process(kind()).ask(others());
  const std::string good = read(file_);
  std::mt19937 bits(static_cast<std::uint32_t>(GetParam()));
  int n_loaded = 0, n_refused = 0;
  for (int i = 0; i < 500; ++i) {
    const std::size_t at =
        i < 300 ? static_cast<std::size_t>(i) % good.size() : bits() % good.size();
    const std::string bad = mutated(good, at, bits);
    write(file_, i % 8 == 0 ? bad : signed_again(bad));
    const auto loaded = process.load(file_);
    ++(loaded ? n_loaded : n_refused);
    if (!loaded) {
      ASSERT_NE(loaded.error().message.find("talk.session: "), std::string::npos)
          << to_string(loaded.error());
      ASSERT_EQ(read(file_), i % 8 == 0 ? bad : signed_again(bad));
    }
    ASSERT_TRUE(i % 8 != 0 || !loaded || bad == good) << "the SHA-256 is wrong";
    if (!loaded && i % 16 != 0) continue;  // refused before the cache is touched
    // Beside the text of the file, in the same passes.
    const auto own = process.submit(next_turn(text, 3));
    const auto beside = process.submit(others());
    process.finish();
    ASSERT_TRUE(own->last && beside->last);
    expect_same(*beside, *wanted);
    ASSERT_FALSE(HasFailure()) << "mutation " << i << " at byte " << at;
    process.forget();
  }
  std::printf("%d files taken, %d refused\n", n_loaded, n_refused);
  EXPECT_GT(n_loaded, 10) << "finite values in place of others, or another conversation";
  EXPECT_GT(n_refused, 100);
  write(file_, good);
  EXPECT_TRUE(process.load(file_));
}

// The first byte of a block says what it has beside the keys and values of all positions.
TEST_P(HostileSessionKinds, AreRefusedIfABlockNamesAnotherGroup) {
  Process process(kind());
  if (kind().window == 0 && kind().delta_heads == 0) return;  // its blocks have no such byte
  const std::vector<TokenId> text = text_of(50, *process.ask(request(50, 1, 4)));
  const std::size_t n_tokens = process.save(file_, text).tokens.size();
  ASSERT_GT(n_tokens, 0U);
  const std::string good = read(file_);
  const std::size_t at = kHeaderBytes + kConversation.size() + n_tokens * sizeof(TokenId);
  for (int groups = 0; groups < 256; ++groups) {
    std::string bad = good;
    bad[at] = static_cast<char>(groups);
    write(file_, signed_again(bad));
    const auto loaded = process.load(file_);
    ASSERT_EQ(static_cast<bool>(loaded), bad == good) << groups;
    if (loaded) continue;
    ASSERT_NE(loaded.error().message.find("the block of position"), std::string::npos);
  }
}

std::string kind_name(const testing::TestParamInfo<int>& info) {
  return kKinds[info.param].name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, LocalSessionKinds,
                         testing::Range(0, static_cast<int>(std::size(kKinds))), kind_name);
INSTANTIATE_TEST_SUITE_P(Kinds, HostileSessionKinds,
                         testing::Range(0, static_cast<int>(std::size(kKinds))), kind_name);

}  // namespace
}  // namespace wick
