// Azure OpenAI: OpenAI's bodies under the path of a deployment, which the model's name is.
#include "base/strings.h"
#include "net/url.h"
#include "remote/openai.h"

namespace wick::remote {

namespace {

std::vector<std::string> headers(const Endpoint& endpoint) {
  if (endpoint.key.empty()) return {};
  return {cat("api-key: ", endpoint.key.reveal())};
}

std::string path_of(const Endpoint& endpoint, std::string_view model, std::string_view what) {
  return cat("/openai/deployments/", escape_path_part(model), what,
             "?api-version=", escape_path_part(endpoint.api_version));
}

Result<Call> chat(const Endpoint& endpoint, const Request& request) {
  WICK_TRY(Call call, openai_call(endpoint, request));
  call.path = path_of(endpoint, request.model, "/chat/completions");
  return call;
}

Result<Call> embed(const Endpoint& endpoint, const EmbedTexts& request) {
  WICK_TRY(Call call, kOpenAi.embed(endpoint, request));
  call.path = path_of(endpoint, request.model, "/embeddings");
  return call;
}

}  // namespace

const Dialect kAzure = {.framing = Framing::kSse,
                        .end_frame = "[DONE]",
                        .headers = headers,
                        .chat = chat,
                        .fields = kOpenAiFields,
                        .decoder = openai_decoder,
                        .embed = embed,
                        .read_embeddings = read_openai_embeddings};

}  // namespace wick::remote
