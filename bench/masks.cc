// Token masks of constraints on one vocabulary: what a mask costs when it is computed (each state's
// first time) and when it is in the cache, along documents.
//
//   bench_masks TOKENIZER       (tokenizer.json, a folder or a model file)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "grammar/constraint.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/recognizer.h"
#include "text/tokenizer.h"

namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point began) {
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

struct Case {
  const char* name;
  const char* pattern;
  bool is_schema = false;
};

constexpr Case kCases[] = {
    {"date", R"(\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01]))"},
    {"JSON string", R"("([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")"},
    {"JSON string of at most 300", R"("([^"\\\x00-\x1f]|\\["\\/bfnrt]){0,300}")"},
    {"record",
     R"(\{"name": "[^"\\]{1,64}", "age": \d{1,3}, "tags": \[("[a-z]+"(, "[a-z]+")*)?\]\})"},
    {"letters", R"(\p{Lu}\p{L}*( \p{L}+)*\.)"},
    {"without a word", R"((?!.*password).{0,200})"},
    {"schema: closed object",
     R"({"type":"object","properties":{"name":{"type":"string","maxLength":64},"age":{"type":)"
     R"("integer","minimum":0},"tags":{"type":"array","items":{"enum":["a","b","c"]}}},)"
     R"("required":["name","age"],"additionalProperties":false})",
     true},
    {"schema: open object", R"({"type":"object","required":["id"]})", true},
    {"schema: any JSON", "true", true},
    {"schema: oneOf by kind",
     R"({"oneOf":[{"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":)"
     R"(["kind","r"]},{"properties":{"kind":{"const":"box"},"w":{"type":"number"}},"required":)"
     R"(["kind","w"]}],"type":"object"})",
     true},
};

wick::Result<std::unique_ptr<wick::grammar::Recognizer>> recognizer_of(const Case& c) {
  using namespace wick::grammar;
  if (c.is_schema) {
    WICK_TRY(auto made, SchemaRecognizer::parse(c.pattern, {}));
    return std::unique_ptr<Recognizer>(std::move(made));
  }
  WICK_TRY(auto made, RegexRecognizer::parse(c.pattern));
  return std::unique_ptr<Recognizer>(std::move(made));
}

void report(const char* what, std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  double sum = 0;
  for (const double t : us) {
    sum += t;
  }
  const auto at = [&](double share) {
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  };
  std::printf("  %-9s n %5zu  mean %9.1f  p50 %9.1f  p99 %9.1f  max %9.1f us\n", what, us.size(),
              sum / static_cast<double>(us.size()), at(0.5), at(0.99), us.back());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace wick::grammar;
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_masks TOKENIZER\n");
    return 2;
  }
  const auto tokenizer = wick::Tokenizer::open(argv[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 4;
  }
  auto began = Clock::now();
  const auto trie = std::make_shared<TokenTrie>(TokenTrie::from(**tokenizer));
  std::printf(
      "%d tokens, %zu nodes, trie made in %.1f ms\n", trie->size(),
      trie->plain().nodes.size() + trie->quoted().nodes.size() + trie->others().nodes.size(),
      us_since(began) / 1000);
  for (const Case& c : kCases) {
    began = Clock::now();
    auto recognizer = recognizer_of(c);
    if (!recognizer) {
      std::fprintf(stderr, "%s\n", recognizer.error().message.c_str());
      return 1;
    }
    std::printf("%s: compiled in %.0f us\n", c.name, us_since(began));
    const auto masks = std::make_shared<TokenMasks>(*std::move(recognizer), trie);
    std::vector<double> computed, cached;
    std::mt19937 random(1);
    for (int document = 0; document < (c.is_schema ? 3 : 30); ++document) {
      Constraint constraint(masks);
      for (int i = 0; i < 40 && !constraint.is_ended(); ++i) {
        const std::uint64_t before = masks->n_computed();
        began = Clock::now();
        const auto mask = constraint.mask();
        const double us = us_since(began);
        if (!mask) {
          std::fprintf(stderr, "%s\n", mask.error().message.c_str());
          return 1;
        }
        (masks->n_computed() > before ? computed : cached).push_back(us);
        std::vector<wick::TokenId> allowed;
        if ((*mask)->is_sparse()) allowed = (*mask)->ids;
        for (wick::TokenId id = 0; !(*mask)->is_sparse() && id < trie->size(); ++id) {
          if ((*mask)->allows(id)) allowed.push_back(id);
        }
        if (!*constraint.accept(allowed[random() % allowed.size()])) return 1;
      }
    }
    if (!computed.empty()) report("computed", computed);
    if (!cached.empty()) report("cached", cached);
  }
  return 0;
}
