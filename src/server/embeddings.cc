#include "server/embeddings.h"

#include <bit>
#include <charconv>
#include <numeric>

#include "base/base64.h"
#include "server/answers.h"
#include "server/fields.h"
#include "server/json_out.h"
#include "server/limits.h"
#include "server/task.h"

namespace wick::server {

static_assert(std::endian::native == std::endian::little, "base64 is of little-endian floats");

namespace {

Result<std::vector<Embedding>> embed_prompts(Provider& provider, const ParsedRequest& parsed,
                                             const std::stop_token& gone,
                                             AnswerReport& report) {
  if (parsed.prompts.empty()) return bad_field("input", "is missing");
  if (parsed.prompts.size() > kMaxEmbedInputs) {
    return bad_field("input", "has ", parsed.prompts.size(), " texts, allowed are ",
                     kMaxEmbedInputs);
  }
  EmbedTexts request = embed_request(parsed, gone);
  request.options.pooling = parsed.embed.pooling;
  request.dimensions = parsed.embed.dimensions.value_or(0);
  request.report = &report;
  std::vector<std::string> texts;
  std::vector<std::vector<TokenId>> ids;
  for (const Prompt& prompt : parsed.prompts) {
    if (const auto* const text = std::get_if<std::string>(&prompt)) texts.push_back(*text);
    if (const auto* const one = std::get_if<std::vector<TokenId>>(&prompt)) ids.push_back(*one);
  }
  if (parsed.pass != nullptr) parsed.pass->begin();
  std::vector<Embedding> of_texts, of_ids;
  if (!texts.empty()) {
    request.texts = texts;
    WICK_TRY(of_texts, provider.embed(request));
  }
  if (!ids.empty()) {
    auto embedded = provider.embed_tokens(request.model, ids, request.options);
    if (!embedded && embedded.error().id == "not_supported") {
      return bad_field("input",
                       "has token ids, which only models of this machine take: send texts "
                       "(LangChain: check_embedding_ctx_length=False)");
    }
    WICK_TRY(of_ids, std::move(embedded));
  }
  std::vector<Embedding> all;
  std::size_t text = 0, id = 0;
  for (const Prompt& prompt : parsed.prompts) {
    const bool is_text = std::holds_alternative<std::string>(prompt);
    all.push_back(std::move(is_text ? of_texts.at(text++) : of_ids.at(id++)));
  }
  if (parsed.pass != nullptr) parsed.pass->used(tokens_of(all));
  return all;
}

}  // namespace

EmbedTexts embed_request(const ParsedRequest& parsed, const std::stop_token& gone) {
  const Request& request = parsed.request;
  return {.model = request.model,
          .options = {.cancel = gone,
                      .time_limit_ms = request.generation.time_limit_ms,
                      .priority = request.generation.priority,
                      .tenant = request.generation.tenant,
                      .client = request.generation.client},
          .key = request.key,
          .tag = request.tag,
          .hops = request.hops,
          .remote_fields = request.remote_fields};
}

int tokens_of(std::span<const Embedding> all) noexcept {
  return std::accumulate(all.begin(), all.end(), 0,
                         [](int sum, const Embedding& one) { return sum + one.tokens; });
}

void audit(const Context& context, std::unique_ptr<Span> span,
           const Result<std::vector<Embedding>>& all) {
  if (context.options.audit == nullptr) return;
  span->end_ns = unix_ns();
  if (!all) span->error = all.error().id;
  if (all) span->usage.prompt_tokens = tokens_of(*all);
  context.options.audit->add(*span);
}

Result<std::vector<Embedding>> embed(Context& context, const ParsedRequest& parsed,
                                     const std::stop_token& gone, http::Response& response) {
  auto span = begin_span(context, parsed, "embeddings");
  AnswerReport report;
  auto all = embed_prompts(*context.provider, parsed, gone, report);
  add_provider(report.provider, response);
  std::vector<std::string> ignored = names_of(report.ignored, parsed.given);
  ignored.insert(ignored.begin(), parsed.ignored.begin(), parsed.ignored.end());
  add_ignored(ignored, response);
  audit(context, std::move(span), all);
  return all;
}

namespace {

Result<std::vector<Embedding>> embed_checked(Context& context, const ParsedRequest& parsed,
                                             const std::stop_token& gone,
                                             http::Response& response) {
  WICK_TRY(auto all, embed(context, parsed, gone, response));
  const auto n = static_cast<int>(all.front().values.size());
  if (parsed.embed.dimensions && *parsed.embed.dimensions != n) {
    return unsupported_field("dimensions_unsupported", "dimensions", "is ",
                             *parsed.embed.dimensions, ", this model's vectors have ", n);
  }
  return all;
}

void write_values(JsonOut& json, const std::vector<float>& values, bool is_base64) {
  if (is_base64) {
    std::string text;
    append_base64(text, std::as_bytes(std::span(values)));
    json.text(text);
    return;
  }
  json.array();
  for (const float value : values)
    json.number(as_written(value));
  json.end_array();
}

http::Response embeddings_of(Context& context, const ParsedRequest& parsed,
                             const std::stop_token& gone) {
  http::Response response;
  const auto all = embed_checked(context, parsed, gone, response);
  if (!all) return error_response(refusal(context, all.error(), parsed.request.model));
  JsonOut json(response.body);
  json.object().field("object", "list").key("data").array();
  for (std::size_t i = 0; i < all->size(); ++i) {
    json.object().field("object", "embedding").field("index", i).key("embedding");
    write_values(json, (*all)[i].values, parsed.embed.is_base64);
    json.end_object();
  }
  json.end_array().field("model", parsed.request.model).key("usage").object();
  const int n_tokens = tokens_of(*all);
  json.field("prompt_tokens", n_tokens).field("total_tokens", n_tokens);
  json.end_object().end_object();
  return response;
}

}  // namespace

http::Reply embeddings(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake) {
  auto parsed = read_request(*context, kEmbeddings, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& client) {
        return embeddings_of(*context, parsed, client.gone());
      },
      wake);
}

}  // namespace wick::server
