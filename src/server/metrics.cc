// Families of prometheus-cpp, made of what the provider and the routes count at the time of a
// scrape.
#include <prometheus/text_serializer.h>

#include "server/status.h"

namespace wick::server {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  void counter(std::string_view name, std::string_view help, const Labels& labels, double value) {
    add(name, help, MetricType::Counter, labels).counter.value = value;
  }

  void gauge(std::string_view name, std::string_view help, const Labels& labels, double value) {
    add(name, help, MetricType::Gauge, labels).gauge.value = value;
  }

  // Milliseconds as seconds.
  void histogram(std::string_view name, std::string_view help, const Labels& labels,
                 const Histogram& from) {
    auto& to = add(name, help, MetricType::Histogram, labels).histogram;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < from.counts.size(); ++i) {
      sum += from.counts[i];
      const bool is_last = i == Histogram::kBounds.size();
      to.bucket.push_back(
          {sum, is_last ? std::numeric_limits<double>::infinity() : Histogram::kBounds[i] / 1000});
    }
    to.sample_count = sum;
    to.sample_sum = from.sum_ms / 1000;
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  ClientMetric& add(std::string_view name, std::string_view help, MetricType type,
                    const Labels& labels) {
    auto family = families_.begin();
    while (family != families_.end() && family->name != name)
      ++family;
    if (family == families_.end()) {
      families_.push_back({std::string(name), std::string(help), type, {}});
      family = families_.end() - 1;
    }
    ClientMetric& metric = family->metric.emplace_back();
    metric.label = labels;
    return metric;
  }

  std::vector<MetricFamily> families_;
};

double number(std::uint64_t n) noexcept {
  return static_cast<double>(n);
}

double used_share(const Statistics& s) noexcept {
  if (s.cache_blocks == 0) return 0;
  return static_cast<double>(s.cache_blocks - s.free_blocks) / s.cache_blocks;
}

void add_model(Families& f, const Labels& model, const Statistics& s) {
  f.gauge("wick_requests_running", "Running requests", model, s.running);
  f.gauge("wick_requests_waiting", "Waiting requests", model, s.waiting);
  f.gauge("wick_request_slots", "Maximum of running requests", model, s.slots);
  f.gauge("wick_cache_blocks", "KV cache blocks of 16 tokens", model, s.cache_blocks);
  f.gauge("wick_cache_free_blocks", "KV cache blocks not used by running requests", model,
          s.free_blocks);
  f.gauge("wick_cache_usage_ratio", "Fraction of KV cache blocks used by running requests", model,
          used_share(s));
  f.counter("wick_requests_total", "Finished requests", model, number(s.requests));
  f.counter("wick_requests_cancelled_total", "Cancelled requests", model, number(s.cancelled));
  f.counter("wick_requests_failed_total", "Requests that ended with an error", model,
            number(s.failed));
  f.counter("wick_prompt_tokens_total", "Prompt tokens", model, number(s.prompt_tokens));
  f.counter("wick_cached_prompt_tokens_total", "Prompt tokens found in the prefix cache", model,
            number(s.cached_tokens));
  f.counter("wick_generated_tokens_total", "Generated tokens", model, number(s.generated_tokens));
  f.counter("wick_draft_tokens_total", "Draft tokens proposed by speculative decoding", model,
            number(s.draft_tokens));
  f.counter("wick_accepted_draft_tokens_total", "Accepted draft tokens", model,
            number(s.accepted_tokens));
  f.counter("wick_preemptions_total", "Preemptions", model, number(s.preemptions));
  f.histogram("wick_queue_time_seconds", "Time from arrival to admission", model, s.queue_ms);
  f.histogram("wick_time_to_first_token_seconds", "Time from arrival to the first token", model,
              s.ttft_ms);
  f.histogram("wick_inter_token_latency_seconds", "Mean time between two tokens of a request",
              model, s.itl_ms);
  f.histogram("wick_e2e_request_latency_seconds", "Time from arrival to the last token", model,
              s.e2e_ms);
}

// vLLM's names, for dashboards and gateways.
void add_vllm_model(Families& f, const Labels& model, const Statistics& s) {
  f.gauge("vllm:num_requests_running", "Running requests", model, s.running);
  f.gauge("vllm:num_requests_waiting", "Waiting requests", model, s.waiting);
  f.gauge("vllm:kv_cache_usage_perc", "Fraction of the KV cache in use", model, used_share(s));
  f.gauge("vllm:gpu_cache_usage_perc", "Older name of vllm:kv_cache_usage_perc", model,
          used_share(s));
  f.counter("vllm:prefix_cache_queries_total", "Prompt tokens", model, number(s.prompt_tokens));
  f.counter("vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache", model,
            number(s.cached_tokens));
  f.counter("vllm:prompt_tokens_total", "Prompt tokens", model, number(s.prompt_tokens));
  f.counter("vllm:generation_tokens_total", "Generated tokens", model, number(s.generated_tokens));
  f.counter("vllm:num_preemptions_total", "Preemptions", model, number(s.preemptions));
  f.histogram("vllm:request_queue_time_seconds", "Time from arrival to admission", model,
              s.queue_ms);
  f.histogram("vllm:time_to_first_token_seconds", "To the first token", model, s.ttft_ms);
  f.histogram("vllm:inter_token_latency_seconds", "Between two tokens", model, s.itl_ms);
  f.histogram("vllm:e2e_request_latency_seconds", "To the last token", model, s.e2e_ms);
}

void add_routes(Families& f, Context& context) {
  RouteCounters& c = context.counters;
  for (const auto reason :
       {FinishReason::kEos, FinishReason::kStop, FinishReason::kLength, FinishReason::kCancelled,
        FinishReason::kToolCalls, FinishReason::kContentFilter, FinishReason::kError}) {
    if (reason == FinishReason::kStop) continue;  // same name as kEos
    std::uint64_t n = c.finished[static_cast<std::size_t>(reason)];
    if (reason == FinishReason::kEos)
      n += c.finished[static_cast<std::size_t>(FinishReason::kStop)];
    const std::string word(name(reason));
    f.counter("wick_answers_total", "Finished answers by finish reason", {{"finish_reason", word}},
              number(n));
    if (context.options.has_vllm_metrics) {
      f.counter("vllm:request_success_total", "Finished answers by finish reason",
                {{"finished_reason", word}}, number(n));
    }
  }
  const char* const help = "Refused requests by reason";
  f.counter("wick_refusals_total", help, {{"reason", "request"}}, number(c.refused));
  f.counter("wick_refusals_total", help, {{"reason", "overload"}}, number(c.overloaded));
  f.counter("wick_refusals_total", help, {{"reason", "failure"}}, number(c.failed));
  f.gauge("wick_answers_under_way", "Answers in progress", {}, c.paces.under_way());
  f.histogram("wick_prefill_time_seconds", "Time from admission to the first token", {},
              c.prefill_ms.read());
  f.histogram("wick_decode_time_seconds", "Time from the first token to the last", {},
              c.decode_ms.read());
  if (context.options.has_vllm_metrics) {
    f.histogram("vllm:request_prefill_time_seconds", "Time from admission to the first token", {},
                c.prefill_ms.read());
    f.histogram("vllm:request_decode_time_seconds", "Time from the first token to the last", {},
                c.decode_ms.read());
  }
  f.gauge("wick_build_info", "Always 1; the label is the version",
          {{"version", context.options.version}}, 1);
  f.gauge("wick_start_time_seconds", "Start time of the server as Unix time", {},
          static_cast<double>(context.started_s));
}

void add_transport(Families& f, const http::Counters& c) {
  f.counter("wick_http_connections_total", "Connections that were accepted", {},
            number(c.connections));
  f.gauge("wick_http_connections_open", "Connections now", {}, number(c.open));
  f.counter("wick_http_connections_refused_total", "Connections beyond the limits", {},
            number(c.refused));
  f.counter("wick_http_requests_total", "Requests that were answered, also by an error", {},
            number(c.requests));
  f.counter("wick_http_requests_cancelled_total", "Requests whose client went before the end", {},
            number(c.cancelled));
  f.counter("wick_http_requests_failed_total", "Requests with a status from 500 on", {},
            number(c.failed));
  f.counter("wick_http_sent_bytes_total", "Bytes of bodies that were sent", {},
            number(c.sent_bytes));
}

}  // namespace

http::Reply metrics(const SharedContext& context, const http::Request& /*request*/,
                    const std::shared_ptr<Wake>& /*wake*/) {
  Families families;
  if (const auto infos = context->provider->models()) {
    for (const ModelInfo& info : *infos) {
      const auto now = context->provider->statistics(info.name);
      if (!now) continue;
      add_model(families, {{"model", info.name}}, *now);
      if (context->options.has_vllm_metrics)
        add_vllm_model(families, {{"model_name", info.name}}, *now);
    }
  }
  add_routes(families, *context);
  const auto& transport = context->options.transport;
  if (const http::Counters* const counters = transport ? transport() : nullptr)
    add_transport(families, *counters);
  return http::Response{.type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = families.text()};
}

}  // namespace wick::server
