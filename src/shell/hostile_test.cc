// Commands that try to hang the analysis or to take its memory: each gets a verdict or the refusal
// "too complex", within a bound of the bytes that operator new gave out, at a time and in all. What
// is visited or copied again and again shows there, and no clock is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "shell/limits.h"
#include "shell/verdict.h"
#include "support/hot_counters.h"
#include "support/instrumented.h"

namespace wick::shell {
namespace {

struct Attack {
  std::string name;
  std::string text;
  Dialect dialect = Dialect::kBash;
};

using Attacks = std::vector<Attack>;

std::string times(std::string_view what, std::size_t n) {
  std::string out;
  out.reserve(what.size() * n);
  for (std::size_t i = 0; i < n; ++i)
    out += what;
  return out;
}

// `what` as often as a command has room for it, with `%` as the number of each.
std::string numbered(std::string_view what, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    for (const char c : what)
      c == '%' ? out += std::to_string(i) : out += c;
  }
  return out;
}

// Deep nesting of each construct: within the limit, at it, behind it, and without an end.
void add_nesting(Attacks& out) {
  static constexpr std::pair<const char*, const char*> kNested[] = {
      {"( ", " )"},
      {"{ ", " ;}"},
      {"$( ", " )"},
      {"\"$( ", " )\""},
      {"<( ", " )"},
      {"${a:-", "}"},
      {"\"${a:-", "}\""},
      {"${a[", "]}"},
      {"$a[", "]"},
      {"$(( ( ", " ) ))"},
      {"(( ( ", " ) ))"},
      {"if a; then ", "; fi"},
      {"while a; do ", "; done"},
      {"for i in a b; do ", "; done"},
      {"case a in a) ", ";; esac"},
      {"select i in a; do ", "; done"},
      {"f() { ", "; }"},
      {"[[ ( ", " a ) ]]"},
      {"[[ ! ", " a ]]"},
      {"coproc { ", "; }"},
      {"! ", ""},
      {"time ", ""},
      {"a=( ", " )"}};
  for (const auto& [open, close] : kNested) {
    for (const std::size_t depth : {20UL, 60UL, 2000UL}) {
      out.push_back({cat(depth, " times ", open), times(open, depth) + "a" + times(close, depth)});
    }
    out.push_back({cat("not closed: ", open), times(open, 60'000 / std::string_view(open).size())});
  }
}

void add_words(Attacks& out) {
  out.push_back({"2^18 words of braces", times("{a,b}", 18)});
  out.push_back({"braces in braces", times("{a,", 200) + "b" + times("}", 200)});
  out.push_back({"empty braces", "rm " + times("{,}", 10'000)});
  out.push_back({"ranges", "rm {1..256}{1..256}"});
  out.push_back({"a long range", "rm {1..999999999}"});
  out.push_back({"open braces", times("{", 60'000)});
  out.push_back({"many braces", times("rm {a,b,c,d,e,f,g,h}{1..32};", 2000)});
  out.push_back({"quotes", times("''", 30'000)});
  out.push_back({"double quotes", times("\"\"", 30'000)});
  out.push_back({"double quotes with parameters", times("\"$x\"", 15'000)});
  out.push_back({"parameters", "rm " + times("$x", 30'000)});
  out.push_back({"texts and parameters", "rm " + times("$x/a", 15'000)});
  out.push_back({"escapes", times("\\a", 30'000)});
  out.push_back({"backslashes", times("\\", 60'000)});
  out.push_back({"continuation lines", times("a\\\n", 20'000)});
  out.push_back({"continuation lines between words", times("a \\\n", 15'000)});
  out.push_back({"ANSI quotes", times("$'\\x41'", 9000)});
  out.push_back({"one word", "rm " + times("a", 60'000)});
  out.push_back({"a name of a variable", times("a", 60'000) + "=1"});
  out.push_back({"a redirection's name", "{" + times("a", 60'000) + "}>x"});
  out.push_back({"blanks", times(" ", 60'000)});
  out.push_back({"newlines", times("\n", 60'000)});
  out.push_back({"comments", times("#\n", 30'000)});
  out.push_back({"stars", "rm " + times("*", 60'000)});
  out.push_back({"stars and letters", "rm /etc/" + times("*s", 30'000)});
  out.push_back({"brackets", "cat " + times("[a", 30'000)});
  out.push_back({"dots", "rm " + times("../", 20'000)});
  out.push_back({"names and dots", "rm " + times("a/../", 12'000)});
  out.push_back({"tildes", times("rm ~/a;", 8000)});
  out.push_back({"backquotes", times("`a` ", 15'000)});
  out.push_back({"quoted backquotes", times("`\\`", 20'000)});
  out.push_back({"arguments", "rm " + numbered("a% ", 10'000)});
  out.push_back({"options", "rm " + numbered("--a% ", 8000)});
  out.push_back({"letters of an option", "ls -" + times("l", 60'000)});
  out.push_back({"brackets of an assignment", times("a[", 30'000)});
  out.push_back({"brackets of an array", "a=(" + times("[", 30'000)});
  out.push_back({"elements", "a=(" + times("b ", 25'000) + "); rm \"${a[@]}\" ${a[@]} ${a[*]}"});
  out.push_back({"invisible characters", times("\xE2\x80\x8B", 20'000)});
  out.push_back({"broken UTF-8", times("\xC3", 60'000)});
  out.push_back({"a NUL byte", std::string("rm a") + '\0' + times("b", 60'000)});
  out.push_back({"more than 64 kB", times("rm a;", 20'000)});
}

void add_commands(Attacks& out) {
  static constexpr const char* kLists[] = {"a;",
                                           "a&",
                                           "a|",
                                           "a&&",
                                           "a||",
                                           "!a;",
                                           "a|&",
                                           "(a);",
                                           "{ a;};",
                                           "a<<<b;",
                                           "a=1;",
                                           "[[ a ]];",
                                           "((1));",
                                           "f(){ a;};",
                                           "a >b;",
                                           "time a;",
                                           "cd a;",
                                           "cd ..;",
                                           "cd $x;",
                                           "a\n",
                                           ": $(:);",
                                           "if a;then b;fi;",
                                           "for i in a;do b;done;",
                                           "case a in b) c;;esac;",
                                           "while a;do b;done;",
                                           "exec 3<a;",
                                           "set -- a b c;",
                                           "trap 'rm a' EXIT;",
                                           "sh -c 'rm a';",
                                           "eval rm a;",
                                           "sudo rm a;",
                                           "find . -exec rm {} +;",
                                           "echo a|sh;",
                                           "awk '{print}' a;",
                                           "sed s/a/b/ a;"};
  for (const char* const list : kLists) {
    const std::size_t n = 60'000 / std::string_view(list).size();
    out.push_back({cat("a list of ", list), times(list, n) + "a"});
  }
  out.push_back({"redirections", "a" + times(" >b", 20'000)});
  out.push_back({"10^5 redirections", "a" + times(" >b", 100'000)});
  out.push_back({"numbered redirections", "a" + numbered(" %>b%", 5000)});
  out.push_back({"written files", numbered("echo rm >f%;", 4000)});
  out.push_back({"files written and read", numbered("echo rm >f%;sh f%;", 2500)});
  out.push_back({"appended files", times("echo rm a >>f;", 4000) + "sh f"});
  out.push_back({"deleted files", numbered("rm f%;", 6000)});
  out.push_back({"a branch of each", "if a; then b;" + times("elif a; then b;", 3900) + "fi"});
  out.push_back({"patterns", "case $x in " + numbered("a%) b;;", 5000) + "esac"});
  out.push_back({"patterns of one case", "case $x in " + numbered("a%|", 8000) + "b) c;; esac"});
  out.push_back(
      {"loops in loops", times("for i in a b c; do x=$x$i; ", 25) + "rm $x" + times("; done", 25)});
  out.push_back({"loops that call", "f() { rm $1; }; " + times("for i in a b; do f $i; ", 25) +
                                        "f a" + times("; done", 25)});
  out.push_back({"sudo of sudo", times("sudo ", 10'000) + "rm a"});
  out.push_back({"env of env", times("env a=1 ", 7000) + "rm a"});
  out.push_back({"xargs of xargs", times("xargs ", 10'000) + "rm"});
  out.push_back({"nice of timeout", times("nice timeout 1 ", 4000) + "rm a"});
  out.push_back({"actions of find", "find . " + times("-exec rm {} + ", 4000)});
  out.push_back({"tests of find", "find . " + times("! -name a -o ", 4000) + "-delete"});
  out.push_back({"folders of find", "find " + numbered("d% ", 8000) + "-delete"});
  out.push_back({"a sed script", "sed '" + times("s/a/b/;", 8000) + "' f"});
  out.push_back({"braces of sed", "sed '" + times("{", 30'000) + times("}", 30'000) + "' f"});
  out.push_back({"an awk program", "awk '" + times("{print $1}", 6000) + "' f"});
  out.push_back({"a tar of options", "tar " + times("--exclude=a ", 5000) + "-cf a b"});
  out.push_back({"settings of git", "git " + times("-c a.b=c ", 6000) + "status"});
  out.push_back({"python", "python3 -c '" + times("rmtree(\"/\");", 4000) + "'"});
}

void add_texts(Attacks& out) {
  const std::string doubled = times("x=$x$x;", 60);
  out.push_back({"a doubled variable", "x=aaaa;" + doubled + "rm $x"});
  out.push_back({"a doubled command", "x='rm a;';" + doubled + "eval \"$x\""});
  out.push_back({"a replaced variable", "x=aaaa;" + times("x=${x//a/aaaa};", 60) + "rm $x"});
  out.push_back({"a printed variable", "x=aaaa;" + times("x=$(printf %s%s $x $x);", 60) + "$x"});
  out.push_back({"a variable of many", times("if a; then x=$x$a; else x=$x$b; fi;", 1500)});
  std::string sets;
  for (int i = 0; i < 20; ++i)
    sets += cat("if a; then x", i, "=a; else x", i, "=b; fi;");
  out.push_back({"products of sets", sets + times("rm $x0$x1$x2$x3$x4$x5;", 2000)});
  out.push_back({"many variables in subshells", numbered("v%=1;", 4000) + times("(:);", 5000)});
  out.push_back({"many variables in pipes", numbered("v%=1;", 4000) + times(":|:|:;", 4000)});
  out.push_back({"many variables in loops",
                 numbered("v%=1;", 3000) + times("for i in a; do v1=2; done;", 800)});
  out.push_back({"many variables before a command", numbered("v%=1 ", 6000) + "rm a"});
}

void add_code(Attacks& out) {
  out.push_back({"eval of eval", times("eval ", 10'000) + "rm a"});
  out.push_back({"eval of quoted eval", times("eval 'eval \"", 500) + "rm a" + times("\"'", 500)});
  std::string shell = "rm a";
  while (shell.size() < 30'000) {
    std::string quoted;
    for (const char c : shell)
      c == '\'' ? quoted += "'\\''" : quoted += c;
    shell = "sh -c '" + quoted + "'";
  }
  out.push_back({"sh of sh", shell});
  out.push_back(
      {"sh of its input", times("echo '", 1) + times("sh ", 10'000) + "'" + times("|sh", 9000)});
  out.push_back({"an eval in a loop", "x=:;while a; do x=\"$x;$x\"; eval \"$x\"; done"});
  out.push_back({"a long eval again and again",
                 "x='" + times(": ", 15'000) + "';" + times("eval $x;", 3000)});
  out.push_back({"a long function again and again",
                 "f(){ " + times(": ", 15'000) + ";};" + times("f;", 12'000)});
  out.push_back({"a function of itself", "f() { f; f; }; f"});
  out.push_back({"two functions of each other", "f() { g; g; }; g() { f; f; }; f"});
  std::string chain = "f0() { rm a; };";
  for (int i = 1; i < 400; ++i)
    chain += cat("f", i, "() { f", i - 1, "; f", i - 1, "; };");
  out.push_back({"2^399 calls", chain + "f399"});
  out.push_back({"2^15 calls", chain + "f15"});
  out.push_back(
      {"functions with arguments", "f() { g \"$@\" \"$@\"; }; g() { f \"$@\" \"$@\"; }; f a b"});
  out.push_back({"arguments doubled", "f() { set -- \"$@\" \"$@\"; }; set -- a b;" +
                                          times("set -- \"$@\" \"$@\";", 500) + "rm \"$@\""});
  out.push_back({"an array doubled", "a=(b c);" + times("a=(\"${a[@]}\" \"${a[@]}\");", 500)});
  out.push_back(
      {"an array many times", "a=(" + times("b ", 8000) + "); rm " + times("\"${a[@]}\" ", 4000)});
  out.push_back(
      {"an array in one word", "a=(" + times("b ", 8000) + "); rm " + times("\"${a[@]}\"", 4000)});
  out.push_back({"an array in subshells", "a=(" + times("b ", 8000) + ");" + times("(:);", 8000)});
  out.push_back(
      {"arguments in subshells", "set -- " + times("b ", 8000) + ";" + times("(:);", 8000)});
  out.push_back({"functions in subshells", numbered("f%(){ a;};", 3000) + times("(:);", 6000)});
  out.push_back({"aliases in subshells", numbered("alias a%=b;", 3000) + times("(:);", 5000)});
  out.push_back({"functions in wrappers", numbered("f%(){ a;};", 3000) + times("sudo a;", 4000)});
  out.push_back({"a fork bomb", ":(){ :|:& };:"});
  out.push_back({"many fork bombs", numbered("f%(){ f%|f%& };f%;", 3000)});
  out.push_back({"an alias of itself", "alias a=a\na\nalias b='b b'\nb b\n"});
  out.push_back({"aliases of each other", "alias a=b\nalias b=a\na\n" + times("a b\n", 10'000)});
  std::string aliases;
  for (int i = 1; i < 1000; ++i)
    aliases += cat("alias a", i, "='a", i - 1, "; a", i - 1, "'\n");
  out.push_back({"2^999 aliases", aliases + "a999\n"});
  std::string code = "rm a";
  for (int i = 0; i < 40; ++i)
    code = "eval \"$(echo '" + code + "')\"";
  out.push_back({"eval of echo", code});
  out.push_back({"decoders", "echo cm0gYQ==" + times("|base64 -d|base64", 3000) + "|sh"});
  out.push_back({"traps", times("trap 'trap \"rm a\" EXIT' EXIT;", 2000)});
  out.push_back({"substitutions in substitutions", times("echo $(echo $(echo $(echo a)));", 1900)});
  out.push_back({"process substitutions", "cat" + times(" <(rm a)", 7000)});
}

void add_documents(Attacks& out) {
  out.push_back({"a here-document", "cat <<E\n" + times("a b c\n", 10'000) + "E\n"});
  out.push_back({"a here-document without end", "cat <<E\n" + times("a b c\n", 10'000)});
  out.push_back(
      {"parameters in a here-document", "cat <<E\n" + times("$x ${y:-$z}\n", 5000) + "E\n"});
  out.push_back({"commands in a here-document", "cat <<E\n" + times("$(rm a)\n", 7000) + "E\n"});
  out.push_back({"here-documents on one line",
                 "cat" + numbered(" <<E%", 5000) + "\n" + numbered("E%\n", 5000)});
  out.push_back({"here-documents without texts", "cat" + numbered(" <<E%", 8000) + "\n"});
  out.push_back({"here-documents of a shell", times("sh <<E\nrm a\nE\n", 4000)});
  std::string nested = "rm a\n";
  for (int i = 0; i < 30; ++i)
    nested = cat("sh <<E", i, "\n", nested, "E", i, "\n");
  out.push_back({"here-documents in here-documents", nested});
  out.push_back({"tabs of here-documents", "cat <<-E\n" + times("\t", 50'000) + "E\n"});
  out.push_back({"here-strings", "cat" + times(" <<<a", 12'000)});
}

void add_arithmetic(Attacks& out) {
  out.push_back({"a sum", "echo $((" + times("1+", 30'000) + "1))"});
  out.push_back({"parentheses", "echo $((" + times("(", 20'000) + "1" + times(")", 20'000) + "))"});
  out.push_back({"subscripts", "echo $((" + times("a[", 20'000) + "1" + times("]", 20'000) + "))"});
  out.push_back({"assignments", "((" + times("a=", 25'000) + "1))"});
  out.push_back({"conditions", "((" + times("a?b:", 14'000) + "1))"});
  out.push_back({"sums of sums", times("echo $((1+$((1+1))));", 2800)});
  out.push_back({"variables of sums", "x=1;" + times("x=$((x+x));", 5000) + "rm $x"});
  out.push_back({"offsets", "echo " + times("${a:1:2}", 7000)});
  out.push_back(
      {"loops that count", times("for((i=0;i<9;i++)); do ", 20) + "a" + times("; done", 20)});
}

void add_dialects(Attacks& out) {
  for (const Attack& attack : Attacks(out)) {
    if (attack.name.starts_with("a list of") || attack.name.starts_with("60 times"))
      out.push_back({attack.name + " (zsh)", attack.text, Dialect::kZsh});
  }
  for (const char* const open :
       {"${(", "${${", "(a|", "(#", "<1-", "${a:s/", "{ } always { ", "() { "})
    out.push_back({cat("zsh: ", open), "a " + times(open, 60'000 / std::string_view(open).size()),
                   Dialect::kZsh});
  for (const char* const open :
       {"(", "begin; ", "if a; ", "while a; ", "for i in a; ", "function f; ", "switch a; case b; ",
        "{a,", "$x[", "\"$x[", "not ", "a; and ", "$"})
    out.push_back({cat("fish: ", open), "a " + times(open, 60'000 / std::string_view(open).size()),
                   Dialect::kFish});
  out.push_back({"fish: words of braces", times("{a,b}", 18), Dialect::kFish});
  out.push_back({"fish: lists of lists", "set x a b c;" + times("set x $x $x;", 4000) + "rm $x$x",
                 Dialect::kFish});
  out.push_back({"PowerShell", times("Remove-Item a;", 4000), Dialect::kPowershell});
}

Attacks all_attacks() {
  Attacks out;
  add_nesting(out);
  add_words(out);
  add_commands(out);
  add_texts(out);
  add_code(out);
  add_documents(out);
  add_arithmetic(out);
  add_dialects(out);
  return out;
}

// What one verdict may take of operator new: at a time, and in all.
constexpr long kPeakBytes = 16L << 20;
constexpr long kGivenBytes = 96L << 20;

bool is_refused(const Verdict& verdict) {
  return std::any_of(verdict.effects.begin(), verdict.effects.end(), [](const Effect& effect) {
    return effect.why.find("too complex") != std::string::npos;
  });
}

TEST(HostileShell, EachAttackGetsAVerdictOrARefusalWithinItsMemoryAndWork) {
  const Attacks attacks = all_attacks();
  EXPECT_GE(attacks.size(), 200U);
  int n_refused = 0;
  for (const Attack& attack : attacks) {
    const Profile profile{.cwd = "/home/u/p", .home = "/home/u"};
    const long before = test::live_bytes();
    test::reset_peak_bytes();
    const long start = test::given_bytes();

    const Verdict verdict = judge(attack.text, attack.dialect, Mode::kScript, profile);
    const long given = test::given_bytes() - start;
    const long peak = test::peak_bytes() - before;
    EXPECT_LE(verdict.effects.size(), kMaxEffects + 4) << attack.name;
    EXPECT_LE(verdict.calls.size(), kMaxCalls + 2) << attack.name;
    if (verdict.error || is_refused(verdict)) {
      ++n_refused;
      EXPECT_GE(verdict.level, Level::kHigh) << attack.name;
    }
    if (test::kIsInstrumented) continue;  // blocks have other sizes
    EXPECT_LE(peak, kPeakBytes) << attack.name;
    EXPECT_LE(given, kGivenBytes) << attack.name;
  }
  EXPECT_GE(n_refused, 50);
}

}  // namespace
}  // namespace wick::shell
