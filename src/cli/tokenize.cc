// wick tokenize: a text's token ids. The text is taken as it is, a person's text without BOS or
// EOS, unless asked.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/strings.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/option_flags.h"
#include "text/tokenizer.h"

namespace wick {

namespace {

constexpr std::size_t kMaxTokenizeInput = 256'000'000;

struct TokenizeFlags {
  OptionFlags settings = {};
  std::string text = {}, file = {};
  bool has_text = false;
  bool is_special = false, adds_special = false, is_null = false, is_json = false, is_count = false;
};

// What is printed of each text: its ids as JSON, its number of tokens, or a token a line, its id
// and its piece, in alternating colors on a terminal. The sums go to stderr.
class TokenPrinter {
 public:
  TokenPrinter(const Tokenizer& tokenizer, const TokenizeFlags& options)
      : tokenizer_(tokenizer), options_(options), is_colored_(has_color(STDOUT_FILENO)) {}

  void begin() {
    n_ = 0;
    if (options_.is_json && !options_.is_count) print({"{\"ids\":["});
    if (options_.adds_special) add(tokenizer_.prefix());
  }

  void add(std::span<const TokenId> ids) {
    for (const TokenId id : ids) {
      if (!options_.is_count) show(id);
      ++n_;
    }
  }

  void end() {
    if (options_.adds_special) add(tokenizer_.suffix());
    if (options_.is_count) {
      const bool is_json = options_.is_json;
      print(
          {is_json ? Shown("{\"tokens\":") : Shown(""), n_, is_json ? Shown("}\n") : Shown("\n")});
    } else if (options_.is_json) {
      print({"]}\n"});
    }
    all_ += n_;
  }

  std::uint64_t tokens() const noexcept { return all_; }

 private:
  void show(TokenId id) {
    if (options_.is_json) return print({n_ > 0 ? Shown(",") : Shown(""), id});
    const Shown begin = !is_colored_  ? Shown("\t'")
                        : n_ % 2 == 0 ? Shown("\t\x1b[36m'")
                                      : Shown("\t\x1b[33m'");
    print({id, begin, printable(tokenizer_.bytes(id)),
           is_colored_ ? Shown("'\x1b[0m\n") : Shown("'\n")});
  }

  const Tokenizer& tokenizer_;
  const TokenizeFlags& options_;
  bool is_colored_;
  std::uint64_t n_ = 0, all_ = 0;
};

Result<void> show_text(const Tokenizer& tokenizer, const TokenizeFlags& o, std::string text,
                       TokenPrinter& printer) {
  MarkedText marked{.text = std::move(text)};
  const bool is_trusted = o.is_special || o.adds_special;
  if (is_trusted && !marked.text.empty()) marked.trusted.push_back({0, marked.text.size()});
  std::vector<TokenId> ids;
  WICK_DO(tokenizer.encode(marked, ids));
  printer.begin();
  printer.add(ids);
  printer.end();
  return {};
}

// The texts of `input`: without --null all of it is one; a NUL at the end begins no other.
Result<void> show_all(const Tokenizer& tokenizer, const TokenizeFlags& o, std::string input,
                      TokenPrinter& printer) {
  if (!o.is_null) return show_text(tokenizer, o, std::move(input), printer);
  for (std::size_t at = 0; (at < input.size() || at == 0) && !output_has_failed();) {
    const std::size_t end = std::min(input.find('\0', at), input.size());
    WICK_DO(show_text(tokenizer, o, input.substr(at, end - at), printer));
    at = end + 1;
  }
  return {};
}

Result<int> run_tokenize(const TokenizeFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const auto tokenizer, Tokenizer::open(path));
  std::string input = o.text;
  if (!o.has_text) {
    WICK_TRY(input, read_text(o.file, kMaxTokenizeInput));
  }
  const std::size_t bytes = input.size();
  TokenPrinter printer(*tokenizer, o);
  WICK_DO(show_all(*tokenizer, o, std::move(input), printer));
  if (!o.is_json) note({printer.tokens(), " tokens, ", bytes, " bytes\n"});
  return kExitOk;
}

}  // namespace

Action setup_tokenize(Flags flags) {
  const auto o = std::make_shared<TokenizeFlags>();
  o->settings.add_model(flags, false);
  flags.text("TEXT,-p,--prompt", o->text, "the text; standard input if absent");
  flags.text("-f,--file", o->file, "read the text from this file");
  flags.exclude("--prompt", "--file");
  flags.toggle("--parse-special,--special", o->is_special,
               "parse names of control tokens (special tokens), for example <s>");
  flags.toggle("--add-special", o->adds_special,
               "add BOS and EOS as the tokenizer is configured");
  flags.toggle("--null", o->is_null,
               "split the input at NUL bytes into texts; print one result per text");
  flags.toggle("--count", o->is_count, "print only the number of tokens");
  flags.toggle("--json", o->is_json, "print {\"ids\":[…]}, one line per text");
  return [o, flags] {
    o->has_text = flags.is_given("--prompt");
    return run_tokenize(*o);
  };
}

}  // namespace wick
