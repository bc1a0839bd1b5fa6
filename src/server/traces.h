// Spans of answers for OpenTelemetry, sent as OTLP/HTTP in JSON to a collector by a separate
// thread, in batches. Answers never wait for it: if the queue is full, a span is counted and
// dropped. Names follow the GenAI semantic conventions, which are still in development. Any thread.
//
//   WICK_TRY(const auto traces, Traces::start("http://localhost:4318", "0.1.0"));
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "wick/usage.h"

namespace wick::server {

// Of a request's header `traceparent` (W3C), in lower-case hex; empty: it has none that is sound.
struct TraceParent {
  std::string trace_id = {}, span_id = {};
  bool is_sampled = true;
};

TraceParent parse_trace_parent(std::string_view header);

struct Span {
  TraceParent parent = {};
  std::string request_id = {}, model = {};
  std::string operation = {};             // "chat", "text_completion"
  std::int64_t begin_ns = 0, end_ns = 0;  // Unix time
  std::string finish = {};                // "stop"; empty: there was no end
  std::string error = {};                 // an id; empty: none
  Usage usage = {};
  // For the audit log (server/audit.h) alone.
  std::string key = {}, tag = {};  // of the client
  std::string provider = {}, rule = {};
};

class Traces {
 public:
  // `endpoint`: of the collector, without "/v1/traces". kInvalid if it is no URL.
  static Result<std::unique_ptr<Traces>> start(const std::string& endpoint, std::string version);
  ~Traces();  // sends what is left, for a second at most
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  void add(Span span);

  std::uint64_t dropped() const;

 private:
  explicit Traces(std::string version) : version_(std::move(version)) {}

  void run(const std::stop_token& stop);
  void send(const std::vector<Span>& spans);

  std::string url_, version_;
  mutable std::mutex mutex_;
  std::condition_variable_any more_;
  std::vector<Span> waiting_;
  std::uint64_t dropped_ = 0;
  bool has_failed_ = false;  // the collector, of late
  std::jthread thread_;
};

// The body of an export.
std::string otlp_json(const std::vector<Span>& spans, std::string_view version);

}  // namespace wick::server
