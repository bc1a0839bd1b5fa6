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

Result<ParsedRequest> read_files_request(Context& context, const http::Request& request, Api api) {
  if (context.options.files == nullptr) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "not_supported",
                 .message = "this server has no store of models"};
  }
  WICK_TRY(const Object body, read_body(request.body));
  ParsedRequest parsed;
  parsed.api = api;
  parsed.streams = true;
  WICK_DO(read_fields(api, body, parsed));
  std::string& name = api == kOllamaCopy ? parsed.source : parsed.request.model;
  if (name.empty()) return bad_field(api == kOllamaCopy ? "source" : "model", "is missing");
  name = plain_name(std::move(name));
  parsed.destination = plain_name(std::move(parsed.destination));
  return parsed;
}

http::Response pull(Context& context, const ParsedRequest& parsed, TaskClient& client) {
  if (parsed.streams) client.tell(status_line("pulling manifest"));
  std::int64_t last_ns = 0;
  const auto progress = [&](const FetchProgress& now) {
    const std::int64_t now_ns = context.options.clock->now_ns();
    if (!parsed.streams || (now_ns - last_ns < kLineNs && now.done != now.all)) return;
    last_ns = now_ns;
    client.tell(progress_line(now));
  };
  const auto done = context.options.files->pull(parsed.request.model, progress, client.gone());
  if (!done) {
    http::Response response = ollama_refusal(refusal(context, done.error()));
    response.body += "\n";
    return response;
  }
  return {.type = parsed.streams ? "application/x-ndjson" : "application/json",
          .body = status_line("success")};
}

http::Response done_or_refused(Context& context, const Result<void>& done) {
  return done ? http::Response() : ollama_refusal(refusal(context, done.error()));
}

}  // namespace

http::Reply ollama_pull(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto parsed = read_files_request(*context, request, kOllamaFiles);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& client) {
        return pull(*context, parsed, client);
      },
      wake);
}

http::Reply ollama_delete(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& wake) {
  auto parsed = read_files_request(*context, request, kOllamaFiles);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& /*client*/) {
        return done_or_refused(*context, context->options.files->remove(parsed.request.model));
      },
      wake);
}

http::Reply ollama_copy(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto parsed = read_files_request(*context, request, kOllamaCopy);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& /*client*/) {
        return done_or_refused(*context,
                               context->options.files->copy(parsed.source, parsed.destination));
      },
      wake);
}

}  // namespace wick::server
