// The syntax tree of a shell text: what was written, with quoting and places kept. Plain data, made
// by parse() (shell/parse.h), immutable afterwards, readable from any thread.
//
//   cat <"$in" | sort -u &
//   kPipeline{background}
//     kSimple words[cat]      redirects[ < kDouble[kParameter in] ]
//     kSimple words[sort, -u]
//
// A word is a list of parts; a quoted part stays quoted, since `"*"` and `*` are different words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shell/pool.h"

namespace wick::shell {

// Bytes [begin, end) of the source as given.
struct Span {
  int begin = 0, end = 0;
};

enum class Dialect : std::uint8_t { kPosix, kBash, kZsh, kFish, kPowershell };
enum class Mode : std::uint8_t { kScript, kInteractive };

enum class PartKind : std::uint8_t {
  kLiteral,     // unquoted text; `*`, `{`, `~` are still characters here
  kEscape,      // \x: `text` is x
  kSingle,      // '…'
  kDouble,      // "…": `parts`
  kLocale,      // $"…": `parts`
  kAnsiC,       // $'…': `text` as written, escapes undecoded
  kParameter,   // $name, ${name…}: see Parameter
  kCommandSub,  // $(…) and `…`: `body`; of `…` `text` is what was written, with its quotes
  kArithmetic,  // $((…)), $[…]: `parts`; `text` is "[" for the latter
  kProcessSub,  // <(…), >(…), zsh's =(…): `text` is "<", ">" or "=", `body`
  kExtGlob,     // @(…) in [[ ]] and ${x%…}: `text` is the first character, `parts` the inside;
                // zsh's groups and qualifiers, (a|b) and *(.): `text` is ""
};

struct Node;
struct Word;
struct Parameter;

struct WordPart {
  PartKind kind = PartKind::kLiteral;
  Span span;
  std::string text;
  List<WordPart> parts;
  List<Node> body;
  std::unique_ptr<Parameter> parameter;

  WordPart();
  WordPart(PartKind kind, Span span);
  WordPart(PartKind kind, Span span, std::string&& text);
  WordPart(PartKind kind, Span span, std::string_view text);
  WordPart(WordPart&&) noexcept;
  WordPart& operator=(WordPart&&) noexcept;
  ~WordPart();
};

// ${#name[index]op argument}. `op` is "" for $name, else as written: ":-", "%%", "//", "@Q" …
struct Parameter {
  std::string name;
  bool has_braces = false;   // ${name}, not $name
  bool has_length = false;   // ${#name}
  bool is_indirect = false;  // ${!name}
  bool has_index = false;    // ${name[index]}
  bool has_pieces = false;   // ${name:offset:length}, ${name/pattern/text}: `second` is there
  List<WordPart> index = {};
  std::string op = {};
  List<WordPart> argument = {};
  List<WordPart> second = {};
  std::string flags = {};             // zsh: ${(flags)name}, without the parentheses
  std::string marks = {};             // zsh: ^ = ~ + in front of the name
  List<WordPart> nested = {};  // zsh: ${${…}…}, one part instead of a name
};

struct Assignment;

struct Word {
  Span span;
  List<WordPart> parts;
  std::unique_ptr<Assignment> array;  // declare a=(1 2): the word is this assignment

  Word();
  Word(Word&&) noexcept;
  Word& operator=(Word&&) noexcept;
  ~Word();
};

struct ArrayElement {
  bool has_index = false;
  List<WordPart> index = {};
  Word value = {};
};

// name[index]+=value or name=(…).
struct Assignment {
  Span span = {};
  std::string name = {};
  bool has_index = false, is_append = false, is_array = false;
  List<WordPart> index = {};
  Word value = {};
  List<ArrayElement> elements = {};
};

enum class RedirectOp : std::uint8_t {
  kIn,           // <
  kOut,          // >
  kAppend,       // >>
  kReadWrite,    // <>
  kClobber,      // >|
  kDupIn,        // <&
  kDupOut,       // >&
  kHereDoc,      // <<
  kHereDocTabs,  // <<-
  kHereString,   // <<<
  kBoth,         // &>
  kBothAppend,   // &>>
};

struct HereDoc {
  std::string delimiter = {};
  bool is_quoted = false;  // nothing in the body is expanded
  bool strips_tabs = false;
  Span span = {};
  std::string text = {};             // the body as written, without the tabs of <<-
  List<WordPart> parts = {};  // one kSingle if quoted; else text and expansions
};

struct Redirect {
  int fd = -1;                // -1: the operator's own
  std::string variable = {};  // {name}>file
  RedirectOp op = RedirectOp::kIn;
  Span span = {};
  Word target = {};
  std::unique_ptr<HereDoc> here_doc = {};
};

enum class TestKind : std::uint8_t { kWord, kUnary, kBinary, kNot, kAnd, kOr, kGroup };

// An expression of [[ ]].
struct Test {
  TestKind kind = TestKind::kWord;
  std::string op = {};
  List<Word> words = {};
  List<Test> inner = {};
};

enum class NodeKind : std::uint8_t {
  kSimple,      // assignments, words
  kPipeline,    // children; is_negated, is_timed
  kAndOr,       // children joined by `joins`
  kSubshell,    // bodies[0]
  kGroup,       // bodies[0]
  kIf,          // bodies: condition, then, condition, then, …, [else]
  kFor,         // name, words if has_in, bodies[0]
  kArithFor,    // arithmetic[3], bodies[0]
  kWhile,       // bodies: condition, body
  kUntil,       // the same
  kCase,        // words[0], items
  kSelect,      // as kFor
  kFunction,    // name, children[0]; has_in if the word `function` was there
  kDoubleTest,  // test
  kArithmetic,  // arithmetic[0]
  kCoproc,      // name, children[0]
  kRepeat,      // zsh: words[0] is the number, bodies[0]
  kAlways,      // zsh: bodies[0] { } always { } bodies[1]
  kAnonymous,   // zsh: () { } words: children[0] runs at once with the words as arguments
};

struct CaseItem {
  List<Word> patterns = {};
  List<Node> body;
  std::string end = {};  // ";;", ";&", ";;&"
};

struct Node {
  NodeKind kind = NodeKind::kSimple;
  Span span;
  bool is_negated = false, is_timed = false, is_background = false, has_in = false;
  bool pipes_stderr = false;  // |& behind this command
  std::string name;
  List<Assignment> assignments;
  List<Word> words;
  List<Redirect> redirects;
  List<Node> children;
  std::vector<bool> joins;  // of kAndOr: true is &&
  List<List<Node>> bodies;
  List<CaseItem> items;
  List<List<WordPart>> arithmetic;
  std::unique_ptr<Test> test;
};

struct Script {
  std::string source = {};
  Dialect dialect = Dialect::kBash;
  Mode mode = Mode::kScript;
  List<Node> body = {};
};

// The text of a word without quotes or expansions, null if it has any: `then`, `-x`, `a{b`.
const std::string* plain_text(const Word& word) noexcept;

// Equal but for spans.
bool equal(const Script& a, const Script& b);

}  // namespace wick::shell
