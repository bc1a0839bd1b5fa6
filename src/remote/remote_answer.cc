#include "remote/remote_answer.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strings.h"
#include "remote/json_frame.h"
#include "remote/json_view.h"
#include "remote/limits.h"
#include "remote/sent_fields.h"
#include "remote/text_frames.h"

namespace wick::remote {

namespace {

constexpr std::size_t kEventBytes = 64;  // what an event takes besides its text
constexpr int kBytesPerToken = 4;        // of English, where an API counts nothing
constexpr std::size_t kMoreHeaders = 2;      // of a request: the type of its body, the hops
constexpr std::size_t kUsualParameters = 3;  // of an answer: these two and a rule's name

std::size_t bytes_of(const Event& event) {
  std::size_t n = kEventBytes;
  if (const auto* const text = std::get_if<TextEvent>(&event)) n += text->text.size();
  if (const auto* const text = std::get_if<ReasoningEvent>(&event)) n += text->text.size();
  if (const auto* const text = std::get_if<ArgumentsEvent>(&event)) n += text->text.size();
  return n;
}

int estimated_tokens(std::size_t bytes) {
  return static_cast<int>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

double ms_between(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) * 1e-6;
}

// Shared by the reader and the thread of the transfers.
class Stream final : public TransferSink {
 public:
  // Of `setup.request` only what is told of it: a key has one place at a time.
  Stream(AnswerSetup& setup, std::shared_ptr<Wake> wake)
      : endpoint_(std::move(setup.endpoint)),
        time_limit_ms_(setup.has_time_limit ? setup.request.total_ms : 0),
        n_sent_bytes_(setup.request.body.size()),
        wake_(std::move(wake)),
        reader_(dialect().framing),
        decoder_(dialect().decoder()) {
    report_.provider = endpoint_->name;
    report_.model = std::move(setup.model);
    report_.ignored = std::move(setup.ignored);
  }

  // The reader:

  std::optional<Event> take(Transfer& transfer) {
    const std::lock_guard lock(mutex_);
    if (n_taken_ == queue_.size()) return std::nullopt;
    Event event = std::move(queue_[n_taken_++]);
    n_queued_ -= bytes_of(event);
    if (is_paused_ && n_queued_ <= kResumeBytes) {
      is_paused_ = false;
      transfer.resume();
    }
    return event;
  }

  AnswerReport report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

  bool is_accepted() const noexcept { return is_accepted_; }

  bool is_over() const noexcept { return is_over_; }

  // The thread of the transfers:

  void head(TransferHead head) override {
    head_ = std::move(head);
    is_refused_ = head_.status < 200 || head_.status > 299;
    const bool is_json = head_.content_type == "application/json";
    is_whole_ = is_refused_ || head_.content_type == "text/html" ||
                (dialect().framing == Framing::kSse && is_json);
    add_ignored_there();
    if (is_whole_) return;
    is_accepted_ = true;
    wake_->set();
  }

  TransferTake body(std::string_view bytes) override {
    if (is_over_) return TransferTake::kNothing;
    if (may_be_full_ && is_full()) return TransferTake::kFull;
    if (is_whole_) return add_whole(bytes);
    const auto added = reader_.add(bytes, frame_sink());
    if (!added && !out_.refusal) out_.refusal = bad_answer(added.error().message);
    const bool has_news = deliver();
    if (out_.refusal) {
      finish(out_.refusal);
      return TransferTake::kStop;
    }
    if (out_.is_over) finish(std::nullopt);
    return has_news ? TransferTake::kProgress : TransferTake::kNothing;
  }

  void end(std::optional<Error> error) override {
    if (is_over_) return;
    if (error) return finish(limit_or_refusal(*error));
    if (is_whole_) return finish_whole();
    const auto added = reader_.finish(frame_sink());
    if (!added && !out_.refusal) out_.refusal = bad_answer(added.error().message);
    deliver();
    if (!out_.refusal && !out_.is_over && out_.finish == FinishReason::kNone)
      out_.refusal = transfer_refusal(
          {.id = "cut", .message = "the stream ended before the answer was whole"});
    finish(out_.refusal);
  }

 private:
  const Dialect& dialect() const { return *endpoint_->kind->dialect; }

  bool is_full() {
    const std::lock_guard lock(mutex_);
    may_be_full_ = is_paused_ = n_queued_ > kFullBytes;
    return is_paused_;
  }

  // Another wick tells what it, or the API that it has asked, has ignored.
  void add_ignored_there() {
    const std::string_view names = head_.header(kIgnoredHeader);
    for (std::size_t begin = 0; begin < names.size();) {
      const std::size_t end = std::min(names.find(", ", begin), names.size());
      const std::lock_guard lock(mutex_);
      report_.ignored.push_back(
          setting_of(*endpoint_->kind, names.substr(begin, end - begin)));
      begin = end + 2;
    }
  }

  FrameSink frame_sink() {
    return [this](std::string_view, std::string_view data) -> Result<void> {
      if (out_.is_over || out_.refusal) return {};
      if (!dialect().end_frame.empty() && data.starts_with(dialect().end_frame)) {
        out_.is_over = true;
        return {};
      }
      if (const auto text = text_frames_.text_of(data)) {
        out_.text(*text);
        return {};
      }
      const std::size_t n_before = out_.events.size();
      WICK_DO(read_frame(data, [this](Json frame) { add_frame(frame); }));
      const bool is_one = out_.events.size() == n_before + 1 && !out_.refusal && !out_.is_over;
      const auto* const text = is_one ? std::get_if<TextEvent>(&out_.events.back()) : nullptr;
      text_frames_.saw(data, text == nullptr ? std::string_view() : text->text);
      return {};
    };
  }

  void add_frame(Json frame) {
    if (auto refusal = stream_refusal(frame)) {
      out_.refusal = std::move(refusal);
    } else {
      decoder_->add(frame, out_);
    }
  }

  TransferTake add_whole(std::string_view bytes) {
    const std::size_t limit = is_refused_ ? kMaxErrorBytes : kMaxWholeBytes;
    if (bytes.size() > limit - whole_.size()) {
      finish(is_refused_ ? read_refusal(head_.status, nullptr)
                         : bad_answer(cat("the answer is longer than ", limit, " bytes")));
      return TransferTake::kStop;
    }
    whole_ += bytes;
    return TransferTake::kNothing;
  }

  void finish_whole() {
    if (is_refused_) {
      const auto body = parse_frame(whole_);
      return finish(read_refusal(head_.status, body ? &*body : nullptr));
    }
    const auto read = read_frame(whole_, [this](Json frame) { add_frame(frame); });
    if (!read) return finish(no_json(head_.content_type));
    deliver();
    if (!out_.refusal && out_.finish == FinishReason::kNone && out_.n_bytes == 0)
      out_.refusal = bad_answer("the JSON is no answer");
    finish(out_.refusal);
  }

  // To the reader; true if there was something.
  bool deliver() {
    if (out_.events.empty()) return false;
    last_event_ = monotonic_ns();
    if (first_event_ == 0) first_event_ = last_event_;
    {
      const std::lock_guard lock(mutex_);
      for (const Event& event : out_.events)
        n_queued_ += bytes_of(event);
      may_be_full_ = n_queued_ > kFullBytes;
      queue(out_.events);
    }
    out_.events.clear();
    wake_->set();
    return true;
  }

  // Under the mutex. Most times the reader has taken all: then the two vectors change places.
  void queue(std::vector<Event>& events) {
    if (2 * n_taken_ >= queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(n_taken_));
      n_taken_ = 0;
    }
    if (queue_.empty()) return queue_.swap(events);
    queue_.insert(queue_.end(), std::make_move_iterator(events.begin()),
                  std::make_move_iterator(events.end()));
  }

  std::optional<Refusal> limit_or_refusal(const Error& error) const {
    Refusal refusal = transfer_refusal(error);
    if (error.id == "total_timeout" && time_limit_ms_ > 0) {
      refusal.error = {.code = ErrorCode::kCancelled,
                       .id = "time_limit",
                       .message = cat("no whole answer within ", time_limit_ms_, " ms")};
    }
    return refusal;
  }

  Usage usage(bool is_estimated) const {
    Usage usage = out_.usage.value_or(Usage{});
    if (is_estimated) {
      usage.prompt_tokens = estimated_tokens(n_sent_bytes_);
      usage.generated_tokens = estimated_tokens(out_.n_bytes);
    }
    if (first_event_ != 0) {
      usage.prompt_ms = ms_between(started_, first_event_);
      usage.generate_ms = ms_between(first_event_, last_event_);
    }
    return usage;
  }

  // The last event: once.
  void finish(std::optional<Refusal> refusal) {
    const bool was_sent = first_event_ != 0 || !refusal;
    const bool is_estimated = was_sent && !out_.is_counted();
    DoneEvent done{.finish = out_.finish, .usage = usage(is_estimated)};
    if (done.finish == FinishReason::kNone) done.finish = FinishReason::kEos;
    out_.model = without_key(out_.model, endpoint_->key);
    done.parameters.reserve(kUsualParameters);
    done.parameters.push_back({"provider", endpoint_->name, "remote"});
    done.parameters.push_back({"model", out_.model.empty() ? report_.model : out_.model, "remote"});
    if (refusal && refusal->error.code == ErrorCode::kCancelled &&
        refusal->error.id == "cancelled") {
      done.finish = FinishReason::kCancelled;
    } else if (refusal) {
      done.finish = FinishReason::kError;
      done.error = refusal->error;
      done.error->message =
          cat(endpoint_->name, ": ", without_key(refusal->error.message, endpoint_->key));
    }
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    if (!out_.model.empty()) report_.model = out_.model;
    report_.is_usage_estimated = is_estimated;
    report_.answer_bytes = out_.n_bytes;
    report_.status = head_.status;
    if (refusal) {
      report_.failure = refusal->failure;
      if (refusal->status != 0) report_.status = refusal->status;
      report_.retry_after_ms = retry_after_ms(head_, std::time(nullptr));
    }
    n_queued_ += kEventBytes;
    queue_.emplace_back(std::move(done));
    wake_->set();
  }

  const std::shared_ptr<const Endpoint> endpoint_;
  const std::int64_t time_limit_ms_;  // the client's; 0: none
  const std::size_t n_sent_bytes_;
  const std::shared_ptr<Wake> wake_;
  const std::int64_t started_ = monotonic_ns();

  mutable std::mutex mutex_;
  std::vector<Event> queue_;  // these are under the mutex
  std::size_t n_taken_ = 0;   // of the queue's events
  std::size_t n_queued_ = 0;  // bytes of the others
  bool is_paused_ = false;
  AnswerReport report_ = {};

  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_accepted_ = false;  // a stream has begun
  StreamReader reader_;  // the rest is of the thread of the transfers
  TextFrames text_frames_ = {};
  std::unique_ptr<Decoder> decoder_;
  EventWriter out_;
  TransferHead head_ = {};
  std::string whole_ = {};
  bool is_refused_ = false, is_whole_ = false;
  bool may_be_full_ = false;  // the queue was after the last deliver(), the only one that fills it
  std::int64_t first_event_ = 0, last_event_ = 0;
};

class RemoteAnswer final : public Answer {
 public:
  RemoteAnswer(std::shared_ptr<Stream> stream, std::shared_ptr<Transfer> transfer,
               std::shared_ptr<Wake> wake)
      : Answer(std::move(wake)), stream_(std::move(stream)), transfer_(std::move(transfer)) {}

  // What has ended is left to close in order, so that its connection stays.
  ~RemoteAnswer() override {
    if (!stream_->is_over()) transfer_->cancel();
  }

  void cancel() noexcept override { transfer_->cancel(); }

  AnswerReport report() const override { return stream_->report(); }

  bool is_accepted() const noexcept override { return stream_->is_accepted(); }

 protected:
  std::optional<Event> next() override { return stream_->take(*transfer_); }

 private:
  const std::shared_ptr<Stream> stream_;
  const std::shared_ptr<Transfer> transfer_;
};

// Waits for a whole answer.
class WholeBody final : public TransferSink {
 public:
  void head(TransferHead head) override { head_ = std::move(head); }

  TransferTake body(std::string_view bytes) override {
    body_ += bytes;  // bounded by TransferRequest::max_bytes
    return TransferTake::kProgress;
  }

  void end(std::optional<Error> error) override {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_over_ = true;
    wake_.set();
  }

  void wait() {
    for (;;) {
      const std::uint32_t seen = wake_.signal();
      {
        const std::lock_guard lock(mutex_);
        if (is_over_) return;
      }
      wake_.wait(seen);
    }
  }

  Result<JsonValue> result(AnswerReport& report) {
    report.status = head_.status;
    if (error_ && error_->code == ErrorCode::kCancelled) return *error_;
    if (error_) return failed(transfer_refusal(*error_), report);
    auto body = parse_frame(body_);
    if (head_.status != 200)
      return failed(read_refusal(head_.status, body ? &*body : nullptr), report);
    if (!body) return failed(no_json(head_.content_type), report);
    return body;
  }

 private:
  Error failed(Refusal refusal, AnswerReport& report) const {
    report.failure = refusal.failure;
    report.retry_after_ms = retry_after_ms(head_, std::time(nullptr));
    return std::move(refusal.error);
  }

  std::mutex mutex_;
  Wake wake_;
  bool is_over_ = false;
  std::optional<Error> error_;
  TransferHead head_ = {};
  std::string body_ = {};
};

}  // namespace

std::vector<std::string> request_headers(const Endpoint& endpoint) {
  std::vector<std::string> lines = endpoint.kind->dialect->headers(endpoint);
  lines.reserve(lines.size() + kMoreHeaders);
  lines.emplace_back("Content-Type: application/json");
  return lines;
}

Result<std::unique_ptr<Answer>> start_answer(AnswerSetup&& setup, Transfers& transfers,
                                             std::shared_ptr<Wake> wake) {
  if (wake == nullptr) wake = std::make_shared<Wake>();
  auto stream = std::make_shared<Stream>(setup, wake);
  WICK_TRY(auto transfer, transfers.start(std::move(setup.request), stream));
  return std::unique_ptr<Answer>(std::make_unique<RemoteAnswer>(
      std::move(stream), std::move(transfer), std::move(wake)));
}

Result<JsonValue> fetch_json(const Endpoint& endpoint, TransferRequest request,
                             Transfers& transfers, const std::stop_token& stop,
                             AnswerReport& report) {
  request.max_bytes = kMaxWholeBytes;
  const auto sink = std::make_shared<WholeBody>();
  WICK_TRY(const auto transfer, transfers.start(std::move(request), sink));
  const std::stop_callback on_stop(stop, [&] { transfer->cancel(); });
  sink->wait();
  auto body = sink->result(report);
  if (body) return body;
  Error error = std::move(body).error();
  error.message = cat(endpoint.name, ": ", without_key(error.message, endpoint.key));
  return error;
}

}  // namespace wick::remote
