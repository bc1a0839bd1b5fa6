// wick embed: texts as vectors. They go through the engine together, as those of the server do.
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "base/mapped_file.h"
#include "base/strings.h"
#include "cli/answer.h"
#include "cli/npy.h"
#include "cli/option_flags.h"
#include "cli/options.h"
#include "cli/out.h"
#include "hub/atomic_file.h"

namespace wick {

namespace {

constexpr std::size_t kMaxEmbedInput = 256'000'000;

struct EmbedFlags {
  OptionFlags settings = {};
  std::vector<std::string> texts = {};
  std::string file = {}, pooling = {}, query = {}, out = {};
  bool is_plain = false, is_null = false, is_json = false, is_similarity = false;
};

// The texts of `input`, each ended by `end` or the input's end; a carriage return before a line's
// end does not belong to it.
std::vector<std::string> split(std::string_view input, char end) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t last = std::min(input.find(end, at), input.size());
    std::string_view text = input.substr(at, last - at);
    if (end == '\n' && text.ends_with('\r')) text.remove_suffix(1);
    texts.emplace_back(text);
    at = last + 1;
  }
  return texts;
}

Result<std::vector<std::string>> read_texts(const EmbedFlags& o) {
  if (!o.texts.empty()) return o.texts;
  WICK_TRY(const std::string input, read_text(o.file, kMaxEmbedInput));
  std::vector<std::string> texts = split(input, o.is_null ? '\0' : '\n');
  if (!texts.empty()) return texts;
  return Error{.code = ErrorCode::kInvalid,
               .id = "empty_prompt",
               .message = "the input holds no text",
               .hint = "wick embed -m MODEL \"a text\", or a text in each line of standard input"};
}

void append_number(std::string& out, float value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, end);
}

std::string joined_numbers(std::span<const float> values, std::string_view separator) {
  std::string out;
  for (const float value : values) {
    if (!out.empty()) out += separator;
    append_number(out, value);
  }
  return out;
}

// The form of OpenAI's API, in which NaN is null.
void print_json(const std::vector<Embedding>& all) {
  print({"{\"object\":\"list\",\"data\":["});
  int tokens = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    tokens += all[i].tokens;
    print({i > 0 ? Shown(",") : Shown(""), "{\"object\":\"embedding\",\"index\":", i,
           ",\"embedding\":["});
    print_text(joined_numbers(all[i].values, ","));
    print({"]}"});
  }
  print({"],\"usage\":{\"prompt_tokens\":", tokens, ",\"total_tokens\":", tokens, "}}\n"});
}

double cosine(std::span<const float> a, std::span<const float> b) {
  const auto dot = [](std::span<const float> x, std::span<const float> y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0, std::plus<>(),
                              [](float u, float v) { return double{u} * double{v}; });
  };
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths > 0 ? dot(a, b) / lengths : 0;
}

void print_similarity(const std::vector<Embedding>& all) {
  for (const Embedding& a : all) {
    std::string line;
    for (const Embedding& b : all) {
      if (!line.empty()) line += ' ';
      line += fixed(cosine(a.values, b.values), 4).view();
    }
    print_text(line + "\n");
  }
}

Result<void> write_array(const EmbedFlags& o, const std::vector<Embedding>& all,
                         std::span<const FileId> inputs) {
  static_assert(std::endian::native == std::endian::little);
  WICK_TRY(AtomicFile out, AtomicFile::create(o.out, inputs));
  const std::size_t width = all.front().values.size();
  WICK_DO(out.add(npy_header(all.size(), width)));
  for (const Embedding& one : all)
    WICK_DO(out.add(std::as_bytes(std::span(one.values))));
  WICK_DO(out.commit());
  note({printable(o.out), ": [", all.size(), ", ", width, "] float32\n"});
  return {};
}

Result<int> run_embed(const EmbedFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto texts, read_texts(o));
  WICK_TRY(const OpenModel model, open_model(config));
  WICK_TRY(const auto interrupt, Interrupt::begin());
  WICK_TRY(const auto all, model.provider->embed({.texts = texts,
                                                  .options = {.pooling = o.pooling,
                                                              .normalize = !o.is_plain,
                                                              .query = o.query,
                                                              .cancel = interrupt->token()}}));
  if (!o.out.empty()) {
    std::vector<FileId> inputs = model.local != nullptr ? model.local->files() : config.files();
    if (const auto id = file_id(o.file); !o.file.empty() && id) inputs.push_back(*id);
    WICK_DO(write_array(o, all, inputs));
  } else if (o.is_json) {
    print_json(all);
  } else if (o.is_similarity) {
    print_similarity(all);
  } else {
    for (const Embedding& one : all)
      print_text(joined_numbers(one.values, " ") + "\n");
  }
  return kExitOk;
}

}  // namespace

Action setup_embed(Flags flags) {
  const auto o = std::make_shared<EmbedFlags>();
  o->settings.add_model(flags, false);
  o->settings.add_tables(flags, {"local.", "cache."});
  flags.texts("TEXT,-p,--prompt", o->texts,
              "a text; -p may be repeated; default: each line of standard input");
  flags.text("-f,--file", o->file, "read the texts from this file, one per line");
  flags.exclude("--prompt", "--file");
  flags.toggle("--null", o->is_null, "texts end with NUL bytes, not with newlines");
  flags.text("--pooling", o->pooling,
             "mean, first (cls) or last; default: the model file's, else mean");
  flags.text("--query", o->query,
             "with a cross-encoder (reranker): print the score of each text for this query");
  flags.toggle("--no-normalize", o->is_plain, "do not scale vectors to L2 norm 1");
  flags.text("-o", o->out, "write a .npy file: [texts, width], float32");
  flags.toggle("--json", o->is_json, "print JSON in the form of OpenAI's API");
  flags.toggle("--similarity", o->is_similarity,
               "print the cosine similarity of each pair of texts");
  flags.exclude("--json", "--similarity");
  return [o] { return run_embed(*o); };
}

}  // namespace wick
