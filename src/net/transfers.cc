#include "net/transfers.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "base/thread.h"
#include "net/curl_handles.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

constexpr long kMaxIdleConnections = 256;
constexpr int kIdlePollMs = 10'000;
constexpr int kCheckMs = 100;  // limits are checked at least so often
constexpr std::int64_t kNsPerMs = 1'000'000;

struct MultiFree {
  void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
};

// Outlives the thread: Transfer::cancel() may come at any time.
struct Shared {
  std::unique_ptr<CURLM, MultiFree> multi = {};
  std::atomic<bool> has_signals = false;  // some job is to be cancelled or resumed

  void signal() noexcept {
    has_signals.store(true, std::memory_order_release);
    curl().multi_wakeup(multi.get());
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
  std::string shown = {};  // the URL, for messages
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
    sink->head(head);
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
    const std::string_view rest = trim(line.substr(std::min(line.find(' '), line.size())));
    std::from_chars(rest.data(), rest.data() + rest.size(), head.status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = ascii_lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-type")
    head.content_type = ascii_lower(trim(value.substr(0, value.find(';'))));
  head.headers.emplace_back(name, value);
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
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

void set_options(Job& job) {
  CURL* const easy = job.easy.get();
  const TransferRequest& request = job.request;
  curl().easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  if (!request.unix_socket.empty())
    curl().easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  curl().easy_setopt(easy, CURLOPT_PROXY, "");  // it would choose the addresses
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_ms));
  curl().easy_setopt(easy, CURLOPT_USERAGENT, "wick");
  curl().easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  curl().easy_setopt(easy, CURLOPT_HTTPHEADER, job.headers.get());
  curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl().easy_setopt(easy, CURLOPT_HEADERDATA, &job);
  curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl().easy_setopt(easy, CURLOPT_WRITEDATA, &job);
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &job);
  curl().easy_setopt(easy, CURLOPT_PRIVATE, &job);
  if (!request.body.empty()) {
    curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
}

bool is_before_sending(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
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
               .message = cat(job.shown, ": ", what)};
}

class CurlTransfers final : public Transfers {
 public:
  explicit CurlTransfers(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  ~CurlTransfers() override {
    thread_.request_stop();
    shared_->signal();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> begin() {
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { run(stop); }));
    return {};
  }

  Result<std::shared_ptr<Transfer>> start(TransferRequest request,
                                          std::shared_ptr<TransferSink> sink) override {
    WICK_TRY(const UrlParts url, parse_url(request.url));
    const auto job = std::make_shared<Job>(shared_, std::move(request), std::move(sink));
    job->shown = printable(url.shown);
    job->easy.reset(curl().easy_init());
    if (!job->easy)
      return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
    std::vector<std::string> lines = {"Expect:"};  // no waiting for 100 Continue
    lines.insert(lines.end(), job->request.headers.begin(), job->request.headers.end());
    WICK_TRY(job->headers, curl_headers(lines));
    set_options(*job);
    {
      const std::lock_guard lock(mutex_);
      new_.push_back(job);
    }
    shared_->signal();
    return std::shared_ptr<Transfer>(job);
  }

 private:
  void run(const std::stop_token& stop) {
    while (true) {
      add_new();
      if (shared_->has_signals.exchange(false, std::memory_order_acq_rel)) obey_signals();
      if (stop.stop_requested()) return end_all();
      int n_running = 0;
      curl().multi_perform(shared_->multi.get(), &n_running);
      take_ends();
      const int wait_ms = enforce_limits();
      curl().multi_poll(shared_->multi.get(), nullptr, 0, wait_ms, nullptr);
    }
  }

  void add_new() {
    std::vector<std::shared_ptr<Job>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(new_);
    }
    if (!taken.empty()) next_limit_ = 0;
    for (std::shared_ptr<Job>& job : taken) {
      curl().multi_add_handle(shared_->multi.get(), job->easy.get());
      jobs_.push_back(std::move(job));
    }
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
    while (const CURLMsg* const message = curl().multi_info_read(shared_->multi.get(), &n_left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      char* user = nullptr;
      curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
      Job& job = *reinterpret_cast<Job*>(user);
      if (code == CURLE_OK) job.send_head();
      finish(job, code);
    }
  }

  // Returns how long nothing has to be done, in milliseconds.
  int enforce_limits() {
    const std::int64_t now = monotonic_ns();
    if (jobs_.empty()) return kIdlePollMs;
    if (now < next_limit_) return static_cast<int>((next_limit_ - now) / kNsPerMs) + 1;
    std::int64_t next = now + kCheckMs * kNsPerMs;
    for (const auto& job : std::vector(jobs_)) {
      const auto [at, id] = job->deadline();
      if (at != 0 && at <= now) {
        abandon(*job, id);
      } else if (at != 0) {
        next = std::min(next, at);
      }
    }
    next_limit_ = next;
    return static_cast<int>((next - now) / kNsPerMs) + 1;
  }

  void end_all() {
    add_new();
    for (const auto& job : std::vector(jobs_))
      abandon(*job, "cancelled");
  }

  void abandon(Job& job, std::string id) {
    job.end_id = std::move(id);
    finish(job, CURLE_ABORTED_BY_CALLBACK);
  }

  void finish(Job& job, CURLcode code) {
    curl().multi_remove_handle(shared_->multi.get(), job.easy.get());
    const auto sink = std::move(job.sink);
    const std::optional<Error> error = error_of(job, code);
    std::erase_if(jobs_, [&](const std::shared_ptr<Job>& one) {
      if (one.get() != &job) return false;
      one->easy.reset();
      return true;
    });
    sink->end(error);
  }

  const std::shared_ptr<Shared> shared_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> new_;   // under the mutex
  std::vector<std::shared_ptr<Job>> jobs_;  // of the thread
  std::int64_t next_limit_ = 0;             // when to look at the limits of all
  std::jthread thread_;
};

}  // namespace

std::string_view TransferHead::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Result<std::shared_ptr<Transfers>> Transfers::create() {
  const auto shared = std::make_shared<Shared>();
  WICK_DO(load_curl());
  shared->multi.reset(curl().multi_init());
  if (!shared->multi)
    return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
  curl().multi_setopt(shared->multi.get(), CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  const auto made = std::make_shared<CurlTransfers>(shared);
  WICK_DO(made->begin());
  return std::shared_ptr<Transfers>(made);
}

}  // namespace wick
