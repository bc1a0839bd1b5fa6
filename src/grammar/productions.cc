#include "grammar/productions.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/recognizer.h"
#include "regex/ecma.h"

namespace wick::grammar {

namespace {

using Kind = GrammarNode::Kind;
using regex::ExprId;

class Maker {
 public:
  explicit Maker(const GrammarRules& rules) : rules_(rules) {
    out_.automaton = std::make_unique<regex::Automaton>();
    out_.is_lexed = rules.is_lexed;
  }

  Result<Productions> make() {
    exprs_.resize(rules_.rules.size(), regex::kNoExpr);
    find_regular();
    nonterminals_.resize(rules_.rules.size(), kNone);
    out_.start = nonterminal();
    all_.push_back({out_.start, {rule_symbol(rules_.start)}});
    while (!open_.empty()) {
      const std::uint32_t rule = open_.back();
      open_.pop_back();
      add_choice(nonterminals_[rule], rules_.rules[rule].body);
      if (n_symbols_ > kMaxGrammarSymbols) return too_large();
    }
    if (failure_) return *std::move(failure_);
    if (has_failed_) return out_.automaton->pool().failure();
    WICK_DO(keep_productive());
    find_nullable();
    WICK_DO(find_shortest());
    WICK_DO(find_ignored());
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  static Error too_large() {
    return {.code = ErrorCode::kUnsupported,
            .id = "grammar_size",
            .message = cat("the grammar has more than ", kMaxGrammarSymbols,
                           " symbols; a repetition of a recursive part counts for each time")};
  }

  regex::ExprPool& pool() noexcept { return out_.automaton->pool(); }

  // A rule is regular if all rules in its body are. The least fixpoint leaves out recursion.
  void find_regular() {
    std::vector<std::vector<std::uint32_t>> users(rules_.rules.size());
    std::vector<std::uint32_t> n_open(rules_.rules.size());
    std::vector<std::uint32_t> ready;
    for (std::uint32_t rule = 0; rule < rules_.rules.size(); ++rule) {
      if (rules_.is_lexed && !rules_.rules[rule].is_lexeme) continue;
      bool is_document = false;
      std::vector<std::uint32_t> used;
      std::vector<std::uint32_t> todo = {rules_.rules[rule].body};
      while (!todo.empty()) {
        const GrammarNode& node = rules_.nodes[todo.back()];
        todo.pop_back();
        if (node.kind == Kind::kRule) used.push_back(node.rule);
        is_document = is_document || node.kind == Kind::kJson;
        todo.insert(todo.end(), node.children.begin(), node.children.end());
      }
      if (is_document) continue;
      std::sort(used.begin(), used.end());
      used.erase(std::unique(used.begin(), used.end()), used.end());
      n_open[rule] = static_cast<std::uint32_t>(used.size());
      for (const std::uint32_t one : used)
        users[one].push_back(rule);
      if (used.empty()) ready.push_back(rule);
    }
    while (!ready.empty()) {
      const std::uint32_t rule = ready.back();
      ready.pop_back();
      exprs_[rule] = expr_of(rules_.rules[rule].body);
      has_failed_ = has_failed_ || exprs_[rule] == regex::kNoExpr;
      for (const std::uint32_t user : users[rule]) {
        if (--n_open[user] == 0) ready.push_back(user);
      }
    }
  }

  bool is_regular(std::uint32_t id) const {
    const GrammarNode& node = rules_.nodes[id];
    if (node.kind == Kind::kRule) return exprs_[node.rule] != regex::kNoExpr;
    if (node.kind == Kind::kJson) return false;
    const bool is_whole =
        node.kind == Kind::kText || node.kind == Kind::kClass || node.kind == Kind::kRegex;
    if (rules_.is_lexed && !is_whole && node.kind != Kind::kDifference) return false;
    return std::all_of(node.children.begin(), node.children.end(),
                       [this](std::uint32_t child) { return is_regular(child); });
  }

  ExprId expr_of(std::uint32_t id) {
    const GrammarNode& node = rules_.nodes[id];
    std::vector<ExprId> parts;
    for (const std::uint32_t child : node.children)
      parts.push_back(expr_of(child));
    switch (node.kind) {
      case Kind::kText:
        return pool().literal(node.text);
      case Kind::kClass:
        return regex::character_of(pool(), node.set);
      case Kind::kRegex:
        return pattern_of(node.text);
      case Kind::kDifference:
        return pool().intersect({parts[0], pool().complement(parts[1])});
      case Kind::kRule:
        return exprs_[node.rule];
      case Kind::kChoice:
        return pool().unite(parts);
      case Kind::kRepeat:
        return pool().repeat(parts[0], node.min, node.max);
      default:
        break;
    }
    ExprId out = pool().literal("");
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      out = pool().concat(*part, out);
    return out;
  }

  ExprId pattern_of(const std::string& pattern) {
    auto expr = regex::parse_ecma(pool(), pattern, regex::PatternUse::kWhole);
    if (expr) return *expr;
    if (!failure_) failure_ = std::move(expr).error();
    return regex::kNoExpr;
  }

  // A part that has no other way to be read than as a regular expression.
  void refuse(std::string_view what) {
    if (!failure_) {
      failure_ = Error{.code = ErrorCode::kUnsupported,
                       .id = "grammar_recursion",
                       .message = cat(what, " is recursive, which is not supported")};
    }
  }

  Symbol document_of(const std::string& schema) {
    auto made = SchemaRecognizer::parse(schema, {});
    if (!made) {
      if (!failure_) failure_ = std::move(made).error();
      return terminal(regex::kEmptySet);
    }
    if ((*made)->start() == kDeadState) return terminal(regex::kEmptySet);
    out_.documents.push_back(*std::move(made));
    return {true, 0, static_cast<std::uint32_t>(out_.documents.size())};
  }

  std::uint32_t nonterminal() { return n_nonterminals_++; }

  Symbol terminal(ExprId expr) {
    has_failed_ = has_failed_ || expr == regex::kNoExpr;
    return {true, expr, 0};
  }

  Symbol rule_symbol(std::uint32_t rule) {
    if (exprs_[rule] != regex::kNoExpr) return terminal(exprs_[rule]);
    if (nonterminals_[rule] == kNone) {
      nonterminals_[rule] = nonterminal();
      open_.push_back(rule);
    }
    if (rules_.rules[rule].is_lexeme)
      refuse(cat("the terminal '", printable(rules_.rules[rule].name), "'"));
    return {false, nonterminals_[rule], 0};
  }

  void add(std::uint32_t left, std::vector<Symbol> right) {
    n_symbols_ += right.size() + 1;
    if (n_symbols_ <= kMaxGrammarSymbols) all_.push_back({left, std::move(right)});
  }

  void add_choice(std::uint32_t left, std::uint32_t id) {
    const GrammarNode& node = rules_.nodes[id];
    if (node.kind != Kind::kChoice || is_regular(id)) {
      add(left, sequence_of(id));
      return;
    }
    for (const std::uint32_t child : node.children)
      add(left, sequence_of(child));
  }

  std::vector<Symbol> sequence_of(std::uint32_t id) {
    const GrammarNode& node = rules_.nodes[id];
    if (node.kind != Kind::kSequence || is_regular(id)) return {symbol_of(id)};
    std::vector<Symbol> out;
    for (const std::uint32_t child : node.children)
      out.push_back(symbol_of(child));
    return out;
  }

  Symbol symbol_of(std::uint32_t id) {
    const GrammarNode& node = rules_.nodes[id];
    if (node.kind == Kind::kRule) return rule_symbol(node.rule);
    if (node.kind == Kind::kJson) return document_of(node.text);
    if (is_regular(id)) return terminal(expr_of(id));
    if (node.kind == Kind::kDifference) {
      refuse("a part of a difference");
      return terminal(regex::kEmptySet);
    }
    const Symbol made{false, nonterminal(), 0};
    if (node.kind == Kind::kRepeat) {
      add_repeat(made, node);
    } else {
      add_choice(made.id, id);
    }
    return made;
  }

  // Left-recursive, so that a state does not depend on how often the part has come.
  void add_repeat(const Symbol& made, const GrammarNode& node) {
    const Symbol part = symbol_of(node.children[0]);
    if (node.max == regex::kUnbounded) {
      add(made.id, std::vector<Symbol>(std::min<std::size_t>(node.min, kMaxGrammarSymbols), part));
      add(made.id, {made, part});
      return;
    }
    std::vector<Symbol> rest;  // the parts that may come, the innermost last
    for (std::uint32_t i = node.min; i < node.max && n_symbols_ <= kMaxGrammarSymbols; ++i) {
      const Symbol more{false, nonterminal(), 0};
      rest.insert(rest.begin(), part);
      add(more.id, {});
      add(more.id, std::move(rest));
      rest = {more};
    }
    std::vector<Symbol> right(std::min<std::size_t>(node.min, kMaxGrammarSymbols), part);
    right.insert(right.end(), rest.begin(), rest.end());
    add(made.id, std::move(right));
  }

  // The least set of nonterminals with a production whose terminals hold and whose nonterminals
  // are in the set.
  template <class Holds>
  std::vector<bool> least(const std::vector<Production>& all, const Holds& holds) const {
    std::vector<bool> marked(n_nonterminals_, false);
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const Production& one : all) {
        if (marked[one.left]) continue;
        marked[one.left] = std::all_of(one.right.begin(), one.right.end(), [&](const Symbol& s) {
          return s.is_terminal ? holds(s) : marked[s.id];
        });
        has_changed = has_changed || marked[one.left];
      }
    }
    return marked;
  }

  Result<void> keep_productive() {
    bool is_unknown = false;
    const auto is_live = [&](const Symbol& terminal) {
      if (terminal.document != 0) return true;
      const regex::Liveness life = out_.automaton->liveness(terminal.id);
      is_unknown = is_unknown || life == regex::Liveness::kUnknown;
      return life == regex::Liveness::kLive;
    };
    const std::vector<bool> is_productive = least(all_, is_live);
    out_.of.resize(n_nonterminals_);
    for (Production& one : all_) {
      const bool is_good = std::all_of(one.right.begin(), one.right.end(), [&](const Symbol& s) {
        return s.is_terminal ? is_live(s) : is_productive[s.id];
      });
      if (!is_good) continue;
      out_.of[one.left].push_back(static_cast<std::uint32_t>(out_.all.size()));
      out_.all.push_back(std::move(one));
    }
    if (is_unknown) return pool().failure();
    return {};
  }

  void find_nullable() {
    out_.is_nullable =
        least(out_.all, [this](const Symbol& s) { return out_.accepts(s, out_.begun(s)); });
  }

  // By rounds: a text that is found later is not shorter than those it consists of.
  Result<void> find_shortest() {
    out_.shortest.resize(n_nonterminals_);
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const Production& one : out_.all) {
        ShortText text;
        bool is_known = true;
        for (const Symbol& symbol : one.right) {
          std::optional<ShortText> part;
          if (symbol.is_terminal) {
            WICK_TRY(part, out_.shortest_of(symbol, out_.begun(symbol)));
          } else {
            part = out_.shortest[symbol.id];
          }
          is_known = part.has_value();
          if (is_known) text.add(*part);
          if (text.bytes.size() > kMaxShortestBytes) is_known = false;
          if (!is_known) break;
        }
        auto& best = out_.shortest[one.left];
        if (!is_known || (best && best->bytes.size() <= text.bytes.size())) continue;
        best = std::move(text);
        has_changed = true;
      }
    }
    return {};
  }

  // Of each %ignore a blank where it may be one, else its shortest text.
  Result<void> find_ignored() {
    std::vector<std::string>& all = out_.ignored;
    for (const std::uint32_t node : rules_.ignored) {
      const Symbol ignored = terminal(expr_of(node));
      const StateId blank = out_.step(ignored, out_.begun(ignored), ' ');
      WICK_TRY(auto text, out_.shortest_of(ignored, out_.begun(ignored)));
      if (blank != kFailedState && out_.accepts(ignored, blank)) text = ShortText{.bytes = " "};
      if (text && !text->bytes.empty()) all.push_back(std::move(text->bytes));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return {};
  }

  const GrammarRules& rules_;
  Productions out_ = {};
  std::vector<Production> all_ = {};
  std::vector<ExprId> exprs_ = {};                // of regular rules
  std::vector<std::uint32_t> nonterminals_ = {};  // of the others
  std::vector<std::uint32_t> open_ = {};          // rules whose productions are wanted
  std::uint32_t n_nonterminals_ = 0;
  std::size_t n_symbols_ = 0;
  bool has_failed_ = false;
  std::optional<Error> failure_ = {};
};

}  // namespace

StateId Productions::step(const Symbol& terminal, std::uint32_t state, unsigned char byte) {
  return terminal.document == 0 ? automaton->step(state, byte)
                                : documents[terminal.document - 1]->step(state, byte);
}

bool Productions::accepts(const Symbol& terminal, std::uint32_t state) const noexcept {
  return terminal.document == 0 ? automaton->pool().is_nullable(state)
                                : documents[terminal.document - 1]->accepts(state);
}

void ShortText::add(const ShortText& behind) {
  const auto at = static_cast<std::uint32_t>(bytes.size());
  if (!bytes.empty() && !behind.bytes.empty()) cuts.push_back(at);
  for (const std::uint32_t cut : behind.cuts)
    cuts.push_back(at + cut);
  bytes += behind.bytes;
}

Result<std::optional<ShortText>> Productions::shortest_of(const Symbol& terminal,
                                                          std::uint32_t state) {
  std::optional<ShortText> out;
  if (terminal.document == 0) {
    WICK_TRY(auto text, automaton->shortest(state));
    if (text) out = ShortText{.bytes = *std::move(text)};
  } else if (auto text = documents[terminal.document - 1]->shortest(state)) {
    out = ShortText{.bytes = *std::move(text)};
  }
  return out;
}

Result<Productions> make_productions(const GrammarRules& rules) {
  return Maker(rules).make();
}

}  // namespace wick::grammar
