// Boost.Beast's WebSocket reads from and writes to a stream of its own kind, here a pair of buffers
// in memory: what feed() brought waits in `in` for Beast's read, what Beast writes goes out at
// once.
#include "http/websocket.h"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <type_traits>
#include <utility>

namespace wick::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ws = boost::beast::websocket;
using beast::error_code;

// One operation that waits for bytes; handlers of Beast can be moved only.
struct PendingRead {
  virtual ~PendingRead() = default;
  virtual void complete(error_code error, std::size_t n) = 0;
};

template <class Handler>
struct PendingReadOf final : PendingRead {
  explicit PendingReadOf(Handler its_handler) : handler(std::move(its_handler)) {}

  void complete(error_code error, std::size_t n) override { std::move(handler)(error, n); }

  Handler handler;
};

struct Pipe {
  explicit Pipe(asio::io_context& its_context) : context(its_context) {}

  asio::io_context& context;
  std::string in;
  std::function<void(std::string_view)> output;
  asio::mutable_buffer target;
  std::unique_ptr<PendingRead> reader;
  bool is_closed = false;

  // Never from within a call of Beast's: what it started must have returned.
  void serve_reader() {
    if (reader == nullptr || (in.empty() && !is_closed)) return;
    const std::size_t n = asio::buffer_copy(target, asio::buffer(in));
    in.erase(0, n);
    const error_code error = n == 0 ? error_code(asio::error::eof) : error_code();
    std::exchange(reader, nullptr)->complete(error, n);
  }
};

class PipeStream {
 public:
  using executor_type = asio::io_context::executor_type;

  explicit PipeStream(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}

  executor_type get_executor() const noexcept { return pipe_->context.get_executor(); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [](auto handler, const std::shared_ptr<Pipe>& pipe, const Buffers& into) {
          using Handler = std::decay_t<decltype(handler)>;
          for (auto at = asio::buffer_sequence_begin(into); at != asio::buffer_sequence_end(into);
               ++at) {
            pipe->target = *at;
            if (pipe->target.size() > 0) break;
          }
          pipe->reader = std::make_unique<PendingReadOf<Handler>>(std::move(handler));
          asio::post(pipe->context, [pipe] { pipe->serve_reader(); });
        },
        token, pipe_, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [](auto handler, const std::shared_ptr<Pipe>& pipe, const Buffers& from) {
          std::size_t n = 0;
          for (auto at = asio::buffer_sequence_begin(from); at != asio::buffer_sequence_end(from);
               ++at) {
            const asio::const_buffer part = *at;
            if (pipe->output) pipe->output({static_cast<const char*>(part.data()), part.size()});
            n += part.size();
          }
          const error_code error = pipe->is_closed ? error_code(asio::error::eof) : error_code();
          asio::post(pipe->context, [handler = std::move(handler), error, n]() mutable {
            std::move(handler)(error, n);
          });
        },
        token, pipe_, buffers);
  }

  void shut() const { pipe_->is_closed = true; }

  friend void beast_close_socket(PipeStream& stream) { stream.shut(); }  // Beast asks for it

 private:
  std::shared_ptr<Pipe> pipe_;
};

[[maybe_unused]] void teardown(beast::role_type /*role*/, PipeStream& stream, error_code& error) {
  stream.shut();
  error = {};
}

template <class Handler>
void async_teardown(beast::role_type /*role*/, PipeStream& stream, Handler&& handler) {
  stream.shut();
  asio::post(stream.get_executor(),
             [handler = std::forward<Handler>(handler)]() mutable { handler(error_code()); });
}

// Everything that Beast's handlers need, kept by them; the sinks go with the WebSocket.
struct Session : std::enable_shared_from_this<Session> {
  Session(asio::io_context& context, WebSocket::Sinks its_sinks)
      : pipe(std::make_shared<Pipe>(context)), stream(pipe), sinks(std::move(its_sinks)) {
    pipe->output = sinks.output;
  }

  void accept(const beast::http::request<beast::http::empty_body>& request) {
    stream.async_accept(request, [self = shared_from_this()](error_code error) {
      if (error) return self->fail();
      self->is_open = true;
      self->read();
      self->write();
    });
  }

  void read() {
    stream.async_read(buffer, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->fail();
      std::string text = beast::buffers_to_string(self->buffer.data());
      self->buffer.consume(self->buffer.size());
      if (self->sinks.message) self->sinks.message(std::move(text), self->stream.got_text());
      if (!self->is_closing) self->read();
    });
  }

  void write() {
    if (!is_open || is_writing) return;
    if (queue.empty()) {
      if (is_closing && !has_closed) send_close();
      return;
    }
    is_writing = true;
    stream.text(true);
    stream.async_write(asio::buffer(queue.front()),
                       [self = shared_from_this()](error_code error, std::size_t) {
                         self->is_writing = false;
                         self->queued -= self->queue.front().size();
                         self->queue.pop_front();
                         if (error) return self->fail();
                         self->write();
                       });
  }

  void close(std::uint16_t its_code) {
    if (std::exchange(is_closing, true)) return;
    code = its_code;
    write();
  }

  void send_close() {
    has_closed = true;
    stream.async_close(ws::close_reason(code),
                       [self = shared_from_this()](error_code) { self->fail(); });
  }

  void fail() {
    if (is_closing && is_open && !has_closed) return;  // the queue first
    pipe->is_closed = true;
    if (const auto closed = std::exchange(sinks.closed, nullptr)) closed();
  }

  std::shared_ptr<Pipe> pipe;
  ws::stream<PipeStream, false> stream;  // no compression: its state costs memory a connection
  WebSocket::Sinks sinks;
  beast::flat_buffer buffer;
  std::deque<std::string> queue;
  std::size_t queued = 0;
  std::uint16_t code = 0;
  bool is_open = false, is_writing = false, is_closing = false, has_closed = false;
};

class BeastWebSocket final : public WebSocket {
 public:
  explicit BeastWebSocket(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  ~BeastWebSocket() override {
    session_->sinks = {};
    session_->pipe->output = nullptr;
    session_->pipe->is_closed = true;
    asio::post(session_->pipe->context, [pipe = session_->pipe] { pipe->serve_reader(); });
  }

  void feed(std::string_view bytes) override {
    session_->pipe->in += bytes;
    asio::post(session_->pipe->context, [pipe = session_->pipe] { pipe->serve_reader(); });
  }

  void send(std::string text) override {
    if (session_->is_closing) return;
    session_->queued += text.size();
    session_->queue.push_back(std::move(text));
    session_->write();
  }

  void ping() override {
    if (!session_->is_open || session_->is_closing) return;
    session_->stream.async_ping({}, [session = session_](error_code) {});
  }

  void close(Why why) override {
    session_->close(why == Why::kDone       ? ws::close_code::normal
                    : why == Why::kProtocol ? ws::close_code::protocol_error
                                            : ws::close_code::unknown_data);
  }

  std::size_t queued_bytes() const noexcept override { return session_->queued; }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<WebSocket> WebSocket::accept(Loop& loop, const Head& head, std::size_t max_message,
                                             const std::vector<Header>& headers, Sinks sinks) {
  auto session = std::make_shared<Session>(loop.context(), std::move(sinks));
  session->stream.read_message_max(max_message);
  session->stream.set_option(
      ws::stream_base::timeout{ws::stream_base::none(), ws::stream_base::none(), false});
  session->stream.set_option(ws::stream_base::decorator([headers](ws::response_type& response) {
    for (const Header& header : headers)
      response.insert(header.name, header.value);
  }));
  beast::http::request<beast::http::empty_body> request(beast::http::verb::get, "/", 11);
  for (const Header& header : head.headers)
    request.insert(header.name, header.value);
  session->accept(request);
  return std::make_unique<BeastWebSocket>(std::move(session));
}

}  // namespace wick::http
