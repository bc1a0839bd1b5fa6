#include "server/choices.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::server {

namespace {

constexpr std::size_t kUsualHeadBytes = 256, kUsualBytes = 1024;  // the head, with a whole answer

}  // namespace

Choices::Choices(Context& context, const ParsedRequest& parsed, std::string_view id_prefix,
                 std::string_view object)
    : shape_(parsed), has_scores_(parsed.request.generation.logprobs) {
  head_.reserve(shape_.streams ? kUsualHeadBytes : kUsualBytes);
  JsonOut json(head_);
  json.raw(R"({"id":")", make_id(context, id_prefix), R"(","object":")", object, R"(","created":)",
           unix_seconds(), R"(,"model":)");
  json.text(parsed.request.model);
  json.raw(R"("system_fingerprint":"wick-)", context.options.version, "\"");
}

void Choices::count(Usage usage, std::size_t choice) {
  if (shape_.is_scored_only) usage.generated_tokens = 0;
  usage_.add(usage, choice % static_cast<std::size_t>(shape_.n) == 0);
}

void Choices::finish(std::string& out) const {
  if (shape_.includes_usage) {
    std::string last = cat(head_, R"(,"choices":[],"usage":)");
    JsonOut json(last);
    write_usage(json, usage_.usage);
    append_data(out, cat(last, "}"));
  }
  out += kStreamEnd;
}

http::Response Choices::whole(const std::vector<Gather>& answers, const Write& write) {
  http::Response response;
  response.body = std::move(head_);
  JsonOut json = JsonOut::on(response.body);
  write_all(json, answers, write);
  for (std::size_t i = 0; i < answers.size(); ++i)
    count(answers[i].completion.usage, i);
  json.key("usage");
  write_usage(json, usage_.usage);
  const Completion& first = answers.front().completion;
  if (answers.size() == 1) write_extras(json, shape_, first.usage, first.parameters);
  json.end_object();
  return response;
}

http::Response Choices::refuse(const ApiError& error, const std::vector<Gather>& answers,
                               const Write& write) const {
  http::Response response = error_head(error);
  response.body = cat("{\"error\":", error_object(error));
  JsonOut json = JsonOut::on(response.body);
  const auto has_said = [](const Gather& one) { return one.has_said(); };
  if (std::any_of(answers.begin(), answers.end(), has_said)) write_all(json, answers, write);
  json.end_object();
  return response;
}

void Choices::write_all(JsonOut& json, const std::vector<Gather>& answers,
                        const Write& write) const {
  json.key("choices").array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Completion& c = answers[i].completion;
    json.object().field("index", i);
    write(json, i, c);
    json.field_or_null("finish_reason", name(c.finish));
    if (answers.size() > 1) write_extras(json, shape_, c.usage, c.parameters);
    json.end_object();
  }
  json.end_array();
}

}  // namespace wick::server
