// Lines that are names of files: commands that print some of the lines they read (sort, head, grep)
// print names where they read names, and `grep -rl` prints names itself.
#include <algorithm>

#include "base/strings.h"
#include "shell/evaluator.h"

namespace wick::shell {
namespace {

struct Filter {
  std::string_view name;
  std::string_view options;  // those with which each line printed is a line that was read
};

constexpr Filter kFilters[] = {
    {"sort",
     " -b -d -f -g -i -M -h -n -R -r -V -s -u -k -t -S --reverse --unique --key "
     "--numeric-sort --field-separator --ignore-case --stable --version-sort "},
    {"uniq", " -d -u -i -f -s -w --repeated --unique --ignore-case "},
    {"head", " -n --lines -q --quiet "},
    {"tail", " -n --lines -q --quiet "},
    {"shuf", " -n --head-count "},
    {"grep",
     " -E -F -G -P -i -v -w -x -e -m -a --extended-regexp --fixed-strings --perl-regexp "
     "--ignore-case --invert-match --word-regexp --line-regexp --regexp --max-count "}};

bool has_any(const Usage& usage, std::initializer_list<std::string_view> options) {
  return std::any_of(options.begin(), options.end(), [&](auto o) { return usage.has(o); });
}

// grep -rl PATTERN FOLDER
void name_matches(const Usage& usage, Stream& out) {
  const bool is_list =
      has_any(usage, {"-l", "-L", "--files-with-matches", "--files-without-match"});
  if (!is_list || has_any(usage, {"-c", "--count", "-q"})) return;
  const Usage::Item* folder = nullptr;
  int paths = 0;
  for (const Usage::Item& item : usage.items) {
    if (item.role != 'R') continue;
    folder = &item;
    ++paths;
  }
  if (paths != 1 || !folder->arg->is_exact() || folder->arg->is_glob) return;
  const std::string& path = folder->arg->text();
  out.is_names = true;
  out.prefix = path.ends_with('/') ? path : path + "/";
  out.is_nul = has_any(usage, {"-Z", "--null"});
}

// mktemp, mktemp -d, mktemp /tmp/x.XXXX: the name of what was made.
void name_temporary(const Usage& usage, Stream& out) {
  const bool is_elsewhere = has_any(usage, {"-p", "-t", "--tmpdir", "--suffix"});
  const bool has_template = !usage.operands().empty();
  const std::string& text = has_template ? usage.operands()[0].arg->text() : "/tmp/";
  const std::size_t slash = text.rfind('/');
  if (is_elsewhere || !usage.unknown.empty() || slash == std::string::npos || slash == 0) return;
  if (text[0] != '/' || text.find_first_of(" \t\n*?[") != std::string::npos) return;
  out.is_names = out.is_temporary = true;
  out.prefix = text.substr(0, slash + 1);
}

}  // namespace

void Evaluator::pass_names(std::string_view name, const Usage& usage, const Stream& in,
                           Stream& out) {
  if (name == "grep") name_matches(usage, out);
  if (name == "mktemp") return name_temporary(usage, out);
  const bool is_word = name == "hostname" || name == "whoami" || name == "uname";
  if (is_word) {  // a word that begins with a letter or a digit
    out.is_names = true;
    return;
  }
  const auto* filter = std::find_if(std::begin(kFilters), std::end(kFilters),
                                    [&](const Filter& f) { return f.name == name; });
  if (!in.is_names || in.is_nul || filter == std::end(kFilters) || out.is_names) return;
  const bool reads_files =
      std::any_of(usage.items.begin(), usage.items.end(),
                  [](const Usage::Item& item) { return item.role == 'r' || item.role == 'R'; });
  const bool is_plain =
      std::all_of(usage.options.begin(), usage.options.end(), [&](std::string_view option) {
        return filter->options.find(cat(" ", option, " ")) != std::string_view::npos;
      });
  if (reads_files || !is_plain || !usage.unknown.empty()) return;
  out.is_names = true;
  out.prefix = in.prefix;
  out.is_everything = in.is_everything;
  out.keys = in.keys;
}

}  // namespace wick::shell
