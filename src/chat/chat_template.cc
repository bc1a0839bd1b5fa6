#include "chat/chat_template.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>

#include "base/strings.h"
#include "chat/interpreter.h"
#include "chat/limits.h"
#include "chat/parser.h"
#include "chat/run.h"
#include "chat/text_builder.h"

namespace wick {
namespace {

using jinja::Entry;
using jinja::Run;
using jinja::Trust;
using jinja::Value;

constexpr std::size_t kUsualBytes = 8192;  // of a prompt

// What the tokenizer calls its own control tokens: its words, not a person's.
constexpr std::string_view kTokenNames[] = {"bos_token", "cls_token", "eos_token", "mask_token",
                                            "pad_token", "sep_token", "unk_token"};

// The roles of the protocol. A template may build a control token from one ('<|' ~ role ~ '|>'), so
// these words count as the template's own when they stand under the key "role".
constexpr std::string_view kRoles[] = {"assistant", "developer", "function", "ipython",
                                       "model",     "system",    "tool",     "user"};

template <std::size_t n>
bool is_one_of(const std::string_view (&names)[n], std::string_view name) noexcept {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The context as the template sees it. Texts are borrowed.
class Import {
 public:
  explicit Import(Run& run) : run_(run) {}

  Value object(const Object& from, bool is_top) {
    jinja::DataLevel level(run_);
    if (level.too_deep()) return Value::failure();
    run_.admit(0);
    Entry* const entries = run_.array<Entry>(from.size());
    std::size_t n = 0;
    for (const auto& [key, value] : from) {
      const std::string* text = value.string();
      const bool trusted = text != nullptr && (is_top ? is_one_of(kTokenNames, key)
                                                      : key == "role" && is_one_of(kRoles, *text));
      run_.admit(key.size());
      ::new (entries + n++)
          Entry{run_.text(key, Trust::kNone), any(value, trusted ? Trust::kAll : Trust::kNone)};
      if (!run_.charge(2)) return Value::failure();
    }
    return run_.dict_of({entries, n});
  }

 private:
  Value any(const JsonValue& value, Trust trust) {
    if (const std::string* text = value.string()) {
      run_.admit(text->size());
      return run_.text(*text, trust);
    }
    if (const Object* from = value.object()) return object(*from, false);
    run_.admit(0);
    if (const bool* truth = value.boolean()) return Value::of(*truth).with_taint(true);
    if (const std::int64_t* integer = value.integer()) return Value::of(*integer).with_taint(true);
    if (const double* number = value.number()) return Value::of(*number).with_taint(true);
    if (const Array* from = value.array()) return array(*from);
    return Value::none().with_taint(true);
  }

  Value array(const Array& from) {
    jinja::DataLevel level(run_);
    if (level.too_deep()) return Value::failure();
    if (from.size() > kMaxItems) return run_.too_many_items();
    Value* const items = run_.array<Value>(from.size());
    std::size_t n = 0;
    for (const JsonValue& item : from) {
      ::new (items + n) Value(any(item, Trust::kNone));
      if (!run_.charge(1) || items[n++].failed()) return Value::failure();
    }
    return Value::of(run_.make<jinja::List>(items, n), jinja::Kind::kList);
  }

  Run& run_;
};

}  // namespace

struct ChatTemplate::State {
  std::unique_ptr<const jinja::Ast> ast;
};

ChatTemplate::ChatTemplate(std::unique_ptr<State> state) : state_(std::move(state)) {}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view jinja) {
  WICK_TRY(std::unique_ptr<jinja::Ast> ast, jinja::parse(jinja));
  auto state = std::make_unique<State>();
  state->ast = std::move(ast);
  return ChatTemplate(std::move(state));
}

namespace {

MarkedText marked(const jinja::TextBuilder& built) {
  return {.text = std::string(built.text()),
          .trusted = {built.trusted().begin(), built.trusted().end()}};
}

Result<MarkedText> render_within(const jinja::Ast& ast, const Object& context, Run& run) {
  jinja::TextBuilder out(run);
  jinja::Interpreter interpreter(ast, run, out);
  try {  // catches a Memory at its limit
    out.reserve(kUsualBytes);
    const Value variables = Import(run).object(context, true);
    const bool is_done = !variables.failed() && interpreter.render(*variables.dict);
    if (is_done && run.has_room(out.size(), 1)) return marked(out);
  } catch (const std::bad_alloc&) {
    if (!run.memory().is_over()) throw;
    run.has_room(SIZE_MAX, 1);
    interpreter.note_last_place();
  }
  return *std::move(run.error());
}

}  // namespace

Result<MarkedText> ChatTemplate::render(const Object& context, const RenderOptions& options) const {
  std::int64_t now = options.now_seconds;
  if (now < 0) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    now = std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
  }
  Run run(options.limits, options.stop, now);
  auto prompt = render_within(*state_->ast, context, run);
  if (options.usage != nullptr) *options.usage = run.usage();
  return prompt;
}

const std::vector<std::string>& ChatTemplate::variables() const noexcept {
  return state_->ast->variables;
}

}  // namespace wick
