// wick tokenize: a text's token ids. Standard input is taken as it is, a person's text without BOS
// or EOS, unless asked.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <vector>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report.h"
#include "text/tokenizer.h"

namespace wick {

namespace {

constexpr std::size_t kMaxInput = std::size_t{1} << 30;

struct Options {
  ModelFlags model = {};
  std::string text = {};
  bool has_text = false;
  bool is_special = false, adds_special = false, is_null = false, is_json = false;
};

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text, const Options& o) {
  std::vector<TokenId> ids;
  if (o.adds_special) ids.assign(tokenizer.prefix().begin(), tokenizer.prefix().end());
  MarkedText marked;
  marked.append(text, o.is_special || o.adds_special);
  tokenizer.encode(marked, ids);
  if (o.adds_special) ids.insert(ids.end(), tokenizer.suffix().begin(), tokenizer.suffix().end());
  return ids;
}

void print_json(const std::vector<TokenId>& ids) {
  std::string line = "{\"ids\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) line += ',';
    line += std::to_string(ids[i]);
  }
  std::cout << line << "]}\n";
}

// One token a line: id and piece, pieces in alternating colours on a terminal; the count goes to
// stderr.
void print_pieces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  const bool is_coloured = has_colour(STDOUT_FILENO);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const char* colour = !is_coloured ? "" : i % 2 == 0 ? "\x1b[36m" : "\x1b[33m";
    std::cout << ids[i] << "\t" << colour << "'" << printable(tokenizer.bytes(ids[i])) << "'"
              << (is_coloured ? "\x1b[0m" : "") << "\n";
  }
  std::cerr << ids.size() << " tokens\n";
}

Result<int> run(const Options& o) {
  WICK_TRY(const auto path, find_model(o.model));
  WICK_TRY(const auto tokenizer, Tokenizer::open(path));
  std::string input = o.text;
  if (!o.has_text) {
    WICK_TRY(input, read_stdin(kMaxInput));
  }
  std::string_view rest = input;
  do {
    const std::size_t end = o.is_null ? std::min(rest.find('\0'), rest.size()) : rest.size();
    const auto ids = encode(*tokenizer, rest.substr(0, end), o);
    if (o.is_json) {
      print_json(ids);
    } else {
      print_pieces(*tokenizer, ids);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  } while (!rest.empty());
  return kExitOk;
}

}  // namespace

Action setup_tokenize(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->model.add(flags, false);
  flags.text("TEXT,-p,--prompt", o->text, "the text; standard input if absent");
  flags.toggle("--special", o->is_special, "recognise control tokens in the text");
  flags.toggle("--add-special", o->adds_special, "also add what the tokenizer adds (BOS, EOS)");
  flags.toggle("--null", o->is_null, "texts are separated by NUL bytes, one result for each");
  flags.toggle("--json", o->is_json, "print {\"ids\":[…]}, a line for each text");
  return [o, flags] {
    o->has_text = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
