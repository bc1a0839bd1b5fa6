#include "support/shell_attacks.h"

#include <string_view>
#include <utility>

#include "base/strings.h"

namespace wick::test {
namespace {

using shell::Dialect;
using Attacks = std::vector<ShellAttack>;

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
  for (const ShellAttack& attack : Attacks(out)) {
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

// Parentheses and brackets that are counted, not parsed, and nesting inside quotes and options.
void add_counted(Attacks& out) {
  const std::string open = times("(", 30'000), sum = open + "1" + times(")", 30'000);
  for (const Dialect dialect : {Dialect::kPosix, Dialect::kBash, Dialect::kZsh}) {
    const std::string in = cat(" (",
                               dialect == Dialect::kPosix  ? "sh"
                               : dialect == Dialect::kBash ? "bash"
                                                           : "zsh",
                               ")");
    out.push_back({"30,000 parentheses of $((" + in, "echo $((" + sum + "))", dialect});
    out.push_back({"30,000 parentheses without an end" + in, "echo $((" + open, dialect});
    out.push_back({"60 parentheses of $((" + in,
                   "echo $((" + times("(", 60) + "1" + times(")", 60) + "))", dialect});
    out.push_back({"30,000 parentheses of ((" + in, "((" + sum + "))", dialect});
    out.push_back({"30,000 parentheses of a pattern" + in, "case a in " + open, dialect});
    out.push_back({"10,000 times ! ( in a test" + in, "[ " + times("! ( ", 10'000) + "]", dialect});
  }
  out.push_back({"parentheses of $[", "echo $[" + sum + "]"});
  out.push_back(
      {"brackets of $[", "echo $[" + times("a[", 20'000) + "1" + times("]", 20'000) + "]"});
  out.push_back({"parentheses of for", "for ((i=" + sum + ";;)); do a; done"});
  out.push_back({"parentheses of let", "let 'x=" + sum + "'"});
  out.push_back({"parentheses in a variable", "x='" + sum + "'; echo $((x))"});
  out.push_back({"parentheses of an integer", "declare -i x; x='" + sum + "'"});
  out.push_back({"parentheses of an offset", "echo ${x:" + sum + "}"});
  out.push_back({"parentheses of a subscript", "a[" + sum + "]=1"});
  out.push_back({"a regular expression", "[[ a =~ " + sum + " ]]"});
  out.push_back(
      {"extended patterns", "[[ a == " + times("@(a|", 10'000) + times(")", 10'000) + " ]]"});
  out.push_back({"extended patterns of a parameter",
                 "echo ${x#" + times("+(", 12'000) + times(")", 12'000) + "}"});
  out.push_back({"30 extended patterns", "[[ a == " + times("!(a|", 30) + times(")", 30) + " ]]"});
  out.push_back({"extended patterns as names", "ls " + times("*(a|", 10'000) + times(")", 10'000)});
  out.push_back({"quotes in backquotes", "echo " + times("`echo \"", 8000)});
  std::string backquotes = "rm a";
  for (int i = 0; i < 11; ++i) {
    std::string quoted;
    for (const char c : backquotes) {
      if (c == '\\' || c == '`') quoted += '\\';
      quoted += c;
    }
    backquotes = "`" + quoted + "`";
  }
  out.push_back({"11 backquotes, one in another", backquotes});
  out.push_back({"parameters without an end", "echo " + times("${a#${a%", 7000)});
  out.push_back({"defaults that assign", "echo " + times("${a:=", 64) + "b" + times("}", 64)});
}

void add_nested_commands(Attacks& out) {
  out.push_back(
      {"a find in 17 finds", times("find . -exec ", 17) + "rm {} + " + times("\\; ", 17)});
  out.push_back({"a find in 10,000 finds", times("find . -exec ", 4600) + "rm {} +"});
  out.push_back({"1,000 times sudo", times("sudo ", 1000) + "ls"});
  out.push_back({"60 times sudo", times("sudo ", 60) + "ls"});
  out.push_back({"1,000 wrappers of ls", times("nice env command ", 333) + "ls"});
  out.push_back({"ssh to ssh", times("ssh h ", 2000) + "rm a"});
  out.push_back({"docker in docker", times("docker exec c ", 2000) + "rm a"});
  out.push_back({"busybox of busybox", times("busybox ", 5000) + "rm a"});
  out.push_back({"exec of exec", times("exec ", 10'000) + "rm a"});
  out.push_back({"command of builtin", times("command builtin ", 3000) + "ls"});
  out.push_back({"a pipe of 10,000 cats", times("cat|", 10'000) + "cat"});
  out.push_back({"a pipe of 10,000 shells", times("sh|", 10'000) + "sh"});
  out.push_back({"an endless pipe", "yes" + times("|tee a", 8000)});
  out.push_back({"traps in a loop", "while a; do trap 'rm \"$x\"; x=a$x' INT; x=b; done"});
  std::string trap = "rm a";
  while (trap.size() < 20'000) {
    std::string quoted;
    for (const char c : trap)
      c == '\'' ? quoted += "'\\''" : quoted += c;
    trap = "trap '" + quoted + "' EXIT";
  }
  out.push_back({"traps in traps", trap});
  out.push_back({"traps and functions", numbered("f%(){ a;};trap f% INT;", 1500)});
  out.push_back({"traps and branches", times("if a; then trap 'rm $x' EXIT; x=$x$a; fi;", 1400)});
  out.push_back({"traps and variables", numbered("trap 'rm $v%' INT; v%=a;", 2000)});
  out.push_back({"traps in subshells", times("(trap 'rm a' EXIT; ", 60) + times(")", 60)});
  out.push_back({"a function that sets itself", "f(){ f(){ f; }; f; f; }; f"});
  out.push_back({"a trap that calls what sets it", "f(){ trap f EXIT; trap f INT; f; }; f"});
  out.push_back({"an alias in an alias", numbered("alias a%='a% a% '\n", 2500) + "a1 a1\n"});
  out.push_back({"evals of a variable that grows",
                 "x=':'; " + times("eval \"x='$x;$x'\";", 40) + "eval \"$x\""});
  out.push_back(
      {"shells of a printed text", times("printf %s 'sh -c \"", 500) + times("\"'|sh", 500)});
  out.push_back({"50,000 nodes", times("a b;", 12'400) + "a"});
  out.push_back({"more than 50,000 nodes", times("a b\n", 16'000)});
  out.push_back({"64 kB of a safe command", "ls " + times("a", 65'533)});
  out.push_back({"64 kB and a byte", "ls " + times("a", 65'534)});
  out.push_back({"10,000 safe commands", times(":;", 9'990)});
  out.push_back({"steps, and a deletion behind them", times(":;", 20'000) + "rm -rf /"});
  out.push_back({"a deletion behind 300 others", numbered("rm a%;", 300) + "rm -rf /"});
  out.push_back({"a deletion behind 2,000 others", numbered("rm a%;", 2000) + "rm -rf /"});
  out.push_back({"a deletion behind 300 high ones", numbered("rm /etc/a%;", 300) + "rm -rf /"});
  out.push_back({"a deletion behind 60 kB", "echo " + times("a", 60'000) + "; rm -rf /"});
  out.push_back({"a deletion behind 30,000 words", "echo " + times("a ", 30'000) + "; rm -rf /"});
  out.push_back({"a deletion of many names and root", "rm -rf " + numbered("a% ", 7000) + "/"});
  out.push_back({"a deletion in a list of 1,000 values",
                 "for i in " + numbered("a% ", 1000) + "/; do rm -rf $i; done"});
  out.push_back({"root as the 17th value",
                 "x=a0;" + numbered("if a; then x=a%; fi;", 16) + "if a; then x=/; fi; rm -rf $x"});
  out.push_back({"root through 60 variables", "v0=/;" + [] {
                   std::string chain;
                   for (int i = 1; i <= 60; ++i)
                     chain += cat("v", i, "=$v", i - 1, ";");
                   return chain;
                 }() + "rm -rf $v60"});
  out.push_back(
      {"root after 12 passes of a loop",
       "a=x;b=x;c=x;d=x;e=x;f=x;g=x;h=x;i=x;j=x;k=x;while t; do rm -rf $a; a=$b;b=$c;c=$d;d=$e;"
       "e=$f;f=$g;g=$h;h=$i;i=$j;j=$k;k=/;done"});
}

// What a terminal or a reader takes for something else.
void add_misleading(Attacks& out) {
  static constexpr std::pair<const char*, std::string_view> kCharacters[] = {
      {"NUL", std::string_view("\0", 1)},
      {"BEL", "\a"},
      {"BS", "\b"},
      {"CR", "\r"},
      {"ESC", "\x1B[2K"},
      {"DEL", "\x7F"},
      {"CSI of 8 bits", "\xC2\x9B"},
      {"no-break space", "\xC2\xA0"},
      {"soft hyphen", "\xC2\xAD"},
      {"zero-width space", "\xE2\x80\x8B"},
      {"zero-width joiner", "\xE2\x80\x8D"},
      {"right-to-left override", "\xE2\x80\xAE"},
      {"left-to-right isolate", "\xE2\x81\xA6"},
      {"line separator", "\xE2\x80\xA8"},
      {"ideographic space", "\xE3\x80\x80"},
      {"byte order mark", "\xEF\xBB\xBF"},
      {"variation selector", "\xEF\xB8\x8F"},
      {"tag letter", "\xF3\xA0\x81\xA1"},
      {"Hangul filler", "\xE3\x85\xA4"},
      {"Braille blank", "\xE2\xA0\x80"},
      {"musical format character", "\xF0\x9D\x85\xB3"},
      {"interlinear annotation", "\xEF\xBF\xB9"},
      {"lone continuation byte", "\x80"},
      {"cut character", "\xE2\x80"},
      {"overlong slash", "\xC0\xAF"},
      {"surrogate", "\xED\xA0\x80"},
      {"byte FF", "\xFF"}};
  for (const auto& character : kCharacters) {
    const auto around = [&](const char* where, std::string before, std::string_view behind) {
      before.append(character.second).append(behind);
      out.push_back({cat(character.first, " ", where), std::move(before)});
    };
    around("in a name", "l", "s");
    around("in a word", "cat a", "b");
    around("between words", "echo a ", " b");
    around("in a comment", "ls # a", "rm -rf /");
    around("in quotes", "echo 'a", "b'");
  }
  static constexpr std::pair<const char*, const char*> kLookAlikes[] = {
      {"Cyrillic es in cat",
       "\xD1\x81"
       "at a"},
      {"Cyrillic dze in ls", "l\xD1\x95"},
      {"Greek omicron in echo", "ech\xCE\xBF a"},
      {"fullwidth ls", "\xEF\xBD\x8C\xEF\xBD\x93"},
      {"mathematical ls", "\xF0\x9D\x90\xA5\xF0\x9D\x90\xAC"},
      {"combining accent in ls", "ls\xCC\x81"},
      {"Turkish dotless i in find", "f\xC4\xB1nd ."},
      {"fraction slash for a slash", "rm -rf \xE2\x81\x84"},
      {"fullwidth semicolon", "ls\xEF\xBC\x9Brm"},
      {"Greek question mark for a semicolon", "echo a\xCD\xBErm -rf b"},
      {"fullwidth hyphen of an option",
       "ls \xEF\xBC\x8D"
       "a"},
      {"non-breaking hyphen of an option",
       "ls \xE2\x80\x91"
       "a"},
      {"typographic quotes",
       "echo \xE2\x80\x9C"
       "a; ls\xE2\x80\x9D"}};
  for (const auto& [what, text] : kLookAlikes)
    out.push_back({what, text});
  out.push_back({"CR and newline", "ls\r\nls\r\n"});
  out.push_back({"a CR behind a comment", "ls #\rrm -rf /"});
  out.push_back({"an ESC that hides a line", "rm -rf x #\x1B[1A\x1B[2K\nls"});
}

void add_more_dialects(Attacks& out) {
  const Dialect zsh = Dialect::kZsh, fish = Dialect::kFish, sh = Dialect::kPosix;
  out.push_back({"zsh: 60 flags", "echo " + times("${(U)", 60) + "a" + times("}", 60), zsh});
  out.push_back({"zsh: qualifiers", "ls " + times("*(", 20'000), zsh});
  out.push_back({"zsh: a qualifier of 60 kB", "ls *(" + times(".", 60'000) + ")", zsh});
  out.push_back({"zsh: groups", "ls " + times("(a|", 10'000) + times(")", 10'000), zsh});
  out.push_back({"zsh: repeats", times("repeat 9 ", 6000) + "rm a", zsh});
  out.push_back({"zsh: for of for", times("for i (a b) ", 4000) + "rm a", zsh});
  out.push_back({"zsh: anonymous functions", times("() { ", 60) + "rm a" + times("; }", 60), zsh});
  out.push_back({"zsh: always", times("{ a } always { ", 30) + "rm a" + times(" }", 30), zsh});
  out.push_back({"zsh: outputs", "ls" + times(" >a", 15'000), zsh});
  out.push_back({"zsh: inputs", "cat" + times(" <a", 15'000), zsh});
  out.push_back({"zsh: processes", "cat" + times(" =(ls)", 8000), zsh});
  out.push_back(
      {"zsh: many names of a function", "f " + numbered("f% ", 5000) + "() { f1; f2; }; f3", zsh});
  out.push_back({"zsh: modifiers", "echo $a" + times(":h", 25'000), zsh});
  out.push_back({"zsh: a doubled variable", "x=a;" + times("x=$x$x;", 60) + "rm $x", zsh});
  out.push_back({"zsh: global aliases", numbered("alias -g a%='a% a%'\n", 2000) + "ls a1\n", zsh});
  out.push_back(
      {"fish: 60 parentheses", "echo " + times("(echo ", 60) + "a" + times(")", 60), fish});
  out.push_back({"fish: blocks", times("begin; ", 60) + "rm a" + times("; end", 60), fish});
  out.push_back({"fish: a function of itself", "function f; f; f | f &; end; f", fish});
  out.push_back({"fish: a doubled list", "set x a;" + times("set x $x $x;", 40) + "rm $x", fish});
  out.push_back({"fish: evals", times("eval ", 10'000) + "rm a", fish});
  out.push_back({"fish: products of lists",
                 "set x a b c d e f g h i j;" + times("echo $x$x$x$x;", 300), fish});
  out.push_back(
      {"fish: braces of braces", "rm " + times("{a,", 10'000) + times("}", 10'000), fish});
  out.push_back(
      {"fish: a switch of many", "switch a; " + numbered("case a%; b;", 5000) + "end", fish});
  out.push_back({"fish: dollars", "echo " + times("$", 60'000) + "x", fish});
  out.push_back({"fish: nots", times("not ", 15'000) + "a", fish});
  out.push_back({"sh: functions", numbered("f%() { f%; };", 4000) + "f1", sh});
  out.push_back({"sh: here-documents", times("cat <<a <<b\na\nb\n", 3000), sh});
  out.push_back({"sh: groups", times("{ ", 60) + "rm a;" + times(" };", 60), sh});
  out.push_back({"sh: backquotes", times("`", 30'001), sh});
  out.push_back({"sh: brackets of [", "[ " + times("a -a ", 12'000) + "a ]", sh});
}

}  // namespace

Attacks shell_attacks() {
  Attacks out;
  add_nesting(out);
  add_words(out);
  add_commands(out);
  add_texts(out);
  add_code(out);
  add_documents(out);
  add_arithmetic(out);
  add_dialects(out);
  add_counted(out);
  add_nested_commands(out);
  add_misleading(out);
  add_more_dialects(out);
  for (ShellAttack& attack : out) {  // a name is a cell of a table
    if (const std::size_t line = attack.name.find('\n'); line != std::string::npos)
      attack.name.replace(line, 1, "\\n");
    while (attack.name.ends_with(' '))
      attack.name.pop_back();
  }
  return out;
}

}  // namespace wick::test
