// Any bytes as the body of any route of the server: an answer of well-formed JSON, whole or in
// pieces, or an error that says why. The first byte chooses the route, the rest is the body, of a
// WebSocket the messages with a line feed between them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "chat/json_value.h"
#include "provider/provider.h"
#include "server/routes.h"

namespace {

using namespace wick;

// Says a little of everything, at once.
class SmallAnswer final : public Answer {
 public:
  explicit SmallAnswer(std::shared_ptr<Wake> wake) : Answer(wake), wake_(std::move(wake)) {
    wake_->set();
  }

  void cancel() noexcept override { at_ = 4; }

 protected:
  std::optional<Event> next() override {
    wake_->set();
    switch (at_++) {
      case 0:
        return ReasoningEvent{"so"};
      case 1:
        return TextEvent{"\"\\\n\u20AC"};
      case 2:
        return ToolCallEvent{.index = 0, .id = "c", .name = "w"};
      case 3:
        return ArgumentsEvent{.index = 0, .text = "{\"a\": 1}"};
      default:
        return DoneEvent{.finish = FinishReason::kEos, .usage = {.generated_tokens = 4}};
    }
  }

 private:
  std::shared_ptr<Wake> wake_;
  int at_ = 0;
};

class SmallProvider final : public Provider {
 public:
  std::string_view name() const noexcept override { return "small"; }

  Result<std::unique_ptr<Answer>> start(const Request& /*request*/,
                                        std::shared_ptr<Wake> wake) override {
    return std::unique_ptr<Answer>(new SmallAnswer(std::move(wake)));
  }

  Result<RequestEstimate> estimate(const Request& /*request*/) override {
    return RequestEstimate{};
  }

  Result<std::vector<ModelInfo>> models() override {
    return std::vector<ModelInfo>{{.name = "tiny", .architecture = "llama"}};
  }

  Result<std::vector<TokenId>> tokenize(const std::string& /*model*/,
                                        std::string_view text) override {
    return std::vector<TokenId>(text.begin(), text.end());
  }

  Result<std::string> detokenize(const std::string& /*model*/,
                                 std::span<const TokenId> ids) override {
    return std::string(ids.size(), 'x');
  }

  Result<std::string> apply_template(const Request& /*request*/) override {
    return std::string("<user>");
  }

  Result<std::vector<TokenId>> prompt_tokens(const Request& /*request*/) override {
    return std::vector<TokenId>{1, 2};
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    return std::vector<Embedding>(request.texts.size(), {.values = {1, 2}});
  }

  Result<std::vector<Embedding>> embed_tokens(const std::string& /*model*/,
                                              std::span<const std::vector<TokenId>> prompts,
                                              const EmbedOptions& /*options*/) override {
    return std::vector<Embedding>(prompts.size(), {.values = {1, 2}});
  }
};

void check_json(std::string_view text) {
  WICK_CHECK(parse_json(text), "what the server says is JSON");
}

void check_whole(const http::Response& response) {
  WICK_CHECK(response.status >= 200 && response.status < 600, "the status is one");
  if (response.type == "application/json") check_json(response.body);
  WICK_CHECK(response.status < 400 || response.body.find("\"error\"") != std::string::npos,
             "a refusal says why");
}

class CheckingWriter final : public http::Writer {
 public:
  explicit CheckingWriter(bool is_socket) : is_socket_(is_socket) {}

  void whole(http::Response response) override { check_whole(response); }

  void begin(http::Response head) override {
    is_lines_ = head.type == "application/x-ndjson";
    write(head.body);
  }

  void write(std::string_view piece) override {
    if (is_socket_) return check_json(piece);
    const std::string_view end = is_lines_ ? "\n" : "\n\n";
    while (!piece.empty()) {
      const std::size_t at = piece.find(end);
      WICK_CHECK(at != std::string_view::npos, "events are written whole");
      check_event(piece.substr(0, at));
      piece.remove_prefix(at + end.size());
    }
  }

  std::size_t room() const noexcept override { return 1000; }

 private:
  void check_event(std::string_view event) const {
    const std::size_t data = event.find("data: ");
    if (is_lines_) return check_json(event);
    if (data == std::string_view::npos || event.ends_with("[DONE]")) return;
    check_json(event.substr(data + 6));
  }

  bool is_socket_ = false, is_lines_ = false;
};

// Each poll sets the Wake, so nothing waits for ever; a socket never ends by itself.
void drive(http::Work& work, Wake& wake, http::Writer& out, int n) {
  for (int i = 0; i < n; ++i) {
    const std::uint32_t seen = wake.signal();
    if (work.advance(out) == http::Work::State::kDone) return;
    if (i + 1 < n && n > 100) wake.wait(seen);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto routes =
      server::make_routes(std::make_shared<SmallProvider>(), {.version = "fuzz"});
  if (size == 0) return 0;
  const http::Route& route = routes[data[0] % routes.size()];
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_socket = route.method == "WEBSOCKET";
  const auto wake = std::make_shared<Wake>();
  auto reply = route.handler({.method = route.method,
                              .path = route.path,
                              .rest = is_socket ? "" : body.substr(0, 32),
                              .query = body.substr(0, 64),
                              .body = is_socket ? "" : body},
                             wake);
  if (const auto* const response = std::get_if<http::Response>(&reply)) {
    check_whole(*response);
    return 0;
  }
  http::Work& work = *std::get<std::unique_ptr<http::Work>>(reply);
  CheckingWriter out(is_socket);
  if (!is_socket) {
    drive(work, *wake, out, 1 << 20);
    return 0;
  }
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    if (!work.message(body.substr(at, end - at))) return 0;
    drive(work, *wake, out, 3);
    at = end + 1;
  }
  return 0;
}
