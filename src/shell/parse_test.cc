// The parser and the printer: what is accepted, what is refused and where, and that printing keeps
// the tree. Agreement with bash and dash over real scripts: tools/parity/shell_scripts.py.
#include "shell/parse.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "shell/limits.h"

namespace wick::shell {
namespace {

Parsed bash(std::string_view text) {
  return parse(text, Dialect::kBash, Mode::kScript);
}

Parsed posix(std::string_view text) {
  return parse(text, Dialect::kPosix, Mode::kScript);
}

const Script* tree(const Parsed& parsed) {
  return std::get_if<Script>(&parsed);
}

std::string reason(const Parsed& parsed) {
  const auto* error = std::get_if<SyntaxError>(&parsed);
  return error == nullptr ? "accepted" : error->message;
}

// One command a row; real newlines. bash -n accepts each, and so does wick.
const std::vector<std::string> kAccepted = {
    "ls -la",
    "a=1 b=\"$c\" cmd x >out 2>&1 <in",
    "a && b || c; d & e",
    "! a | b |& c",
    "time -p ls | wc",
    "( cd x; ls ) >f",
    "{ a; b; } 2>/dev/null",
    "if a; then b; elif c; then d; else e; fi",
    "for i in 1 2 $x; do echo $i; done",
    "for i do echo $i; done",
    "for ((i=0; i<10; i++)); do echo $i; done",
    "while read -r l; do echo \"$l\"; done <f",
    "until false; do x; done",
    "case $x in a|b) c ;; (d) e ;& *) f ;;& z) esac",
    "case x in esac",
    "select x in a b; do break; done",
    "f() { ls; }; f",
    "function f { ls; }",
    "function f () ( ls )",
    "f() { ls; } >out",
    "[[ -f $x && ! $y == a* || ( 1 -lt 2 ) ]]",
    "[[ $x =~ ^([a-z]+)(\\ b|c)$ ]]",
    "[[ $x == @(a|b)* ]]",
    "[[ a < b ]]",
    "(( x = 1 + (2 * 3) ))",
    "echo $(( 1 + $x )) $((y)) $[1+2]",
    "((a); (b))",
    "echo $((a); (b))",
    "echo $( (a) )",
    "echo `a \\`b\\` c` \"`d \\\"e\\\"`\"",
    "echo ${a} ${#a} ${a:-b c} ${a:=x} ${a:?m} ${a:+'q'} ${a-b} ${a%%.*} ${a##*/}",
    "echo \"${a:-\"b c\"}\" \"${a:-it's}\" \"${a#'x'}\"",
    "echo ${a/b/c} ${a//b} ${a/#b/c} ${a/%b/c} ${a:1} ${a:1:2} ${a: -1} ${a:x?1:2:3} ${a^^} ${a,}",
    "echo ${!a} ${!a*} ${!a[@]} ${a[0]} ${a[@]} ${#a[@]} ${a@Q} ${#} ${#-} ${?} ${10} $$ $! $-",
    "a=(1 2 [5]=x \"y z\" $(ls)); a+=(3); a[1]=x; a[b+1]+=y",
    "declare -a a=(1 2) b; export x=1; local y=(a\nb)",
    "cat <<EOF\na $b $(c)\nEOF\nls",
    "cat <<'EOF'; ls\na $b `\nEOF",
    "cat <<-EOF | tr a b\n\ta\n\t\tb\n\tEOF",
    "cat <<A - <<B\na\nA\nb\nB",
    "cat <<A && cat <<B\na\nA\nb\nB\n",
    "x=$(cat <<E\nhi )\nE\n)",
    "cat <<E $(cat <<F\nf\nF\n)\ne\nE",
    "cat <<E\na \\\nE\nb\nE",
    "cat <<''\ntext\n\nls",
    "cat <<<word <<<\"$x\"",
    "cat <(a) >(b) x<(c)",
    "ls &>f; ls &>>f; ls >|f; ls <>f; ls {fd}>f; ls 2>&-; ls >&2",
    "coproc ls; coproc N { ls; }; coproc longer_than_a_keyword (ls)",
    "coproc longer_than_a_keyword ls; coproc N select i in a; do ls; done; coproc a=(1 2) ls",
    "echo $'a\\'b' $\"c\" 'd' \"e\\\"f\" g\\ h \\\n i",
    "echo a#b #c\nls # x \\\nls",
    "ec\\\nho a; i\\\nf a; th\\\nen b; f\\\ni; a &\\\n& b",
    "echo if then { } ! [[ time",
    ">f } a; 2>&1 if x; a=1 >f b | <f fi",
    "echo {a,b}{1..3} ~ ~/x *.c ?[a-z] a=b",
    "$(echo $(echo $(echo a)))",
    "case \"$(case x in x) echo y ;; esac)\" in y) ls ;; esac",
    "x=$(case x in x) echo y;; esac)",
    "echo \"$(echo \"$(echo \"a\")\")\"",
    "cat <<E >f\n$(ls \"a b\")\n`x`\n${y:-'z'}\n\\$a\\\\\nE",
    "a\n\n\nb;\nc &\nd",
    "",
    "\n# only a comment",
};

TEST(ShellParse, AcceptsWhatBashAccepts) {
  for (const std::string& text : kAccepted)
    EXPECT_NE(tree(bash(text)), nullptr) << text << "\n" << reason(bash(text));
}

TEST(ShellParse, PrintsTextThatParsesToTheSameTree) {
  for (const std::string& text : kAccepted) {
    const Parsed first = bash(text);
    ASSERT_NE(tree(first), nullptr) << text;
    const std::string printed = print(*tree(first));
    const Parsed second = bash(printed);
    ASSERT_NE(tree(second), nullptr) << text << "\nprinted:\n" << printed << reason(second);
    EXPECT_TRUE(equal(*tree(first), *tree(second))) << text << "\nprinted:\n" << printed;
    EXPECT_EQ(print(*tree(second)), printed);
  }
}

struct Typed {
  Dialect dialect = Dialect::kBash;
  Mode mode = Mode::kScript;
  std::string text = {};
};

// What printed text must keep apart, since together it reads as something else.
TEST(ShellParse, PrintsTokensThatStayApart) {
  const Mode typed = Mode::kInteractive;
  const std::vector<Typed> rows = {
      {.text = "time -p -p x"},
      {.dialect = Dialect::kZsh, .text = "time -p x"},
      {.dialect = Dialect::kZsh, .text = "echo > (a|b)"},
      {.dialect = Dialect::kZsh, .text = "cat < <1-9>"},
      {.dialect = Dialect::kZsh, .text = "cat < 1->(x)"},
      {.dialect = Dialect::kZsh, .text = "ls {fd}>&|f; ls {fd}>>&f"},
      {.dialect = Dialect::kZsh, .text = "f() >&|g; () >&|g; repeat 2 >&|g"},
      {.mode = typed, .text = "echo $(ls ! )"},
      {.mode = typed, .text = "a=(b ! )"},
      {.mode = typed, .text = "case x in (! ) ls;; esac"},
      {.text = "cat <<E\n$(a\nE;b)\nE"},
      {.text = "cat <<fi\n$(if a; then b; fi)\nfi"},
      {.text = "cat <<-E\n\ta\\\n\tb\n\tE"},
      {.dialect = Dialect::kFish, .text = "ls 2>| wc"},
      {.dialect = Dialect::kFish, .text = "ls a\\\n >f b\\\nc"},
  };
  for (const Typed& row : rows) {
    const Parsed first = parse(row.text, row.dialect, row.mode);
    ASSERT_NE(tree(first), nullptr) << row.text << "\n" << reason(first);
    const std::string printed = print(*tree(first));
    const Parsed second = parse(printed, row.dialect, row.mode);
    ASSERT_NE(tree(second), nullptr) << row.text << "\nprinted:\n" << printed << reason(second);
    EXPECT_TRUE(equal(*tree(first), *tree(second))) << row.text << "\nprinted:\n" << printed;
  }
}

// Read in two ways, by this shell or by what prints it: an error, never a guess.
TEST(ShellParse, RefusesWordsThatAreCutInTwoWays) {
  const std::vector<Typed> rows = {
      {.text = "b[ # '\n]=3"},
      {.text = "b[x ls"},
      {.text = "a=([x # '\n]=3)"},
      {.dialect = Dialect::kFish, .text = "begin; ls; e\\\nnd"},
      {.dialect = Dialect::kFish, .text = "echo $a\\\nb"},
      {.dialect = Dialect::kFish, .text = "echo \"$a\\\nb\""},
      {.dialect = Dialect::kFish, .text = "echo \\x4\\\n1"},
      {.dialect = Dialect::kFish, .text = "echo (ls)\\\n[1]"},
  };
  for (const Typed& row : rows)
    EXPECT_EQ(tree(parse(row.text, row.dialect, row.mode)), nullptr) << row.text;
}

TEST(ShellParse, RefusesWhatBashRefuses) {
  const std::vector<std::string> refused = {"ls (a)",
                                            "if a; then fi",
                                            "if a; fi",
                                            "for 1; do x; done",
                                            "a | | b",
                                            "a &&",
                                            "&& a",
                                            "( )",
                                            "{ }",
                                            "a ; ; b",
                                            "'",
                                            "\"",
                                            "`",
                                            "$(",
                                            "${a",
                                            "case x in a",
                                            "fi",
                                            "a )",
                                            "done",
                                            "ls *(e:'touch x':)",
                                            "f() ls",
                                            "while a; done",
                                            "[[ a",
                                            "[[ a ]",
                                            "for ((a;b)); do x; done",
                                            "a=(1",
                                            "cat <",
                                            "cat <\n",
                                            "a & && b",
                                            "! ",
                                            "$'",
                                            "<(ls",
                                            "if a then b fi",
                                            "echo $'a\\'",
                                            "}",
                                            "then",
                                            "[[ ]]",
                                            "a;;",
                                            "function",
                                            "f( a",
                                            "case x in a) b;; c",
                                            "(a",
                                            "{ a; ",
                                            "a >"};
  for (const std::string& text : refused)
    EXPECT_EQ(tree(bash(text)), nullptr) << text;
}

TEST(ShellParse, PosixHasNoBashConstructs) {
  for (const char* text : {"a=(1 2)", "cat <(ls)", "ls |& wc", "echo ${a^}", "echo ${a/b/c}",
                           "f() ls )", "for ((;;)); do a; done", "case x in a) b ;& esac"})
    EXPECT_EQ(tree(posix(text)), nullptr) << text;
  // Words that bash reserves are plain there.
  for (const char* text : {"time ls", "[[ a", "function f", "select a", "coproc b", "echo $'a'"})
    EXPECT_NE(tree(posix(text)), nullptr) << text << ": " << reason(posix(text));
}

TEST(ShellParse, ErrorsNameThePlace) {
  const Parsed parsed = bash("ls\nls a (x)");
  const auto& error = std::get<SyntaxError>(parsed);
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.column, 6);
  EXPECT_EQ(error.span.begin, 8);
  EXPECT_EQ(error.message, "unexpected '('");
  EXPECT_FALSE(error.is_limit);
}

TEST(ShellParse, SpansNameTheBytesOfTheSource) {
  const std::string text = "a; rm  \"$x\" `ls -l`";
  const Parsed parsed = bash(text);
  const Node& command = tree(parsed)->body.at(1);
  const auto at = [&](Span s) {
    return text.substr(static_cast<std::size_t>(s.begin),
                       static_cast<std::size_t>(s.end - s.begin));
  };
  EXPECT_EQ(at(command.span), "rm  \"$x\" `ls -l`");
  EXPECT_EQ(at(command.words.at(1).span), "\"$x\"");
  const Node& inner = command.words.at(2).parts.at(0).body.at(0);
  EXPECT_EQ(at(inner.words.at(1).span), "-l");
}

TEST(ShellParse, QueuesHereDocumentsInOrder) {
  const Parsed parsed = bash("cat <<A; cat <<'B' | wc\n1\nA\n$2\nB\nls");
  const auto& body = tree(parsed)->body;
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(body[0].redirects[0].here_doc->parts[0].text, "1\n");
  const HereDoc& second = *body[1].children[0].redirects[0].here_doc;
  EXPECT_TRUE(second.is_quoted);
  EXPECT_EQ(second.parts[0].text, "$2\n");
}

// Each begins a here-document in what is read as a subscript or as arithmetic first, and then is a
// comment. A delimiter this long lies on the heap: the address sanitizer sees a late look at it.
TEST(HostileShellParse, HereDocumentsOfAReadingGivenUpAreForgotten) {
  const std::string doc = " # $(cat <<" + std::string(40, 'Z') + ")\n";
  for (const std::string_view begin : {"a[1", "x=([1", "declare x=([1"})  // as bash: no end of [
    EXPECT_EQ(tree(bash(std::string(begin) + doc + ")\n]\n")), nullptr) << begin;
  for (const std::string_view begin : {"export a[1", "echo $((1"}) {
    std::string text = std::string(begin) + doc;
    if (begin.find("$((") != std::string::npos) text += "))\n";
    const Parsed parsed = bash(text + "rm -rf /\n");
    ASSERT_NE(tree(parsed), nullptr) << text << reason(parsed);
    ASSERT_EQ(tree(parsed)->body.size(), 2U) << text;
    EXPECT_EQ(print(tree(parsed)->body.back()), "rm -rf /") << text;
  }
  const Parsed still_in_test = bash("[[ $((a # \"\n) ) == @(x|y) ]]");
  EXPECT_NE(tree(still_in_test), nullptr) << reason(still_in_test);
}

TEST(ShellParse, TypedHistoryExpansionIsRefused) {
  const auto typed = [](std::string_view text) {
    return tree(parse(text, Dialect::kBash, Mode::kInteractive)) != nullptr;
  };
  EXPECT_FALSE(typed("echo !!"));
  EXPECT_FALSE(typed("sudo \"!rm\""));
  EXPECT_TRUE(typed("echo '!rm' ! !="));
  EXPECT_TRUE(typed("! ls"));
  EXPECT_NE(tree(bash("echo !!")), nullptr);
}

TEST(ShellParse, LimitsAreErrorsOfTheirOwn) {
  const auto repeat = [](std::string_view what, int n) {
    std::string out;
    for (int i = 0; i < n; ++i)
      out += what;
    return out;
  };
  const std::vector<std::string> texts = {std::string(kMaxSource + 1, 'a'),
                                          repeat("$(", 200),
                                          repeat("(", 200),
                                          repeat("{ ", 200),
                                          repeat("a;", 30'000),
                                          repeat("\"$(", 100),
                                          repeat("$((", 5'000),
                                          repeat("((", 5'000),
                                          repeat("${a:-", 200),
                                          "[[ " + repeat("! ", 200) + " a ]]",
                                          repeat("if ", 300)};
  for (const std::string& text : texts) {
    const Parsed parsed = bash(text);
    const auto* error = std::get_if<SyntaxError>(&parsed);
    ASSERT_NE(error, nullptr) << text.substr(0, 20);
    EXPECT_TRUE(error->is_limit) << text.substr(0, 20) << ": " << error->message;
  }
}

// The parser looks ahead for `NAME=` and `{NAME}>`: a walk from the start for each letter took 2.3
// s.
TEST(HostileShellParse, LongNamesTakeLinearTime) {
  const std::string name(65'000, 'a');
  std::string continued;
  while (continued.size() < 60'000)
    continued += "a\\\n";
  for (const std::string& text : {name, "{" + name, name + "[1", "x" + name + "=1", continued}) {
    const std::clock_t begin = std::clock();
    static_cast<void>(bash(text));
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 0.3) << text.size() << " bytes that begin with " << text.substr(0, 4);
  }
}

TEST(ShellParse, NamesReachOverContinuationLines) {
  const Parsed parsed = bash("a\\\nb=1 c\\\n=2 {f\\\nd}>x 1\\\n2>y ls");
  ASSERT_TRUE(tree(parsed));
  const Parsed plain = bash("ab=1 c=2 {fd}>x 12>y ls");
  ASSERT_TRUE(tree(plain));
  EXPECT_EQ(print(*tree(parsed)), print(*tree(plain)));
}

TEST(HostileShellParse, TruncationAtEveryByteEndsInATreeOrAnError) {
  for (const std::string& text : kAccepted) {
    for (std::size_t n = 0; n <= text.size(); ++n) {
      for (const Dialect dialect : {Dialect::kPosix, Dialect::kBash, Dialect::kZsh}) {
        const Parsed parsed = parse(std::string_view(text).substr(0, n), dialect, Mode::kScript);
        if (const Script* script = tree(parsed)) {
          const Parsed again = parse(print(*script), dialect, Mode::kScript);
          ASSERT_NE(tree(again), nullptr) << text.substr(0, n) << "\n--\n" << print(*script);
          EXPECT_TRUE(equal(*script, *tree(again))) << text.substr(0, n);
        } else {
          const auto& error = std::get<SyntaxError>(parsed);
          EXPECT_FALSE(error.message.empty());
          EXPECT_LE(error.span.begin, error.span.end);
          EXPECT_LE(error.span.end, static_cast<int>(n));
        }
      }
    }
  }
}

}  // namespace
}  // namespace wick::shell
