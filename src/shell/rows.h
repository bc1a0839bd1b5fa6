// Commands as data: a row lists the options of a command, the roles of its operands, and further
// effects. Rows are in *_data.cc, by family. How to write one: docs/shell.md.
//
//   {"sort", "r*", "-bdfgiMhnRrVcCmsuz -k:. -o:w -S:. -t:. -T:a --output=w …", ""}
//
// name      "sort"; "git log" for a verb; "ls|dir" for several
// operands  one letter each, `*` repeats the letter before it: "r*w" is sources and a destination
// options   "-ab" flags, "-o:w" with an argument of role w, "--out=w" the same for a long name,
//           "--color?." with an optional argument; suffixes: "@D" gives every operand the role D,
//           "!U" adds effect U, "#" drops the first operand's role (grep -e), "$" the last one's
//           (cp -t)
// effects   letters of kEffectLetters
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/value.h"
#include "shell/verdict.h"

namespace wick::shell {

// Where a row's texts lie. It has no pointers: a table of them would have to be relocated page by
// page at each start of the program.
class Row {
 public:
  constexpr Row() = default;

  constexpr Row(std::size_t table, std::size_t begin, std::array<std::uint16_t, 4> sizes)
      : begin_(static_cast<std::uint32_t>(begin)), table_(static_cast<std::uint16_t>(table)) {
    std::uint16_t end = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      end = static_cast<std::uint16_t>(end + sizes[i]);
      ends_[i] = end;
    }
  }

  std::string_view name() const noexcept { return text(0); }

  std::string_view operands() const noexcept { return text(1); }

  std::string_view options() const noexcept { return text(2); }

  std::string_view effects() const noexcept { return text(3); }

  bool has_effect(char letter) const noexcept {
    for (const char c : effects()) {  // few: no call
      if (c == letter) return true;
    }
    return false;
  }

 private:
  std::string_view text(std::size_t number) const noexcept;

  std::uint32_t begin_ = 0;  // in the texts of its table, one behind another
  std::uint16_t table_ = 0;
  std::array<std::uint16_t, 4> ends_ = {};  // of the four texts, behind begin_
};

// Roles of operands and of arguments of options:
//   .  plain data            n  name is read         r  content is read
//   w  overwritten           a  created, appended    d  deleted           D  deleted, a tree
//   W  overwritten, a tree   m  mode, owner          M  mode of a tree    z  destroyed
//   U  path or URL that is read
//   u  url or host           s  file that is sent    q  data; @FILE sends a file
//   p  process               c  command with its arguments, to the end    x  shell code
//   e  code, not analyzed    v  verb: a row of its own                    h  path or HOST:PATH
//   k  KEY=VALUE or target that is harmless    f  read by a pager    A  KEY=VALUE of the kernel
//   y  file mode   T  date   H  limit of this shell   i  word of ip   g  refspec   o  ssh option
//   t  program on a connection   V  container mount                    N  name of a variable
//   l  name of a format; a path is code, not analyzed
//   F  header, @FILE sends a file                      Q  data, NAME@FILE sends a file
//   Z  number; arithmetic in zsh             L  program whose loader runs (ldd)
//   I  picture of ImageMagick   O  path that Perl opens   E  text, or @FILE
//   B container or image     S kind of a resource, perhaps a secret
//   j path that is sent, or NAME:PATH        b path that is overwritten, or NAME:PATH
//   P sets something of the system   R content of a tree   C files of a list are created below
//   G path that is overwritten, or |COMMAND   J file that lists names of files, which are read
//   K expression of yq   X path of a new file, or its folder   Y names of files that are read
//   3  picture that ImageMagick writes        4  file that gets another name
//   >  moved, a tree         0  empty folder that is deleted
//   D, M, W, R, > reach everything below
//
// Effects: n network  l listens  P power  g grants  V lifts  S system service  s user service
//   F firewall  B data store  T tampering  I system packages  i project packages  j project code
//   G git, local  L git, work lost  H git, published history  h git, publish  U unknown
//   Y persistence  q processes by name  A all processes  k shell hooks  f floods
//   X sends unknown data  t shows a text to others  e prints names  =  prints a number
//   m  keeps files of its own (of an option: and no more than that)   &  leaves a process behind
//   ?  n, j and m at every call, --help and --version too; without it, m at --help
//   +  no getopt_long   -  options end at the first operand   _  whole words of one dash: -noout

// What the options of one call say. It points into the call's arguments, which must outlive it.
struct Usage {
  struct Item {
    char role = '.';
    const Arg* arg = nullptr;
  };

  List<Item> items = {};  // arguments of options, then operands, with roles
  List<std::pair<char, Span>> effects = {};
  List<std::pair<std::string, Span>> unknown = {};  // options that are in no row; "": a word
                                                    // that is not known and may be one
  std::size_t rest = 0;  // index of the first argument behind `c` or `v`, 0 if none
  char rest_role = '.';
  bool is_help = false;                        // --help or --version: nothing else happens
  List<std::string_view> options = {};         // names as the row spells them: "-n", "--number"
  std::size_t n_operands = 0;
  List<std::unique_ptr<Arg>> attached = {};  // arguments that are parts of words: -ofile

  std::span<const Item> operands() const noexcept { return std::span(items).last(n_operands); }

  bool has(std::string_view option) const noexcept;
};

// The row of a command, null if there is none. A verb is looked up as "git log".
const Row* find_row(std::string_view name) noexcept;

// The one of the row's names that is `name`, without a prefix such as `zsh:`; else the first one.
std::string_view printed_name(const Row& row, std::string_view name) noexcept;

// argv[first …] by the row's grammar.
Usage read_usage(const Row& row, const std::vector<Arg>& argv, std::size_t first);

// "--force" for "-f": the long option that begins with this letter and does the same, if a row has
// exactly one. Else the name as it is.
std::string_view long_name(const Row& row, std::string_view option);

// How many rows there are: in all, of wrappers (a `c` among the operands), of interpreters.
struct RowCounts {
  int all = 0, commands = 0, wrappers = 0, interpreters = 0;
};

RowCounts count_rows() noexcept;

// A row that is not well formed, "" if there is none.
std::string first_bad_row();

}  // namespace wick::shell
