// wick tokenize: a text's token ids. Standard input is taken as it is, a person's text without BOS
// or EOS, unless asked.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
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

struct Flags {
  ModelFlags model = {};
  std::string text = {};
  bool has_text = false;
  bool is_special = false, adds_special = false, is_null = false, is_json = false;
};

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text, const Flags& flags) {
  std::vector<TokenId> ids;
  if (flags.adds_special) ids.assign(tokenizer.prefix().begin(), tokenizer.prefix().end());
  MarkedText marked;
  marked.append(text, flags.is_special || flags.adds_special);
  tokenizer.encode(marked, ids);
  if (flags.adds_special)
    ids.insert(ids.end(), tokenizer.suffix().begin(), tokenizer.suffix().end());
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

Result<int> run(const Flags& flags) {
  WICK_TRY(const auto path, find_model(flags.model));
  WICK_TRY(const auto tokenizer, Tokenizer::open(path));
  std::string input = flags.text;
  if (!flags.has_text) {
    WICK_TRY(input, read_stdin(kMaxInput));
  }
  std::string_view rest = input;
  do {
    const std::size_t end = flags.is_null ? std::min(rest.find('\0'), rest.size()) : rest.size();
    const auto ids = encode(*tokenizer, rest.substr(0, end), flags);
    if (flags.is_json) {
      print_json(ids);
    } else {
      print_pieces(*tokenizer, ids);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  } while (!rest.empty());
  return kExitOk;
}

}  // namespace

Action setup_tokenize(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  flags->model.add(app, false);
  auto* text =
      app.add_option("-p,--prompt,TEXT", flags->text, "the text; standard input if absent");
  app.add_flag("--special", flags->is_special, "recognise control tokens in the text");
  app.add_flag("--add-special", flags->adds_special, "also add what the tokenizer adds (BOS, EOS)");
  app.add_flag("--null", flags->is_null, "texts are separated by NUL bytes, one result for each");
  app.add_flag("--json", flags->is_json, "print {\"ids\":[…]}, a line for each text");
  return [flags, text] {
    flags->has_text = text->count() > 0;
    return run(*flags);
  };
}

}  // namespace wick
