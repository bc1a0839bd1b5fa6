#include "shell/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <tuple>

#include "base/strings.h"
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

// One option of a row, cut out of its text.
struct Option {
  std::string_view name;  // "-a", "--all"; of a cluster "-ab" the whole
  bool is_long = false;
  char takes = ' ';  // ' ' nothing, ':' an argument, '?' an optional one
  char role = '.';
  char operand_role = ' ';  // @X
  char effect = ' ';        // !X
  bool drops_first = false, drops_last = false;
};

bool ends_name(char c) {
  return c == ':' || c == '=' || c == '?' || c == '@' || c == '!' || c == '#' || c == '$';
}

bool read_option(std::string_view token, Option& out) {
  out = {};
  out.is_long = token.starts_with("--");
  const std::size_t begin = out.is_long ? 2 : 1;
  std::size_t at = 2;  // any character may be a letter: -# and -?
  while (at < token.size() && !ends_name(token[at]))
    ++at;
  out.name = token.substr(0, at);
  while (at < token.size()) {
    const char c = token[at++];
    if (c == '#' || c == '$') {
      out.drops_first = out.drops_first || c == '#';
      out.drops_last = out.drops_last || c == '$';
      continue;
    }
    if (at >= token.size()) return false;
    const char what = token[at++];
    if (c == '@') out.operand_role = what;
    if (c == '!') out.effect = what;
    if (c == ':' || c == '=' || c == '?') {
      out.takes = c == '?' ? '?' : ':';
      out.role = what;
    }
  }
  return token.size() > 1 && token[0] == '-' && out.name.size() > begin;
}

// Calls f with each option until f returns false. False: an option is not well formed.
template <class F>
bool each_option(std::string_view options, const F& f) {
  while (!options.empty()) {
    const std::size_t space = options.find(' ');
    const std::string_view token = options.substr(0, space);
    options.remove_prefix(space == std::string_view::npos ? options.size() : space + 1);
    if (token.empty()) continue;
    Option option;
    if (!read_option(token, option)) return false;
    if (!f(option)) return true;
  }
  return true;
}

// The same for those whose text begins with `begin`.
template <class F>
void each_option_with(std::string_view options, std::string_view begin, const F& f) {
  while (true) {
    const void* const found = ::memmem(options.data(), options.size(), begin.data(), begin.size());
    if (found == nullptr) return;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - options.data());
    const std::string_view token = options.substr(at, options.find(' ', at) - at);
    const bool is_begin = at == 0 || options[at - 1] == ' ';
    Option option;
    if (is_begin && read_option(token, option) && !f(option)) return;
    options.remove_prefix(at + 1);
    if (options.empty()) return;
  }
}

// The same for flags and options of one letter that name `c`.
template <class F>
void each_option_of(std::string_view options, char c, const F& f) {
  if (c == ' ') return;
  std::size_t end = 0;
  for (std::size_t at = 0; (at = options.find(c, end)) != std::string_view::npos;) {
    const std::size_t begin = options.rfind(' ', at) + 1;  // 0 in the first one
    end = std::min(options.find(' ', at), options.size());
    Option option;
    const std::string_view token = options.substr(begin, end - begin);
    const bool has_letter = token.find(c, 1) != std::string_view::npos;
    if (has_letter && !token.starts_with("--") && read_option(token, option) && !f(option)) return;
  }
}

// "-x" of each character.
constexpr auto kShortNames = [] {
  std::array<char, 512> out{};
  for (std::size_t i = 0; i < out.size(); i += 2) {
    out[i] = '-';
    out[i + 1] = static_cast<char>(i / 2);
  }
  return out;
}();

std::string_view short_name(char c) {
  return {&kShortNames[std::size_t{2} * static_cast<unsigned char>(c)], 2};
}

// The argument of an option that is a part of its word.
std::unique_ptr<Arg> part_of(const Arg& arg, std::size_t begin) {
  auto out = std::make_unique<Arg>(arg);
  out->value = Value::exact(arg.text().substr(begin));
  return out;
}

bool is_short_of(const Option& option, char c) {
  return !option.is_long && option.name.substr(1).find(c) != std::string_view::npos;
}

class Reader {
 public:
  Reader(const Row& row, const std::vector<Arg>& argv, std::size_t first)
      : row_(row),
        argv_(argv),
        at_(first),
        stop_(row.operands().find_first_of("cv")),
        is_getopt_long_(!row.has_effect('+')),
        has_words_(row.has_effect('_')),
        stops_(row.has_effect('-')) {}

  Usage read();

 private:
  void option(const Arg& arg);
  void long_option(const Arg& arg, const std::string& text);
  void word_option(const Arg& arg, std::string_view text);
  void short_options(const Arg& arg, const std::string& text);
  void use(const Option& option, std::string_view name, Span span, std::unique_ptr<Arg> attached);
  void unknown_word(const Arg& arg);
  void place_operands();

  static constexpr char kOperand = '\0';  // the role of an operand until all are there

  const Row& row_;
  const std::vector<Arg>& argv_;
  std::size_t at_;
  std::size_t stop_;  // the operand behind which a command or a verb's own words stand
  bool is_getopt_long_;
  bool has_words_;  // -noout
  bool stops_;      // no option stands behind an operand
  Usage out_;
  char operand_role_ = ' ';
  bool drops_first_ = false, drops_last_ = false;
};

Usage Reader::read() {
  bool is_ended = false;
  if (at_ < argv_.size()) out_.items.reserve(argv_.size() - at_);
  while (at_ < argv_.size()) {
    const Arg& arg = argv_[at_];
    const bool is_known = arg.value.is_known;
    if (!is_ended && is_known && std::string_view(arg.text()) == "--") {
      is_ended = true;
      ++at_;
      continue;
    }
    if (!is_ended && arg.may_be_option() && !arg.is_glob) {
      if (arg.is_exact()) {
        option(arg);
        continue;
      }
      unknown_word(arg);
    }
    if (out_.n_operands == stop_) {
      out_.rest = at_;
      out_.rest_role = row_.operands()[stop_];
      break;
    }
    out_.items.push_back({kOperand, &arg});
    ++out_.n_operands;
    ++at_;
    if (stops_ || (stop_ != std::string_view::npos && out_.n_operands > stop_)) is_ended = true;
  }
  place_operands();
  return std::move(out_);
}

void Reader::option(const Arg& arg) {
  const std::string& text = arg.text();
  ++at_;
  if (has_words_) return word_option(arg, text);
  if (text.starts_with("--")) return long_option(arg, text);
  // find-like words (-name) are rows with a name of several letters: tried first.
  bool found = false;
  if (!is_getopt_long_ && text.size() > 2) {
    each_option_with(row_.options(), text, [&](const Option& o) {
      if (o.is_long || o.name != text ||
          (o.takes == ' ' && o.operand_role == ' ' && o.effect == ' '))
        return true;
      use(o, o.name, arg.span, nullptr);
      found = true;
      return false;
    });
  }
  if (!found) short_options(arg, text);
}

void Reader::long_option(const Arg& arg, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = std::string_view(text).substr(0, equals);
  Option match;
  int n = 0;
  bool is_exact = false;
  each_option_with(row_.options(), name, [&](const Option& o) {
    if (!o.is_long) return true;
    if (o.name == name) {
      match = o;
      is_exact = true;
      return false;
    }
    if (is_getopt_long_ && o.name.starts_with(name)) {
      match = o;
      ++n;
    }
    return true;
  });
  if (!is_exact && n != 1) {
    if (is_getopt_long_ && n == 0 && equals == std::string::npos &&
        (name == "--help" || (name == "--version" && !row_.name().starts_with("git ")))) {
      // Behind an operand it may be the operand's: `ssh-agent ./x --help` runs ./x.
      out_.is_help = out_.is_help || out_.n_operands == 0;
      return;
    }
    out_.unknown.emplace_back(name, arg.span);
    return;
  }
  if (equals == std::string::npos) return use(match, match.name, arg.span, nullptr);
  if (match.takes == ' ') out_.unknown.emplace_back(text, arg.span);
  use(match, match.name, arg.span, part_of(arg, equals + 1));
}

// -noout, --noout, -days 3, -days=3
void Reader::word_option(const Arg& arg, std::string_view text) {
  if (text.starts_with("--")) text.remove_prefix(1);
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Option match;
  bool found = false;
  each_option_with(row_.options(), name, [&](const Option& o) {
    if (o.name != name || (equals != std::string_view::npos && o.takes == ' ')) return true;
    match = o;
    found = true;
    return false;
  });
  if (!found) {
    out_.unknown.emplace_back(std::string(name), arg.span);
    return;
  }
  if (equals == std::string_view::npos) return use(match, match.name, arg.span, nullptr);
  use(match, match.name, arg.span, part_of(arg, arg.text().size() - text.size() + equals + 1));
}

void Reader::short_options(const Arg& arg, const std::string& text) {
  const bool takes_numbers = row_.options().starts_with("-0 ");  // head -20
  if (takes_numbers && text.find_first_not_of("0123456789", 1) == std::string::npos) return;
  for (std::size_t i = 1; i < text.size(); ++i) {
    Option match;
    bool found = false;
    each_option_of(row_.options(), text[i], [&](const Option& o) {
      if (!is_short_of(o, text[i]) || (!is_getopt_long_ && o.name.size() > 2 && o.takes != ' '))
        return true;
      match = o;
      found = true;
      return false;
    });
    if (!found) {
      out_.unknown.emplace_back(cat("-", std::string_view(&text[i], 1)), arg.span);
      return;
    }
    const std::string_view name = short_name(text[i]);
    if (match.takes == ' ') {
      use(match, name, arg.span, nullptr);
      continue;
    }
    if (i + 1 < text.size()) {
      return use(match, name, arg.span, part_of(arg, i + 1));
    }
    return use(match, name, arg.span, nullptr);
  }
}

void Reader::use(const Option& option, std::string_view name, Span span,
                 std::unique_ptr<Arg> attached) {
  out_.options.push_back(name);
  if (option.effect != ' ') out_.effects.emplace_back(option.effect, span);
  if (option.operand_role != ' ') operand_role_ = option.operand_role;
  drops_first_ = drops_first_ || option.drops_first;
  drops_last_ = drops_last_ || option.drops_last;
  if (attached != nullptr) {
    out_.items.push_back({option.role, attached.get()});
    out_.attached.push_back(std::move(attached));
  } else if (option.takes == ':') {
    if (at_ < argv_.size()) {
      if (may_be_many_options(argv_[at_])) unknown_word(argv_[at_]);
      out_.items.push_back({option.role, &argv_[at_++]});
    }
  }
}

// An unknown word where an option may stand: everything that the row's options can do. Those that
// only say how to print do nothing.
void Reader::unknown_word(const Arg& arg) {
  bool is_harmless = true;
  each_option(row_.options(), [&](const Option& o) {
    const bool has_role =
        o.takes != ' ' && std::string_view(".nrk").find(o.role) == std::string_view::npos;
    if (has_role || o.effect != ' ' || o.operand_role != ' ') is_harmless = false;
    return true;
  });
  if (!is_harmless) out_.unknown.emplace_back("", arg.span);
}

void Reader::place_operands() {
  const auto is_option = [](const Usage::Item& item) { return item.role != kOperand; };
  if (!std::is_partitioned(out_.items.begin(), out_.items.end(), is_option))
    std::stable_partition(out_.items.begin(), out_.items.end(), is_option);
  std::string_view spec = row_.operands();
  if (stop_ != std::string_view::npos) spec = spec.substr(0, stop_);
  if (drops_first_ && !spec.empty()) spec.remove_prefix(1);
  if (drops_last_ && !spec.empty()) spec.remove_suffix(1);
  const std::size_t star = spec.find('*');
  const std::size_t n = out_.n_operands;
  for (std::size_t i = 0; i < n; ++i) {
    char role = 'e';  // more operands than the row knows
    if (star == std::string_view::npos || star == 0) {
      if (i < spec.size()) role = spec[i];
    } else {
      const std::size_t before = star - 1;
      const std::size_t behind = spec.size() - star - 1;
      if (i < before) {
        role = spec[i];
      } else if (n - i <= behind) {
        role = spec[spec.size() - (n - i)];
      } else {
        role = spec[star - 1];
      }
    }
    const bool is_for_role = operand_role_ == 'R'   ? role == 'r'
                             : operand_role_ == 'C' ? true
                                                    : role != '.' && role != 'y';
    if (operand_role_ != ' ' && is_for_role) role = operand_role_;
    out_.items[out_.items.size() - n + i].role = role;
  }
}

// The one of the row's names that is `name`, "" if there is none.
std::string_view named(const Row& row, std::string_view name) noexcept {
  std::string_view names = row.name();
  while (names.size() > name.size()) {
    if (names.starts_with(name) && names[name.size()] == '|') return names.substr(0, name.size());
    const std::size_t bar = names.find('|');
    if (bar == std::string_view::npos) return "";
    names.remove_prefix(bar + 1);
  }
  return names == name ? names : "";
}

}  // namespace

std::string_view Row::text(std::size_t number) const noexcept {
  const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
  return {kTables[table_]->text.data() + begin_ + begin, ends_[number] - begin};
}

bool Usage::has(std::string_view option) const noexcept {
  return std::find(options.begin(), options.end(), option) != options.end();
}

const Row* find_row(std::string_view name) noexcept {
  const std::uint32_t hash = hash_of(name);
  for (const RowTable* table : kTables) {
    const std::span<const Row> rows = table->rows;
    const std::size_t at = find_name(table->slots, hash, rows.size(),
                                     [&](std::size_t i) { return !named(rows[i], name).empty(); });
    if (at < rows.size()) return &rows[at];
  }
  return nullptr;
}

std::string_view printed_name(const Row& row, std::string_view name) noexcept {
  static constexpr std::string_view kPrefixes[] = {"zsh:", "fish:", "cloud:"};
  const bool has_prefix = row.name().find(':') != std::string_view::npos;
  if (const std::string_view one = named(row, name); !one.empty() && !has_prefix) return one;
  std::string_view first, own;
  each_name(row.name(), [&](std::string_view one) {
    for (std::size_t i = 0; has_prefix && i < std::size(kPrefixes); ++i)
      one.remove_prefix(one.starts_with(kPrefixes[i]) ? kPrefixes[i].size() : 0);
    if (first.empty()) first = one;
    if (one == name) own = one;
  });
  return own.empty() ? first : own;
}

Usage read_usage(const Row& row, const std::vector<Arg>& argv, std::size_t first) {
  return Reader(row, argv, first).read();
}

std::string_view long_name(const Row& row, std::string_view option) {
  if (option.size() != 2 || option.starts_with("--")) return option;
  const auto meaning = [](const Option& o) {
    return std::tuple(o.takes, o.role, o.operand_role, o.effect, o.drops_first, o.drops_last);
  };
  const std::string letter = ascii_lower(option.substr(1));
  std::string_view found = option;
  int n = 0;
  each_option_of(row.options(), option[1], [&](const Option& own) {
    if (!is_short_of(own, option[1])) return true;
    each_option(row.options(), [&](const Option& o) {
      if (!o.is_long || ascii_lower(o.name.substr(2, 1)) != letter || meaning(o) != meaning(own))
        return true;
      found = o.name;
      ++n;
      return true;
    });
    return false;
  });
  return n == 1 ? found : option;
}

RowCounts count_rows() noexcept {
  RowCounts out;
  for (const RowTable* table : kTables) {
    for (const Row& row : table->rows) {
      const int names = 1 + static_cast<int>(std::count(row.name().begin(), row.name().end(), '|'));
      out.all += names;
      if (row.name().find(' ') == std::string_view::npos) out.commands += names;
      if (row.operands().find('c') != std::string_view::npos) out.wrappers += names;
      if (row.has_effect('C')) out.interpreters += names;
    }
  }
  return out;
}

std::string first_bad_row() {
  constexpr std::string_view kRoles = ".nrRwadDWCPmMzuUsqpcxevhkgiotVyfAHTNlFQZLIOEBSbjGJKXY>034*";
  constexpr std::string_view kLetters = "&nlPgVSsFBTIijGLHhUYqAkfX=+-CEDRNKbyow1w0a_tem?";
  for (const RowTable* table : kTables) {
    for (const Row& row : table->rows) {
      bool is_good = row.operands().find_first_not_of(kRoles) == std::string_view::npos &&
                     row.effects().find_first_not_of(kLetters) == std::string_view::npos;
      each_name(row.name(),
                [&](std::string_view one) { is_good = is_good && find_row(one) == &row; });
      std::string letters;  // one meaning each
      const bool is_read = each_option(row.options(), [&](const Option& o) {
        const bool is_cluster = !o.is_long && (o.takes == ' ' || o.name.size() == 2);
        for (const char c : o.name.substr(is_cluster ? 1 : o.name.size())) {
          const bool is_new = letters.find(c) == std::string::npos || (o.name == "-0");
          is_good &= is_new || row.has_effect('+');
          letters += c;
        }
        is_good &= o.is_long || o.takes == ' ' || o.name.size() == 2 || row.has_effect('+');
        is_good &= kRoles.find(o.role) != std::string_view::npos;
        is_good &= o.effect == ' ' || kLetters.find(o.effect) != std::string_view::npos;
        is_good &= o.operand_role == ' ' || kRoles.find(o.operand_role) != std::string_view::npos;
        return true;
      });
      if (!is_good || !is_read) return std::string(row.name());
    }
  }
  return "";
}

}  // namespace wick::shell
