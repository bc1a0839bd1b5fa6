#include "server/traces.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "base/hex.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "net/http.h"
#include "net/url.h"
#include "server/json_out.h"
#include "server/limits.h"

namespace wick::server {

namespace {

constexpr std::chrono::seconds kPause{2};  // between two batches
constexpr std::chrono::seconds kLast{1};   // for the last one
constexpr std::size_t kTraceHex = 32, kSpanHex = 16;

bool is_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) noexcept {
  return text.find_first_not_of('0') == std::string_view::npos;
}

// n is a multiple of 16.
std::string random_hex(std::size_t n) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string text;
  for (std::size_t i = 0; i < n; i += 16)
    append_hex(text, random(), 16);
  return text;
}

void write_text(JsonOut& json, std::string_view key, std::string_view value) {
  json.object().field("key", key).key("value").object().field("stringValue", value);
  json.end_object().end_object();
}

// 64-bit integers are strings in OTLP's JSON.
void write_integer(JsonOut& json, std::string_view key, std::int64_t value) {
  json.object().field("key", key).key("value").object();
  json.field("intValue", std::to_string(value)).end_object().end_object();
}

void write_number(JsonOut& json, std::string_view key, double value) {
  json.object().field("key", key).key("value").object().field("doubleValue", value);
  json.end_object().end_object();
}

void write_attributes(JsonOut& json, const Span& span) {
  json.key("attributes").array();
  write_text(json, "gen_ai.operation.name", span.operation);
  write_text(json, "gen_ai.provider.name", "wick");
  write_text(json, "gen_ai.request.model", span.model);
  write_text(json, "gen_ai.response.model", span.model);
  write_integer(json, "gen_ai.usage.input_tokens", span.usage.prompt_tokens);
  write_integer(json, "gen_ai.usage.output_tokens", span.usage.generated_tokens);
  write_text(json, "wick.request.id", span.request_id);
  write_number(json, "wick.queue_ms", span.usage.queue_ms);
  write_number(json, "wick.prompt_ms", span.usage.prompt_ms);
  write_number(json, "wick.generate_ms", span.usage.generate_ms);
  if (!span.finish.empty()) {
    json.object().field("key", "gen_ai.response.finish_reasons").key("value").object();
    json.key("arrayValue").object().key("values").array().object();
    json.field("stringValue", span.finish).end_object().end_array().end_object();
    json.end_object().end_object();
  }
  if (!span.error.empty()) write_text(json, "error.type", span.error);
  json.end_array();
}

void write_span(JsonOut& json, const Span& span) {
  constexpr int kServer = 2, kError = 2;  // SpanKind, StatusCode
  const bool has_parent = !span.parent.trace_id.empty();
  json.object();
  json.field("traceId", has_parent ? span.parent.trace_id : random_hex(kTraceHex));
  json.field("spanId", random_hex(kSpanHex));
  if (has_parent) json.field("parentSpanId", span.parent.span_id);
  json.field("name", cat(span.operation, " ", span.model)).field("kind", kServer);
  json.field("startTimeUnixNano", std::to_string(span.begin_ns));
  json.field("endTimeUnixNano", std::to_string(span.end_ns));
  write_attributes(json, span);
  json.key("status").object();
  if (!span.error.empty()) json.field("code", kError);
  json.end_object().end_object();
}

}  // namespace

TraceParent parse_trace_parent(std::string_view header) {
  // 00-<32 hex>-<16 hex>-<2 hex>
  constexpr std::size_t kTrace = 3, kSpan = kTrace + kTraceHex + 1, kFlags = kSpan + kSpanHex + 1;
  if (header.size() < kFlags + 2 || !is_hex(header.substr(0, 2)) || header.starts_with("ff"))
    return {};
  if (header.size() > kFlags + 2 && (header.starts_with("00") || header[kFlags + 2] != '-'))
    return {};
  if (header[kTrace - 1] != '-' || header[kSpan - 1] != '-' || header[kFlags - 1] != '-') return {};
  const std::string_view trace = header.substr(kTrace, kTraceHex),
                         span = header.substr(kSpan, kSpanHex), flags = header.substr(kFlags, 2);
  if (!is_hex(trace) || !is_hex(span) || !is_hex(flags) || is_zero(trace) || is_zero(span))
    return {};
  const char last = flags[1];
  const int digit = last <= '9' ? last - '0' : last - 'a' + 10;
  return {
      .trace_id = std::string(trace), .span_id = std::string(span), .is_sampled = (digit & 1) != 0};
}

std::string otlp_json(const std::vector<Span>& spans, std::string_view version) {
  std::string text;
  JsonOut json(text);
  json.object().key("resourceSpans").array().object();
  json.key("resource").object().key("attributes").array();
  write_text(json, "service.name", "wick");
  write_text(json, "service.version", version);
  json.end_array().end_object();
  json.key("scopeSpans").array().object();
  json.key("scope").object().field("name", "wick").field("version", version).end_object();
  json.key("spans").array();
  for (const Span& span : spans)
    write_span(json, span);
  json.end_array().end_object().end_array();
  json.end_object().end_array().end_object();
  return text;
}

Result<std::unique_ptr<Traces>> Traces::start(const std::string& endpoint, std::string version) {
  WICK_DO(parse_url(endpoint));
  auto traces = std::unique_ptr<Traces>(new Traces(std::move(version)));
  const std::string_view slash = endpoint.ends_with('/') ? "" : "/";
  traces->url_ = cat(endpoint, slash, "v1/traces");
  WICK_TRY(traces->thread_,
           start_thread([raw = traces.get()](const std::stop_token& stop) { raw->run(stop); }));
  return traces;
}

Traces::~Traces() {
  if (!thread_.joinable()) return;  // start() failed
  thread_.request_stop();
  thread_.join();
}

void Traces::add(Span span) {
  if (!span.parent.is_sampled) return;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxSpans) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(span));
  }
}

std::uint64_t Traces::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void Traces::run(const std::stop_token& stop) {
  for (bool is_last = false; !is_last;) {
    std::vector<Span> spans;
    {
      std::unique_lock lock(mutex_);
      more_.wait_for(lock, stop, kPause, [] { return false; });
      is_last = stop.stop_requested();
      spans.swap(waiting_);
    }
    if (!spans.empty()) send(spans);
  }
}

void Traces::send(const std::vector<Span>& spans) {
  const bool is_last = thread_.get_stop_token().stop_requested();
  const auto limit = is_last ? kLast : std::chrono::seconds(10);
  const auto status =
      http_post({.url = url_,
                 .headers = {"Content-Type: application/json", "Expect:"},
                 .connect_timeout_ms = 1000,
                 .idle_timeout_ms = static_cast<int>(std::chrono::milliseconds(limit).count()),
                 .post = otlp_json(spans, version_)});
  const bool is_taken = status && *status / 100 == 2;
  if (!is_taken) {
    const std::lock_guard lock(mutex_);
    dropped_ += spans.size();
  }
  if (std::exchange(has_failed_, !is_taken) || is_taken) return;
  log_message(LogLevel::kWarning,
              cat("the collector of traces takes none: ",
                  status ? cat("status ", *status) : to_string(status.error())));
}

}  // namespace wick::server
