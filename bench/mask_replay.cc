// Replays documents of JSON Schemas token by token: what compiling takes, what each mask takes, the
// memory of a schema with its masks. bench/masks_rivals.py makes the input and has the rivals do
// the same.
//
//   bench_mask_replay TOKENIZER [--order any] [--space none|one|any] [--registry DIR]
//     [--allowed FILE] [--hash yes] <FILE
//
// FILE has a JSON object a line: {"name": …, "file": a schema, "texts": [its documents as
// strings]}. The answer to each is one line: {"name", "compile_us", "compile_again_us": [when it
// was worn], "compiled_bytes": before its documents, "bytes": the most behind a document,
// "masks_ns": [all of them], "texts": [for each -1, or the byte at which it was rejected]} or
// {"name", "error", "message"}. --allowed writes the masks of the line to a file: for each the
// allowed tokens as bits, in words of 64, then the next token. --hash adds "masks_hash", a hash of
// them.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/mix.h"
#include "base/result.h"
#include "grammar/constraint.h"
#include "grammar/schema/recognizer.h"
#include "grammar/shared_strings.h"
#include "text/tokenizer.h"

namespace {

using namespace wick::grammar;

constexpr std::size_t kMaxTimes = 1U << 20U;

// The thread's CPU time: on a busy machine other programs take time slices of several ms.
std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

struct Options {
  JsonStyle style = {};
  std::string registry = {}, allowed = {};
  bool has_hash = false;
};

std::optional<std::string> file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  if (!(text << file.rdbuf())) return std::nullopt;
  return std::move(text).str();
}

// References to SchemaStore, from a folder with its schemas.
FetchDocument registry_at(const std::string& folder) {
  if (folder.empty()) return {};
  return [folder](const std::string& address) -> std::optional<std::string> {
    const std::string host = ".schemastore.org/";
    const std::size_t at = address.find(host);
    if (at == std::string::npos) return std::nullopt;
    const std::string path = folder + "/" + address.substr(at + host.size());
    auto text = file_text(path);
    return text ? text : file_text(path + ".json");
  };
}

// Where the masks of a line go.
struct Sink {
  std::ofstream allowed = {};
  bool has_hash = false;
  std::uint64_t hash = 0;
};

void add_row(Sink& sink, const TokenMask& mask, std::uint64_t next, std::size_t n_words) {
  if (!sink.has_hash && !sink.allowed.is_open()) return;
  std::vector<std::uint64_t> row(n_words + 1);
  mask.fill({row.data(), n_words});
  row.back() = next;
  if (sink.has_hash) {
    for (const std::uint64_t word : row)
      sink.hash = wick::mix_hash(sink.hash, word);
  }
  if (!sink.allowed.is_open()) return;
  sink.allowed.write(reinterpret_cast<const char*>(row.data()),
                     static_cast<std::streamsize>(row.size() * sizeof row[0]));
}

// The byte at which `text` was rejected, or -1.
std::int64_t replay(const wick::Tokenizer& tokenizer, const std::shared_ptr<TokenMasks>& masks,
                    const std::string& text, std::vector<std::int64_t>& times,
                    Sink& sink) {
  Constraint constraint(masks);
  const auto encoded = tokenizer.encode_plain(text);
  if (!encoded) return 0;
  const std::vector<wick::TokenId>& tokens = *encoded;
  std::int64_t at = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const std::int64_t began = cpu_ns();
    const auto mask = constraint.mask();
    times.push_back(cpu_ns() - began);
    if (!mask) {
      std::fprintf(stderr, "%s\n", wick::to_string(mask.error()).c_str());
      return at;
    }
    add_row(sink, **mask,
            i == tokens.size() ? ~std::uint64_t{0} : static_cast<std::uint64_t>(tokens[i]),
            (static_cast<std::size_t>(tokenizer.size()) + 63) / 64);
    if (i == tokens.size()) return constraint.is_complete() ? -1 : at;
    const wick::TokenId id = tokens[i];
    const auto accepted = constraint.accept(id);
    if (!accepted || !*accepted) return at;
    if (!(*mask)->allows(id)) std::fprintf(stderr, "accepted and not allowed: token %d\n", id);
    at += static_cast<std::int64_t>(tokenizer.bytes(id).size());
  }
  return -1;
}

using Masks = std::shared_ptr<TokenMasks>;

wick::Result<Masks> compiled(const std::string& schema, const Options& options,
                             const std::shared_ptr<SharedStrings>& strings,
                             std::vector<double>& compile_us) {
  const std::int64_t began = cpu_ns();
  WICK_TRY(JsonDocument document, read_document(schema));
  WICK_TRY(auto made, SchemaRecognizer::make(std::move(document),
                                             {.fetch = registry_at(options.registry)},
                                             options.style));
  compile_us.push_back(static_cast<double>(cpu_ns() - began) / 1000);
  return std::make_shared<TokenMasks>(std::move(made), strings->trie(), strings);
}

// A worn schema is compiled anew before its next document, as OutputFormats does.
nlohmann::json answer(const nlohmann::json& line, const Options& options,
                      const wick::Tokenizer& tokenizer,
                      const std::shared_ptr<SharedStrings>& strings) {
  nlohmann::json out = {{"name", line.at("name")}};
  const auto text = file_text(line.at("file").get<std::string>());
  if (!text) return out;
  std::vector<std::int64_t> times;
  times.reserve(kMaxTimes);  // before memory is measured
  std::vector<double> compile_us;
  compile_us.reserve(line.at("texts").size() + 1);
  const std::size_t before = mallinfo2().uordblks;
  std::size_t most = 0;
  const auto measure = [&] {  // less than before where SharedStrings has forgotten
    const std::size_t now = mallinfo2().uordblks;
    most = std::max(most, now > before ? now - before : 0);
  };
  std::uint64_t n_computed = 0;
  nlohmann::json ends = nlohmann::json::array();
  auto masks = compiled(*text, options, strings, compile_us);
  if (!masks) {
    out["error"] = masks.error().id;
    out["message"] = masks.error().message;
    return out;
  }
  measure();
  out["compiled_bytes"] = most;
  Sink sink{.has_hash = options.has_hash};
  if (!options.allowed.empty()) sink.allowed.open(options.allowed, std::ios::binary);
  for (const auto& document : line.at("texts")) {
    if ((*masks)->recognizer().is_worn()) {
      n_computed += (*masks)->n_computed();
      masks->reset();
      masks = compiled(*text, options, strings, compile_us);
    }
    ends.push_back(replay(tokenizer, *masks, document.get<std::string>(), times, sink));
    measure();
  }
  n_computed += (*masks)->n_computed();
  out["compile_us"] = compile_us.front();
  out["compile_again_us"] = std::vector<double>(compile_us.begin() + 1, compile_us.end());
  out["bytes"] = most;
  out["computed"] = n_computed;
  out["texts"] = ends;
  out["masks_ns"] = times;
  if (sink.has_hash) out["masks_hash"] = sink.hash;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--order") options.style.has_order = value != "any";
    if (flag == "--registry") options.registry = value;
    if (flag == "--allowed") options.allowed = value;
    if (flag == "--hash") options.has_hash = value == "yes";
    if (flag == "--space")
      options.style.space = value == "any"    ? JsonStyle::Space::kAny
                            : value == "none" ? JsonStyle::Space::kNone
                                              : JsonStyle::Space::kOne;
  }
  const auto tokenizer = argc < 2 ? nullptr : *wick::Tokenizer::open(argv[1]);
  if (tokenizer == nullptr) {
    std::fprintf(stderr, "usage: bench_mask_replay TOKENIZER [--order any] [--space SPACE]\n");
    return 2;
  }
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // large blocks count in uordblks, too
  const auto strings = std::make_shared<SharedStrings>(
      std::make_shared<const TokenTrie>(TokenTrie::from(*tokenizer)));
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(nlohmann::json::parse(line), options, *tokenizer, strings)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  return 0;
}
