// Ollama's routes of admins: what is fetched, copied and removed.
#include "base/clock.h"
#include "server/fields.h"
#include "server/json_in.h"
#include "server/json_out.h"
#include "server/ollama.h"
#include "server/task.h"

namespace wick::server {

namespace {

constexpr std::int64_t kLineNs = 100'000'000;  // between two lines of progress

std::string status_line(std::string_view status) {
  std::string line;
  JsonOut(line).object().field("status", status).end_object();
  return line + "\n";
}

std::string progress_line(const FetchProgress& now) {
  std::string line;
  JsonOut json(line);
  json.object().field("status", cat("pulling ", now.what)).field("digest", now.what);
  json.field("total", now.all).field("completed", now.done).end_object();
  return line + "\n";
}

// "name" of older clients; "smol:latest" is "smol".
std::string plain_name(std::string name) {
  constexpr std::string_view kLatest = ":latest";
  if (name.size() > kLatest.size() && name.ends_with(kLatest))
    name.resize(name.size() - kLatest.size());
  return name;
}

Result<Ask> read_files_ask(Context& context, const http::Request& request, Api api) {
  if (context.options.files == nullptr) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "not_supported",
                 .message = "this server has no store of models"};
  }
  WICK_TRY(const Object body, read_body(request.body));
  Ask ask{.api = api, .streams = true};
  WICK_DO(read_fields(api, body, ask));
  std::string& name = api == kOllamaCopy ? ask.source : ask.request.model;
  if (name.empty()) return bad_field(api == kOllamaCopy ? "source" : "model", "is missing");
  name = plain_name(std::move(name));
  ask.destination = plain_name(std::move(ask.destination));
  return ask;
}

http::Response pull(Context& context, const Ask& ask, TaskClient& client) {
  if (ask.streams) client.tell(status_line("pulling manifest"));
  std::int64_t last_ns = 0;
  const auto progress = [&](const FetchProgress& now) {
    const std::int64_t now_ns = context.options.clock->now_ns();
    if (!ask.streams || (now_ns - last_ns < kLineNs && now.done != now.all)) return;
    last_ns = now_ns;
    client.tell(progress_line(now));
  };
  const auto done = context.options.files->pull(ask.request.model, progress, client.gone());
  if (!done) {
    http::Response response = ollama_refusal(refusal(context, done.error()));
    response.body += "\n";
    return response;
  }
  return {.type = ask.streams ? "application/x-ndjson" : "application/json",
          .body = status_line("success")};
}

http::Response done_or_refused(Context& context, const Result<void>& done) {
  return done ? http::Response() : ollama_refusal(refusal(context, done.error()));
}

}  // namespace

http::Reply ollama_pull(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto ask = read_files_ask(*context, request, kOllamaFiles);
  if (!ask) return ollama_refusal(refusal(*context, ask.error()));
  return run_task(
      context,
      [context, ask = *std::move(ask)](TaskClient& client) { return pull(*context, ask, client); },
      wake);
}

http::Reply ollama_delete(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& wake) {
  auto ask = read_files_ask(*context, request, kOllamaFiles);
  if (!ask) return ollama_refusal(refusal(*context, ask.error()));
  return run_task(
      context,
      [context, ask = *std::move(ask)](TaskClient& /*client*/) {
        return done_or_refused(*context, context->options.files->remove(ask.request.model));
      },
      wake);
}

http::Reply ollama_copy(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto ask = read_files_ask(*context, request, kOllamaCopy);
  if (!ask) return ollama_refusal(refusal(*context, ask.error()));
  return run_task(
      context,
      [context, ask = *std::move(ask)](TaskClient& /*client*/) {
        return done_or_refused(*context, context->options.files->copy(ask.source, ask.destination));
      },
      wake);
}

}  // namespace wick::server
