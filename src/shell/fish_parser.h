// The parser of fish behind shell/parse.h. Its grammar shares little with the other shells', so it
// stands apart; its trees are made of the same nodes. `a; and b` is the node of `a && b`. Strict:
// what fish may read in two ways is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/parser.h"

namespace wick::shell {

class FishParser {
 public:
  FishParser(std::string_view text, ParseState& state) : text_(text), state_(state) {}

  bool parse_all(List<Node>& out);

 private:
  struct Nest;

  char look(int ahead) const;

  char cur() const { return look(0); }

  int pipe_size() const;

  bool at_end() const { return pos_ >= static_cast<int>(text_.size()); }

  bool fail(int begin, std::string message);
  bool unexpected();
  bool count();
  void skip_continued();  // a backslash before a newline
  void blanks();
  void separators();  // blanks, comments, newlines and ;
  bool is_word_end() const;
  std::string ahead() const;  // the plain word here
  bool take_keyword(std::string_view word);

  bool list(List<Node>& out);  // until end, else, case, ) or the end of the text
  bool and_or(Node& out, List<Node>& before);
  bool conjunction(Node& out);
  bool pipeline(Node& out);
  bool statement(Node& out);
  bool block(Node& out, std::string_view keyword);
  bool if_block(Node& out);
  bool for_block(Node& out);
  bool while_block(Node& out);
  bool switch_block(Node& out);
  bool function_block(Node& out);
  bool condition(List<Node>& out);
  bool words(List<Word>& out);
  bool simple(Node& out);
  bool try_assignment(Node& out, bool& is_one);
  bool try_redirect(Node& out, bool& is_one);
  bool end_of_block();

  bool word(Word& out);
  bool parts(List<WordPart>& out, int& braces);
  bool single_quote(List<WordPart>& out);
  bool double_quote(List<WordPart>& out);
  bool escape(List<WordPart>& out);
  bool dollar(List<WordPart>& out);
  bool substitution(List<WordPart>& out, bool has_dollar);
  bool subscript(List<WordPart>& out);
  void literal(List<WordPart>& out, char c);

  std::string_view text_;
  ParseState& state_;
  int pos_ = 0;
};

// Depth of nesting, for as long as it lives. `ok` is false past the limit, and then it has failed.
struct FishParser::Nest {
  explicit Nest(FishParser& parser) : state(parser.state_), ok(++state.depth <= kMaxDepth) {
    if (ok || state.is_failed) return;
    state.error.is_limit = true;
    parser.fail(parser.pos_, "nests deeper than the limit of 64");
  }

  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  ~Nest() { --state.depth; }

  ParseState& state;
  bool ok;
};

}  // namespace wick::shell
