#include "server/socket_chat.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "server/answers.h"
#include "server/chat.h"
#include "server/json_in.h"
#include "server/json_out.h"
#include "server/limits.h"
#include "server/messages_in.h"

namespace wick::server {

namespace {

// What a thread of the Starter hands over to the loop.
struct Start {
  std::mutex mutex;
  std::optional<Result<Started>> result;
};

// The Writer of one chat: what it writes becomes frames of the socket, with the chat's id.
class Framer final : public http::Writer {
 public:
  explicit Framer(std::string id) {
    std::string json;
    JsonOut(json).text(id);
    head_ = cat("{\"id\":", json);
  }

  void attach(http::Writer& out) noexcept { out_ = &out; }

  void whole(http::Response response) override {  // {"error": …, …}
    out_->write(cat(head_, ",", std::string_view(response.body).substr(1)));
    finish("");
  }

  void begin(http::Response head) override {
    for (const http::Header& header : head.headers) {  // names of fields, which need no escapes
      if (header.name == kIgnoredHeader) ignored_ = cat(",\"ignored\":\"", header.value, "\"");
    }
    write(head.body);
  }

  // Server-sent events, whole ones.
  void write(std::string_view piece) override {
    constexpr std::string_view kData = "data: ", kEnd = "\n\n";
    while (!piece.empty()) {
      const std::string_view event = piece.substr(0, piece.find(kEnd));
      piece.remove_prefix(std::min(piece.size(), event.size() + kEnd.size()));
      const std::string_view data = event.substr(std::min(event.size(), kData.size()));
      if (data == "[DONE]") {
        finish(ignored_);
      } else if (data.starts_with("{\"error\":")) {
        out_->write(cat(head_, ",", data.substr(1)));
      } else {
        out_->write(cat(head_, ",\"chunk\":", data, "}"));
      }
    }
  }

  std::size_t room() const noexcept override { return out_->room(); }

  void finish(std::string_view more) { out_->write(cat(head_, ",\"done\":true", more, "}")); }

 private:
  std::string head_, ignored_ = {};
  http::Writer* out_ = nullptr;
};

struct Chat {
  Framer framer;
  std::shared_ptr<Start> start;  // until its answers are there
  AnswersSetup setup;
  std::unique_ptr<http::Work> work = {};
};

class SocketChat final : public http::Work {
 public:
  SocketChat(SharedContext context, std::shared_ptr<Starter> starter, const http::Request& request,
             std::shared_ptr<Wake> wake)
      : context_(std::move(context)), starter_(std::move(starter)), wake_(std::move(wake)) {
    request_.tenant = request.tenant;
    request_.client = request.client;
    request_.key_id = request.key_id;
    request_.id = request.id;
  }

  bool message(std::string text) override {
    if (refusals_.size() >= kMaxSocketFrames) return false;  // it sends, and does not read
    auto done = catch_bad_alloc([&] { return read(text); });
    if (!done) refuse(last_id_, done.error());
    wake_->set();
    return true;
  }

  State advance(http::Writer& out) override {
    while (!refusals_.empty() && out.room() > 0) {
      out.write(refusals_.front());
      refusals_.erase(refusals_.begin());
    }
    for (auto at = chats_.begin(); at != chats_.end() && out.room() > 0;) {
      at->second.framer.attach(out);
      at = drive(at->second) ? chats_.erase(at) : std::next(at);
    }
    const bool is_over = n_drains_ > 0 && chats_.empty() && refusals_.empty();
    return is_over ? State::kDone : State::kWaits;
  }

  void drain() override {
    ++n_drains_;
    for (auto& [id, chat] : chats_) {
      if (chat.work != nullptr) chat.work->drain();
    }
    wake_->set();
  }

 private:
  // True at its end.
  static bool drive(Chat& chat) {
    if (chat.start != nullptr) {
      const std::lock_guard lock(chat.start->mutex);
      if (!chat.start->result) return false;
      Result<Started>& result = *chat.start->result;
      if (!result) {
        const ApiError error = refusal(*chat.setup.context, result.error(), chat.setup.model);
        chat.framer.whole(error_response(error));
        return true;
      }
      chat.setup.started = *std::move(result);
      chat.work = make_work(std::move(chat.setup));
    }
    chat.start.reset();
    return chat.work->advance(chat.framer) == State::kDone;
  }

  Result<void> read(const std::string& text) {
    last_id_.clear();
    request_.body = text;  // the size counts for the key's tokens
    WICK_TRY(const Object body, read_body(text));
    last_id_ = text_at(body, "id");
    if (last_id_.empty() || last_id_.size() > kMaxSocketId) {
      return bad_field("id", "has ", last_id_.size(), " bytes, allowed are 1 to ", kMaxSocketId);
    }
    const auto found = chats_.find(last_id_);
    if (body.find("cancel") != nullptr) return cancel(found);
    const JsonValue* const asked = body.find("request");
    if (asked == nullptr || asked->object() == nullptr)
      return bad_field("request", "is missing, wanted is an object");
    if (found != chats_.end()) return bad_field("id", "is that of a chat that is under way");
    if (chats_.size() >= kMaxSocketChats) {
      return Error{.code = ErrorCode::kUnavailable,
                   .id = "too_many_chats",
                   .message = cat(chats_.size(), " chats are under way, which is the limit")};
    }
    return begin(*asked->object());
  }

  Result<void> begin(const Object& asked) {
    if (n_drains_ > 0) {
      return Error{
          .code = ErrorCode::kUnavailable, .id = "stopping", .message = "the server is stopping"};
    }
    ParsedRequest parsed;
    WICK_DO(read_chat(*context_, asked, request_, parsed));
    parsed.streams = true;
    const auto start = std::make_shared<Start>();
    Chat chat{.framer = Framer(last_id_),
              .start = start,
              .setup = {.context = context_,
                        .model = parsed.request.model,
                        .streams = true,
                        .ignored = parsed.ignored,
                        .given = parsed.given,
                        .dialect = make_chat_dialect(*context_, parsed),
                        .span = begin_span(*context_, parsed, "chat")}};
    auto task = [context = context_, parsed = std::move(parsed), start, wake = wake_]() mutable {
      auto started = catch_bad_alloc([&] { return start_answers(*context, parsed, wake); });
      const std::lock_guard lock(start->mutex);
      start->result = std::move(started);
      wake->set();
    };
    WICK_DO(starter_->post(std::move(task)));
    chats_.emplace(last_id_, std::move(chat));
    return {};
  }

  using Chats = std::map<std::string, Chat, std::less<>>;

  // One that is over already needs no more.
  Result<void> cancel(Chats::iterator found) {
    if (found == chats_.end()) return {};
    std::string frame;
    JsonOut json(frame);
    json.object().field("id", last_id_).field("done", true).field("cancelled", true).end_object();
    refusals_.push_back(std::move(frame));
    chats_.erase(found);
    return {};
  }

  void refuse(const std::string& id, const Error& error) {
    std::string frame;
    JsonOut json(frame);
    json.object();
    if (!id.empty()) json.field("id", id);
    json.key("error").raw(error_object(refusal(*context_, error))).end_object();
    refusals_.push_back(std::move(frame));
    if (id.empty() || chats_.contains(id)) return;
    frame.clear();
    JsonOut(frame).object().field("id", id).field("done", true).end_object();
    refusals_.push_back(std::move(frame));
  }

  SharedContext context_;
  std::shared_ptr<Starter> starter_;
  std::shared_ptr<Wake> wake_;
  http::Request request_;
  Chats chats_;
  std::vector<std::string> refusals_;  // frames that wait for room
  std::string last_id_;
  int n_drains_ = 0;
};

}  // namespace

std::unique_ptr<http::Work> make_socket_chat(SharedContext context,
                                             std::shared_ptr<Starter> starter,
                                             const http::Request& request,
                                             std::shared_ptr<Wake> wake) {
  return std::make_unique<SocketChat>(std::move(context), std::move(starter), request,
                                      std::move(wake));
}

}  // namespace wick::server
