// POST /v1/rerank in the shape of Cohere, Jina and llama.cpp.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "server/server_fixture_test.h"

namespace wick::server::test {
namespace {

// The score of a text is its length, with the logarithm of odds 0 for the query's.
class Reranker final : public Provider {
 public:
  std::string_view name() const noexcept override { return "reranker"; }

  Result<std::unique_ptr<Answer>> start(const Request&, std::shared_ptr<Wake>) override {
    return refusal("text");
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    const EmbedOptions& options = request.options;
    std::vector<Embedding> all;
    for (const std::string& text : request.texts) {
      const float score =
          static_cast<float>(text.size()) - static_cast<float>(options.query.size());
      all.push_back(
          {.values = std::vector<float>(n_labels, score), .tokens = static_cast<int>(text.size())});
    }
    return all;
  }

  std::size_t n_labels = 1;
};

TEST(ServerRerank, RanksDocumentsBestFirst) {
  Server server(std::make_shared<Reranker>());
  const Got got = server.post(
      "/v1/rerank", R"({"query":"abc","documents":["ab",{"text":"abcd"},"abc"],"top_n":2})");
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_NE(got.body.find(R"("results":[{"index":1,"relevance_score":0.7310586,"document":)"
                          R"({"text":"abcd"}},{"index":2,"relevance_score":0.5,)"),
            std::string::npos)
      << got.body;
  EXPECT_NE(got.body.find(R"("usage":{"prompt_tokens":9,"total_tokens":9})"), std::string::npos);
  for (const char* const path : {"/rerank", "/v2/rerank"}) {
    const Got raw = server.post(
        path, R"({"query":"abc","texts":["ab"],"raw_scores":true,"return_documents":false})");
    EXPECT_NE(raw.body.find(R"("results":[{"index":0,"relevance_score":-1}])"), std::string::npos)
        << raw.body;
  }
}

TEST(ServerRerank, NamesTheFieldThatIsWrong) {
  const auto provider = std::make_shared<Reranker>();
  Server server(provider);
  const auto refused = [&](const char* body) {
    const Got got = server.post("/v1/rerank", body);
    return cat(got.status, " ", got.body);
  };
  EXPECT_NE(refused("{}").find("query"), std::string::npos);
  EXPECT_NE(refused(R"({"query":"a"})").find("documents"), std::string::npos);
  EXPECT_NE(refused(R"({"query":"a","documents":[1]})").find("has the item 1"), std::string::npos);
  provider->n_labels = 3;
  EXPECT_NE(refused(R"({"query":"a","documents":["b"]})").find("3 labels"), std::string::npos);
}

}  // namespace
}  // namespace wick::server::test
