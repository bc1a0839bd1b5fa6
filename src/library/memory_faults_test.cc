// The library when memory ends: at each allocation of each call, C++ and C, on the caller's thread
// and on the engine's. Each such call gives an error of the kind kNoMemory or its usual answer,
// throws nothing, leaks nothing, and the next one answers as ever.
#include <functional>
#include <string>
#include <vector>

#include "library/library_fixture_test.h"
#include "support/hot_counters.h"
#include "wick/pool.h"
#include "wick/stream_set.h"
#include "wick/wick.h"

namespace wick {
namespace {

// What a call of the C library gave.
template <class T>
struct FromC {
  T value = {};
  wick_error* error = nullptr;
};

struct Outcome {
  bool has_failed = false;  // the allocation that was to fail was reached
  bool is_error = false;
  ErrorCode code = ErrorCode::kInvalid;
  std::string text = {};  // of the answer, or of the error
};

template <class T, class Show>
Outcome outcome(Result<T>& result, const Show& show) {
  if (!result) {
    return {.is_error = true, .code = result.error().code, .text = to_string(result.error())};
  }
  return {.text = show(*result)};
}

template <class T, class Show>
Outcome outcome(FromC<T>& result, const Show& show) {
  Outcome out;
  if (result.error != nullptr) {
    out = {.is_error = true,
           .code = static_cast<ErrorCode>(result.error->code - WICK_INVALID),
           .text = result.error->message};
    wick_error_free(result.error);
  } else {
    out.text = show(result.value);
  }
  return out;
}

// `run(arm)` makes one call, after arm(), and says how it ended.
struct ApiCall {
  const char* name;
  std::function<Outcome(const std::function<void()>& arm)> run;
};

bool disarm() {
  const bool has_failed = test::allocation_has_failed();
  test::fail_allocation_anywhere(0);
  test::fail_allocation(0);
  return has_failed;
}

// `call` gives a Result or a FromC and allocates nothing of its own; `show` makes text of a value.
template <class Call, class Show>
ApiCall api_call(const char* name, const Call& call, const Show& show) {
  return {name, [=](const std::function<void()>& arm) -> Outcome {
            try {
              arm();
              auto result = call();
              const bool has_failed = disarm();
              Outcome out = outcome(result, show);
              out.has_failed = has_failed;
              return out;
            } catch (const std::exception& e) {
              disarm();
              ADD_FAILURE() << name << " threw: " << e.what();
              return {};
            }
          }};
}

struct ApiCalls {
  Fixture f;
  const Generation generation = noise(7, 12);
  const Model& model = *f.model;
  const std::string prompt = "a prompt of some length, so that its text has a buffer of its own";
  const std::vector<Message> messages = {{.role = "system", .content = "be brief"},
                                         {.content = prompt}};
  const std::vector<std::string> texts = {prompt, "and another text that is embedded beside it"};
  const std::vector<TokenId> ids = std::vector<TokenId>(40, 65);
  const std::string session_path = (f.dir.path() / "session.bin").string();
  const std::string other_path = (f.dir.path() / "other.bin").string();
  const ModelOptions one_thread{.threads = 1, .max_concurrent = 2};
  const ModelOptions two_threads{.threads = 2, .max_concurrent = 2};
  Session kept = model.session("be brief");
  const StreamSet set = *StreamSet::create();
  wick_model* c_model = nullptr;
  const std::vector<wick_parameter> parameters = {{"temperature", 3}, {"seed", 7}};
  wick_generation c_generation = {};

  ApiCalls() {
    EXPECT_TRUE(kept.say("one", generation));
    EXPECT_TRUE(kept.save(session_path));
    wick_model_options options;
    wick_model_options_init(&options);
    options.threads = 1;
    wick_error* error = nullptr;
    c_model = wick_model_open(f.path.c_str(), &options, &error);
    EXPECT_NE(c_model, nullptr);
    wick_generation_init(&c_generation);
    c_generation.parameters = parameters.data();
    c_generation.n_parameters = parameters.size();
    c_generation.max_tokens = 12;
  }

  ~ApiCalls() { wick_model_free(c_model); }

  std::vector<ApiCall> all() const;
  void add_cpp(std::vector<ApiCall>& api_calls) const;
  void add_sessions(std::vector<ApiCall>& api_calls) const;
  void add_c_answers(std::vector<ApiCall>& api_calls) const;
  void add_c_values(std::vector<ApiCall>& api_calls) const;
};

std::string text_of(const Completion& answer) {
  return answer.text;
}

void ApiCalls::add_cpp(std::vector<ApiCall>& api_calls) const {
  const auto opened = [](const Model& m) { return std::to_string(m.describe().vocabulary); };
  api_calls.push_back(api_call(
      "Model::open", [this] { return Model::open(f.path, one_thread); }, opened));
  api_calls.push_back(api_call(
      "Model::open, two threads", [this] { return Model::open(f.path, two_threads); }, opened));
  api_calls.push_back(api_call(
      "Model::complete", [this] { return model.complete(prompt, generation); }, text_of));
  api_calls.push_back(api_call(
      "Model::chat", [this] { return model.chat(messages, generation); }, text_of));
  api_calls.push_back(api_call(
      "Model::stream",
      [this]() -> Result<Completion> {
        auto stream = model.stream(messages, generation);
        if (!stream) return std::move(stream).error();
        while (stream->next()) {
        }
        return stream->finish();
      },
      text_of));
  api_calls.push_back(api_call(
      "Model::estimate", [this] { return model.estimate(messages, generation); },
      [](const RequestEstimate& estimate) { return std::to_string(estimate.prompt_tokens); }));
  api_calls.push_back(api_call(
      "Model::embed", [this] { return model.embed(texts); },
      [](const std::vector<Embedding>& all) { return std::to_string(all.at(1).values.at(0)); }));
  api_calls.push_back(api_call(
      "Model::tokenize", [this] { return model.tokenize(prompt); },
      [](const std::vector<TokenId>& got) { return std::to_string(got.size()); }));
  api_calls.push_back(api_call(
      "Model::detokenize", [this] { return model.detokenize(ids); },
      [](const std::string& text) { return text; }));
  api_calls.push_back(api_call(
      "StreamSet::add", [this] { return set.add(7); },
      [](const std::shared_ptr<Wake>& wake) { return std::to_string(wake != nullptr); }));
  api_calls.push_back(api_call(
      "ModelPool::get",
      [this]() -> Result<Completion> {
        ModelPool pool({.model = one_thread});
        auto got = pool.get(f.path);
        if (!got) return std::move(got).error();
        return got->complete(prompt, generation);
      },
      text_of));
}

void ApiCalls::add_sessions(std::vector<ApiCall>& api_calls) const {
  api_calls.push_back(api_call(
      "Session::say",
      [this]() -> Result<Completion> {
        Session session = model.session("a system message that is longer than a short text");
        return session.say(prompt, generation);
      },
      text_of));
  api_calls.push_back(api_call(
      "Session::save",
      [this]() -> Result<int> {
        auto saved = kept.save(other_path);
        if (!saved) return std::move(saved).error();
        return 0;
      },
      [](int) { return std::string("saved"); }));
  api_calls.push_back(api_call(
      "Model::load_session",
      [this]() -> Result<Completion> {
        auto session = model.load_session(session_path);
        if (!session) return std::move(session).error();
        return session->say(prompt, generation);
      },
      text_of));
}

void ApiCalls::add_c_answers(std::vector<ApiCall>& api_calls) const {
  const auto text = [](wick_completion* answer) {
    const std::string out = answer->text;
    wick_completion_free(answer);
    return out;
  };
  api_calls.push_back(api_call(
      "wick_complete",
      [this] {
        FromC<wick_completion*> out;
        out.value =
            wick_complete(c_model, prompt.c_str(), &c_generation, nullptr, nullptr, &out.error);
        return out;
      },
      text));
  api_calls.push_back(api_call(
      "wick_complete_stream",
      [this] {
        FromC<wick_completion*> out;
        wick_stream* const stream =
            wick_complete_stream(c_model, prompt.c_str(), &c_generation, &out.error);
        if (stream == nullptr) return out;
        std::size_t length = 0;
        while (wick_stream_next(stream, &length) != nullptr) {
        }
        out.value = wick_stream_finish(stream, &out.error);
        wick_stream_free(stream);
        return out;
      },
      text));
  api_calls.push_back(api_call(
      "wick_session_say",
      [this] {
        FromC<wick_completion*> out;
        wick_session* const session = wick_session_new(c_model, "be brief", &out.error);
        if (session == nullptr) return out;
        out.value =
            wick_session_say(session, prompt.c_str(), &c_generation, nullptr, nullptr, &out.error);
        wick_session_free(session);
        return out;
      },
      text));
  api_calls.push_back(api_call(
      "wick_session_load",
      [this] {
        FromC<int> out;
        wick_session* const session = wick_session_load(c_model, session_path.c_str(), &out.error);
        wick_session_free(session);
        return out;
      },
      [](int) { return std::string("loaded"); }));
}

void ApiCalls::add_c_values(std::vector<ApiCall>& api_calls) const {
  api_calls.push_back(api_call(
      "wick_embed",
      [this] {
        FromC<std::ptrdiff_t> out;
        float value = 0;
        out.value =
            wick_embed(c_model, prompt.data(), prompt.size(), "mean", &value, 1, &out.error);
        return out;
      },
      [](std::ptrdiff_t n) { return std::to_string(n); }));
  api_calls.push_back(api_call(
      "wick_complete_estimate",
      [this] {
        FromC<wick_estimate*> out;
        out.value = wick_complete_estimate(c_model, prompt.c_str(), &c_generation, &out.error);
        return out;
      },
      [](wick_estimate* estimate) {
        const std::string out = std::to_string(estimate->prompt_tokens);
        wick_estimate_free(estimate);
        return out;
      }));
  api_calls.push_back(api_call(
      "wick_tokenize",
      [this] {
        FromC<std::ptrdiff_t> out;
        out.value = wick_tokenize(c_model, prompt.data(), prompt.size(), nullptr, 0, &out.error);
        return out;
      },
      [](std::ptrdiff_t n) { return std::to_string(n); }));
  api_calls.push_back(api_call(
      "wick_model_open",
      [this] {
        FromC<int> out;
        wick_model_options options;
        wick_model_options_init(&options);
        options.threads = 1;
        options.progress = [](void*, const wick_progress*) { return 0; };
        wick_model_free(wick_model_open(f.path.c_str(), &options, &out.error));
        return out;
      },
      [](int) { return std::string("opened"); }));
}

std::vector<ApiCall> ApiCalls::all() const {
  std::vector<ApiCall> api_calls;
  add_cpp(api_calls);
  add_sessions(api_calls);
  add_c_answers(api_calls);
  add_c_values(api_calls);
  return api_calls;
}

enum class Where { kCaller, kAnywhere };

void arm(Where where, long n) {
  if (where == Where::kCaller) {
    test::fail_allocation(n);
  } else {
    test::fail_allocation_anywhere(n);
  }
}

// Every allocation of `api_call` fails once if `is_every`, else the first 24 and then fewer and
// fewer.
void sweep(const ApiCall& api_call, Where where, bool is_every) {
  SCOPED_TRACE(api_call.name);
  const auto none = [] {};
  const std::string wanted = api_call.run(none).text;
  EXPECT_EQ(api_call.run(none).text, wanted);
  int n_errors = 0;
  for (long n = 1; !testing::Test::HasFailure(); n += is_every || n < 24 ? 1 : n / 6) {
    const Outcome out = api_call.run([&] { arm(where, n); });
    if (out.is_error) {
      ++n_errors;
      EXPECT_EQ(out.code, ErrorCode::kNoMemory) << "allocation " << n << ": " << out.text;
    } else {
      EXPECT_EQ(out.text, wanted) << "allocation " << n;
    }
    EXPECT_EQ(api_call.run(none).text, wanted) << "the call after allocation " << n << " failed";
    if (!out.has_failed) break;
  }
  EXPECT_GT(n_errors, 0);
}

void sweep_all(bool is_every) {
  const ApiCalls api_calls;
  for (const ApiCall& api_call : api_calls.all()) {
    for (const Where where : {Where::kCaller, Where::kAnywhere})
      sweep(api_call, where, is_every);
    if (testing::Test::HasFailure()) return;
  }
}

// What gives no Result gives less, or nothing.
TEST(LibraryMemoryFaults, CallsWithoutAResultThrowNothing) {
  const ApiCalls api_calls;
  for (long n = 1; n < 40; ++n) {
    test::fail_allocation(n);
    EXPECT_NO_THROW(static_cast<void>(api_calls.model.describe())) << n;
    test::fail_allocation(n);
    EXPECT_NO_THROW({
      const Session session =
          api_calls.model.session("a system message that is longer than others");
      static_cast<void>(session.messages());
    }) << n;
    test::fail_allocation(n);
    EXPECT_NO_THROW({
      ModelPool pool({.model = api_calls.one_thread});
      static_cast<void>(pool.list());
      static_cast<void>(pool.pin("a name that is long enough for a buffer of its own", true));
      static_cast<void>(pool.unload("a name that is long enough for a buffer of its own"));
    }) << n;
  }
  test::fail_allocation(0);
  EXPECT_GT(api_calls.model.describe().vocabulary, 0);
}

// Of a variant that is copied no half is left; the sanitizers of the preset clang see one that is.
TEST(LibraryMemoryFaults, ACopiedPromptOrValueIsWholeOrNotThere) {
  const std::string text = "a text that is long enough for a buffer of its own";
  const auto copy_all = [](const auto& from) {
    auto assigned = std::decay_t<decltype(from)>();
    bool has_failed = true;
    for (long n = 1; has_failed; ++n) {
      test::fail_allocation(n);
      try {
        const auto made = from;
        assigned = from;
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(assigned.index(), 0U);
      }
      has_failed = test::allocation_has_failed();
    }
    test::fail_allocation(0);
    EXPECT_EQ(assigned.index(), from.index());
  };
  copy_all(Prompt(text));
  copy_all(Prompt(std::vector<Message>{{.content = text}}));
  copy_all(Prompt(std::vector<TokenId>{1, 2, 3}));
  copy_all(ParameterValue(text));
}

// The first round also makes what lives as long as the process.
void sweep_twice(bool is_every) {
  sweep_all(is_every);
  const long before = test::live_allocations();
  sweep_all(is_every);
  EXPECT_EQ(test::live_allocations(), before) << "calls that failed have left something";
}

TEST(LibraryMemoryFaults, AFailedAllocationIsAnErrorAndTheNextCallWorks) {
  sweep_twice(false);
}

TEST(SlowLibraryMemoryFaults, EveryAllocationMayFail) {
  sweep_twice(true);
}

}  // namespace
}  // namespace wick
