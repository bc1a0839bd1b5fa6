#include "cli/grammar_people.h"

#include <algorithm>
#include <memory>
#include <random>

#include "base/strings.h"
#include "base/utf8.h"
#include "cli/grammar_explain.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "grammar/limits.h"
#include "grammar/output_format.h"
#include "grammar/schema/recognizer.h"

namespace wick {

namespace {

using grammar::Recognizer;
using grammar::StateId;
using Random = std::mt19937_64;

constexpr std::size_t kShownBefore = 60, kShownBehind = 20;  // bytes of the line with a place
constexpr std::uint64_t kFuelForByte = 10;                     // of a text
constexpr std::size_t kMaxShownEnd = 200;                      // bytes

Error no_constraint(std::string_view command) {
  return {.code = ErrorCode::kInvalid,
          .id = "usage",
          .message = "no constraint is given",
          .hint = cat("wick grammar ", command,
                      " --schema schema.json; or --grammar, --regex, --choice")};
}

// The line of `text` that has the byte `offset`, and below it a caret.
void show_place(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t newline = text.substr(0, offset).rfind('\n');
  std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  if (offset - begin > kShownBefore) begin = offset - kShownBefore;
  while (begin < offset && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80)
    ++begin;
  std::size_t end = std::min(text.find('\n', offset), text.size());
  end = std::min(end, offset + kShownBehind);
  const Printable before = printable(text.substr(begin, offset - begin));
  const auto is_begun = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; };
  const auto width = std::count_if(before.view().begin(), before.view().end(), is_begun);
  note({"  ", before, printable(text.substr(offset, end - offset)), "\n ",
        padded(Printable(), static_cast<std::size_t>(width) + 1), "^\n"});
}

// As report() would, with the place in `source`.
int report_at(const Error& error, std::string_view source) {
  report(error, false);
  if (error.offset >= 0) show_place(source, static_cast<std::size_t>(error.offset));
  return exit_code(error);
}

Result<std::unique_ptr<Recognizer>> recognizer_of(const ResponseFormat& format,
                                                  const std::string& registry,
                                                  const grammar::JsonStyle& style) {
  if (format.type != "json_schema") return grammar::make_recognizer(format);
  WICK_TRY(grammar::JsonDocument schema, grammar::read_document(format.schema));
  WICK_TRY(auto made, grammar::SchemaRecognizer::make(std::move(schema),
                                                      {.fetch = registry_at(registry)}, style));
  return std::unique_ptr<Recognizer>(std::move(made));
}

// What may stand at `at`: 'a digit, "-"'; nothing where that are too many bytes to say.
std::string expected(Recognizer& recognizer, std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxTold = 16;
  recognizer.begin(grammar::kMaskFuel + kFuelForByte * (at + 256));
  StateId state = recognizer.start();
  for (const char byte : text.substr(0, at))
    state = recognizer.step(state, static_cast<unsigned char>(byte));
  std::string bytes;
  for (unsigned byte = '!'; byte < 0x7F; ++byte) {
    const StateId next = recognizer.step(state, static_cast<unsigned char>(byte));
    if (next == grammar::kFailedState) return "";
    if (next != grammar::kDeadState) bytes += static_cast<char>(byte);
  }
  std::string told;
  constexpr std::string_view kDigits = "0123456789";
  if (const std::size_t digits = bytes.find(kDigits); digits != std::string::npos) {
    bytes.erase(digits, kDigits.size());
    told = "a digit";
  }
  if (bytes.size() > kMaxTold) return "";
  for (const char byte : bytes)
    told += cat(told.empty() ? "" : ", ", "'", std::string_view(&byte, 1), "'");
  return told;
}

Error not_accepted(Recognizer& recognizer, std::string_view text, std::size_t at) {
  const bool is_cut = at == text.size();
  const std::string wanted = expected(recognizer, text, at);
  return {.code = ErrorCode::kInvalid,
          .id = "not_accepted",
          .message = cat(is_cut ? "no document ends here: the text is cut off at byte "
                                : "no document begins like this text up to byte ",
                         at, wanted.empty() ? "" : "; expected: ", wanted),
          .offset = static_cast<std::int64_t>(at)};
}

// Whether the text is a document once the members of objects may come in any order.
bool is_in_another_order(const GrammarFlags& flags, const ResponseFormat& format,
                         std::string_view text) {
  if (flags.has_any_order || format.type != "json_schema") return false;
  const auto free = recognizer_of(
      format, flags.registry, {.space = grammar::JsonStyle::Space::kAny, .has_order = false});
  if (!free) return false;
  const auto fault = fault_of(**free, text);
  return fault && !*fault;
}

Error no_document() {
  return {.code = ErrorCode::kInvalid,
          .id = "no_document",
          .message = "no text fulfills this constraint"};
}

Error dead_end(std::string_view text) {
  return {.code = ErrorCode::kCorrupt,
          .id = "dead_end",
          .message = cat("no document begins with the ", text.size(), " bytes ",
                         printable(text, kMaxShownEnd), ", which were allowed"),
          .hint = "please report this bug of wick with the constraint"};
}

// Bytes that may come next: those of plain text, if any, or, once in a while, the others.
Result<std::vector<unsigned char>> next_bytes(Recognizer& recognizer, StateId state,
                                              Random& random) {
  std::vector<unsigned char> plain, others;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const StateId next = recognizer.step(state, static_cast<unsigned char>(byte));
    if (next == grammar::kFailedState) return recognizer.failure();
    if (next == grammar::kDeadState) continue;
    const bool is_plain = byte >= ' ' && byte < 0x7F && byte != '\\';
    (is_plain ? plain : others).push_back(static_cast<unsigned char>(byte));
  }
  return plain.empty() || (!others.empty() && random() % 32 == 0) ? others : plain;
}

// A random walk, which is ended by the shortest way once it has `max_bytes`.
Result<std::string> random_document(Recognizer& recognizer, Random& random, std::size_t max_bytes) {
  std::string text;
  StateId state = recognizer.start();
  while (text.size() < max_bytes) {
    recognizer.begin(grammar::kMaskFuel);
    WICK_TRY(const std::vector<unsigned char> next, next_bytes(recognizer, state, random));
    const bool may_end = recognizer.accepts(state);
    if (next.empty() && !may_end) return dead_end(text);
    if (next.empty() || (may_end && random() % 4 == 0)) return text;
    // Ends of strings, lists and objects come more often than the other bytes.
    std::vector<unsigned char> closing;
    for (const unsigned char byte : next)
      if (std::string_view("\"]})>").find(static_cast<char>(byte)) != std::string_view::npos)
        closing.push_back(byte);
    const auto& from = !closing.empty() && random() % 8 == 0 ? closing : next;
    const unsigned char byte = from[random() % from.size()];
    state = recognizer.step(state, byte);
    if (state == grammar::kFailedState) return recognizer.failure();
    text += static_cast<char>(byte);
  }
  WICK_TRY(const std::string end, recognizer.shortest(state));
  return text + end;
}

}  // namespace

Result<std::optional<std::size_t>> fault_of(Recognizer& recognizer, std::string_view text) {
  recognizer.begin(grammar::kMaskFuel + kFuelForByte * text.size());
  StateId state = recognizer.start();
  if (state == grammar::kDeadState) return std::optional<std::size_t>(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = recognizer.step(state, static_cast<unsigned char>(text[i]));
    if (state == grammar::kFailedState) return recognizer.failure();
    if (state == grammar::kDeadState) return std::optional(i);
  }
  if (recognizer.accepts(state)) return std::optional<std::size_t>();
  return std::optional(text.size());
}

Result<int> check_text(const GrammarFlags& flags) {
  WICK_TRY(const ResponseFormat format, response_format(flags.format));
  if (format.type == "text") return no_constraint("check");
  const auto recognizer =
      recognizer_of(format, flags.registry,
                    {.space = grammar::JsonStyle::Space::kAny, .has_order = !flags.has_any_order});
  if (!recognizer) return report_at(recognizer.error(), format.schema);
  WICK_TRY(std::string text, read_text(flags.file, grammar::kMaxSchemaBytes));
  if (text.ends_with('\n')) text.pop_back();
  WICK_TRY(const auto fault, fault_of(**recognizer, text));
  if (fault) {
    Error error = not_accepted(**recognizer, text, *fault);
    if (is_in_another_order(flags, format, text))
      error.hint = "the members are in another order than in the schema: --any-order allows it";
    report_at(error, text);
    return kExitDeclined;
  }
  print({"accepted: ", text.size(), " bytes\n"});
  return kExitOk;
}

Result<int> sample_documents(const GrammarFlags& flags) {
  WICK_TRY(const ResponseFormat format, response_format(flags.format));
  if (format.type == "text") return no_constraint("sample");
  Random random(static_cast<std::uint64_t>(flags.seed));
  std::unique_ptr<Recognizer> recognizer;
  for (int i = 0; i < flags.n; ++i) {
    if (!recognizer || recognizer->is_worn()) {
      auto made = recognizer_of(format, flags.registry, {});
      if (!made) return report_at(made.error(), format.schema);
      recognizer = *std::move(made);
      if (recognizer->start() == grammar::kDeadState) return no_document();
    }
    WICK_TRY(const std::string text,
             random_document(*recognizer, random, static_cast<std::size_t>(flags.max_bytes)));
    print_answer(text);
    print({"\n"});
  }
  return kExitOk;
}

Result<int> explain_constraint(const GrammarFlags& flags) {
  WICK_TRY(const ResponseFormat format, response_format(flags.format));
  if (format.type == "text") return no_constraint("explain");
  const auto done = explain(format, registry_at(flags.registry));
  if (!done) return report_at(done.error(), format.schema);
  return kExitOk;
}

}  // namespace wick
