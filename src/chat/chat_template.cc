#include "chat/chat_template.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>

#include "base/strings.h"
#include "chat/ast.h"
#include "chat/interpreter.h"
#include "chat/limits.h"
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
    const jinja::DataLevel level(run_);
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
      run_.charge(2);
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
    const jinja::DataLevel level(run_);
    if (from.size() > kMaxItems) run_.fail_too_many_items();
    Value* const items = run_.array<Value>(from.size());
    std::size_t n = 0;
    for (const JsonValue& item : from) {
      ::new (items + n++) Value(any(item, Trust::kNone));
      run_.charge(1);
    }
    return Value::of(run_.make<jinja::List>(items, n), jinja::Kind::kList);
  }

  Run& run_;
};

MarkedText marked(const jinja::TextBuilder& built) {
  return {.text = std::string(built.text()),
          .trusted = {built.trusted().begin(), built.trusted().end()}};
}

Result<MarkedText> render_within(const jinja::Ast& ast, const Object& context, Run& run) {
  jinja::TextBuilder out(run);
  jinja::Interpreter interpreter(ast, run, out);
  try {
    out.reserve(kUsualBytes);
    const Value variables = Import(run).object(context, true);
    interpreter.render(*variables.dict);
    run.need_room(out.size(), 1);
    return marked(out);
  } catch (const jinja::Failed&) {
    // the error is known
  } catch (const std::bad_alloc&) {  // a Memory at its limit
    if (!run.memory().is_over()) throw;
    run.note_full_memory();
    interpreter.note_place();
  }
  return *std::move(run.error());
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view jinja) {
  WICK_TRY(std::unique_ptr<jinja::Ast> ast, jinja::parse(jinja));
  return ChatTemplate(std::move(ast));
}

Result<MarkedText> ChatTemplate::render(const Object& context, const RenderOptions& options) const {
  std::int64_t now = options.now_seconds;
  if (now < 0) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    now = std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
  }
  Run run(options.limits, options.stop, now);
  auto prompt = render_within(*ast_, context, run);
  if (options.usage != nullptr) *options.usage = run.usage();
  return prompt;
}

const std::vector<std::string>& ChatTemplate::variables() const noexcept {
  return ast_->variables;
}

namespace {

constexpr std::string_view kProbe = "probe4711";  // no template has this of its own
constexpr RenderLimits kProbeLimits = {.work = 1 << 20, .bytes = std::size_t{8} << 20};

Object message(std::string_view role, std::string_view content) {
  return json_object({{"role", role}, {"content", content}});
}

// Whether the probe in `context` reaches the prompt; a template that raises does not take it.
bool reaches(const ChatTemplate& tmpl, Object context) {
  context["bos_token"] = "<s>";
  context["eos_token"] = "</s>";
  context["add_generation_prompt"] = true;
  const auto prompt = tmpl.render(context, {.now_seconds = 0, .limits = kProbeLimits});
  return prompt && prompt->text.find(kProbe) != std::string::npos;
}

Object conversation(Array messages) {
  return json_object({{"messages", std::move(messages)}});
}

bool shows_system(const ChatTemplate& tmpl) {
  return reaches(tmpl, conversation({message("system", kProbe), message("user", "x")}));
}

bool shows_tools(const ChatTemplate& tmpl) {
  const Object parameters = json_object({{"type", "object"}, {"properties", Object()}});
  const Object function =
      json_object({{"name", kProbe}, {"description", "x"}, {"parameters", parameters}});
  const Object tool = json_object({{"type", "function"}, {"function", function}});
  for (const bool with_system : {false, true}) {  // some show tools only behind a system message
    Array messages;
    if (with_system) messages.push_back(message("system", "x"));
    messages.push_back(message("user", "x"));
    Object context = conversation(std::move(messages));
    context["tools"] = Array{tool};
    if (reaches(tmpl, std::move(context))) return true;
  }
  return false;
}

bool shows_reasoning(const ChatTemplate& tmpl) {
  Object answer = message("assistant", "x");
  answer["reasoning_content"] = kProbe;
  answer["thinking"] = kProbe;
  answer["reasoning"] = kProbe;
  return reaches(tmpl, conversation({message("user", "x"), answer}));
}

}  // namespace

TemplateFacts facts_of(const ChatTemplate& tmpl) {
  const auto& names = tmpl.variables();
  const auto reads = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return {.has_system = shows_system(tmpl),
          .has_tools = reads("tools") && shows_tools(tmpl),
          .has_documents = reads("documents"),
          .has_thinking = reads("enable_thinking") || reads("thinking") ||
                          reads("reasoning_effort") || shows_reasoning(tmpl)};
}

}  // namespace wick
