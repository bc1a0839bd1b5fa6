#include "cli/aliases.h"

#include <algorithm>
#include <string_view>

#include "base/printable.h"
#include "base/strings.h"

namespace wick {

namespace {

// A command and its words in wick.
constexpr std::pair<std::string_view, std::string_view> kCommands[] = {
    {"ls", "model list"}, {"list", "model list"},   {"show", "model info"}, {"pull", "model pull"},
    {"rm", "model rm"},   {"version", "--version"}, {"embedding", "embed"}, {"server", "serve"}};

// A flag of another program. `own` is what replaces it, its argument included where the other flag
// has one; without `own` it is dropped if `why` says why, and an error with the hint `instead`.
struct FlagAlias {
  std::string_view names;  // separated by blanks
  std::string_view of;     // the commands that take it, separated by blanks
  bool has_argument = false;
  std::string_view values = {};  // if it is one of these, separated by blanks; else there is none
  std::string_view own = {};
  std::string_view before = {};  // is put before the argument: "hf:"
  std::string_view why = {};
  std::string_view instead = {};
};

constexpr std::string_view kAsk = "chat run", kLoad = "chat run serve bench embed";
constexpr std::string_view kNoGpu = "there is no GPU device yet (wick doctor lists the devices)";

constexpr FlagAlias kFlags[] = {
    {.names = "-hf -hfr --hf-repo",
     .of = kLoad,
     .has_argument = true,
     .own = "--model",
     .before = "hf:"},
    {.names = "-sys --system-prompt", .of = "chat", .has_argument = true, .own = "--system"},
    {.names = "-s", .of = "run", .has_argument = true, .own = "--seed"},
    {.names = "-np", .of = "serve", .has_argument = true, .own = "--parallel"},
    {.names = "-ub --ubatch-size", .of = kAsk, .has_argument = true, .own = "--prefill-chunk"},
    {.names = "-ub --ubatch-size", .of = "serve", .has_argument = true, .own = "--prefill-chunk"},
    {.names = "-md --model-draft",
     .of = "chat run serve",
     .has_argument = true,
     .own = "--spec draft --draft-model"},
    {.names = "-ngl --n-gpu-layers --gpu-layers", .of = kLoad, .has_argument = true, .why = kNoGpu},
    {.names = "-mg --main-gpu", .of = kLoad, .has_argument = true, .why = kNoGpu},
    {.names = "-fa --flash-attn",
     .of = kLoad,
     .has_argument = true,
     .values = "on off auto 0 1",
     .why = "attention never stores a matrix of scores"},
    {.names = "-b --batch-size",
     .of = "chat run serve",
     .has_argument = true,
     .why = "--prefill-chunk (ubatch) is the only size of a pass"},
    {.names = "-tb --threads-batch",
     .of = "chat run serve",
     .has_argument = true,
     .why = "--threads is for prompts, too"},
    {.names = "--mmap --no-mmap --mlock",
     .of = kLoad,
     .why = "weights are always read from the mapped file"},
    {.names = "--jinja", .of = "chat run serve", .why = "chat templates are always Jinja"},
    {.names = "-cnv --conversation", .of = "chat", .why = "wick chat is a conversation"},
    {.names = "-cnv --conversation", .of = "run", .instead = "wick chat is a conversation"},
    {.names = "-no-cnv --no-conversation", .of = "run", .why = "wick run is never a conversation"},
    {.names = "-no-cnv --no-conversation -st --single-turn",
     .of = "chat",
     .instead = "wick run MODEL PROMPT, or wick run -p TEXT without the chat template"},
    {.names = "--no-display-prompt --simple-io --log-disable --nowordwrap --hidethinking",
     .of = kAsk,
     .why = "wick prints only the answer"},
    {.names = "-co --color",
     .of = kAsk,
     .has_argument = true,
     .values = "on off auto",
     .why = "a terminal gets colors, unless NO_COLOR is set"},
    {.names = "--format", .of = kAsk, .has_argument = true, .own = "--schema"},
    {.names = "--keepalive",
     .of = "run",
     .has_argument = true,
     .why = "the model is unloaded at the end; wick serve keeps it"},
    {.names = "-e --escape",
     .of = kAsk,
     .instead = "the shell can write them: -p $'two\\nlines' (bash, zsh)"},
    // vLLM and llama-server
    {.names = "--max-model-len", .of = kLoad, .has_argument = true, .own = "--context"},
    {.names = "--max-num-seqs", .of = "serve", .has_argument = true, .own = "--parallel"},
    {.names = "-cb --cont-batching -nocb --no-cont-batching",
     .of = "serve",
     .why = "requests are always batched continuously"},
    {.names = "--embedding --embeddings",
     .of = "serve",
     .why = "/v1/embeddings is always served"},
    {.names = "--slots --no-slots", .of = "serve", .why = "GET /slots is always served"},
    {.names = "--served-model-name -a --alias",
     .of = "serve",
     .has_argument = true,
     .instead = "requests use a name of GET /v1/models"},
    {.names = "--api-key",
     .of = "serve",
     .has_argument = true,
     .instead = "wick key create --api-key-file keys, then wick serve --api-key-file keys"},
    {.names = "--mmproj --image --control-vector",
     .of = "chat run serve",
     .has_argument = true,
     .instead = "not supported yet"},
};

bool is_one_of(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return false;
}

void add_words(std::vector<std::string>& out, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
  }
}

// The words after the command, one after another.
class Reader {
 public:
  Reader(std::span<const std::string> words, std::string_view command)
      : words_(words), command_(command) {}

  Result<void> read(OwnWords& out) {
    while (at_ < words_.size()) {
      if (words_[at_] == "--") break;
      WICK_DO(one(out));
    }
    out.words.insert(out.words.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_),
                     words_.end());
    if (!k_.empty() || !v_.empty()) {
      constexpr std::string_view kDefault = "f16";  // of llama.cpp
      out.words.insert(out.words.end(), {"--kv-type", cat(k_.empty() ? kDefault : k_, ",",
                                                          v_.empty() ? kDefault : v_)});
    }
    return {};
  }

 private:
  Result<void> one(OwnWords& out) {
    const std::string& word = words_[at_];
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const auto row = std::find_if(std::begin(kFlags), std::end(kFlags), [&](const FlagAlias& r) {
      return is_one_of(name, r.names) && is_one_of(command_, r.of);
    });
    if (row != std::end(kFlags)) return replace(*row, name, out);
    if (is_one_of(name, "-ctk --cache-type-k")) return argument(k_);
    if (is_one_of(name, "-ctv --cache-type-v")) return argument(v_);
    ++at_;
    const bool is_last = at_ == words_.size();
    if (!is_last && words_[at_] == "-1" && name == "--seed") {  // llama.cpp's for "random"
      ++at_;
      return {};
    }
    out.words.push_back(word);
    if (!is_last && words_[at_] == "-1" &&
        is_one_of(name, "-n --predict --n-predict --max-tokens")) {
      out.words.emplace_back("0");  // llama.cpp's for "no limit"
      ++at_;
    }
    if (name == "-p" || name == "--prompt") {  // the text of a prompt is no flag
      if (at_ < words_.size() && name == word) out.words.push_back(words_[at_++]);
    }
    return {};
  }

  Result<void> replace(const FlagAlias& row, std::string_view name, OwnWords& out) {
    if (!row.instead.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "usage",
                   .message = cat("wick ", command_, " has no ", name),
                   .hint = std::string(row.instead)};
    }
    if (!row.why.empty()) out.notes.push_back(cat(name, " is ignored: ", row.why));
    std::string value;
    const bool is_bare = words_[at_].find('=') == std::string::npos;
    const bool is_alone = is_bare && !row.values.empty() &&
                          (at_ + 1 == words_.size() || !is_one_of(words_[at_ + 1], row.values));
    if (row.has_argument && !is_alone) {
      WICK_DO(argument(value));
    } else {
      ++at_;
    }
    if (row.own.empty()) return {};
    add_words(out.words, row.own);
    if (name == "--format" && value == "json") value = R"({"type":"object"})";
    out.words.push_back(cat(row.before, value));
    return {};
  }

  // The argument of the flag at at_: after '=', or the next word.
  Result<void> argument(std::string& value) {
    const std::string& word = words_[at_++];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
      return {};
    }
    if (at_ == words_.size()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "usage",
                   .message = cat(printable(word), " needs a value"),
                   .hint = cat("wick ", command_, " --help")};
    }
    value = words_[at_++];
    return {};
  }

  std::span<const std::string> words_;
  std::string command_;
  std::size_t at_ = 0;
  std::string k_ = {}, v_ = {};
};

}  // namespace

Result<OwnWords> own_words(std::span<const std::string> words) {
  OwnWords out;
  if (words.size() < 2) return OwnWords{{words.begin(), words.end()}, {}};
  out.words.push_back(words[0]);
  std::span<const std::string> rest = words.subspan(2);
  const std::string& first = words[1];
  if (first == "help") {  // wick help chat
    out.words.insert(out.words.end(), rest.begin(), rest.end());
    out.words.emplace_back("--help");
    return out;
  }
  const auto row = std::find_if(std::begin(kCommands), std::end(kCommands),
                                [&](const auto& pair) { return pair.first == first; });
  const std::string_view own = row == std::end(kCommands) ? std::string_view(first) : row->second;
  add_words(out.words, own);
  WICK_DO(Reader(rest, out.words.back()).read(out));
  return out;
}

}  // namespace wick
