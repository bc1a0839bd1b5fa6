#include "server/rerank.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "server/answers.h"
#include "server/embeddings.h"
#include "server/errors.h"
#include "server/fields.h"
#include "server/json_out.h"
#include "server/limits.h"
#include "server/setters.h"
#include "server/task.h"

namespace wick::server {

SetResult set_query(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.rerank.query = *value.string();
  return {};
}

SetResult set_documents(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  parsed.prompts.clear();
  for (const JsonValue& one : *value.array()) {
    const Object* const object = one.object();
    const JsonValue* const text = object == nullptr ? &one : object->find("text");
    if (text == nullptr || text->string() == nullptr) {
      return bad_field(field.name, "has the item ", seen(one),
                       ", wanted is a string, or an object with text");
    }
    parsed.prompts.emplace_back(*text->string());
  }
  return {};
}

SetResult set_top_n(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.rerank.top_n = static_cast<int>(*whole(value));
  return {};
}

SetResult set_return_documents(const JsonValue& value, const Field& /*field*/,
                               ParsedRequest& parsed) {
  parsed.rerank.returns_documents = *value.boolean();
  return {};
}

SetResult set_raw_scores(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.rerank.wants_raw = *value.boolean();
  return {};
}

namespace {

// The scores of parsed.prompts. One number each: a classifier with more labels ranks nothing.
Result<std::vector<Embedding>> scores_of(Provider& provider, const ParsedRequest& parsed,
                                         const std::stop_token& gone) {
  if (parsed.rerank.query.empty()) return bad_field("query", "is missing or empty");
  if (parsed.prompts.empty()) return bad_field("documents", "is missing or empty");
  if (parsed.prompts.size() > kMaxEmbedInputs) {
    return bad_field("documents", "has ", parsed.prompts.size(), " texts, allowed are ",
                     kMaxEmbedInputs);
  }
  std::vector<std::string> texts;
  for (const Prompt& prompt : parsed.prompts)
    texts.push_back(std::get<std::string>(prompt));
  if (parsed.pass != nullptr) parsed.pass->begin();
  EmbedTexts request = embed_request(parsed, gone);
  request.texts = texts;
  request.options.query = parsed.rerank.query;
  WICK_TRY(auto scores, provider.embed(request));
  if (parsed.pass != nullptr) parsed.pass->used(tokens_of(scores));
  const std::size_t n_labels = scores.front().values.size();
  if (n_labels == 1) return scores;
  return Error{
      .code = ErrorCode::kUnsupported,
      .id = "no_cross_encoder",
      .message = cat("the model classifies into ", n_labels, " labels, a reranker has one score")};
}

double relevance(float score, bool is_raw) noexcept {
  const auto value = static_cast<double>(score);
  return is_raw ? value : 1 / (1 + std::exp(-value));
}

// The numbers of the documents, best first; equal ones in their order.
std::vector<std::size_t> ranking(const std::vector<Embedding>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a].values[0] > scores[b].values[0];
  });
  return order;
}

http::Response ranked(Context& context, const ParsedRequest& parsed, const std::stop_token& gone) {
  auto span = begin_span(context, parsed, "rerank");
  const auto scores = scores_of(*context.provider, parsed, gone);
  audit(context, std::move(span), scores);
  if (!scores) return error_response(refusal(context, scores.error(), parsed.request.model));
  std::vector<std::size_t> order = ranking(*scores);
  if (parsed.rerank.top_n) {
    order.resize(std::min(order.size(), static_cast<std::size_t>(*parsed.rerank.top_n)));
  }
  const int n_tokens = tokens_of(*scores);
  http::Response response;
  add_ignored(parsed.ignored, response);
  JsonOut json(response.body);
  json.object().field("id", make_id(context, "rerank-")).field("object", "list");
  json.field("model", parsed.request.model).key("results").array();
  for (const std::size_t i : order) {
    json.object().field("index", i).key("relevance_score");
    json.number(
        as_written(static_cast<float>(relevance((*scores)[i].values[0], parsed.rerank.wants_raw))));
    if (parsed.rerank.returns_documents) {
      json.key("document").object();
      json.field("text", std::get<std::string>(parsed.prompts[i])).end_object();
    }
    json.end_object();
  }
  json.end_array().key("usage").object().field("prompt_tokens", n_tokens);
  json.field("total_tokens", n_tokens).end_object().end_object();
  return response;
}

}  // namespace

http::Reply rerank(const SharedContext& context, const http::Request& request,
                   const std::shared_ptr<Wake>& wake) {
  auto parsed = read_request(*context, kRerank, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& client) {
        return ranked(*context, parsed, client.gone());
      },
      wake);
}

}  // namespace wick::server
