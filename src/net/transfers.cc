#include "net/transfers.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "base/strings.h"
#include "base/thread.h"
#include "net/curl_handles.h"
#include "net/curl_poller.h"
#include "net/http.h"
#include "net/plain_http.h"
#include "net/transfer_job.h"

namespace wick {

namespace {

constexpr int kCheckMs = 100;  // limits are checked at least so often
constexpr std::size_t kMaxIdleHandles = 16;
constexpr std::size_t kMaxTargets = 64;  // that are remembered

using Job = TransferJob;

void read_header_line(std::string_view line, Job& job) {
  if (line.starts_with("HTTP/")) {
    const std::string_view rest = trim_header(line.substr(std::min(line.find(' '), line.size())));
    int status = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), status);
    return job.take_status(status);
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  job.take_header(line.substr(0, colon), trim_header(line.substr(colon + 1)));
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
  if (!trim_header(line).empty()) {
    read_header_line(line, job);
  } else if (job.head.status >= 200) {  // not of 100 Continue
    job.send_head();
  }
  return size * n;
}

std::size_t on_body(char* data, std::size_t size, std::size_t n, void* user) {
  Job& job = *static_cast<Job*>(user);
  if (job.give_body({data, size * n})) return size * n;
  return job.is_full ? CURL_WRITEFUNC_PAUSE : 0;
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

std::optional<Error> error_of(const Job& job, CURLcode code) {
  if (code == CURLE_OK || job.is_stopped) return std::nullopt;
  if (code == CURLE_BAD_CONTENT_ENCODING)
    return job.error("bad_answer", "the answer's compression is damaged");
  std::string id = job.end_id;
  if (!id.empty()) return job.error(std::move(id), "");
  if (job.is_address_refused && is_before_sending(code)) id = "address_refused";
  if (id.empty()) id = is_before_sending(code) ? "no_connection" : "cut";
  return job.error(std::move(id), curl().easy_strerror(code));
}

Error stopped() {
  return {.code = ErrorCode::kCancelled,
          .id = "cancelled",
          .message = "no request is sent any more"};
}

class CurlTransfers final : public DrivenTransfers, private Pollable {
 public:
  CurlTransfers(std::shared_ptr<TransferShared> shared, const TransferOptions& options)
      : shared_(std::move(shared)),
        has_plain_(!options.has_only_curl),
        plain_(*shared_->poller, [this](Job& job, std::string_view id, std::string_view why) {
          end(job, id.empty() ? std::nullopt : std::optional(job.error(std::string(id), why)));
        }) {}

  ~CurlTransfers() override {
    if (thread_.joinable()) {
      thread_.request_stop();
      shared_->signal();
      thread_.join();
    } else {
      stop();
    }
    shared_->poller->leave();
  }

  Result<void> watch() { return shared_->poller->set_owner(*this); }

  Result<void> start_own_thread() {
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { run(stop); }));
    return {};
  }

  int fd() const noexcept override { return shared_->poller->poller().fd(); }

  Result<std::shared_ptr<Transfer>> start(TransferRequest request,
                                          std::shared_ptr<TransferSink> sink) override {
    const auto job = std::make_shared<Job>(shared_, std::move(request), std::move(sink));
    WICK_DO(check_headers(job->request.headers));
    job->target = target_of(job->request);
    if (job->target == nullptr) WICK_DO(set_up_curl(*job));
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

  void advance() override {
    driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    shared_->poller->poller().wait(0, {});
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
    while (!token.stop_requested())
      shared_->poller->poller().wait(-1, {});
    stop();
  }

  // Limits are looked at when the timer says so.
  void on_ready(int fd, std::uint32_t events) override {
    driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const Advancing inside(*this);
    const auto ready = shared_->poller->advance(fd, events);
    if (shared_->has_signals.load(std::memory_order_relaxed) &&
        shared_->has_signals.exchange(false, std::memory_order_acq_rel)) {
      add_new();
      obey_signals();
      shared_->poller->run_timer();
      take_ends();
    }
    if (ready != CurlPoller::Ready::kOther) take_ends();
    if (ready == CurlPoller::Ready::kTimer) enforce_limits();
    shared_->poller->arm(jobs_.empty() ? 0 : next_limit_);
  }

  // On the thread that advances.
  void send_now(const std::shared_ptr<Job>& job) {
    CurlPoller& poller = *shared_->poller;
    const Advancing inside(*this);
    add(job);
    if (job->target == nullptr) {
      poller.run_timer();
      take_ends();
    }
    poller.arm(jobs_.empty() ? 0 : next_limit_);
  }

  // The target of a request that does not need libcurl, else null.
  std::shared_ptr<const PlainTarget> target_of(const TransferRequest& request) {
    if (!has_plain_) return nullptr;
    const std::string key =
        cat(static_cast<int>(request.endpoint), request.unix_socket, " ", request.url);
    const std::lock_guard lock(mutex_);
    if (const auto found = targets_.find(key); found != targets_.end()) return found->second;
    if (targets_.size() >= kMaxTargets) targets_.clear();
    return targets_.emplace(key, plain_target(request)).first->second;
  }

  Result<void> set_up_curl(Job& job) {
    job.easy = take_handle();
    if (!job.easy)
      return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
    std::vector<std::string> lines = {"Expect:"};  // no waiting for 100 Continue
    lines.insert(lines.end(), job.request.headers.begin(), job.request.headers.end());
    WICK_TRY(job.headers, curl_headers(lines));
    set_options(job);
    return {};
  }

  void add(const std::shared_ptr<Job>& job) {
    jobs_.push_back(job);
    if (job->target != nullptr) {
      plain_.start(*job);
    } else {
      curl().multi_add_handle(shared_->multi(), job->easy.get());
    }
    std::int64_t next = job->started + kCheckMs * kNsPerMs;
    if (const std::int64_t at = job->deadline().first; at != 0) next = std::min(next, at);
    next_limit_ = jobs_.size() < 2 ? next : std::min(next, next_limit_);
  }

  void add_new() {
    std::vector<std::shared_ptr<Job>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(new_);
    }
    for (const std::shared_ptr<Job>& job : taken)
      add(job);
  }

  void obey_signals() {
    for (const auto& job : std::vector(jobs_)) {
      if (job->is_cancelled.load(std::memory_order_acquire)) {
        abandon(*job, "cancelled");
      } else if (job->is_resumed.exchange(false, std::memory_order_acq_rel) && job->is_full) {
        job->is_full = false;
        job->progress = monotonic_ns();
        if (job->target != nullptr) {
          plain_.resume(*job);
        } else {
          curl().easy_pause(job->easy.get(), CURLPAUSE_CONT);  // may call on_body()
        }
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

  void enforce_limits() {
    const std::int64_t now = monotonic_ns();
    if (jobs_.empty() || now < next_limit_) return;
    next_limit_ = now + kCheckMs * kNsPerMs;
    for (const auto& job : std::vector(jobs_)) {
      const auto [at, id] = job->deadline();
      if (at != 0 && at <= now) {
        abandon(*job, id);
      } else if (at != 0) {
        next_limit_ = std::min(next_limit_, at);
      }
    }
  }

  void abandon(Job& job, std::string id) {
    if (job.target != nullptr) {
      plain_.leave(job);
      return end(job, job.error(std::move(id), ""));
    }
    job.end_id = std::move(id);
    finish(job, CURLE_ABORTED_BY_CALLBACK);
  }

  // Of libcurl's.
  void finish(Job& job, CURLcode code) {
    curl().multi_remove_handle(shared_->multi(), job.easy.get());
    CurlEasy easy = std::move(job.easy);
    if (code == CURLE_OK) keep_handle(std::move(easy));
    end(job, error_of(job, code));
  }

  void end(Job& job, std::optional<Error> error) {
    const auto sink = std::move(job.sink);
    std::erase_if(jobs_, [&](const std::shared_ptr<Job>& one) { return one.get() == &job; });
    sink->end(std::move(error));
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

  const std::shared_ptr<TransferShared> shared_;
  const bool has_plain_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> new_;  // these are under the mutex
  std::vector<CurlEasy> idle_;
  std::unordered_map<std::string, std::shared_ptr<const PlainTarget>> targets_;
  bool is_stopped_ = false;

  std::atomic<std::thread::id> driver_ = {};  // the thread of advance(), which has all below
  bool is_advancing_ = false;
  PlainHttp plain_;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::int64_t next_limit_ = 0;  // when to look at the limits of all

  std::jthread thread_;
};

Result<std::shared_ptr<CurlTransfers>> make_transfers(const TransferOptions& options) {
  const auto shared = std::make_shared<TransferShared>();
  WICK_DO(load_curl());
  WICK_TRY(shared->poller, CurlPoller::create(options.poller));
  auto made = std::make_shared<CurlTransfers>(shared, options);
  WICK_DO(made->watch());
  return made;
}

}  // namespace

std::string_view TransferHead::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Result<std::shared_ptr<Transfers>> Transfers::create(const TransferOptions& options) {
  WICK_TRY(const auto made, make_transfers(options));
  WICK_DO(made->start_own_thread());
  return std::shared_ptr<Transfers>(made);
}

Result<std::shared_ptr<DrivenTransfers>> Transfers::create_driven(
    const TransferOptions& options) {
  WICK_TRY(auto made, make_transfers(options));
  return std::shared_ptr<DrivenTransfers>(std::move(made));
}

}  // namespace wick
