// Words to arguments: braces, tilde, expansions, splitting, globs.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/strings.h"
#include "shell/escapes.h"
#include "shell/evaluator.h"
#include "shell/fields.h"
#include "shell/limits.h"

namespace wick::shell {

void Evaluator::cut(const List<WordPart>& parts, bool is_quoted, std::vector<Piece>& out) {
  for (const WordPart& part : parts) {
    switch (part.kind) {
      case PartKind::kLiteral:
        out.push_back({part.text, nullptr, is_quoted});
        break;
      case PartKind::kEscape:
      case PartKind::kSingle:
        out.push_back({part.text, nullptr, true});
        break;
      case PartKind::kAnsiC:
        out.push_back({decode_ansi(part.text), nullptr, true});
        break;
      case PartKind::kDouble:
      case PartKind::kLocale:
        out.push_back({"", nullptr, true});
        cut(part.parts, true, out);
        break;
      default:
        out.push_back({"", &part, is_quoted});
    }
  }
}

namespace {

// Brace expansion over pieces. A place is (piece, byte).
struct Place {
  std::size_t piece = 0, byte = 0;
};

bool is_open(const Piece& piece) {
  return !piece.is_quoted && piece.expansion == nullptr;
}

std::vector<Piece> slice(const std::vector<Piece>& pieces, Place from, Place to) {
  std::vector<Piece> out;
  for (std::size_t i = from.piece; i <= to.piece && i < pieces.size(); ++i) {
    if (!is_open(pieces[i])) {
      if (i < to.piece && (i > from.piece || from.byte == 0)) out.push_back(pieces[i]);
      continue;
    }
    const std::size_t begin = i == from.piece ? from.byte : 0;
    const std::size_t end = i == to.piece ? to.byte : pieces[i].text.size();
    if (end > begin) out.push_back({pieces[i].text.substr(begin, end - begin), nullptr, false});
  }
  return out;
}

struct Braces {
  Place open = {}, close = {};
  std::vector<Place> commas = {};
};

// The leftmost pair that makes words: a list, or a range. One walk; each `}` closes the last `{`
// that is open.
bool find_braces(const std::vector<Piece>& pieces, Braces& out, bool is_fish) {
  std::vector<Braces> open;
  bool is_found = false;
  const auto is_left_of = [](Place a, Place b) {
    return a.piece != b.piece ? a.piece < b.piece : a.byte < b.byte;
  };
  const auto close = [&](Place at) {
    Braces braces = std::move(open.back());
    open.pop_back();
    braces.close = at;
    const bool is_one_piece = braces.open.piece == at.piece;
    const bool is_range = is_one_piece && !is_fish &&
                          std::string_view(pieces[at.piece].text)
                                  .substr(braces.open.byte, at.byte - braces.open.byte)
                                  .find("..") != std::string_view::npos;
    const bool is_list = !braces.commas.empty() || (is_fish && !is_one_piece);  // {$x}
    if (!(is_list || is_range) || (is_found && is_left_of(out.open, braces.open))) return;
    out = std::move(braces);
    is_found = true;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!is_open(pieces[i])) continue;
    for (std::size_t b = 0; b < pieces[i].text.size(); ++b) {
      const char x = pieces[i].text[b];
      if (x == '{') open.push_back({.open = {i, b}});
      if (x == ',' && !open.empty()) open.back().commas.push_back({i, b});
      if (x == '}' && !open.empty()) close({i, b});
    }
  }
  return is_found;
}

bool range_items(const std::string& text, std::vector<std::string>& out) {
  const std::size_t dots = text.find("..");
  std::string from = text.substr(0, dots);
  std::string to = text.substr(dots + 2);
  long step = 1;
  if (const std::size_t more = to.find(".."); more != std::string::npos) {
    errno = 0;
    const long given = std::strtol(to.c_str() + more + 2, nullptr, 10);
    if (errno == ERANGE || given == LONG_MIN) return false;  // bash expands none
    constexpr long kLongest = 1L << 32;                      // past any two ends below
    step = std::clamp(std::labs(given), 1L, kLongest);
    to.resize(more);
  }
  const auto is_integer = [](const std::string& s) {
    const std::size_t sign = !s.empty() && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    return s.size() > sign && s.size() < 10 &&
           s.find_first_not_of("0123456789", sign) == std::string::npos;
  };
  const auto is_letter = [](const std::string& s) {
    return s.size() == 1 && ((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z'));
  };
  const bool letters = is_letter(from) && is_letter(to);
  if (!letters && !(is_integer(from) && is_integer(to))) return false;
  long a = letters ? from[0] : std::strtol(from.c_str(), nullptr, 10);
  const long b = letters ? to[0] : std::strtol(to.c_str(), nullptr, 10);
  if (std::labs(b - a) / step >= static_cast<long>(kMaxFields)) return false;
  const bool is_padded =
      !letters && ((from.size() > 1 && from[0] == '0') || (to.size() > 1 && to[0] == '0'));
  const std::size_t width = std::max(from.size(), to.size());
  const bool goes_up = a <= b;
  for (; goes_up ? a <= b : a >= b; a += goes_up ? step : -step) {
    std::string item = letters ? std::string(1, static_cast<char>(a)) : std::to_string(a);
    if (is_padded && item.size() < width) item.insert(0, width - item.size(), '0');
    out.push_back(std::move(item));
  }
  return true;
}

using Words = std::vector<std::vector<Piece>>;

// False: more words than the limit.
bool expand_braces(const std::vector<Piece>& pieces, Words& out, int depth, bool is_fish) {
  Braces braces;
  if (!find_braces(pieces, braces, is_fish)) {
    out.push_back(pieces);
    return out.size() <= kMaxFields;
  }
  if (depth > 16) return false;
  const Place end{pieces.size(), 0};
  const std::vector<Piece> before = slice(pieces, {}, braces.open);
  const std::vector<Piece> behind = slice(pieces, {braces.close.piece, braces.close.byte + 1}, end);
  Words items;
  if (!braces.commas.empty() || is_fish) {
    Place from{braces.open.piece, braces.open.byte + 1};
    for (const Place& comma : braces.commas) {
      items.push_back(slice(pieces, from, comma));
      from = {comma.piece, comma.byte + 1};
    }
    items.push_back(slice(pieces, from, braces.close));
  } else {
    std::vector<std::string> texts;
    const std::string& text = pieces[braces.open.piece].text;
    const std::size_t begin = braces.open.byte + 1;
    const std::string inside = text.substr(begin, braces.close.byte - begin);
    if (!range_items(inside, texts)) texts = {"{" + inside + "}"};
    for (std::string& item : texts)
      items.push_back({{std::move(item), nullptr, texts.size() == 1}});
  }
  for (const std::vector<Piece>& item : items) {
    std::vector<Piece> whole = before;
    whole.insert(whole.end(), item.begin(), item.end());
    whole.insert(whole.end(), behind.begin(), behind.end());
    if (!expand_braces(whole, out, depth + 1, is_fish)) return false;
  }
  return true;
}

// Nothing in it is expanded: most words are such texts.
bool is_text(const List<WordPart>& parts, bool is_quoted) {
  return std::all_of(parts.begin(), parts.end(), [&](const WordPart& part) {
    switch (part.kind) {
      case PartKind::kLiteral:
        return is_quoted || std::none_of(part.text.begin(), part.text.end(),
                                         [](char c) { return c == '{' || c == '~'; });
      case PartKind::kEscape:
      case PartKind::kSingle:
        return true;
      case PartKind::kDouble:
        return is_text(part.parts, true);
      default:
        return false;
    }
  });
}

void add_text(const List<WordPart>& parts, bool is_quoted, bool globs, Fields& fields) {
  for (const WordPart& part : parts) {
    if (part.kind == PartKind::kDouble) {
      fields.text("", true, globs);
      add_text(part.parts, true, globs, fields);
    } else {
      fields.text(part.text, is_quoted || part.kind != PartKind::kLiteral, globs);
    }
  }
}

}  // namespace

std::vector<Arg> Evaluator::expand(const List<Word>& words, State& s) {
  std::vector<Arg> out;
  expand(words, s, out);
  return out;
}

void Evaluator::expand(const List<Word>& words, State& s, std::vector<Arg>& out) {
  out.reserve(words.size());
  for (const Word& word : words) {
    expand(word, s, out);
    if (words_ > kMaxWords) break;  // the next step() says so
  }
}

void Evaluator::expand(const Word& word, State& s, std::vector<Arg>& out) {
  if (word.array) {  // declare a=(…): the values are assigned, the word is plain
    assign(*word.array, s, false);
    out.push_back({.value = Value::exact(word.array->name + "="), .span = word.span});
    return;
  }
  if (dialect_ != Dialect::kZsh && is_text(word.parts, false)) {
    Fields fields(word.span, out);
    add_text(word.parts, false, !s.has_no_glob, fields);
    ++words_;
    return fields.end();
  }
  std::vector<Piece> pieces;
  pieces.reserve(word.parts.size());
  cut(word.parts, false, pieces);
  const bool has_brace = std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
    return is_open(piece) && piece.text.find('{') != std::string::npos;
  });
  if (dialect_ == Dialect::kPosix || !has_brace) return fields(pieces, s, word.span, out);
  Words words;
  if (!expand_braces(pieces, words, 0, dialect_ == Dialect::kFish)) {
    is_too_complex_ = true;
    unknown(word.span, "", "too complex: braces make more than 256 words");
    return;
  }
  for (const std::vector<Piece>& one : words)
    fields(one, s, word.span, out);
}

namespace {

constexpr std::size_t kNone = std::string::npos;

}  // namespace

Value Evaluator::tilde(std::string& text, State& s) {
  const std::size_t end = std::min(text.find('/'), text.size());
  const std::string user = text.substr(1, end - 1);
  const auto is_plain = [](const std::string& name) {
    return name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
           std::string::npos;
  };
  if (!is_plain(user) && user != "+") return Value::exact("");
  const std::string rest = text.substr(end);
  const bool is_number = !user.empty() && user.find_first_not_of("-0123456789") == kNone;
  if (is_number && user != "-") {  // of the stack of directories
    text = rest;
    return Value::unknown();
  }
  if (user.empty()) {
    text = rest;
    return variable("HOME", s);
  }
  if (user == "+" || user == "-") {
    text = rest;
    return variable(user == "+" ? "PWD" : "OLDPWD", s);
  }
  text = rest;
  return Value::exact(user == "root" ? "/root" : "/home/" + user);
}

namespace {

// At the beginning of a word, in bash also behind NAME= (dd of=~/x).
std::size_t place_of_tilde(std::string_view text, Dialect dialect) {
  if (text.starts_with('~')) return 0;
  const std::size_t equals = text.find('=');
  if (dialect != Dialect::kBash || equals == kNone || !text.substr(equals).starts_with("=~"))
    return kNone;
  return is_variable_name(text.substr(0, equals)) ? equals + 1 : kNone;
}

void split(const std::string& text, std::string_view ifs, bool globs, Fields& fields) {
  std::string field;
  const bool has_blank = ifs.find_first_of(" \t\n") != std::string_view::npos;
  bool any = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool is_end = i == text.size();
    if (!is_end && ifs.find(text[i]) == std::string_view::npos) {
      field += text[i];
      continue;
    }
    if (!field.empty()) fields.text(field, false, globs);
    if (is_end) break;
    const bool is_blank = text[i] == ' ' || text[i] == '\t' || text[i] == '\n';
    if (!is_blank && field.empty() && !any && has_blank) fields.text("", true, false);
    fields.end();
    any = true;
    field.clear();
  }
}

// $(find …), of which we assume it as for xargs, and what mktemp made.
bool holds_no_blanks(const Value& v, const WordPart& part) {
  return v.is_below && (v.may_be_empty || part.kind == PartKind::kCommandSub);
}

}  // namespace

// Text of a word: a tilde at its beginning, and what only zsh reads in it.
void Evaluator::plain_piece(const Piece& piece, bool is_first, bool is_alone, State& s,
                            Fields& fields) {
  const bool globs = !s.has_no_glob;
  const bool is_zsh_word = dialect_ == Dialect::kZsh && !piece.is_quoted;
  if (is_zsh_word && zsh_text(piece.text, is_first, fields.span(), fields)) return;
  const std::size_t at =
      is_first && !piece.is_quoted ? place_of_tilde(piece.text, dialect_) : kNone;
  if (at == kNone) return fields.text(piece.text, piece.is_quoted, globs);
  std::string text = piece.text;
  if (is_alone || text.find('/', at) != kNone) {
    if (at > 0) fields.text(text.substr(0, at), false, globs);
    text.erase(0, at);
    const Value home = tilde(text, s);
    if (!(home.is_known && home.set.front().empty())) fields.value(home, false);
  }
  fields.text(text, piece.is_quoted, globs);
}

void Evaluator::fields(const std::vector<Piece>& pieces, State& s, Span span,
                       std::vector<Arg>& out) {
  const std::size_t n_before = out.size();
  Fields fields(span, out);
  const bool has_expansion = std::any_of(
      pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.expansion != nullptr; });
  const Value ifs = has_expansion ? variable("IFS", s) : Value();
  const bool has_ifs = ifs.is_known && ifs.set.size() == 1;
  const bool globs = !s.has_no_glob;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (words_ + out.size() - n_before > kMaxWords) break;  // the next step() says so
    const Piece& piece = pieces[i];
    if (piece.expansion != nullptr && piece.expansion->kind == PartKind::kExtGlob &&
        dialect_ == Dialect::kZsh) {
      group(*piece.expansion, i > 0 && i + 1 == pieces.size(), s, fields);
      continue;
    }
    if (piece.expansion == nullptr) {
      plain_piece(piece, i == 0, pieces.size() == 1, s, fields);
      continue;
    }
    std::vector<Value> all;
    bool is_known = false;
    if (all_fields(piece, s, all, is_known)) {  // "$@"
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (k > 0) fields.end();
        fields.value(all[k], !is_known);
      }
      continue;
    }
    if (dialect_ == Dialect::kFish && !piece.is_quoted) {
      fish_list(*piece.expansion, pieces.size() == 1, s, fields);
      continue;
    }
    if (!piece.is_quoted && piece.expansion->kind == PartKind::kParameter)
      glob_in_default(*piece.expansion);
    const Value v = expansion(*piece.expansion, s);
    const bool is_whole_word = dialect_ == Dialect::kZsh && !piece.is_quoted && has_ifs &&
                               v.is_known && v.set.size() == 1 && !splits(*piece.expansion);
    if (piece.is_quoted) {
      fields.value(v, false);
    } else if (is_whole_word) {  // zsh: neither split nor globbed; nothing if it is empty
      const bool is_substitution = piece.expansion->kind == PartKind::kCommandSub;
      if (is_substitution) split(v.set.front(), ifs.set.front(), false, fields);
      if (!is_substitution) fields.text(v.set.front(), false, false);
    } else if (!has_ifs) {
      fields.value(Value::unknown(), true);
    } else if (v.is_known && v.set.size() == 1) {
      split(v.set.front(), ifs.set.front(), globs, fields);
    } else if (v.is_known) {
      const bool is_whole = std::all_of(v.set.begin(), v.set.end(), [&](const std::string& x) {
        return !x.empty() && x.find_first_of(ifs.set.front() + "*?[") == std::string::npos;
      });
      is_whole ? fields.value(v, false) : fields.value(Value::unknown(), true);
    } else if (v.is_number || (v.is_below && dialect_ == Dialect::kZsh &&
                               piece.expansion->kind == PartKind::kParameter)) {
      fields.value(v, false);
    } else if (holds_no_blanks(v, *piece.expansion) &&
               ifs.set.front().find_first_not_of(" \t\n") == kNone) {
      fields.value(v, !v.may_be_empty);
    } else {
      Value loose = Value::unknown();
      loose.is_secret = v.is_secret;
      loose.keys = v.keys;
      fields.value(loose, true);
    }
  }
  fields.end();
  words_ += out.size() - n_before;
}

// A word that is neither split nor globbed: an assignment, a redirect, a case.
Value Evaluator::value_of(const List<WordPart>& parts, State& s) {
  std::vector<Piece> pieces;
  cut(parts, false, pieces);
  Value out = Value::exact("");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.expansion != nullptr) {
      append(out, expansion(*piece.expansion, s));
      continue;
    }
    if (i > 0 || piece.is_quoted || !piece.text.starts_with('~')) {
      append(out, piece.text);
      continue;
    }
    std::string text = piece.text;
    append(out, tilde(text, s));
    append(out, text);
  }
  if (out.is_known) {
    for (const std::string& x : out.set)
      built_ += x.size();
  }
  return out;
}

}  // namespace wick::shell
