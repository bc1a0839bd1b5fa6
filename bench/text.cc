// Megabytes of text per second, to ids and back; milliseconds to load; one megabyte of one byte.
//
//   bench_text --tokenizer TOKENIZER.json [--text FILE]… [--doc-bytes 8192] [--rounds 7] [--json]
//              [--only START]          of the cases, those whose names start so
//
// One line a case: the median of the rounds and their spread (MAD), and what that is on a core of
// 5 GHz, by the clock measured in this run. One thread, pinned; processor time. A text is cut into
// documents at line ends, as bench/text_rivals.py does for other libraries. bench/text_corpus.py
// makes texts.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "bench/measure.h"
#include "text/huggingface_json.h"
#include "text/tokenizer.h"

namespace {

using namespace wick;

struct Options {
  std::string tokenizer = {};
  std::vector<std::string> texts = {};
  std::string only = {};
  std::size_t doc_bytes = 8192;
  int rounds = 7;
  bool is_json = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view key = argv[i];
    if (key == "--json") {
      options.is_json = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string value = argv[++i];
    if (key == "--tokenizer") {
      options.tokenizer = value;
    } else if (key == "--text") {
      options.texts.push_back(value);
    } else if (key == "--only") {
      options.only = value;
    } else if (key == "--doc-bytes") {
      options.doc_bytes = std::stoul(value);
    } else if (key == "--rounds") {
      options.rounds = std::stoi(value);
    } else {
      return false;
    }
  }
  return !options.tokenizer.empty();
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<MarkedText> documents(const std::string& text, std::size_t bytes) {
  std::vector<MarkedText> docs;
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = rest.size() <= bytes ? rest.size() : rest.find('\n', bytes);
    end = end == std::string_view::npos ? rest.size() : std::min(end + 1, rest.size());
    docs.push_back({.text = std::string(rest.substr(0, end))});
    rest.remove_prefix(end);
  }
  return docs;
}

class Bench {
 public:
  Bench(const Options& options, double ghz) : options_(options), ghz_(ghz) {}

  // `work` returns how many units (bytes) it did; a warm-up comes first.
  void speed(const std::string& what, const std::function<std::size_t()>& work) {
    if (!what.starts_with(options_.only)) return;
    work();
    std::vector<double> values;
    for (int i = 0; i < options_.rounds; ++i) {
      const double t0 = seconds();
      const auto bytes = static_cast<double>(work());
      values.push_back(bytes / (seconds() - t0) * 1e-6);
    }
    print(what, spread(values), "MB/s", 5.0 / ghz_);
  }

  void time(const std::string& what, const std::function<void()>& work) {
    if (!what.starts_with(options_.only)) return;
    work();
    std::vector<double> values;
    for (int i = 0; i < options_.rounds; ++i) {
      const double t0 = seconds();
      work();
      values.push_back((seconds() - t0) * 1e3);
    }
    print(what, spread(values), "ms", ghz_ / 5.0);
  }

 private:
  void print(const std::string& what, Spread value, const char* unit, double scale) const {
    const char* const format = options_.is_json
                                   ? "{\"case\":\"%s\",\"value\":%.2f,\"mad\":%.2f,\"unit\":\"%s\","
                                     "\"at_5_ghz\":%.2f}\n"
                                   : "%-28s %8.2f ± %-6.2f %-4s   at 5 GHz %8.2f\n";
    std::printf(format, what.c_str(), value.median, value.mad, unit, value.median * scale);
    std::fflush(stdout);
  }

  const Options& options_;
  double ghz_;
};

volatile std::size_t sink;

void measure_text(Bench& bench, const Tokenizer& tokenizer, const std::string& path,
                  std::size_t doc_bytes) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string text = read(path);
  const std::vector<MarkedText> docs = documents(text, doc_bytes);
  std::vector<std::vector<TokenId>> ids(docs.size());
  const auto encode = [&] {
    for (std::size_t i = 0; i < docs.size(); ++i) {
      ids[i].clear();
      WICK_CHECK(tokenizer.encode(docs[i], ids[i]), "the text has ids");
    }
    return text.size();
  };
  encode();
  bench.speed("encode " + name, encode);
  bench.speed("decode " + name, [&] {
    std::size_t bytes = 0;
    for (const auto& doc : ids)
      bytes += tokenizer.decode(doc).size();
    return bytes;
  });
}

void measure_runs(Bench& bench, const Tokenizer& tokenizer) {
  for (const char c : {'a', ' ', '\n', '=', '1'}) {
    MarkedText text{.text = std::string(1'000'000, c)};
    std::vector<TokenId> ids;
    const std::string shown = c == '\n' ? "\\\\n" : std::string(1, c);
    bench.time("1 MB of '" + shown + "'", [&] {
      ids.clear();
      WICK_CHECK(tokenizer.encode(text, ids), "the text has ids");
      sink = ids.size();
    });
  }
}

// The keys that a GGUF file of this tokenizer has.
bool fill_gguf(const std::string& json, Metadata& meta) {
  HuggingFaceFile file(json);
  if (!read_huggingface_file(file, {})) return false;
  std::vector<std::string> tokens, merges;
  std::vector<std::int64_t> types;
  for (std::size_t i = 0; i < file.entries.size(); ++i) {
    const auto& entry = file.entries[i];
    tokens.push_back(entry.is_there ? std::string(entry.text) : "[PAD" + std::to_string(i) + "]");
    types.push_back(entry.kind == TokenKind::kControl       ? 3
                    : entry.kind == TokenKind::kUserDefined ? 4
                                                            : 1);
  }
  for (const auto& merge : file.merges)
    merges.push_back(std::string(merge.left) + " " + std::string(merge.right));
  meta.set_string("tokenizer.ggml.model", "gpt2");
  meta.set_string("tokenizer.ggml.pre", "qwen2");
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  meta.set_integers("tokenizer.ggml.token_type", types);
  meta.set_strings("tokenizer.ggml.merges", merges);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: bench_text --tokenizer TOKENIZER.json [--text FILE]... [--doc-bytes N] "
                 "[--rounds N] [--json] [--only START]\n");
    return 2;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  const auto tokenizer = Tokenizer::open(options.tokenizer);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", to_string(tokenizer.error()).c_str());
    return 1;
  }
  const double ghz = clock_ghz();
  if (!options.is_json) std::printf("%s, %.2f GHz\n", options.tokenizer.c_str(), ghz);
  Bench bench(options, ghz);
  for (const std::string& path : options.texts)
    measure_text(bench, **tokenizer, path, options.doc_bytes);
  measure_runs(bench, **tokenizer);
  bench.time("load tokenizer.json", [&] { sink = Tokenizer::open(options.tokenizer) ? 1 : 0; });
  Metadata meta;
  if (fill_gguf(read(options.tokenizer), meta) && Tokenizer::from(meta)) {
    bench.time("load GGUF keys", [&] { sink = Tokenizer::from(meta) ? 1 : 0; });
  }
  return 0;
}
