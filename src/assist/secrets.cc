// A word is masked for one of three reasons: the name in it or before it (`DB_PASS=x`, `--token x`,
// "Cookie: x"), an option that a row of the table lists (`mysql -px`), or the pipe that it goes
// into (`echo x | sudo -S`). A quoted word that holds blanks may be a command itself (`ssh h
// "mysql -px"`), and is looked into.
#include "assist/secrets.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "shell/parse.h"

namespace wick::assist {

namespace {

constexpr int kMaxInside = 4;          // commands in words of commands
constexpr std::size_t kMaxNames = 16;  // words of a command that may be the name of one

// A name that holds one of these words has a secret as its value …
constexpr std::string_view kWithin[] = {"password",      "passwd",     "passphrase", "passcode",
                                        "secret",        "token",      "api_key",    "apikey",
                                        "api-key",       "access_key", "access-key", "private_key",
                                        "auth_key",      "credential", "bearer",     "storepass",
                                        "authorization", "pwd",        "mnemonic",   "seed_phrase"};
// … and one of which this is a part between `_`, `-` and the like.
constexpr std::string_view kParts[] = {"pass", "pw", "psk", "otp", "cookie", "auth", "session"};

// Variables whose quoted value is a secret if it has blanks: `p="three words here"` is no path.
constexpr std::string_view kShort[] = {"p", "pp", "pin", "key", "code", "seed", "phrase"};

enum class Form {
  kValue,  // the next word, or the rest of this one
  kNext,   // the next word alone
  kRest,   // the rest of this word
  kUser,   // as kValue, what is behind `user:`, `user%` or `user,`
  kLast,   // the last word of the command
};

struct Row {
  std::string_view command, option;
  Form form;
};

constexpr Row kRows[] = {
    {"sshpass", "-p", Form::kValue},
    {"mysql", "-p", Form::kRest},
    {"mysqldump", "-p", Form::kRest},
    {"mysqladmin", "-p", Form::kRest},
    {"mysqlimport", "-p", Form::kRest},
    {"mariadb", "-p", Form::kRest},
    {"mariadb-dump", "-p", Form::kRest},
    {"login", "-p", Form::kValue},
    {"curl", "-u", Form::kUser},
    {"curl", "--user", Form::kUser},
    {"curl", "-U", Form::kUser},
    {"curl", "--proxy-user", Form::kUser},
    {"curl", "-b", Form::kValue},
    {"http", "-a", Form::kUser},
    {"https", "-a", Form::kUser},
    {"lftp", "-u", Form::kUser},
    {"redis-cli", "-a", Form::kValue},
    {"unzip", "-P", Form::kValue},
    {"zip", "-P", Form::kValue},
    {"7z", "-p", Form::kRest},
    {"7za", "-p", Form::kRest},
    {"7zr", "-p", Form::kRest},
    {"7zz", "-p", Form::kRest},
    {"rar", "-p", Form::kRest},
    {"unrar", "-p", Form::kRest},
    {"rar", "-hp", Form::kRest},
    {"smbclient", "-U", Form::kUser},
    {"rpcclient", "-U", Form::kUser},
    {"ldapsearch", "-w", Form::kValue},
    {"ldapadd", "-w", Form::kValue},
    {"ldapmodify", "-w", Form::kValue},
    {"ldapdelete", "-w", Form::kValue},
    {"ldappasswd", "-w", Form::kValue},
    {"ldappasswd", "-s", Form::kValue},
    {"ldapwhoami", "-w", Form::kValue},
    {"htpasswd", "-b", Form::kLast},
    {"wpa_passphrase", "", Form::kLast},
    {"mosquitto_pub", "-P", Form::kValue},
    {"mosquitto_sub", "-P", Form::kValue},
    {"sqlcmd", "-P", Form::kValue},
    {"bcp", "-P", Form::kValue},
    {"plink", "-pw", Form::kValue},
    {"pscp", "-pw", Form::kValue},
    {"mongo", "-p", Form::kValue},
    {"mongosh", "-p", Form::kValue},
    {"mongodump", "-p", Form::kValue},
    {"mongorestore", "-p", Form::kValue},
    {"cqlsh", "-p", Form::kValue},
    {"nmcli", "password", Form::kValue},
    {"secret", "-b", Form::kValue},
    {"secret", "--body", Form::kValue},
    {"xfreerdp", "/p:", Form::kRest},
    {"rdesktop", "-p", Form::kValue},
    {"useradd", "-p", Form::kValue},
    {"usermod", "-p", Form::kValue},
    {"openssl", "-k", Form::kNext},
    {"openssl", "-K", Form::kNext},
    {"secret", "--from-literal", Form::kValue},
};

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_of_name(char c) noexcept {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

bool is_in(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_secret_variable(std::string_view name) {
  return is_secret_name(name) || name.ends_with("KEY");
}

// A text that is no command, "don't run mysql -px": its words stay where they are.
std::string words_alone(std::string_view text) {
  constexpr std::string_view kOfWords = "-.:/=%,@+";
  std::string out(text);
  for (char& c : out) {
    if (!is_of_name(c) && kOfWords.find(c) == std::string_view::npos) c = ' ';
  }
  return out;
}

struct Piece {
  std::size_t begin = 0, end = 0;  // in the text
  std::string bare = {};           // without quotes and backslashes
};

class Secrets {
 public:
  explicit Secrets(std::string_view text) : text_(text) {}

  // Again while variables are found: what they were assigned stands before, or outside.
  void look_at_all() {
    for (std::size_t n = 0, round = 0; round < kMaxRounds; ++round, n = variables_.size()) {
      look(0, text_.size(), 0);
      if (variables_.size() == n) return;
    }
  }

  std::vector<ByteRange> take() { return std::move(found_); }

 private:
  static constexpr std::size_t kMaxRounds = 8;

  struct Inside {
    std::size_t begin = 0, end = 0;
    std::string function = {};  // around
  };

  void look(std::size_t begin, std::size_t end, int depth) {
    const auto parsed_as = [](std::string_view text) {
      return shell::parse(text, shell::Dialect::kBash, shell::Mode::kScript);
    };
    shell::Parsed parsed = parsed_as(text_.substr(begin, end - begin));
    if (std::get_if<shell::Script>(&parsed) == nullptr)
      parsed = parsed_as(words_alone(text_.substr(begin, end - begin)));
    const auto* const script = std::get_if<shell::Script>(&parsed);
    if (script == nullptr) return;
    offset_ = begin;
    depth_ = depth;
    nodes(script->body);
    const auto inside = std::exchange(inside_, {});
    for (const Inside& one : inside) {
      function_ = one.function;
      look(one.begin, one.end, depth + 1);
    }
    function_.clear();
  }

  void add(std::size_t begin, std::size_t end) {
    if (begin >= end || end > text_.size()) return;
    found_.emplace_back(begin, end);
    // sshpass -p "$p", "Bearer ${p:-x}": the variable has it, too.
    for (std::size_t at = text_.find('$', begin); at < end; at = text_.find('$', at)) {
      ++at;
      if (at < end && text_[at] == '{') ++at;
      std::string name;
      for (; at < end && is_of_name(text_[at]); ++at)
        name += text_[at];
      if (name.empty() && at < end && (text_[at] == '@' || text_[at] == '*')) name = "1";
      // An argument: the words behind the function's name have it, or those of `set`.
      if (!name.empty() && name[0] >= '1' && name[0] <= '9') name = arguments_of(function_);
      if (!name.empty() && !stands_for_secret(name)) variables_.push_back(std::move(name));
    }
  }

  static std::string arguments_of(std::string_view function) {
    return cat("()", function.empty() ? "set" : function);
  }

  Piece piece_of(const shell::Word& word) const {
    Piece out{.begin = std::min(offset_ + static_cast<std::size_t>(word.span.begin), text_.size()),
              .end = std::min(offset_ + static_cast<std::size_t>(word.span.end), text_.size())};
    for (const char c : text_.substr(out.begin, out.end - out.begin)) {
      if (c != '\'' && c != '"' && c != '\\') out.bare += c;
    }
    return out;
  }

  // What is behind the first of `marks` in the word, without the quote at its end.
  void add_behind(const Piece& piece, std::string_view marks) {
    const std::string_view raw = text_.substr(piece.begin, piece.end - piece.begin);
    const std::size_t at = raw.find_first_of(marks);
    if (at == std::string_view::npos) return;
    const bool is_quoted = (raw.front() == '"' || raw.front() == '\'') && raw.back() == raw.front();
    add(piece.begin + at + 1, piece.end - (is_quoted ? 1 : 0));
  }

  void nodes(const shell::List<shell::Node>& list) {
    for (const shell::Node& node : list)
      this->node(node);
  }

  void node(const shell::Node& node) {
    if (node.kind == shell::NodeKind::kPipeline) pipeline(node);
    const bool is_function = node.kind == shell::NodeKind::kFunction;
    const std::string outer = function_;
    if (is_function) function_ = node.name;
    nodes(node.children);
    if (is_function) function_ = outer;
    const bool is_loop =
        node.kind == shell::NodeKind::kFor || node.kind == shell::NodeKind::kSelect;
    if (is_loop && is_secret_place(node.name)) add_words(node.words, 0);
    for (const auto& body : node.bodies)
      nodes(body);
    for (const shell::CaseItem& item : node.items)
      nodes(item.body);
    for (const shell::Assignment& one : node.assignments)
      assignment(one);
    for (const shell::Word& word : node.words)
      this->word(word);
    for (const shell::Redirect& redirect : node.redirects) {
      word(redirect.target);
    }
    if (!node.redirects.empty() && reads_secret(node)) inputs(node);
    words(node);
  }

  // The texts that redirections give to a command: <<<, <<.
  void inputs(const shell::Node& node) {
    for (const shell::Redirect& redirect : node.redirects) {
      const Piece target = piece_of(redirect.target);
      if (redirect.op == shell::RedirectOp::kHereString) add(target.begin, target.end);
      if (redirect.here_doc == nullptr) continue;
      const shell::HereDoc& body = *redirect.here_doc;
      const std::size_t begin = offset_ + static_cast<std::size_t>(body.span.begin);
      const std::size_t whole = offset_ + static_cast<std::size_t>(body.span.end);
      std::size_t end = std::min(body.strips_tabs ? whole : begin + body.text.size(), text_.size());
      while (end > begin && text_[end - 1] == '\n')
        --end;
      add(begin, end);
    }
  }

  void add_words(const shell::List<shell::Word>& words, std::size_t first) {
    if (first < words.size()) add(piece_of(words[first]).begin, piece_of(words.back()).end);
  }

  bool is_secret_place(std::string_view name) const {
    return is_secret_variable(name) || stands_for_secret(name);
  }

  void assignment(const shell::Assignment& one) {
    if (is_secret_place(one.name) || is_short(one.name, piece_of(one.value))) {
      const std::size_t begin = offset_ + static_cast<std::size_t>(one.span.begin);
      const std::size_t end = offset_ + static_cast<std::size_t>(one.span.end);
      const std::size_t equals = text_.find('=', begin);
      if (equals < end) add(equals + 1, end);
    }
    word(one.value);
    for (const shell::ArrayElement& element : one.elements)
      word(element.value);
  }

  bool stands_for_secret(std::string_view name) const {
    return std::find(variables_.begin(), variables_.end(), name) != variables_.end();
  }

  // One of the short names, with a quoted text that has blanks and no variable.
  bool is_short(std::string_view name, const Piece& value) const {
    const std::string_view raw = text_.substr(value.begin, value.end - value.begin);
    const std::size_t quote = raw.starts_with(name) ? name.size() + 1 : 0;  // behind `name=`
    return std::find(std::begin(kShort), std::end(kShort), name) != std::end(kShort) &&
           quote < raw.size() && (raw[quote] == '"' || raw[quote] == '\'') &&
           raw.find(' ') != std::string_view::npos && raw.find_first_of("$`") == raw.npos;
  }

  // Commands in a word: substitutions, and quoted texts with a blank.
  void word(const shell::Word& word) {
    if (word.array) assignment(*word.array);
    parts(word.parts);
  }

  void parts(const shell::List<shell::WordPart>& list) {
    for (const shell::WordPart& part : list) {
      nodes(part.body);
      parts(part.parts);
      const bool is_text =
          part.kind == shell::PartKind::kSingle || part.kind == shell::PartKind::kDouble;
      const std::size_t begin = offset_ + static_cast<std::size_t>(part.span.begin) + 1;
      const std::size_t end = offset_ + static_cast<std::size_t>(part.span.end) - 1;
      if (!is_text || begin >= end || end > text_.size() || depth_ >= kMaxInside) continue;
      if (text_.substr(begin, end - begin).find(' ') != std::string_view::npos)
        inside_.push_back({begin, end, function_});
    }
  }

  void words(const shell::Node& node) {
    std::vector<Piece> pieces;
    for (const shell::Word& word : node.words)
      pieces.push_back(piece_of(word));
    if (!pieces.empty() && stands_for_secret(arguments_of(pieces[0].bare)))
      add_words(node.words, pieces[0].bare == "set" && pieces.size() > 2 ? 2 : 1);
    std::vector<std::string_view> commands;  // the names so far, behind sudo, env and the like
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      names(pieces, i, commands);
      for (const Row& row : kRows) {
        if (std::find(commands.begin(), commands.end(), row.command) != commands.end())
          option(row, pieces, i);
      }
      const std::string_view bare = piece.bare;
      if (!bare.starts_with('-') && commands.size() < kMaxNames)
        commands.push_back(bare.substr(bare.rfind('/') + 1));
    }
  }

  void option(const Row& row, const std::vector<Piece>& pieces, std::size_t i) {
    const std::string& bare = pieces[i].bare;
    if (!bare.starts_with(row.option)) return;
    const bool is_alone = bare.size() == row.option.size();
    const bool is_long = row.option.starts_with("--");
    if (row.form == Form::kLast) return add(pieces.back().begin, pieces.back().end);
    if (row.form == (is_alone ? Form::kRest : Form::kNext)) return;
    if (is_alone && i + 1 == pieces.size()) return;
    if (!is_alone && is_long && bare[row.option.size()] != '=') return;
    const Piece& value = is_alone ? pieces[i + 1] : pieces[i];
    if (row.form == Form::kUser) return add_behind(value, ":%,");
    add(is_alone ? value.begin : value.begin + row.option.size(), value.end);
  }

  // A name in the word or before it.
  void names(const std::vector<Piece>& pieces, std::size_t i,
             const std::vector<std::string_view>& commands) {
    const Piece& piece = pieces[i];
    const std::string_view bare = piece.bare;
    if (bare.starts_with("pass:")) return add_behind(piece, ":");
    const std::size_t mark = bare.find_first_of("=: ");
    const std::string_view name = bare.substr(0, mark);
    const bool is_assignment = mark != std::string_view::npos && bare[mark] == '=';
    const bool is_variable = is_assignment && (stands_for_secret(name) || is_short(name, piece));
    if (name.starts_with('$') || !(is_secret_variable(name) || is_variable)) return;
    if (mark != std::string_view::npos && bare[mark] != ' ') {
      // "Cookie: x", TOKEN=x, token:x
      return add_behind(piece, bare.substr(mark, 1));
    }
    if (mark != std::string_view::npos || i + 1 == pieces.size()) return;
    const bool is_option = name.starts_with('-') && name.size() > 3;
    const bool is_setting =
        std::any_of(commands.begin(), commands.end(),
                    [](std::string_view word) {
                      return is_in(word, {"set", "setenv", "config", "configure"});
                    }) &&
        std::any_of(name.begin(), name.end(), [](char c) {
          return (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '/';
        });
    if (is_option && !name.ends_with("stdin")) add(pieces[i + 1].begin, pieces[i + 1].end);
    if (is_setting) add(pieces[i + 1].begin, pieces.back().end);
  }

  // echo SECRET | sudo -S
  void pipeline(const shell::Node& node) {
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
      const shell::Node& from = node.children[i];
      if (!reads_secret(node.children[i + 1])) continue;
      if (!from.words.empty() && is_in(piece_of(from.words[0]).bare, {"echo", "printf"}))
        add_words(from.words, 1);
      inputs(from);
    }
  }

  // Whether the command takes a secret from its standard input.
  bool reads_secret(const shell::Node& node) const {
    const auto reads_it = [&](const shell::Node& inner) { return reads_secret(inner); };
    bool reads = std::any_of(node.children.begin(), node.children.end(), reads_it);
    for (const auto& body : node.bodies)
      reads = reads || std::any_of(body.begin(), body.end(), reads_it);
    std::string name;
    bool is_sudo = false;
    bool is_read = false;
    for (const shell::Word& word : node.words) {
      const std::string bare = piece_of(word).bare;
      if (name.empty()) name = bare;
      is_sudo = is_sudo || bare.substr(bare.rfind('/') + 1) == "sudo";
      const bool is_stdin = (bare.starts_with('-') && bare.find('S') != std::string::npos &&
                             bare.find_first_not_of("-ABbEHikKnPSs") == std::string::npos) ||
                            bare == "--stdin";
      is_read = is_read || is_in(name, {"read", "mapfile", "readarray"});
      reads = reads || (is_sudo && is_stdin) || bare == "chpasswd" || bare == "stdin" ||
              bare == "fd:0" || (is_read && !bare.starts_with('-') && is_secret_place(bare)) ||
              (bare.starts_with("--") && is_secret_name(bare)) ||
              (bare == "--stdin" && name == "passwd") || bare == "--with-token";
    }
    return reads;
  }

  std::string_view text_;
  std::size_t offset_ = 0;  // of the command in it
  int depth_ = 0;
  std::string function_ = {};  // whose body this is
  std::vector<ByteRange> found_ = {};
  std::vector<Inside> inside_ = {};
  std::vector<std::string> variables_ = {};  // that stand where a secret is
};

}  // namespace

bool is_secret_name(std::string_view name) {
  const std::string lower = ascii_lower(name);
  for (const std::string_view word : kWithin) {
    if (lower.find(word) != std::string::npos) return true;
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= lower.size(); ++i) {
    if (i < lower.size() && is_letter(lower[i])) continue;
    const std::string_view part = std::string_view(lower).substr(begin, i - begin);
    if (std::find(std::begin(kParts), std::end(kParts), part) != std::end(kParts)) return true;
    begin = i + 1;
  }
  return false;
}

std::vector<ByteRange> secrets_of_command(std::string_view text) {
  Secrets secrets(text);
  secrets.look_at_all();
  return secrets.take();
}

}  // namespace wick::assist
