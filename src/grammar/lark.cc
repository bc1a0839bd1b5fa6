#include "grammar/lark.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "grammar/grammar_text.h"
#include "grammar/lark_common.h"
#include "grammar/limits.h"
#include "grammar/schema/document.h"

namespace wick::grammar {

namespace {

using Kind = GrammarNode::Kind;

// Of a terminal: the first letter is upper case.
bool is_terminal(std::string_view name) noexcept {
  const std::size_t at = name.find_first_not_of('_');
  return at != std::string_view::npos && name[at] >= 'A' && name[at] <= 'Z';
}

class Parser : private GrammarText {
 public:
  Parser(std::string_view text, const TokenNames& names) : GrammarText(text), names_of_(names) {}

  Result<GrammarRules> parse() {
    if (text_.size() > kMaxGrammarBytes) return too_large("bytes", kMaxGrammarBytes);
    out_.is_lexed = true;
    WICK_DO(statements());
    WICK_DO(import_wanted());
    const auto start = names_.find("start");
    if (start == names_.end() || !out_.rules[start->second].is_defined)
      return bad("there is no rule 'start'");
    WICK_DO(check_defined());
    WICK_DO(check_terminals());
    out_.start = start->second;
    if (!out_.ignored.empty()) ignore_between();
    return std::move(out_);
  }

 private:
  Result<void> statements() {
    for (space(true); !is_end(); space(true)) {
      if (next() == '%') {
        WICK_DO(directive());
      } else {
        WICK_DO(rule());
      }
    }
    return {};
  }

  void space(bool with_lines) noexcept {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool is_comment = (c == '/' && next(1) == '/') || c == '#';
      if (is_comment) {
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()) - 1;
      } else if (c == '\\' && (next(1) == '\n' || next(1) == '\r')) {
        ++at_;
      } else if (c != ' ' && c != '\t' && !(with_lines && (c == '\n' || c == '\r'))) {
        return;
      }
    }
  }

  std::string_view word() noexcept {
    const std::size_t begin = at_;
    while (is_word(next()) && !(next() == '-' && next(1) == '>'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> directive() {
    ++at_;
    const std::string_view name = word();
    space(false);
    if (name == "ignore") {
      WICK_TRY(const std::uint32_t what, choice(0));
      out_.ignored.push_back(what);
      return {};
    }
    if (name == "import") return import();
    if (name == "llguidance") {
      WICK_TRY(const std::string_view options, json_text());
      static_cast<void>(options);
      return {};
    }
    return Error{ErrorCode::kUnsupported,
                 "grammar_directive",
                 bad(cat("'%", printable(name, 40), "' is not supported")).message,
                 {}};
  }

  // common.NAME, common.NAME -> OTHER, common (A, B)
  Result<void> import() {
    const std::string_view from = word();
    if (from != "common") return bad("only terminals of 'common' can be imported");
    space(false);
    if (take("(")) {
      do {
        space(true);
        WICK_DO(import_as(word(), {}));
        space(true);
      } while (take(","));
      return take(")") ? Result<void>{} : bad("')' is wanted");
    }
    if (!take(".")) return bad("'.' is wanted");
    const std::string_view name = word();
    space(false);
    if (!take("->")) return import_as(name, {});
    space(false);
    return import_as(name, word());
  }

  Result<void> import_as(std::string_view name, std::string_view alias) {
    if (lark_common(name).empty())
      return bad(cat("'common' has no terminal '", printable(name, 40), "'"));
    const std::uint32_t id = rule_named(alias.empty() ? name : alias);
    if (out_.rules[id].is_defined) return bad(cat("'", printable(name), "' is defined twice"));
    imports_.emplace_back(id, name);
    out_.rules[id].is_defined = true;
    return {};
  }

  Result<void> import_wanted() {
    for (const auto& [id, name] : imports_) {
      out_.rules[id].is_lexeme = true;
      out_.rules[id].body = add({.kind = Kind::kRegex, .text = std::string(lark_common(name))});
    }
    return {};
  }

  // [?!]name[.priority][attributes]: …
  Result<void> rule() {
    while (next() == '?' || next() == '!')
      ++at_;
    const std::string_view name = word();
    if (name.empty()) return bad("the name of a rule is wanted");
    const std::uint32_t id = rule_named(name);
    if (out_.rules[id].is_defined)
      return bad(cat("the rule '", printable(name), "' is defined twice"));
    if (take(".")) {
      if (next() == '-') ++at_;
      WICK_TRY(const std::uint32_t priority, count());
      static_cast<void>(priority);
    }
    space(false);
    if (take("[")) {
      WICK_TRY(const std::string_view attributes, take_until("]"));
      if (attributes != "capture") {
        return Error{
            ErrorCode::kUnsupported,
            "grammar_attribute",
            bad(cat("the attribute '", printable(attributes, 40), "' is not supported")).message,
            {}};
      }
      space(false);
    }
    if (next() == '{') return bad("templates are not supported");
    if (!take(":")) return bad("':' is wanted");
    WICK_TRY(const std::uint32_t body, choice(0));
    out_.rules[id].body = body;
    out_.rules[id].is_defined = true;
    out_.rules[id].is_lexeme = is_terminal(name);
    space(false);
    if (!is_end() && next() != '\n' && next() != '\r')
      return bad(cat("'", printable(text_.substr(at_, 1)), "' does not belong here"));
    return {};
  }

  Result<std::uint32_t> choice(int depth) {
    if (depth > kMaxGrammarDepth)
      return too_large("levels of parentheses", std::size_t{kMaxGrammarDepth});
    GrammarNode node{.kind = Kind::kChoice};
    space(true);
    take("|");  // a bar may come before the first alternative
    do {
      space(true);
      WICK_TRY(const std::uint32_t one, sequence(depth));
      node.children.push_back(one);
      if (take("->")) {
        space(false);
        if (word().empty()) return bad("an alias is wanted");
      }
      space_before_bar([this, depth](bool is_bar) { space(is_bar || depth > 0); });
    } while (take("|"));
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> sequence(int depth) {
    GrammarNode node{.kind = Kind::kSequence};
    while (true) {
      if (out_.nodes.size() > kMaxGrammarNodes) return too_large("parts", kMaxGrammarNodes);
      space(depth > 0);
      const char c = next();
      const bool is_over = is_end() || c == '\n' || c == '\r' || c == '|' || c == ')' || c == ']' ||
                           (c == '-' && next(1) == '>');
      if (is_over) break;
      WICK_TRY(std::uint32_t one, atom(depth));
      WICK_TRY(one, repeated(one));
      node.children.push_back(one);
    }
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> repeated(std::uint32_t one) {
    while (true) {
      std::uint32_t min = 0, max = regex::kUnbounded;
      const std::size_t here = at_;
      if (take("+")) {
        min = 1;
      } else if (take("?")) {
        max = 1;
      } else if (next() == '{') {
        ++at_;
        WICK_DO(bounds(min, max, ",", "}"));
      } else if (!take("*")) {
        space(false);
        if (!take("~")) {
          at_ = here;
          return one;
        }
        space(false);
        WICK_DO(bounds(min, max, "..", ""));
      }
      one = add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {one}});
    }
  }

  Result<void> bounds(std::uint32_t& min, std::uint32_t& max, std::string_view separator,
                      std::string_view end) {
    space(false);
    const bool has_min = next() >= '0' && next() <= '9';
    if (has_min) {
      WICK_TRY(min, count());
    }
    if (!end.empty()) space(false);
    max = min;
    if (take(separator)) {
      space(false);
      max = regex::kUnbounded;
      if (next() >= '0' && next() <= '9') {
        WICK_TRY(max, count());
      }
    } else if (!has_min) {
      return bad("a number is wanted");
    }
    if (!end.empty()) space(false);
    if (!take(end)) return bad(cat("'", end, "' is wanted"));
    if (max < min) return bad("the bounds are in the wrong order");
    return {};
  }

  Result<std::uint32_t> atom(int depth) {
    const char c = next();
    if (c == '"') return literal();
    if (c == '/') return pattern();
    if (c == '(' || c == '[') {
      ++at_;
      WICK_TRY(const std::uint32_t inner, choice(depth + 1));
      space(true);
      if (!take(c == '(' ? ")" : "]")) return bad(c == '(' ? "')' is wanted" : "']' is wanted");
      if (c == '(') return inner;
      return add({.kind = Kind::kRepeat, .min = 0, .max = 1, .children = {inner}});
    }
    if (c == '<') {
      ++at_;
      WICK_TRY(const std::string_view name, take_until(">"));
      WICK_TRY(std::string bytes, token(name, names_of_));
      return add({.kind = Kind::kText, .text = std::move(bytes)});
    }
    if (c == '%') return embedded();
    const std::string_view name = word();
    if (name.empty())
      return bad(cat("'", printable(text_.substr(at_, 1)), "' does not belong here"));
    return add({.kind = Kind::kRule, .rule = rule_named(name)});
  }

  // %json {…} and %regex {"pattern": …}
  Result<std::uint32_t> embedded() {
    ++at_;
    const std::string_view kind = word();
    space(true);
    WICK_TRY(const std::string_view json, json_text());
    if (kind == "json") return add({.kind = Kind::kJson, .text = std::string(json)});
    if (kind != "regex") return bad(cat("'%", printable(kind, 40), "' does not belong here"));
    WICK_TRY(const JsonDocument document, read_document(json));
    const Json& read = document.root;
    const Json* const found = read.find("pattern");
    if (found == nullptr || !found->is(Json::Kind::kString) || read.keys.size() != 1)
      return bad("%regex takes {\"pattern\": \"…\"}");
    return add({.kind = Kind::kRegex, .text = std::string(found->text)});
  }

  // A JSON object.
  Result<std::string_view> json_text() {
    const std::size_t begin = at_;
    if (next() != '{') return bad("'{' is wanted");
    int depth = 0;
    for (bool is_text = false; !is_end(); ++at_) {
      const char c = next();
      if (is_text) {
        if (c == '\\') ++at_;
        is_text = c != '"';
      } else if (c == '"') {
        is_text = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        ++at_;
        return text_.substr(begin, at_ - begin);
      }
    }
    return bad("'}' is wanted");
  }

  // "text", "text"i, "a".."z"
  Result<std::uint32_t> literal() {
    WICK_TRY(std::string text, quoted());
    if (next() == '.' && next(1) == '.' && next(2) == '"') {
      at_ += 2;
      WICK_TRY(const std::string last, quoted());
      const auto from = one_character(text), to = one_character(last);
      if (!from || !to || *from > *to) return bad("a range has one character on each side");
      regex::CodePoints set;
      set.add(*from, *to);
      return add({.kind = Kind::kClass, .set = std::move(set)});
    }
    if (next() != 'i' || is_word(next(1))) return add({.kind = Kind::kText, .text = text});
    ++at_;
    GrammarNode node{.kind = Kind::kRegex};
    for (const char c : text) {
      const bool is_sign = std::string_view("^$\\.*+?()[]{}|/").find(c) != std::string_view::npos;
      if (is_sign) node.text += '\\';
      node.text += c;
    }
    WICK_TRY(node.text, either_case(node.text));
    return add(std::move(node));
  }

  static std::optional<char32_t> one_character(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const Utf8Char one = decode_utf8(text);
    const bool is_whole = one.is_valid && static_cast<std::size_t>(one.length) == text.size();
    return is_whole ? std::optional(one.code) : std::nullopt;
  }

  Result<std::string> quoted() {
    std::string out;
    for (++at_; next() != '"';) {
      WICK_TRY(const char32_t code, character("\""));
      append_utf8(out, code);
    }
    ++at_;
    return out;
  }

  Result<std::uint32_t> pattern() {
    const std::size_t begin = ++at_;
    for (bool is_class = false; is_class || next() != '/'; ++at_) {
      if (is_end() || next() == '\n') return bad("'/' is wanted");
      if (next() == '\\') {
        ++at_;
      } else if (next() == '[' || next() == ']') {
        is_class = next() == '[';
      }
    }
    std::string pattern(text_.substr(begin, at_ - begin));
    bool ignores_case = false, has_any_dot = false;  // flags may be repeated
    for (++at_; next() >= 'a' && next() <= 'z'; ++at_) {
      ignores_case = ignores_case || next() == 'i';
      has_any_dot = has_any_dot || next() == 's';
      if (std::string_view("isu").find(next()) == std::string_view::npos)
        return bad("this flag of a regular expression is not supported");
    }
    if (ignores_case) {
      WICK_TRY(pattern, either_case(pattern));
    }
    if (has_any_dot) pattern = any_dot(pattern);
    return add({.kind = Kind::kRegex, .text = std::move(pattern)});
  }

  // The pattern for both cases of its ASCII letters.
  Result<std::string> either_case(std::string_view pattern) const {
    std::string out;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto other = [](char c) { return static_cast<char>(c ^ 0x20); };
    bool is_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if (c == '\\' && i + 1 < pattern.size()) {
        out += c;
        out += pattern[++i];
        if (std::string_view("xuUpPkc").find(pattern[i]) != std::string_view::npos)
          return bad("this escape is not supported with the flag i");
        continue;
      }
      if (c == '[' || c == ']') is_class = c == '[';
      const bool is_range = is_class && i + 2 < pattern.size() && pattern[i + 1] == '-' &&
                            is_letter(c) && is_letter(pattern[i + 2]);
      if (is_range) {
        const char last = pattern[i + 2];
        out += cat(std::string(1, c), "-", std::string(1, last));
        if ((c & 0x20) == (last & 0x20))
          out += cat(std::string(1, other(c)), "-", std::string(1, other(last)));
        i += 2;
      } else if (is_letter(c)) {
        out += cat(is_class ? "" : "[", std::string(1, c), std::string(1, other(c)),
                   is_class ? "" : "]");
      } else {
        out += c;
      }
    }
    return out;
  }

  // A dot for each character, line breaks, too.
  static std::string any_dot(std::string_view pattern) {
    std::string out;
    bool is_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if (c == '\\' && i + 1 < pattern.size()) {
        out += c;
        out += pattern[++i];
        continue;
      }
      if (c == '[' || c == ']') is_class = c == '[';
      if (c == '.' && !is_class) {
        out += "[^]";
      } else {
        out += c;
      }
    }
    return out;
  }

  // A terminal consists of terminals, and not of itself (productions.h finds that).
  Result<void> check_terminals() const {
    for (const GrammarRules::Rule& rule : out_.rules) {
      if (!rule.is_lexeme) continue;
      std::vector<std::uint32_t> todo = {rule.body};
      while (!todo.empty()) {
        const GrammarNode& node = out_.nodes[todo.back()];
        todo.pop_back();
        const bool is_rule = node.kind == Kind::kRule && !out_.rules[node.rule].is_lexeme;
        if (is_rule || node.kind == Kind::kJson)
          return bad(cat("the terminal '", printable(rule.name), "' holds a rule"));
        todo.insert(todo.end(), node.children.begin(), node.children.end());
      }
    }
    return {};
  }

  // Behind each terminal of a rule, and before the start.
  void ignore_between() {
    const std::uint32_t what = add({.kind = Kind::kChoice, .children = out_.ignored});
    const auto ignored = static_cast<std::uint32_t>(out_.rules.size());
    out_.rules.push_back({.name = "%ignore", .body = what, .is_defined = true, .is_lexeme = true});
    const std::uint32_t one = add({.kind = Kind::kRule, .rule = ignored});
    const std::uint32_t many =
        add({.kind = Kind::kRepeat, .min = 0, .max = regex::kUnbounded, .children = {one}});
    const auto skipped = static_cast<std::uint32_t>(out_.rules.size());
    out_.rules.push_back({.name = "%ignored", .body = many, .is_defined = true});
    std::vector<bool> is_done(out_.nodes.size(), false);
    for (std::size_t i = 0; i < out_.rules.size(); ++i) {
      if (!out_.rules[i].is_lexeme && i != skipped)
        out_.rules[i].body = ignoring(out_.rules[i].body, skipped, is_done);
    }
    const std::uint32_t before = add({.kind = Kind::kRule, .rule = skipped});
    const std::uint32_t start = add({.kind = Kind::kRule, .rule = out_.start});
    const std::uint32_t whole = add({.kind = Kind::kSequence, .children = {before, start}});
    out_.start = static_cast<std::uint32_t>(out_.rules.size());
    out_.rules.push_back({.name = "%start", .body = whole, .is_defined = true});
  }

  std::uint32_t ignoring(std::uint32_t id, std::uint32_t skipped, std::vector<bool>& is_done) {
    const Kind kind = out_.nodes[id].kind;
    const bool is_terminal = kind == Kind::kText || kind == Kind::kClass || kind == Kind::kRegex ||
                             kind == Kind::kJson ||
                             (kind == Kind::kRule && out_.rules[out_.nodes[id].rule].is_lexeme);
    if (is_terminal) {
      const std::uint32_t behind = add({.kind = Kind::kRule, .rule = skipped});
      return add({.kind = Kind::kSequence, .children = {id, behind}});
    }
    if (id < is_done.size() && is_done[id]) return id;
    if (id < is_done.size()) is_done[id] = true;
    for (std::size_t i = 0; i < out_.nodes[id].children.size(); ++i) {
      const std::uint32_t made = ignoring(out_.nodes[id].children[i], skipped, is_done);
      out_.nodes[id].children[i] = made;
    }
    return id;
  }

  const TokenNames& names_of_;
  std::vector<std::pair<std::uint32_t, std::string_view>> imports_ = {};
};

}  // namespace

Result<GrammarRules> parse_lark(std::string_view text, const TokenNames& names) {
  return Parser(text, names).parse();
}

}  // namespace wick::grammar
