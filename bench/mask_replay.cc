// Replays documents of JSON Schemas token by token: what compiling takes, what each mask takes, the
// memory of a schema with its masks. bench/masks_rivals.py makes the input and has the rivals do
// the same.
//
//   bench_mask_replay TOKENIZER [--order any] [--space none|one|any] [--registry DIR] <FILE
//
// FILE has a JSON object a line: {"name": …, "file": a schema, "texts": [its documents as
// strings]}. The answer to each is one line: {"name", "compile_us", "bytes", "masks_ns": [all of
// them], "texts": [for each -1, or the byte at which it was rejected]} or {"name", "error",
// "message"}.
#include <malloc.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/constraint.h"
#include "grammar/schema/recognizer.h"
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
  std::string registry = {};
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

// The byte at which `text` was rejected, or -1.
std::int64_t replay(const wick::Tokenizer& tokenizer, const std::shared_ptr<TokenMasks>& masks,
                    const std::string& text, std::vector<std::int64_t>& times) {
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
    if (i == tokens.size()) return constraint.is_complete() ? -1 : at;
    const wick::TokenId id = tokens[i];
    const auto accepted = constraint.accept(id);
    if (!accepted || !*accepted) return at;
    if (!(*mask)->allows(id)) std::fprintf(stderr, "accepted and not allowed: token %d\n", id);
    at += static_cast<std::int64_t>(tokenizer.bytes(id).size());
  }
  return -1;
}

nlohmann::json answer(const nlohmann::json& line, const Options& options,
                      const wick::Tokenizer& tokenizer,
                      const std::shared_ptr<const TokenTrie>& trie) {
  nlohmann::json out = {{"name", line.at("name")}};
  const auto text = file_text(line.at("file").get<std::string>());
  if (!text) return out;
  std::vector<std::int64_t> times;
  times.reserve(kMaxTimes);  // before memory is measured
  const std::size_t before = mallinfo2().uordblks;
  const std::int64_t began = cpu_ns();
  auto schema = read_document(*text);
  if (!schema) {
    out["error"] = schema.error().id;
    out["message"] = schema.error().message;
    return out;
  }
  auto made = SchemaRecognizer::make(*std::move(schema), {.fetch = registry_at(options.registry)},
                                     options.style);
  out["compile_us"] = static_cast<double>(cpu_ns() - began) / 1000;
  if (!made) {
    out["error"] = made.error().id;
    out["message"] = made.error().message;
    return out;
  }
  const auto masks = std::make_shared<TokenMasks>(*std::move(made), trie);
  nlohmann::json ends = nlohmann::json::array();
  for (const auto& document : line.at("texts"))
    ends.push_back(replay(tokenizer, masks, document.get<std::string>(), times));
  out["bytes"] = mallinfo2().uordblks - before;
  out["computed"] = masks->n_computed();
  out["texts"] = ends;
  out["masks_ns"] = times;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--order") options.style.has_order = value != "any";
    if (flag == "--registry") options.registry = value;
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
  const auto trie = std::make_shared<const TokenTrie>(TokenTrie::from(*tokenizer));
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(nlohmann::json::parse(line), options, *tokenizer, trie)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  return 0;
}
