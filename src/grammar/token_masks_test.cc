// Masks against brute force: random languages, random vocabularies, judged by a matcher that knows
// only the definitions. An allowed token must be the beginning of a document (one is built and
// matched); a token that is not allowed must not be (all short texts are tried).
// WICK_TEST_PAIRS=10000000 build/release/grammar_test --gtest_filter='*BruteForce*' does it at
// length.
#include "grammar/token_masks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "grammar/constraint.h"
#include "grammar/regex_recognizer.h"
#include "support/byte_language.h"
#include "support/test_data.h"

namespace wick::grammar {
namespace {

using test::Tree;

std::vector<std::string> random_vocabulary(std::mt19937& random) {
  std::vector<std::string> out = {"a", "b", "c", "<end>"};
  const std::size_t n = 6 + random() % 20;
  while (out.size() < n) {
    std::string token;
    for (std::size_t length = 1 + random() % 4; token.size() < length;) {
      token += static_cast<char>('a' + random() % 3);
    }
    if (random() % 12 == 0) token.clear();  // a control token
    out.push_back(token);                   // now and then twice the same bytes
  }
  return out;
}

std::shared_ptr<const TokenTrie> trie_of(const std::vector<std::string>& tokens) {
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const TokenId end = 3;
  return std::make_shared<TokenTrie>(TokenTrie::make(views, std::span(&end, 1)));
}

std::unique_ptr<RegexRecognizer> recognizer_of(const Tree& tree) {
  auto automaton = std::make_unique<regex::Automaton>();
  const regex::ExprId id = test::build(automaton->pool(), tree);
  const bool is_empty = *automaton->is_empty(id);
  return std::make_unique<RegexRecognizer>(std::move(automaton), is_empty ? regex::kEmptySet : id);
}

std::shared_ptr<TokenMasks> masks_of(const char* pattern, const std::vector<std::string>& tokens) {
  auto recognizer = RegexRecognizer::parse(pattern);
  EXPECT_TRUE(recognizer) << pattern;
  return std::make_shared<TokenMasks>(*std::move(recognizer), trie_of(tokens));
}

std::size_t wanted_pairs() {
  const char* const given = std::getenv("WICK_TEST_PAIRS");
  return given == nullptr ? 100'000 : std::strtoull(given, nullptr, 10);
}

class BruteForce {
 public:
  // Checks the masks along one random document; the pairs (state, token) that were looked at.
  std::size_t check(std::mt19937& random) {
    const Tree tree = test::random_tree(random, 3);
    const std::vector<std::string> tokens = random_vocabulary(random);
    auto recognizer = recognizer_of(tree);
    regex::Automaton& automaton = recognizer->automaton();
    const auto masks = std::make_shared<TokenMasks>(std::move(recognizer), trie_of(tokens));
    documents_.clear();
    for (const std::string& text : texts_) {
      if (tree.matches(text)) documents_.push_back(text);
    }
    Constraint constraint(masks);
    std::string text;
    std::size_t n_pairs = 0;
    while (text.size() < 6 && !constraint.is_ended()) {
      const auto mask = constraint.mask();
      EXPECT_TRUE(mask);
      std::vector<TokenId> allowed;
      for (TokenId id = 0; id < static_cast<TokenId>(tokens.size()); ++id, ++n_pairs) {
        const bool is_allowed = (*mask)->allows(id);
        if (is_allowed) allowed.push_back(id);
        const std::string& token = tokens[static_cast<std::size_t>(id)];
        EXPECT_EQ(is_allowed, *constraint.accept(id)) << "mask and accept differ";
        if (id == 3) {
          EXPECT_EQ(is_allowed, tree.matches(text)) << "end after '" << text << "'";
        } else if (is_allowed) {
          EXPECT_FALSE(token.empty());
          check_goes_on(automaton, tree, masks->recognizer().start(), text + token);
        } else if (!token.empty()) {
          check_is_dead(text + token);
        }
        if (is_allowed) constraint.rollback(1);
      }
      if (allowed.empty() || testing::Test::HasFailure()) break;
      const TokenId chosen = allowed[random() % allowed.size()];
      EXPECT_TRUE(*constraint.accept(chosen));
      text += chosen == 3 ? "" : tokens[static_cast<std::size_t>(chosen)];
    }
    return n_pairs;
  }

 private:
  static void check_goes_on(regex::Automaton& automaton, const Tree& tree, StateId state,
                            const std::string& text) {
    automaton.pool().refuel();
    for (const char c : text) {
      state = automaton.step(state, static_cast<unsigned char>(c));
    }
    const auto rest = automaton.shortest(state);
    ASSERT_TRUE(rest && rest->has_value()) << "nothing after '" << text << "'";
    if (text.size() + (*rest)->size() > 60) return;  // more than the matcher takes
    EXPECT_TRUE(tree.matches(text + **rest)) << "'" << text << "' + '" << **rest << "'";
  }

  void check_is_dead(const std::string& text) const {
    for (const std::string& document : documents_) {
      EXPECT_FALSE(document.starts_with(text)) << "'" << document << "' starts with it";
    }
  }

  std::vector<std::string> texts_ = test::all_texts(7);
  std::vector<std::string> documents_ = {};
};

TEST(TokenMasks, EqualBruteForce) {
  std::mt19937 random(1);
  BruteForce brute_force;
  std::size_t n_pairs = 0;
  while (n_pairs < wanted_pairs() && !HasFailure()) {
    n_pairs += brute_force.check(random);
  }
  EXPECT_GE(n_pairs, wanted_pairs());
}

TEST(RegexRecognizer, NearFormGoesOnAsTheStateDoes) {
  std::mt19937 random(2);
  const std::vector<std::string> texts = test::all_texts(4);
  int n_different = 0;
  for (int round = 0; round < 2'000 && !HasFailure(); ++round) {
    Tree tree = test::random_tree(random, 3);
    if (round % 2 == 0) {  // with counters on both sides of what a token reaches
      tree = {
          .kind = Tree::Kind::kRepeat, .min = static_cast<unsigned>(random() % 8), .parts = {tree}};
      tree.max = tree.min + static_cast<unsigned>(random() % 8) + 1;
    }
    const auto recognizer = recognizer_of(tree);
    const StateId start = recognizer->start();
    const StateId near = recognizer->near_form(start, 4);
    if (near == start) continue;
    ++n_different;
    for (const std::string& text : texts) {
      StateId a = start, b = near;
      for (const char c : text) {
        a = recognizer->step(a, static_cast<unsigned char>(c));
        b = recognizer->step(b, static_cast<unsigned char>(c));
      }
      ASSERT_EQ(a == kDeadState, b == kDeadState) << "round " << round << ", '" << text << "'";
      ASSERT_EQ(recognizer->accepts(a), recognizer->accepts(b)) << round << ", '" << text << "'";
    }
  }
  EXPECT_GT(n_different, 300);
}

const std::vector<std::string> kTokens = {"a",  "b",    "ab",   "<end>", "", "aaaa",
                                          "ba", "\xC3", "\xA9", "é",     "b"};

TEST(TokenMasks, AllowPartsOfCharactersAndTokensWithTheSameBytes) {
  const auto masks = masks_of("(é|b)+", kTokens);
  Constraint constraint(masks);
  EXPECT_EQ((*constraint.mask())->ids, (std::vector<TokenId>{1, 7, 9, 10}));
  ASSERT_TRUE(*constraint.accept(7));
  EXPECT_EQ((*constraint.mask())->ids, (std::vector<TokenId>{8}));
  EXPECT_FALSE(constraint.is_complete());
  EXPECT_FALSE(*constraint.accept(1));
  ASSERT_TRUE(*constraint.accept(8));
  EXPECT_EQ((*constraint.mask())->ids, (std::vector<TokenId>{1, 3, 7, 9, 10}));
}

TEST(TokenMasks, FillSetsNoBitBehindTheVocabulary) {
  const auto masks = masks_of("[^]*", kTokens);
  Constraint constraint(masks);
  std::vector<std::uint64_t> bits(3, ~std::uint64_t{0});
  (*constraint.mask())->fill(bits);
  EXPECT_EQ(bits[0], 0b11011101111U | 0U)
      << "all but the empty token and the lone continuation byte";
  EXPECT_EQ(bits[1], 0U);
  EXPECT_EQ(bits[2], 0U);
}

TEST(TokenMasks, DenseAndSparseSayTheSame) {
  std::vector<std::string> tokens = kTokens;
  for (int i = 0; i < 3000; ++i) {
    tokens.push_back(std::to_string(i));
  }
  const auto masks = masks_of("[0-9]*|a", tokens);
  Constraint constraint(masks);
  const auto dense = *constraint.mask();
  EXPECT_FALSE(dense->is_sparse());
  EXPECT_EQ(dense->n_allowed, 3002);
  std::vector<std::uint64_t> bits(48);
  dense->fill(bits);
  for (TokenId id = 0; id < 3072; ++id) {
    const bool bit = ((bits[static_cast<std::size_t>(id) / 64] >> (id % 64)) & 1) != 0;
    const bool wanted = id == 0 || id == 3 || (id >= 11 && id < 3011);
    ASSERT_EQ(bit, wanted) << id;
    ASSERT_EQ(dense->allows(id), wanted) << id;
  }
}

TEST(TokenMasks, FarFromTheBoundsOfACounterOneMaskServesAll) {
  const auto masks = masks_of("a{0,300}b", kTokens);
  Constraint constraint(masks);
  for (int i = 0; i < 300; ++i) {
    const auto mask = *constraint.mask();
    const int left = 300 - i;
    ASSERT_EQ(mask->allows(5), left >= 4) << i;
    ASSERT_EQ(mask->allows(2), left >= 1) << i;
    ASSERT_TRUE(*constraint.accept(0));
  }
  EXPECT_EQ((*constraint.mask())->ids, (std::vector<TokenId>{1, 10}));
  EXPECT_LE(masks->n_computed(), 8U) << "those near the bound, and one for all others";
}

TEST(TokenTrie, HoldsEachTokenOfATokenizerThatIsText) {
  const auto tokenizer = Tokenizer::open(test::test_data("text/tiny_bpe_bytes.model"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const TokenTrie trie = TokenTrie::from(**tokenizer);
  ASSERT_EQ(trie.size(), (*tokenizer)->size());
  std::vector<int> seen(static_cast<std::size_t>(trie.size()));
  for (const TokenTrie::Tree* tree : {&trie.plain(), &trie.quoted(), &trie.others()}) {
    std::string path;
    for (std::size_t i = 0; i < tree->nodes.size(); ++i) {
      const TokenTrie::Node& node = tree->nodes[i];
      ASSERT_GT(node.end, i);
      path.resize(node.depth);
      path += static_cast<char>(node.byte);
      for (const TokenId id : tree->tokens_at(node)) {
        EXPECT_EQ((*tokenizer)->bytes(id), path);
        EXPECT_EQ(is_plain_text(path), tree == &trie.plain());
        ++seen[static_cast<std::size_t>(id)];
      }
      for (const TokenId id : tree->tokens_below(node)) {
        EXPECT_TRUE((*tokenizer)->bytes(id).starts_with(path));
        EXPECT_LE((*tokenizer)->bytes(id).size(), node.longest);
      }
    }
  }
  int n_text = 0;
  for (TokenId id = 0; id < trie.size(); ++id) {
    const TokenKind kind = (*tokenizer)->kind(id);
    const bool is_text =
        kind == TokenKind::kNormal || kind == TokenKind::kUserDefined || kind == TokenKind::kByte;
    EXPECT_EQ(seen[static_cast<std::size_t>(id)],
              is_text && !(*tokenizer)->bytes(id).empty() && !trie.is_end(id))
        << id;
    n_text += is_text;
  }
  EXPECT_GT(n_text, 256);
}

// 49,152 tokens: text encoded by the tokenizer is allowed token by token.
TEST(ModelTokenMasks, AllowWhatTheTokenizerMakesOfADocument) {
  const auto tokenizer = Tokenizer::open(test::default_model());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto trie = std::make_shared<TokenTrie>(TokenTrie::from(**tokenizer));
  for (const auto& [pattern, document] : {
           std::pair{R"(\{"name": "[^"\\]{1,40}", "age": \d{1,3}\})",
                     R"({"name": "Zoë Öß 日本", "age": 42})"},
           std::pair{R"([A-Z][a-z]+( [a-z]+)*\.)", "The quick brown fox jumps over the lazy dog."},
           std::pair{R"((?!.*password).{0,200})", "an ordinary sentence, 😀 included"},
       }) {
    auto recognizer = RegexRecognizer::parse(pattern);
    ASSERT_TRUE(recognizer) << recognizer.error().message;
    const auto masks = std::make_shared<TokenMasks>(*std::move(recognizer), trie);
    Constraint constraint(masks);
    const auto ids = (*tokenizer)->encode_plain(document);
    ASSERT_TRUE(ids) << to_string(ids.error());
    for (const TokenId id : *ids) {
      const auto mask = constraint.mask();
      ASSERT_TRUE(mask) << mask.error().message;
      EXPECT_TRUE((*mask)->allows(id)) << pattern << ", token " << id;
      ASSERT_TRUE(*constraint.accept(id));
    }
    EXPECT_TRUE(constraint.is_complete()) << pattern;
    const auto mask = constraint.mask();
    ASSERT_TRUE(mask);
    EXPECT_TRUE((*mask)->allows((*tokenizer)->ends()[0]));
  }
}

TEST(Constraint, RollbackReturnsToEachPlaceBefore) {
  const auto masks = masks_of("(ab|ba){2,3}", kTokens);
  Constraint constraint(masks);
  std::vector<std::vector<TokenId>> seen;
  const std::vector<TokenId> document = {2, 1, 0, 6, 3};
  for (const TokenId id : document) {
    seen.push_back((*constraint.mask())->ids);
    ASSERT_TRUE(*constraint.accept(id)) << id;
  }
  EXPECT_TRUE(constraint.is_ended());
  EXPECT_TRUE((*constraint.mask())->ids.empty());
  EXPECT_FALSE(*constraint.accept(0));
  for (std::size_t back = 1; back <= document.size(); ++back) {
    constraint.rollback(1);
    EXPECT_FALSE(constraint.is_ended());
    EXPECT_EQ((*constraint.mask())->ids, seen[document.size() - back]);
  }
  constraint.rollback(5);
  EXPECT_EQ(constraint.n_tokens(), 0);
}

TEST(Constraint, ValidateSaysHowFarADraftIsAllowedAndKeepsThePlace) {
  const auto masks = masks_of("abab", kTokens);
  Constraint constraint(masks);
  EXPECT_EQ(*constraint.validate(std::vector<TokenId>{2, 2, 3, 0}), 3);
  EXPECT_EQ(*constraint.validate(std::vector<TokenId>{2, 1}), 1);
  EXPECT_EQ(*constraint.validate(std::vector<TokenId>{3}), 0);
  EXPECT_EQ(*constraint.validate(std::vector<TokenId>{99, -1}), 0);
  EXPECT_EQ(constraint.n_tokens(), 0);
  EXPECT_EQ(*constraint.forced(100), "abab");
}

// A Constraint remembers its last end; one that is new at the same place has none.
TEST(Constraint, EndsAreThoseOfAConstraintWithoutAPast) {
  std::mt19937 random(11);
  std::size_t n_ends = 0, n_whole = 0;
  for (int round = 0; round < 400; ++round) {
    const Tree tree = test::random_tree(random, 4);
    const std::vector<std::string> tokens = random_vocabulary(random);
    const auto masks = std::make_shared<TokenMasks>(recognizer_of(tree), trie_of(tokens));
    Constraint constraint(masks);
    std::vector<TokenId> text, plan;
    for (int n = 0; n < 12; ++n) {
      Constraint fresh(masks);
      for (const TokenId id : text)
        ASSERT_TRUE(*fresh.accept(id));
      const auto closing = constraint.closing(), its = fresh.closing();
      ASSERT_EQ(static_cast<bool>(closing), static_cast<bool>(its));
      if (closing) {
        ASSERT_EQ(*closing, *its);
        plan = *closing;
        ++n_ends;
      }
      std::vector<TokenId> other = plan;
      if (!other.empty()) other[random() % other.size()] = static_cast<TokenId>(random() % 4);
      for (const auto& end : {plan, std::vector(plan.begin() + !plan.empty(), plan.end()), other}) {
        const bool is_end = *constraint.is_completed_by(end);
        ASSERT_EQ(is_end, *Constraint(fresh).is_completed_by(end));
        n_whole += is_end;
      }
      ASSERT_EQ(constraint.n_tokens(), static_cast<int>(text.size()));
      const auto id = static_cast<TokenId>(random() % tokens.size());
      if (id != 3 && *constraint.accept(id)) text.push_back(id);
    }
  }
  EXPECT_GT(n_ends, 500U);
  EXPECT_GT(n_whole, 500U);
}

TEST(Constraint, AnEmptyLanguageAllowsNothing) {
  const auto masks = masks_of("(?!a)a", kTokens);
  Constraint constraint(masks);
  EXPECT_EQ((*constraint.mask())->n_allowed, 0);
  EXPECT_FALSE(*constraint.accept(0));
  EXPECT_FALSE(*constraint.accept(3));
}

}  // namespace
}  // namespace wick::grammar
