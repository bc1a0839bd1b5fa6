// Routes without sockets: a Writer that keeps what is written, a driver that does what the
// transport does, and a provider whose answers a function makes of the request.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/json_value.h"
#include "http/handler.h"
#include "provider/provider.h"
#include "server/routes.h"

namespace wick::server::test {

// What came of a request.
inline ServedModelList list_of(std::vector<ServedModel> models) {
  return std::make_shared<const std::vector<ServedModel>>(std::move(models));
}

struct Got {
  int status = 0;
  std::string type, body;
  std::vector<http::Header> headers;
  bool is_stream = false, is_done = false;

  std::string header(std::string_view name) const {
    for (const http::Header& one : headers) {
      if (one.name == name) return one.value;
    }
    return "";
  }

  JsonValue json() const {
    auto value = parse_json(body);
    EXPECT_TRUE(value) << body;
    return value ? *std::move(value) : JsonValue();
  }

  // The data of its server-sent events.
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    std::string_view rest = body;
    while (!rest.empty()) {
      const std::size_t end = rest.find("\n\n");
      EXPECT_NE(end, std::string_view::npos) << "an event without end: " << rest;
      if (end == std::string_view::npos) break;
      std::string_view block = rest.substr(0, end);
      rest.remove_prefix(end + 2);
      const std::size_t data = block.find("data: ");
      if (data != std::string_view::npos) out.emplace_back(block.substr(data + 6));
    }
    return out;
  }
};

class KeptWriter final : public http::Writer {
 public:
  explicit KeptWriter(Got& got) : got_(got) {}

  std::size_t space = std::size_t{1} << 20;  // of the connection

  void whole(http::Response response) override {
    EXPECT_EQ(got_.status, 0) << "whole() behind something else";
    take(std::move(response));
  }

  void begin(http::Response head) override {
    EXPECT_EQ(got_.status, 0) << "begin() behind something else";
    take(std::move(head));
    got_.is_stream = true;
  }

  void write(std::string_view piece) override {
    EXPECT_TRUE(got_.is_stream) << "write() before begin()";
    EXPECT_FALSE(piece.empty());
    got_.body += piece;
    space -= std::min(space, piece.size());
  }

  std::size_t room() const noexcept override { return space; }

 private:
  void take(http::Response response) {
    got_.status = response.status;
    got_.type = std::move(response.type);
    got_.body = std::move(response.body);
    got_.headers = std::move(response.headers);
    space -= std::min(space, got_.body.size());
  }

  Got& got_;
};

// Until the Work is done, or `n` advances.
inline void drive(http::Work& work, Wake& wake, KeptWriter& out, Got& got, int n = 1 << 30) {
  for (int i = 0; i < n; ++i) {
    const std::uint32_t seen = wake.signal();
    if (work.advance(out) == http::Work::State::kDone) {
      got.is_done = true;
      return;
    }
    if (out.space == 0) {
      out.space = 100;
    } else if (i + 1 < n) {
      wake.wait(seen);
    }
  }
}

struct Server {
  std::vector<http::Route> routes;
  std::string key_id = {};  // of the requests

  explicit Server(std::shared_ptr<Provider> provider, ServerOptions options = {.version = "1"})
      : routes(make_routes(std::move(provider), std::move(options))) {}

  const http::Route* route(std::string_view method, std::string_view path, std::string& rest) {
    for (const http::Route& one : routes) {
      if (one.method != method) continue;
      if (one.path == path) return &one;
      if (!one.path.ends_with("*")) continue;
      const auto prefix = std::string_view(one.path).substr(0, one.path.size() - 1);
      if (path.starts_with(prefix)) return rest = path.substr(prefix.size()), &one;
    }
    return nullptr;
  }

  http::Reply reply(std::string_view method, std::string_view path, std::string_view body,
                    const std::shared_ptr<Wake>& wake) {
    http::Request request{.method = std::string(method), .path = std::string(path)};
    const std::size_t query = path.find('?');
    if (query != std::string_view::npos) {
      request.query = path.substr(query + 1);
      request.path = path = path.substr(0, query);
    }
    request.body = body;
    request.id = "req-1";
    request.tenant = 7;
    request.key_id = key_id;
    const http::Route* const found = route(method, request.path, request.rest);
    EXPECT_NE(found, nullptr) << method << " " << path;
    return found->handler(std::move(request), wake);
  }

  Got call(std::string_view method, std::string_view path, std::string_view body = "",
           std::size_t room = std::size_t{1} << 20) {
    Got got;
    KeptWriter out(got);
    out.space = room;
    const auto wake = std::make_shared<Wake>();
    http::Reply made = reply(method, path, body, wake);
    if (auto* const response = std::get_if<http::Response>(&made)) {
      out.whole(std::move(*response));
      got.is_done = true;
    } else {
      drive(*std::get<std::unique_ptr<http::Work>>(made), *wake, out, got);
    }
    return got;
  }

  Got post(std::string_view path, std::string_view body) { return call("POST", path, body); }
};

// Answers are what `script` makes of the request: told one event a poll, now and then not at once.
class MadeProvider final : public Provider {
 public:
  using Script = std::function<Result<std::vector<Event>>(const Request&)>;

  explicit MadeProvider(Script script) : script_(std::move(script)) {}

  std::vector<ModelInfo> infos = {{.name = "tiny",
                                   .architecture = "llama",
                                   .source = "/models/tiny.gguf",
                                   .context = 256,
                                   .vocabulary = 262}};
  Statistics numbers = {};
  std::vector<Request> seen = {};
  AnswerReport report = {};  // of all answers
  int n_cancelled = 0;

  std::string_view name() const noexcept override { return "made"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override {
    seen.push_back(request);
    WICK_TRY(auto events, script_(request));
    return std::unique_ptr<Answer>(new Told(*this, std::move(events), std::move(wake)));
  }

  Result<RequestEstimate> estimate(const Request& request) override {
    seen.push_back(request);
    return RequestEstimate{.prompt_tokens = 12,
                           .max_tokens = 100,
                           .cached_tokens = 5,
                           .blocks = 7,
                           .free_blocks = 9,
                           .cache_bytes = 4096,
                           .requests_before = 2,
                           .ttft_ms = 12.5};
  }

  Result<std::vector<ModelInfo>> models() override { return infos; }

  Result<ModelInfo> load(const std::string& model) override {
    if (model != "tiny") return Error{.code = ErrorCode::kNotFound, .message = "there is none"};
    return infos.front();
  }

  Result<void> unload(const std::string& model) override {
    if (model == "tiny") return {};
    return Error{.code = ErrorCode::kNotFound, .id = "model_not_loaded", .message = "not there"};
  }

  // A byte is a token.
  Result<std::vector<TokenId>> tokenize(const std::string& /*model*/,
                                        std::string_view text) override {
    std::vector<TokenId> ids;
    for (const char c : text)
      ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }

  Result<std::string> detokenize(const std::string& /*model*/,
                                 std::span<const TokenId> ids) override {
    std::string text;
    for (const TokenId id : ids) {
      if (id > 259) return Error{.id = "bad_token", .message = "token is outside"};
      if (id > 255) continue;  // control tokens
      text += static_cast<char>(id);
    }
    return repair_utf8(text);
  }

  Result<std::string> apply_template(const Request& request) override {
    seen.push_back(request);
    std::string text;
    for (const Message& message : std::get<std::vector<Message>>(request.prompt))
      text += "<" + message.role + ">" + message.content.text();
    return text;
  }

  Result<std::vector<TokenId>> prompt_tokens(const Request& request) override {
    seen.push_back(request);
    if (const auto* const given = std::get_if<std::vector<TokenId>>(&request.prompt)) return *given;
    std::vector<TokenId> ids = {259};
    const auto* const text = std::get_if<std::string>(&request.prompt);
    for (const char c : text != nullptr ? *text : *apply_template(request))
      ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }

  // [1, prefix, 2, suffix, 3, begun]; 1 to 3 stand for control tokens, 4 ends the answer.
  Result<InfillPrompt> infill_prompt(const std::string& /*model*/, const Infill& gap) override {
    InfillPrompt prompt{.ends = {4}};
    const auto add = [&](TokenId mark, const std::string& text) {
      prompt.ids.push_back(mark);
      prompt.ids.insert(prompt.ids.end(), text.begin(), text.end());
    };
    for (const Infill::File& file : gap.files)
      add(5, cat(file.name, ":", file.text));
    add(1, gap.prefix);
    add(2, gap.suffix);
    add(3, gap.begun);
    return prompt;
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    std::vector<Embedding> out;
    for (const std::string& text : request.texts)
      out.push_back({.values = {static_cast<float>(text.size()), -0.5F, 1e-3F},
                     .tokens = static_cast<int>(text.size())});
    return out;
  }

  Result<std::vector<Embedding>> embed_tokens(const std::string& /*model*/,
                                              std::span<const std::vector<TokenId>> prompts,
                                              const EmbedOptions& /*options*/) override {
    std::vector<Embedding> out;
    for (const auto& ids : prompts)
      out.push_back({.values = {1, 2, static_cast<float>(ids.size())},
                     .tokens = static_cast<int>(ids.size())});
    return out;
  }

  Result<Statistics> statistics(const std::string& /*model*/) override { return numbers; }

 private:
  class Told final : public Answer {
   public:
    Told(MadeProvider& owner, std::vector<Event> events, std::shared_ptr<Wake> wake)
        : Answer(wake), owner_(owner), events_(std::move(events)), wake_(std::move(wake)) {
      if (wake_ != nullptr) wake_->set();
    }

    ~Told() override {
      if (!is_over()) ++owner_.n_cancelled;
    }

    void cancel() noexcept override {
      is_cancelled_ = true;
      if (wake_ != nullptr) wake_->set();
    }

    AnswerReport report() const override { return owner_.report; }

   protected:
    std::optional<Event> next() override {
      if (is_cancelled_) return DoneEvent{.finish = FinishReason::kCancelled};
      if (++n_asked_ % 3 == 0) {
        if (wake_ != nullptr) wake_->set();
        return std::nullopt;
      }
      if (at_ == events_.size()) return std::nullopt;
      if (wake_ != nullptr) wake_->set();
      return events_[at_++];
    }

   private:
    MadeProvider& owner_;
    std::vector<Event> events_;
    std::shared_ptr<Wake> wake_;
    std::size_t at_ = 0;
    int n_asked_ = 0;
    bool is_cancelled_ = false;
  };

  Script script_;
};

inline std::shared_ptr<MadeProvider> always(std::vector<Event> script) {
  return std::make_shared<MadeProvider>(
      [script = std::move(script)](const Request&) -> Result<std::vector<Event>> {
        return script;
      });
}

// value at "choices.0.message.content"; null if it is not there.
inline JsonValue at(const JsonValue& root, std::string_view path) {
  const JsonValue* here = &root;
  while (!path.empty()) {
    const std::string key(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    if (const Array* const array = here->array()) {
      const auto index = static_cast<std::size_t>(std::stoul(key));
      if (index >= array->size()) return {};
      here = &(*array)[index];
    } else {
      here = here->object() == nullptr ? nullptr : here->object()->find(key);
      if (here == nullptr) return {};
    }
  }
  return *here;
}

inline std::string text_of(const JsonValue& root, std::string_view path) {
  const JsonValue value = at(root, path);
  return value.string() == nullptr ? to_json(value) : *value.string();
}

}  // namespace wick::server::test
