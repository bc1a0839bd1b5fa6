// The same requests, blocking and pulled, in C++ and in C: the same answers, bit for bit. With a
// folder in WICK_SAME_ANSWERS it leaves the model and what was answered there, and the test of the
// Python module compares its own with that (tests/library/same_answers).
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/strings.h"
#include "library/library_fixture_test.h"
#include "support/test_data.h"
#include "wick/fields.h"
#include "wick/wick.h"

namespace wick {
namespace {

using Json = nlohmann::json;

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes)
    append_hex(out, static_cast<unsigned char>(c), 2);
  return out;
}

std::string bits(double value) {
  return cat("bits ", std::bit_cast<std::uint64_t>(value));
}

// What an answer is, and nothing of how it came: a cache hit and a clock differ between two runs.
struct Outcome {
  std::string text = {}, reasoning = {};
  std::vector<std::string> logprobs = {}, rest = {};

  std::string dump() const {
    std::string out = cat("text ", hex(text), "\nreasoning ", hex(reasoning), "\n");
    for (const auto* const lines : {&logprobs, &rest})
      for (const std::string& line : *lines)
        out += cat(line, "\n");
    return out;
  }
};

template <class Scored>
void add_scores(const Scored& scored, std::vector<std::string>& out) {
  for (const TokenLogprob& token : scored) {
    out.push_back(cat("token ", token.id, " ", hex(token.bytes), " ", bits(token.logprob)));
    for (const TokenLogprob& likely : token.top_logprobs)
      out.push_back(cat("  likely ", likely.id, " ", hex(likely.bytes), " ", bits(likely.logprob)));
  }
}

void add_scores(const wick_token_logprob* scored, std::size_t n, std::vector<std::string>& out) {
  for (const wick_token_logprob& token : std::span(scored, n)) {
    out.push_back(
        cat("token ", token.id, " ", hex({token.bytes, token.length}), " ", bits(token.logprob)));
    for (const wick_token_logprob& likely : std::span(token.top_logprobs, token.n_top_logprobs))
      out.push_back(cat("  likely ", likely.id, " ", hex({likely.bytes, likely.length}), " ",
                        bits(likely.logprob)));
  }
}

std::string to_text(const ParameterValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) return bits(*number);
  if (const auto* const whole = std::get_if<std::uint64_t>(&value)) return cat(*whole);
  return std::get<std::string>(value);
}

void add_rest(const Completion& c, Outcome& out) {
  out.rest.push_back(cat("finish ", name(c.finish)));
  out.rest.push_back(cat("tokens ", c.usage.prompt_tokens, " ", c.usage.generated_tokens));
  for (const EffectiveParameter& p : c.parameters)
    out.rest.push_back(cat("parameter ", p.key, " ", to_text(p.value), " ", p.origin));
  add_scores(c.prompt_logprobs, out.rest);
}

std::string whole(const Result<Completion>& answer) {
  if (!answer) return cat("error ", answer.error().id, "\n");
  Outcome out{.text = answer->text, .reasoning = answer->reasoning};
  add_scores(answer->logprobs, out.logprobs);
  add_rest(*answer, out);
  return out.dump();
}

void add_rest(const wick_completion& c, Outcome& out) {
  out.rest.push_back(cat("finish ", name(static_cast<FinishReason>(c.finish))));
  out.rest.push_back(cat("tokens ", c.prompt_tokens, " ", c.generated_tokens));
  for (const wick_effective& p : std::span(c.parameters, c.n_parameters)) {
    const bool is_seed = std::string_view(p.key) == "seed";
    const std::string value = p.text != nullptr ? p.text : is_seed ? cat(c.seed) : bits(p.value);
    out.rest.push_back(cat("parameter ", p.key, " ", value, " ", p.origin));
  }
  add_scores(c.prompt_logprobs, c.n_prompt_logprobs, out.rest);
}

std::string failed(wick_error* error) {
  const std::string id = error == nullptr ? "" : error->id;
  wick_error_free(error);
  return cat("error ", id, "\n");
}

std::string whole(wick_completion* c, wick_error* error) {
  if (c == nullptr) return failed(error);
  Outcome out{.text = {c->text, c->length}, .reasoning = c->reasoning};
  add_scores(c->logprobs, c->n_logprobs, out.logprobs);
  add_rest(*c, out);
  wick_completion_free(c);
  return out.dump();
}

Generation to_cpp(const Json& settings) {
  Generation g;
  for (const auto& [key, value] : settings.items()) {
#define WICK_TAKE(field)   \
  if (key == #field) {     \
    value.get_to(g.field); \
    continue;              \
  }
    WICK_GENERATION_FIELDS(WICK_TAKE)
#undef WICK_TAKE
    if (key == "seed") {
      g.seed = value.get<std::uint64_t>();
    } else if (key == "stop") {
      value.get_to(g.stop);
    } else if (key == "stop_token_ids") {
      value.get_to(g.stop_token_ids);
    } else if (key == "logit_bias") {
      for (const auto& [id, bias] : value.items())
        g.logit_bias.push_back({.id = std::stoi(id), .bias = bias.get<double>()});
    } else if (key == "thinking") {
      g.thinking = value.get<bool>();
    } else if (key == "tools") {
      g.tools = *tools_from_json(value.dump());
    } else if (key == "template_variables") {
      g.template_variables = *variables_from_json(value.dump());
    } else {
      g.more.emplace_back(key, value.get<double>());
    }
  }
  return g;
}

// A wick_generation and what it points at.
struct CSettings {
  wick_generation g;
  std::deque<std::string> texts = {};
  std::vector<const char*> stops = {};
  std::vector<int32_t> stop_token_ids = {};
  std::vector<wick_token_bias> biases = {};
  std::vector<wick_parameter> parameters = {};

  explicit CSettings(const Json& settings) {
    wick_generation_init(&g);
    for (const auto& [key, value] : settings.items()) {
#define WICK_TAKE(field)  \
  if (key == #field) {    \
    take(value, g.field); \
    continue;             \
  }
      WICK_GENERATION_FIELDS(WICK_TAKE)
#undef WICK_TAKE
      take_other(key, value);
    }
    g.stop = stops.data();
    g.n_stop = stops.size();
    g.stop_token_ids = stop_token_ids.data();
    g.n_stop_token_ids = stop_token_ids.size();
    g.logit_bias = biases.data();
    g.n_logit_bias = biases.size();
    g.parameters = parameters.data();
    g.n_parameters = parameters.size();
  }

  CSettings(const CSettings&) = delete;
  CSettings& operator=(const CSettings&) = delete;

  const char* keep(std::string text) {
    return texts.emplace_back(std::move(text)).c_str();
  }

  void take(const Json& value, const char*& to) {
    to = keep(value.get<std::string>());
  }

  template <class T>
  void take(const Json& value, T& to) {
    to = value.is_boolean() ? static_cast<T>(value.get<bool>()) : value.get<T>();
  }

  void take_other(const std::string& key, const Json& value) {
    if (key == "seed") {
      g.has_seed = 1;
      g.seed = value.get<std::uint64_t>();
    } else if (key == "stop") {
      for (const Json& stop : value)
        stops.push_back(keep(stop.get<std::string>()));
    } else if (key == "stop_token_ids") {
      value.get_to(stop_token_ids);
    } else if (key == "logit_bias") {
      for (const auto& [id, bias] : value.items())
        biases.push_back({.id = std::stoi(id), .bias = bias.get<double>(), .text = nullptr});
    } else if (key == "thinking") {
      g.thinking = value.get<bool>() ? WICK_THINKING_ON : WICK_THINKING_OFF;
    } else if (key == "tools") {
      g.tools = keep(value.dump());
    } else if (key == "template_variables") {
      g.template_variables = keep(value.dump());
    } else {
      parameters.push_back({keep(key), value.get<double>()});
    }
  }
};

bool are_messages(const Json& prompt) {
  return prompt.is_array() && prompt.at(0).is_object();
}

template <class Call>
auto with_prompt(const Json& prompt, const Call& call) {
  if (prompt.is_string()) return call(std::string_view(prompt.get_ref<const std::string&>()));
  if (are_messages(prompt)) return call(*messages_from_json(prompt.dump()));
  return call(prompt.get<std::vector<TokenId>>());
}

std::string blocking(const Model& model, const Json& prompt, const Generation& g) {
  std::string pushed;
  const TextSink sink = [&](std::string_view piece) {
    pushed += piece;
    return true;
  };
  const auto answer = with_prompt(prompt, [&]<class Given>(const Given& given) {
    if constexpr (std::is_same_v<Given, std::vector<Message>>)
      return model.chat(given, g, sink);
    else
      return model.complete(given, g, sink);
  });
  EXPECT_EQ(pushed, answer ? answer->text : "");
  return whole(answer);
}

std::string pulled(const Model& model, const Json& prompt, const Generation& g) {
  auto stream = with_prompt(prompt, [&](const auto& given) { return model.stream(given, g); });
  if (!stream) return cat("error ", stream.error().id, "\n");
  Outcome out;
  while (const auto piece = stream->next()) {
    out.text += *piece;
    add_scores(stream->logprobs(), out.logprobs);
  }
  add_scores(stream->logprobs(), out.logprobs);
  const auto answer = stream->finish();
  out.reasoning = answer->reasoning;
  add_rest(*answer, out);
  return out.dump();
}

std::string by_event(const Model& model, const Json& prompt, const Generation& g) {
  auto stream = with_prompt(prompt, [&](const auto& given) { return model.stream(given, g); });
  if (!stream) return cat("error ", stream.error().id, "\n");
  Outcome out;
  while (const auto event = stream->next_event()) {
    if (const auto* const text = std::get_if<TextEvent>(&*event)) {
      out.text += text->text;
      EXPECT_LE(text->text.size(), g.emit_bytes > 0 ? 16U : 100U);
    }
    if (const auto* const more = std::get_if<ReasoningEvent>(&*event)) out.reasoning += more->text;
    if (const auto* const scored = std::get_if<LogprobsEvent>(&*event))
      add_scores(scored->tokens, out.logprobs);
  }
  add_rest(*stream->finish(), out);
  return out.dump();
}

// What C has of each: a text, ids, messages as JSON.
std::string c_blocking(const wick_model* model, const Json& prompt, const wick_generation* g) {
  wick_error* error = nullptr;
  wick_completion* answer = nullptr;
  if (prompt.is_string()) {
    const auto text = prompt.get<std::string>();
    answer = wick_complete(model, text.c_str(), g, nullptr, nullptr, &error);
  } else if (are_messages(prompt)) {
    answer = wick_chat_json(model, prompt.dump().c_str(), g, nullptr, nullptr, &error);
  } else {
    const auto ids = prompt.get<std::vector<int32_t>>();
    answer = wick_complete_ids(model, ids.data(), ids.size(), g, nullptr, nullptr, &error);
  }
  return whole(answer, error);
}

wick_stream* c_stream(const wick_model* model, const Json& prompt, const wick_generation* g,
                      wick_error** error) {
  if (prompt.is_string())
    return wick_complete_stream(model, prompt.get<std::string>().c_str(), g, error);
  if (are_messages(prompt)) return wick_chat_json_stream(model, prompt.dump().c_str(), g, error);
  const auto ids = prompt.get<std::vector<int32_t>>();
  return wick_complete_ids_stream(model, ids.data(), ids.size(), g, error);
}

std::string c_end(wick_stream* stream, Outcome& out) {
  wick_completion* const end = wick_stream_finish(stream, nullptr);
  out.reasoning = end->reasoning;
  add_rest(*end, out);
  wick_completion_free(end);
  wick_stream_free(stream);
  return out.dump();
}

std::string c_pulled(const wick_model* model, const Json& prompt, const wick_generation* g) {
  wick_error* error = nullptr;
  wick_stream* const stream = c_stream(model, prompt, g, &error);
  if (stream == nullptr) return failed(error);
  Outcome out;
  std::size_t n = 0, n_scored = 0;
  const auto logprobs = [&] {
    const wick_token_logprob* const scored = wick_stream_logprobs(stream, &n_scored, nullptr);
    add_scores(scored, n_scored, out.logprobs);
  };
  while (const char* const piece = wick_stream_next(stream, &n)) {
    out.text.append(piece, n);
    logprobs();
  }
  logprobs();
  return c_end(stream, out);
}

std::string c_by_event(const wick_model* model, const Json& prompt, const wick_generation* g) {
  wick_error* error = nullptr;
  wick_stream* const stream = c_stream(model, prompt, g, &error);
  if (stream == nullptr) return failed(error);
  Outcome out;
  std::size_t n_scored = 0;
  while (const wick_event* const event = wick_stream_next_event(stream, nullptr)) {
    if (event->kind == WICK_EVENT_TEXT) out.text.append(event->text, event->length);
    if (event->kind == WICK_EVENT_LOGPROBS) {
      const wick_token_logprob* const scored = wick_stream_logprobs(stream, &n_scored, nullptr);
      add_scores(scored, n_scored, out.logprobs);
    }
  }
  return c_end(stream, out);
}

TEST(LibrarySameAnswers, BlockingAndPulledInCppAndInC) {
  std::ifstream file(test::test_data("library/same_answers.json"));
  const Json all = Json::parse(file);
  const auto chat_template = all.at("chat_template").get<std::string>();
  const Fixture f({.context = 1024}, {.chat_template = chat_template});
  wick_model_options options;
  wick_model_options_init(&options);
  options.threads = 2;
  options.chat_template = chat_template.c_str();
  wick_model* const c_model = wick_model_open(f.path.c_str(), &options, nullptr);
  ASSERT_NE(c_model, nullptr);
  std::string dump;
  for (const Json& request : all.at("requests")) {
    const Json& prompt = request.at("prompt");
    SCOPED_TRACE(request.at("name"));
    const Generation g = to_cpp(request.at("settings"));
    const CSettings c(request.at("settings"));
    const std::string wanted = blocking(*f.model, prompt, g);
    EXPECT_EQ(pulled(*f.model, prompt, g), wanted);
    EXPECT_EQ(by_event(*f.model, prompt, g), wanted);
    EXPECT_EQ(c_blocking(c_model, prompt, &c.g), wanted);
    EXPECT_EQ(c_pulled(c_model, prompt, &c.g), wanted);
    EXPECT_EQ(c_by_event(c_model, prompt, &c.g), wanted);
    EXPECT_EQ(wanted.find("reasoning \n") == std::string::npos && !wanted.starts_with("error"),
              g.thinking == true);
    dump += cat("request ", request.at("name").get<std::string>(), "\n", wanted);
  }
  wick_model_free(c_model);
  for (const char* const line : {"finish stop\n", "finish length\n", "error sampling_"})
    EXPECT_NE(dump.find(line), std::string::npos) << line << "\n" << dump;
  if (const char* const folder = std::getenv("WICK_SAME_ANSWERS")) {
    const std::filesystem::path out(folder);
    std::filesystem::copy_file(f.path, out / "model.gguf",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(out / "answers.txt") << dump;
  }
}

}  // namespace
}  // namespace wick
