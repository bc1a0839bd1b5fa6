// wick logits: the logits of every position of a token sequence, for comparison with other engines.
#include <algorithm>
#include <bit>
#include <memory>
#include <sstream>
#include <vector>

#include "base/mapped_file.h"
#include "base/strings.h"
#include "cli/answer.h"
#include "cli/npy.h"
#include "cli/option_flags.h"
#include "cli/options.h"
#include "cli/out.h"
#include "format/model_file.h"
#include "hub/atomic_file.h"
#include "model/decoder.h"

namespace wick {

namespace {

constexpr int kRows = 64;  // positions whose logits are computed at once
constexpr std::size_t kMaxIdsFile = std::size_t{64} << 20;

struct LogitsFlags {
  OptionFlags settings = {};
  std::string ids = {};
  std::string ids_file = {};
  std::string out = {};
  int chunk = kRows;
  bool is_json = false;
};

Result<std::vector<TokenId>> parse_ids(const std::string& text) {
  std::vector<TokenId> ids;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::istringstream one(part);
    TokenId id = -1;
    const bool is_number = static_cast<bool>(one >> id);
    if (!is_number || id < 0 || !(one.eof() || (one >> std::ws).eof())) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_token",
                   .message = cat("'", printable(part), "' is not a token id")};
    }
    ids.push_back(id);
  }
  if (ids.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "empty_prompt",
                 .message = "--ids holds no token",
                 .hint = "--ids 1,2,3"};
  }
  return ids;
}

// An encoder has no logits: the hidden state of every token, after its last layer.
Result<void> write_states(BareModel& model, const std::vector<TokenId>& ids, AtomicFile& out) {
  const auto n = static_cast<int>(ids.size());
  WICK_CHECK(model.memory.extend(0, n), "the cache was made for this many positions");
  WICK_DO(model.forward(ids, 0, 0));
  WICK_TRY(const auto states, model.decoder.states(0, n));
  return out.add(std::as_bytes(states));
}

Result<void> write_logits(BareModel& model, const std::vector<TokenId>& ids, std::size_t chunk,
                          const Interrupt& interrupt, AtomicFile& out) {
  WICK_CHECK(model.memory.extend(0, static_cast<int>(ids.size())),
             "the cache was made for this many positions");
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    if (interrupt.was_hit()) {
      return Error{.code = ErrorCode::kCancelled, .id = "interrupted", .message = "interrupted"};
    }
    const auto part = std::span(ids).subspan(begin, std::min(chunk, ids.size() - begin));
    WICK_TRY(const auto logits,
             model.forward(part, static_cast<Pos>(begin), static_cast<int>(part.size())));
    WICK_DO(out.add(std::as_bytes(logits)));
  }
  return {};
}

Result<int> run_logits(const LogitsFlags& o) {
  static_assert(std::endian::native == std::endian::little);
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const ModelFile file, open_model(path));
  std::vector<FileId> inputs = file.files();
  inputs.insert(inputs.end(), config.files().begin(), config.files().end());
  std::string text = o.ids;
  if (!o.ids_file.empty()) {
    WICK_TRY(text, read_text(o.ids_file, kMaxIdsFile));
    if (const auto id = file_id(o.ids_file)) inputs.push_back(*id);
  }
  WICK_TRY(const auto ids, parse_ids(text));
  const int context = static_cast<int>(ids.size());
  const auto threads = static_cast<int>(config.integer("local.threads"));
  WICK_TRY(const Arch* const arch, find_arch(file));
  WICK_TRY(const DecoderSpec spec, arch->spec(file));
  const int chunk = spec.encoder ? context : o.chunk;
  WICK_TRY(BareModel model, load_bare_model(config, file,
                                            {.max_batch_tokens = chunk,
                                             .max_logit_rows = chunk,
                                             .context = context,
                                             .threads = threads}));
  const int vocab = spec.vocab;
  const int width = spec.encoder ? spec.d_model : vocab;
  const TokenId largest = *std::max_element(ids.begin(), ids.end());
  if (largest >= vocab) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_token",
                 .message = cat("token ", largest, " is outside the vocabulary of ", vocab)};
  }
  WICK_TRY(const auto interrupt, Interrupt::begin());
  WICK_TRY(AtomicFile out, AtomicFile::create(o.out, inputs));
  WICK_DO(out.add(npy_header(ids.size(), static_cast<std::size_t>(width))));
  if (spec.encoder) {
    WICK_DO(write_states(model, ids, out));
  } else {
    WICK_DO(write_logits(model, ids, static_cast<std::size_t>(chunk), *interrupt, out));
  }
  WICK_DO(out.commit());
  if (o.is_json) {
    print({"{\"tokens\":", ids.size(), ",\"vocab\":", vocab, "}\n"});
  } else {
    note({printable(o.out), ": [", ids.size(), ", ", width, "] float32\n"});
  }
  return kExitOk;
}

}  // namespace

Action setup_logits(Flags flags) {
  const auto o = std::make_shared<LogitsFlags>();
  o->settings.add_model(flags, false);
  o->settings.add(flags, {"local.device", "local.tensor_split", "local.threads", "local.adapters",
                          "cache.kv_type"});
  flags.text("--ids", o->ids, "token ids: 1,2,3");
  flags.text("--ids-file", o->ids_file, "file with token ids, separated by commas");
  flags.exclude("--ids", "--ids-file");
  flags.required_text(
      "-o", o->out,
      ".npy file to write, float32: logits [tokens, vocabulary], or an encoder's hidden states");
  flags.integer("--chunk", o->chunk, {1, 4096},
                "tokens per forward pass; does not change the output");
  flags.toggle("--json", o->is_json, "print the shape as JSON");
  return [o] { return run_logits(*o); };
}

}  // namespace wick
