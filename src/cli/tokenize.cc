// wick tokenize: a text's token ids. The text is taken as it is, a person's text without BOS or
// EOS, unless asked. It is read by blocks and encoded as it comes (text/growing_text.h), so a file
// may be larger than the memory; the ids are those of one encode of all of it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "text/growing_text.h"
#include "text/tokenizer.h"

namespace wick {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

struct Options {
  SettingFlags settings = {};
  std::string text = {}, file = {};
  bool has_text = false;
  bool is_special = false, adds_special = false, is_null = false, is_json = false, is_count = false;
};

// What is printed of each text: its ids as JSON, its number of tokens, or a token a line, its id
// and its piece, in alternating colors on a terminal. The sums go to stderr.
class Printer {
 public:
  Printer(const Tokenizer& tokenizer, const Options& options)
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
  const Options& options_;
  bool is_colored_;
  std::uint64_t n_ = 0, all_ = 0;
};

// Takes the input part by part, cuts it into texts, and prints their ids as they become certain.
class Stream {
 public:
  Stream(const Tokenizer& tokenizer, const Options& options, Printer& printer)
      : tokenizer_(tokenizer), options_(options), printer_(printer), text_(tokenizer) {}

  Result<void> push(std::string_view part) {
    while (options_.is_null && !part.empty()) {
      const std::size_t end = part.find('\0');
      if (end == std::string_view::npos) break;
      WICK_DO(finish(part.substr(0, end)));
      part.remove_prefix(end + 1);
    }
    if (part.empty()) return {};
    begin();
    text_.append(part, is_trusted());
    WICK_TRY(const auto settled, text_.settled());
    printer_.add(settled);
    text_.forget_settled();
    return {};
  }

  // The end of the input; without any text at all there is an empty one.
  Result<void> finish() {
    if (is_open_ || n_texts_ == 0) return finish({});
    return {};
  }

 private:
  bool is_trusted() const noexcept { return options_.is_special || options_.adds_special; }

  void begin() {
    if (is_open_) return;
    is_open_ = true;
    printer_.begin();
  }

  Result<void> finish(std::string_view last) {
    if (is_open_) {
      text_.append(last, is_trusted());
      WICK_TRY(const auto ids, text_.ids());
      printer_.add(ids);
      text_ = GrowingText(tokenizer_);
    } else {  // whole at once, as most texts are
      begin();
      whole_.text.assign(last);
      whole_.trusted.clear();
      if (is_trusted() && !last.empty()) whole_.trusted.push_back({0, last.size()});
      ids_.clear();
      WICK_DO(tokenizer_.encode(whole_, ids_));
      printer_.add(ids_);
    }
    printer_.end();
    is_open_ = false;
    ++n_texts_;
    return {};
  }

  const Tokenizer& tokenizer_;
  const Options& options_;
  Printer& printer_;
  GrowingText text_;
  MarkedText whole_ = {};
  std::vector<TokenId> ids_ = {};
  bool is_open_ = false;
  std::uint64_t n_texts_ = 0;
};

class Input {
 public:
  static Result<Input> open(const std::string& path) {
    if (path.empty()) return Input(STDIN_FILENO, 0);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info = {};
    if (fd < 0 || ::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
      const std::string why = fd < 0 ? std::strerror(errno) : "it is a folder";
      if (fd >= 0) ::close(fd);
      return Error{.code = ErrorCode::kNotFound,
                   .id = "text_unreadable",
                   .message = cat(printable(path), ": ", why)};
    }
    return Input(fd, static_cast<std::uint64_t>(info.st_size));
  }

  Input(Input&& other) noexcept : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_) {}

  Input& operator=(Input&&) = delete;

  ~Input() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }

  std::uint64_t bytes() const noexcept { return bytes_; }  // 0 = not known

  // What comes next, at most buffer.size() bytes; empty at the end.
  Result<std::string_view> read(std::string& buffer) const {
    for (;;) {
      const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
      if (n >= 0) return std::string_view(buffer).substr(0, static_cast<std::size_t>(n));
      if (errno == EINTR) continue;
      return Error{.code = ErrorCode::kIo,
                   .id = "text_unreadable",
                   .message = cat("the text cannot be read: ", std::strerror(errno))};
    }
  }

 private:
  Input(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}

  int fd_;
  std::uint64_t bytes_;
};

Result<std::uint64_t> read_all(const Options& o, Stream& stream) {
  if (o.has_text) {
    WICK_DO(stream.push(o.text));
    WICK_DO(stream.finish());
    return std::uint64_t{o.text.size()};
  }
  WICK_TRY(const Input input, Input::open(o.file));
  Progress progress(o.file.empty() ? "standard input" : o.file);
  std::string buffer(kBlock, '\0');
  std::uint64_t done = 0;
  for (;;) {
    WICK_TRY(const std::string_view part, input.read(buffer));
    if (part.empty()) break;
    WICK_DO(stream.push(part));
    done += part.size();
    if (!is_terminal(STDOUT_FILENO)) progress.update(done, input.bytes());
    if (output_has_failed()) break;
  }
  WICK_DO(stream.finish());
  return done;
}

Result<int> run(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const auto tokenizer, Tokenizer::open(path));
  Printer printer(*tokenizer, o);
  Stream stream(*tokenizer, o, printer);
  WICK_TRY(const std::uint64_t bytes, read_all(o, stream));
  if (!o.is_json) note({printer.tokens(), " tokens, ", bytes, " bytes\n"});
  return kExitOk;
}

}  // namespace

Action setup_tokenize(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->settings.add_model(flags, false);
  flags.text("TEXT,-p,--prompt", o->text, "the text; standard input if absent");
  flags.text("-f,--file", o->file, "read the text from this file; it may be larger than memory");
  flags.exclude("--prompt", "--file");
  flags.toggle("--special", o->is_special, "recognise control tokens in the text");
  flags.toggle("--add-special", o->adds_special, "also add what the tokenizer adds (BOS, EOS)");
  flags.toggle("--null", o->is_null, "texts are separated by NUL bytes, one result for each");
  flags.toggle("--count", o->is_count, "print only how many tokens");
  flags.toggle("--json", o->is_json, "print {\"ids\":[…]}, a line for each text");
  return [o, flags] {
    o->has_text = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
