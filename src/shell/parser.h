// Internals of the parser behind shell/parse.h. Recursive descent over characters: a token's kind
// depends on its context, so there is no separate lexer. A method that returns bool returns false
// after fail(); its caller then returns, unless it parses speculatively with an Attempt. One Parser
// reads one text. Back-quoted commands and here-documents are parsed as texts of their own, with a
// map to positions in the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/limits.h"
#include "shell/parse.h"

namespace wick::shell {

// Where parts of words are read: which characters end them, and what quotes mean.
enum class In : std::uint8_t {
  kWord,         // ends at blanks and operators
  kDouble,       // until "
  kHereDoc,      // until the end of the text
  kBrace,        // ${x:-…} until }
  kBraceDouble,  // the same inside "…": ' is plain
  kPattern,      // ${x/…/: until / or }
  kOffset,       // ${x:…: until : or }
  kSubscript,    // until ]
  kArithmetic,   // until ))
  kArithClause,  // for ((…;…;…)): until ; or ))
  kRegex,        // behind =~
  kExtGlob,      // @(…: until )
  kZshGroup,     // zsh's (…) in a word: until )
};

inline bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

inline bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

inline bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

inline bool is_name_char(char c) noexcept {
  return is_name_start(c) || is_digit(c);
}

// Characters that end a word: blanks, newline, operators, the end.
inline bool is_meta(char c) noexcept {
  switch (c) {
    case '\0':
    case ' ':
    case '\t':
    case '\n':
    case ';':
    case '&':
    case '|':
    case '(':
    case ')':
    case '<':
    case '>':
      return true;
    default:
      return false;
  }
}

// Characters that mean themselves wherever words are read.
inline bool is_plain(char c) noexcept {
  return is_name_char(c) || c == '-' || c == '.' || c == ',';
}

// What all parsers of one parse() share.
struct ParseState {
  int nodes = 0;
  int depth = 0;
  std::size_t retried = 0;  // bytes read twice
  bool is_failed = false;
  SyntaxError error = {};
};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<int>* map, Dialect dialect, Mode mode,
         ParseState& state)
      : text_(text),
        map_(map),
        dialect_(dialect),
        mode_(mode),
        state_(state),
        is_continued_(text.find("\\\n") != std::string_view::npos) {}

  bool parse_all(List<Node>& out);              // a whole text of commands
  bool parse_text(List<WordPart>& out, In in);  // a whole text of parts

 private:
  struct Nest;     // counts depth
  struct Attempt;  // goes back

  // Characters. A backslash before a newline vanishes wherever cur(), look() and take() are used.
  char cur() { return look(0); }

  char look(int ahead) const {
    if (is_continued_) return look_over(ahead);
    const auto at = static_cast<std::size_t>(pos_ + ahead);
    return at < text_.size() ? text_[at] : '\0';
  }

  char look_over(int ahead) const;
  void take(int count = 1);
  std::string name_at(int& ahead) const;  // letters, digits, _; `ahead` moves behind them

  bool at_end() { return cur() == '\0'; }

  bool is_bash_like() const { return dialect_ != Dialect::kPosix; }

  bool is_zsh() const { return dialect_ == Dialect::kZsh; }

  Span span_from(int begin) const;  // places of this text to places of the source
  bool fail(int begin, std::string message);
  bool fail_limit(std::string message);
  bool unexpected();
  bool count();

  // Words and their parts (parse_words.cc, parse_expansions.cc).
  bool word(Word& out, In in = In::kWord);
  bool parts(List<WordPart>& out, In in);
  bool part(List<WordPart>& out, In in, int& parens);
  bool plain_run(List<WordPart>& out);
  bool ends(In in, int parens) const;
  bool backslash(List<WordPart>& out, In in);
  void literal(List<WordPart>& out, std::string_view text, int begin);
  bool give_back_brace(Word& out);
  bool single_quote(List<WordPart>& out);
  bool double_quote(List<WordPart>& out, PartKind kind, int begin);
  bool ansi_quote(List<WordPart>& out, int begin);
  bool ext_glob(List<WordPart>& out);
  bool dollar(List<WordPart>& out, In in);
  bool parameter(List<WordPart>& out, In in, int begin);
  bool parameter_name(Parameter& p, int begin);
  bool parameter_op(Parameter& p, In in, int begin);
  bool substring(Parameter& p, int begin);
  bool replacement(Parameter& p, int begin);
  bool argument(List<WordPart>& out, In in, bool is_pattern);
  bool subscript(List<WordPart>& out);
  bool command_sub(List<WordPart>& out, int begin);
  bool back_quote(List<WordPart>& out, In in);
  bool process_sub(List<WordPart>& out);
  bool arithmetic_sub(List<WordPart>& out, int begin, bool& is_arithmetic);
  bool old_arithmetic(List<WordPart>& out, int begin);

  // Commands (parse_commands.cc, parse_compound.cc).
  bool list(List<Node>& out);                    // until a word or character that ends lists
  bool body(List<Node>& out, const char* what);  // the same, at least one command
  bool and_or(Node& out);
  bool pipeline(Node& out);
  bool command(Node& out);
  bool simple(Node& out);
  bool simple_word(Node& out, bool& takes_assignments);
  bool try_assignment(List<Assignment>& out, bool is_first, bool& is_one);
  bool assignment_value(Assignment& out);
  bool array_elements(Assignment& out);
  bool redirects(Node& out);
  bool try_redirect(List<Redirect>& out, bool& is_one);
  bool redirect_op(Redirect& out);
  bool here_doc_start(Redirect& out);
  bool read_here_docs();
  bool read_here_doc(HereDoc& doc);
  bool separator(Node& last, bool& has_more);

  bool compound(Node& out, bool& is_compound);
  bool group(Node& out, char close);
  bool if_command(Node& out);
  bool for_command(Node& out, NodeKind kind);
  bool arith_for(Node& out);
  bool for_words(Node& out);
  bool do_group(Node& out);
  bool while_command(Node& out, NodeKind kind);
  bool case_command(Node& out);
  bool case_item(CaseItem& out);
  bool case_patterns(CaseItem& out);
  bool function_command(Node& out, int begin, std::string name);
  bool coproc(Node& out);
  bool arith_command(Node& out, bool& is_one);
  bool double_test(Node& out);
  bool test_or(Test& out);
  bool test_and(Test& out);
  bool test_not(Test& out);
  bool test_primary(Test& out);
  bool test_binary(Test& out);

  // What only zsh has (parse_zsh.cc, parse_zsh_words.cc).
  bool zsh_compound(Node& out, bool& is_compound);
  bool zsh_body(Node& out, bool has_keywords);  // do … done, { … } or one command
  bool zsh_braces(List<Node>& out);
  bool zsh_sublist(List<Node>& out);
  bool zsh_if(Node& out);
  bool zsh_for(Node& out, bool is_foreach);
  bool zsh_group(Node& out);
  bool zsh_function(Node& out, int begin, std::string names);
  bool zsh_anonymous(Node& out);
  bool zsh_word_group(List<WordPart>& out);
  bool zsh_dollar(List<WordPart>& out, In in, int begin);
  bool zsh_parameter(List<WordPart>& out, In in, int begin);
  bool zsh_flags(Parameter& p, int begin);
  bool zsh_name(Parameter& p, In in, int begin);
  bool zsh_subscripts(Parameter& p);
  bool zsh_operator(Parameter& p, In in, int begin);
  bool zsh_modifiers(Parameter& p, bool in_braces);
  void zsh_redirect_suffix(RedirectOp& op);
  int zsh_number_range() const;  // length of <1-9> here, 0 if there is none
  bool is_zsh_word() const;      // a character that other shells take for an operator

  void blanks();              // blanks and a comment
  bool newlines();            // blanks, comments, newlines, and bodies of here-documents
  // The plain word here, "" if there is none or it is longer. The default: "function", "foreach".
  std::string ahead(int longest = 10) const;

  bool at_word(std::string_view wanted) const {  // ahead() == wanted, without a copy
    int at = 0;
    for (const char c : wanted) {
      if (look(at++) != c) return false;
    }
    return is_meta(look(at));
  }

  bool take_word(std::string_view wanted);  // or fails

  // ; or &, where a command is wanted; `&>f` begins one.
  bool at_separator() {
    return cur() == ';' || (cur() == '&' && !(look(1) == '>' && is_bash_like()));
  }

  bool at_list_end();
  bool is_name_here(int begin) const;
  bool is_history() const;

  std::string_view text_;
  const std::vector<int>* map_;  // place in text_ to place in the source; null: the same
  Dialect dialect_;
  Mode mode_;
  ParseState& state_;
  bool is_continued_;  // a backslash stands before a newline somewhere
  int pos_ = 0;
  std::vector<HereDoc*> pending_;  // begun on this line, bodies follow it
  bool is_in_test_ = false;
  bool has_groups_ = false;  // zsh: ( in a word begins a group, not only behind a command's name
};

// Depth of nesting, for as long as it lives. `ok` is false past the limit, and then it has failed.
struct Parser::Nest {
  explicit Nest(Parser& parser) : state(parser.state_), ok(++state.depth <= kMaxDepth) {
    if (!ok) parser.fail_limit("nests deeper than the limit of 64");
  }

  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  ~Nest() { --state.depth; }

  ParseState& state;
  bool ok;
};

// What was read since it was made may be given up: then all is as it was, but that the bytes count
// as read twice. Here-documents that began meanwhile are forgotten, for what owns them goes.
struct Parser::Attempt {
  explicit Attempt(Parser& its_parser)
      : parser(its_parser),
        begin(parser.pos_),
        nodes(parser.state_.nodes),
        is_in_test(parser.is_in_test_),
        has_groups(parser.has_groups_),
        pending(parser.pending_) {}

  // False where the parse must end: at a limit that was met, or too many bytes were read twice.
  bool give_up(const char* too_many) {
    ParseState& state = parser.state_;
    if (state.is_failed && state.error.is_limit) return false;
    state.is_failed = false;
    state.error = {};
    state.nodes = nodes;
    state.retried += static_cast<std::size_t>(parser.pos_ - begin);
    parser.pos_ = begin;
    parser.is_in_test_ = is_in_test;
    parser.has_groups_ = has_groups;
    parser.pending_ = pending;
    return state.retried <= 4 * kMaxSource || parser.fail_limit(too_many);
  }

  Parser& parser;
  int begin, nodes;
  bool is_in_test, has_groups;
  std::vector<HereDoc*> pending;
};

}  // namespace wick::shell
