#include "net/transfers.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "base/thread.h"
#include "net/curl_handles.h"
#include "net/curl_poller.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

constexpr int kCheckMs = 100;  // limits are checked at least so often
constexpr std::size_t kMaxIdleHandles = 16;
constexpr std::size_t kUsualHeaders = 16;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Outlives the transfers: Transfer::cancel() may come at any time.
struct Shared {
  std::unique_ptr<CurlPoller> poller = {};
  std::atomic<bool> has_signals = false;  // some job is new, or to be cancelled or resumed

  CURLM* multi() const noexcept { return poller->multi(); }

  void signal() noexcept {
    if (!has_signals.exchange(true, std::memory_order_acq_rel)) poller->signal();
  }
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// One exchange. All but the two flags belongs to the thread of the transfers.
struct Job final : Transfer {
  std::shared_ptr<Shared> shared;
  TransferRequest request;
  std::shared_ptr<TransferSink> sink;
  CurlEasy easy = {};
  CurlHeaders headers = {};
  TransferHead head = {};
  std::size_t n_header_bytes = 0, n_bytes = 0;
  std::int64_t started = monotonic_ns(), progress = started;
  bool has_progress = false, is_head_sent = false, is_full = false, is_stopped = false;
  bool is_address_refused = false;
  std::string end_id = {};  // why we ended it, "" if we did not
  std::atomic<bool> is_cancelled = false, is_resumed = false;

  Job(std::shared_ptr<Shared> its_shared, TransferRequest its_request,
      std::shared_ptr<TransferSink> its_sink)
      : shared(std::move(its_shared)), request(std::move(its_request)), sink(std::move(its_sink)) {}

  void cancel() noexcept override {
    is_cancelled.store(true, std::memory_order_release);
    shared->signal();
  }

  void resume() noexcept override {
    is_resumed.store(true, std::memory_order_release);
    shared->signal();
  }

  void send_head() {
    if (is_head_sent || head.status == 0) return;
    is_head_sent = true;
    sink->head(std::move(head));
  }

  // The URL, for messages.
  std::string shown() const {
    const auto url = parse_url(request.url);
    return url ? printable(url->shown) : std::string("the URL");
  }

  // When its next limit is reached, with the limit's id; 0 = none.
  std::pair<std::int64_t, const char*> deadline() const {
    std::pair<std::int64_t, const char*> first = {0, ""};
    const auto add = [&](std::int64_t since, std::int64_t ms, const char* id) {
      if (ms > 0 && (first.first == 0 || since + ms * kNsPerMs < first.first))
        first = {since + ms * kNsPerMs, id};
    };
    add(started, request.total_ms, "total_timeout");
    if (is_full) return first;
    if (!has_progress) add(started, request.first_ms, "first_timeout");
    if (has_progress) add(progress, request.idle_ms, "idle_timeout");
    return first;
  }
};

void read_header_line(std::string_view line, TransferHead& head) {
  if (line.starts_with("HTTP/")) {
    head = {};
    head.headers.reserve(kUsualHeaders);
    const std::string_view rest = trim(line.substr(std::min(line.find(' '), line.size())));
    std::from_chars(rest.data(), rest.data() + rest.size(), head.status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name = ascii_lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-type")
    head.content_type = ascii_lower(trim(value.substr(0, value.find(';'))));
  head.headers.emplace_back(std::move(name), value);
}

std::size_t on_header(char* data, std::size_t size, std::size_t n, void* user) {
  Job& job = *static_cast<Job*>(user);
  if (job.is_head_sent) return size * n;  // trailers
  job.n_header_bytes += size * n;
  if (job.n_header_bytes > kMaxHeaderBytes) {
    job.end_id = "bad_answer";
    return 0;
  }
  const std::string_view line(data, size * n);
  if (!trim(line).empty()) {
    read_header_line(line, job.head);
  } else if (job.head.status >= 200) {  // not of 100 Continue
    job.send_head();
  }
  return size * n;
}

std::size_t on_body(char* data, std::size_t size, std::size_t n, void* user) {
  Job& job = *static_cast<Job*>(user);
  const std::string_view bytes(data, size * n);
  job.send_head();
  if (bytes.size() > job.request.max_bytes - job.n_bytes) {
    job.end_id = "answer_too_long";
    return 0;
  }
  switch (job.sink->body(bytes)) {
    case TransferTake::kStop:
      job.is_stopped = true;
      return 0;
    case TransferTake::kFull:
      job.is_full = true;
      return CURL_WRITEFUNC_PAUSE;
    case TransferTake::kProgress:
      job.has_progress = true;
      job.progress = monotonic_ns();
      break;
    case TransferTake::kNothing:
      break;
  }
  job.n_bytes += bytes.size();
  return bytes.size();
}

curl_socket_t on_open_socket(void* user, curlsocktype, curl_sockaddr* to) {
  Job& job = *static_cast<Job*>(user);
  const bool is_asked_socket = to->family == AF_UNIX && !job.request.unix_socket.empty();
  if (!is_asked_socket && !may_connect(job.request.endpoint, kind_of(to->addr, to->addrlen))) {
    job.is_address_refused = true;
    return CURL_SOCKET_BAD;
  }
  return job.shared->poller->open(to->family, to->socktype, to->protocol);
}

int on_close_socket(void* user, curl_socket_t socket) {
  static_cast<CurlPoller*>(user)->close(socket);
  return 0;
}

// What is the same for all exchanges.
void set_rules(CURL* easy) {
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl().easy_setopt(easy, CURLOPT_PROXY, "");  // it would choose the addresses
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // no waiting for a name nobody wants any more
  curl().easy_setopt(easy, CURLOPT_USERAGENT, "wick");
  curl().easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  curl().easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &on_close_socket);
}

// All that differs, also where it is empty: the handle may have had another exchange.
void set_options(Job& job) {
  CURL* const easy = job.easy.get();
  const TransferRequest& request = job.request;
  const std::string& path = request.unix_socket;
  curl().easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl().easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path.empty() ? nullptr : path.c_str());
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_ms));
  curl().easy_setopt(easy, CURLOPT_HTTPHEADER, job.headers.get());
  curl().easy_setopt(easy, CURLOPT_HEADERDATA, &job);
  curl().easy_setopt(easy, CURLOPT_WRITEDATA, &job);
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &job);
  curl().easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, job.shared->poller.get());
  curl().easy_setopt(easy, CURLOPT_PRIVATE, &job);
  if (request.body.empty()) {
    curl().easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  } else {
    curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
}

bool is_before_sending(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
         code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
         code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
         code == CURLE_OPERATION_TIMEDOUT;
}

std::string what_ended(const Job& job, std::string_view id, CURLcode code) {
  const TransferRequest& request = job.request;
  if (id == "total_timeout") return cat("no whole answer within ", request.total_ms, " ms");
  if (id == "first_timeout") return cat("no answer within ", request.first_ms, " ms");
  if (id == "idle_timeout") return cat("no more of the answer for ", request.idle_ms, " ms");
  if (id == "answer_too_long")
    return cat("the answer is longer than ", request.max_bytes, " bytes");
  if (id == "bad_answer") return cat("the header is longer than ", kMaxHeaderBytes, " bytes");
  if (id == "address_refused") return "the name leads to an address that is not allowed for it";
  if (id == "cancelled") return "stopped";
  if (id == "cut") return "the connection ended before the whole answer was there";
  return curl().easy_strerror(code);
}

std::optional<Error> error_of(const Job& job, CURLcode code) {
  if (code == CURLE_OK || job.is_stopped) return std::nullopt;
  std::string id = job.end_id;
  if (id.empty() && job.is_address_refused && is_before_sending(code)) id = "address_refused";
  if (id.empty()) id = is_before_sending(code) ? "no_connection" : "cut";
  if (code == CURLE_BAD_CONTENT_ENCODING) id = "bad_answer";
  const bool is_ours = id == "cancelled";
  const std::string what = code == CURLE_BAD_CONTENT_ENCODING
                               ? std::string("the answer's compression is damaged")
                               : what_ended(job, id, code);
  return Error{.code = is_ours ? ErrorCode::kCancelled : ErrorCode::kUnavailable,
               .id = std::move(id),
               .message = cat(job.shown(), ": ", what)};
}

Error stopped() {
  return {.code = ErrorCode::kCancelled,
          .id = "cancelled",
          .message = "no request is sent any more"};
}

class CurlTransfers final : public DrivenTransfers {
 public:
  explicit CurlTransfers(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  ~CurlTransfers() override {
    if (!thread_.joinable()) {
      stop();
      return;
    }
    thread_.request_stop();
    shared_->signal();
    thread_.join();
  }

  Result<void> start_own_thread() {
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { run(stop); }));
    return {};
  }

  int fd() const noexcept override { return shared_->poller->fd(); }

  Result<std::shared_ptr<Transfer>> start(TransferRequest request,
                                          std::shared_ptr<TransferSink> sink) override {
    const auto job = std::make_shared<Job>(shared_, std::move(request), std::move(sink));
    job->easy = take_handle();
    if (!job->easy)
      return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
    std::vector<std::string> lines = {"Expect:"};  // no waiting for 100 Continue
    lines.insert(lines.end(), job->request.headers.begin(), job->request.headers.end());
    WICK_TRY(job->headers, curl_headers(lines));
    set_options(*job);
    if (driver_.load(std::memory_order_relaxed) == std::this_thread::get_id() && !is_advancing_) {
      send_now(job);
      return std::shared_ptr<Transfer>(job);
    }
    {
      const std::lock_guard lock(mutex_);
      if (is_stopped_) return stopped();
      new_.push_back(job);
    }
    shared_->signal();
    return std::shared_ptr<Transfer>(job);
  }

  void advance(const std::function<void()>& after_each) override {
    driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const Advancing inside(*this);
    shared_->poller->advance([&] {
      take_ends();
      if (!after_each) return;
      is_advancing_ = false;  // no sink is being called
      after_each();
      is_advancing_ = true;
    });
    if (shared_->has_signals.exchange(false, std::memory_order_acq_rel)) {
      add_new();
      obey_signals();
      shared_->poller->run_timer();
    }
    take_ends();
    shared_->poller->arm(enforce_limits());
  }

  void stop() override {
    driver_.store({}, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    add_new();
    for (const auto& job : std::vector(jobs_))
      abandon(*job, "cancelled");
  }

 private:
  // While sinks may be called: what they start is sent later.
  struct Advancing {
    explicit Advancing(CurlTransfers& its_owner) : owner(its_owner) { owner.is_advancing_ = true; }

    ~Advancing() { owner.is_advancing_ = false; }

    Advancing(const Advancing&) = delete;
    Advancing& operator=(const Advancing&) = delete;
    CurlTransfers& owner;
  };

  void run(const std::stop_token& token) {
    while (!token.stop_requested()) {
      pollfd readable = {.fd = fd(), .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, -1) > 0) advance({});
    }
    stop();
  }

  // On the thread that advances.
  void send_now(const std::shared_ptr<Job>& job) {
    CurlPoller& poller = *shared_->poller;
    const Advancing inside(*this);
    add(job);
    poller.run_timer();
    take_ends();
    poller.arm(jobs_.empty() ? 0 : next_limit_);
  }

  void add(std::shared_ptr<Job> job) {
    curl().multi_add_handle(shared_->multi(), job->easy.get());
    std::int64_t next = monotonic_ns() + kCheckMs * kNsPerMs;
    if (const std::int64_t at = job->deadline().first; at != 0) next = std::min(next, at);
    next_limit_ = jobs_.empty() ? next : std::min(next, next_limit_);
    jobs_.push_back(std::move(job));
  }

  void add_new() {
    std::vector<std::shared_ptr<Job>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(new_);
    }
    for (std::shared_ptr<Job>& job : taken)
      add(std::move(job));
  }

  void obey_signals() {
    for (const auto& job : std::vector(jobs_)) {
      if (job->is_cancelled.load(std::memory_order_acquire)) {
        abandon(*job, "cancelled");
      } else if (job->is_resumed.exchange(false, std::memory_order_acq_rel) && job->is_full) {
        job->is_full = false;
        job->progress = monotonic_ns();
        curl().easy_pause(job->easy.get(), CURLPAUSE_CONT);  // may call on_body()
      }
    }
  }

  void take_ends() {
    int n_left = 0;
    while (const CURLMsg* const message = curl().multi_info_read(shared_->multi(), &n_left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      char* user = nullptr;
      curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
      Job& job = *reinterpret_cast<Job*>(user);
      if (code == CURLE_OK) job.send_head();
      finish(job, code);
    }
  }

  // When to look again; 0 = nothing is under way.
  std::int64_t enforce_limits() {
    if (jobs_.empty()) return 0;
    const std::int64_t now = monotonic_ns();
    if (now < next_limit_) return next_limit_;
    next_limit_ = now + kCheckMs * kNsPerMs;
    for (const auto& job : std::vector(jobs_)) {
      const auto [at, id] = job->deadline();
      if (at != 0 && at <= now) {
        abandon(*job, id);
      } else if (at != 0) {
        next_limit_ = std::min(next_limit_, at);
      }
    }
    return next_limit_;
  }

  void abandon(Job& job, std::string id) {
    job.end_id = std::move(id);
    finish(job, CURLE_ABORTED_BY_CALLBACK);
  }

  void finish(Job& job, CURLcode code) {
    curl().multi_remove_handle(shared_->multi(), job.easy.get());
    const auto sink = std::move(job.sink);
    const std::optional<Error> error = error_of(job, code);
    CurlEasy easy = std::move(job.easy);
    if (code == CURLE_OK) keep_handle(std::move(easy));
    std::erase_if(jobs_, [&](const std::shared_ptr<Job>& one) { return one.get() == &job; });
    sink->end(error);
  }

  // A handle of an exchange that has ended, or a new one, which takes as long to make as a request
  // takes to be sent.
  CurlEasy take_handle() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        CurlEasy easy = std::move(idle_.back());
        idle_.pop_back();
        return easy;
      }
    }
    CurlEasy easy(curl().easy_init());
    if (easy) set_rules(easy.get());
    return easy;
  }

  void keep_handle(CurlEasy easy) {
    curl().easy_setopt(easy.get(), CURLOPT_HTTPHEADER, nullptr);  // the job's, with the key
    curl().easy_setopt(easy.get(), CURLOPT_POSTFIELDS, nullptr);
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdleHandles) idle_.push_back(std::move(easy));
  }

  const std::shared_ptr<Shared> shared_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> new_;  // these are under the mutex
  std::vector<CurlEasy> idle_;
  bool is_stopped_ = false;

  std::atomic<std::thread::id> driver_ = {};  // the thread of advance(), which has all below
  bool is_advancing_ = false;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::int64_t next_limit_ = 0;  // when to look at the limits of all

  std::jthread thread_;
};

Result<std::shared_ptr<CurlTransfers>> make_transfers() {
  const auto shared = std::make_shared<Shared>();
  WICK_DO(load_curl());
  WICK_TRY(shared->poller, CurlPoller::create());
  return std::make_shared<CurlTransfers>(shared);
}

}  // namespace

std::string_view TransferHead::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Result<std::shared_ptr<Transfers>> Transfers::create() {
  WICK_TRY(const auto made, make_transfers());
  WICK_DO(made->start_own_thread());
  return std::shared_ptr<Transfers>(made);
}

Result<std::shared_ptr<DrivenTransfers>> Transfers::create_driven() {
  WICK_TRY(auto made, make_transfers());
  return std::shared_ptr<DrivenTransfers>(std::move(made));
}

}  // namespace wick
