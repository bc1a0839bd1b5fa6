// Converts a Request to an engine request.
#include <algorithm>

#include "base/catch_bad_alloc.h"
#include "base/strings.h"
#include "engine/limits.h"
#include "grammar/custom.h"
#include "grammar/output_format.h"
#include "grammar/special_tokens.h"
#include "local/local.h"
#include "local/local_answer.h"
#include "local/tool_constraint.h"
#include "local/tool_use.h"
#include "provider/messages.h"

namespace wick {

struct LocalModel::Prepared {
  GenerateRequest generate = {};
  std::vector<EffectiveParameter> parameters = {};
  ReasoningSplit split = ReasoningSplit::off();
  const ReasoningMarks* marks = &reasoning_marks_of({});
  bool begins_in_reasoning = false;
  std::unique_ptr<ToolCallSplit> tools = {};
  std::unique_ptr<HarmonySplit> harmony = {};
  const ToolFormat* tool_format = nullptr;  // with tools
  bool is_opened = false;                   // the prompt ends with the marker of a call
};

namespace {

// As at OpenAI: top_logprobs requires logprobs.
Result<void> check_logprobs(const Generation& g) {
  const auto bad = [](std::string message) {
    return Error{
        .code = ErrorCode::kInvalid, .id = "bad_top_logprobs", .message = std::move(message)};
  };
  if (g.top_logprobs < 0 || g.top_logprobs > kMaxTopLogprobs) {
    return bad(cat("top_logprobs is ", g.top_logprobs, ", allowed are 0 to ", kMaxTopLogprobs));
  }
  if (g.top_logprobs > 0 && !g.logprobs && !g.prompt_logprobs) {
    return bad(
        cat("top_logprobs is ", g.top_logprobs, ", which needs logprobs or prompt_logprobs"));
  }
  return {};
}

Result<void> check_emission(const Generation& g) {
  const bool fits = g.emit_bytes >= 4 && g.emit_bytes <= static_cast<int>(kMaxEmitBytes);
  if (g.emit_bytes == 0 || fits) return {};
  return Error{
      .code = ErrorCode::kInvalid,
      .id = "bad_emit_bytes",
      .message = cat("emit_bytes is ", g.emit_bytes, ", allowed are 0, and 4 to ", kMaxEmitBytes)};
}

Result<void> check_form(const Request& request) {
  const Generation& g = request.generation;
  if (g.response_format.type == "text" && !g.response_format.schema.empty()) {
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "schema_without_format",
        .message = "response_schema is given, but response_format is 'text', which has none",
        .hint = "response_format says what the schema is for: json_schema"};
  }
  const bool is_chat = std::holds_alternative<std::vector<Message>>(request.prompt);
  if (!is_chat && (!g.tools.empty() || g.thinking || !g.template_variables.empty())) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "not_a_chat",
                 .message = "tools, thinking and template variables need a prompt of messages",
                 .hint = "a text or tokens to go on from go through no chat template"};
  }
  return {};
}

bool has_constraint(const Generation& g) {
  return g.recognizer != nullptr || g.token_mask != nullptr || g.predicate != nullptr;
}

Result<void> check_constraint(const Generation& g) {
  if (!has_constraint(g)) return {};
  if (g.recognizer != nullptr && g.response_format.type != "text") {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "two_constraints",
                 .message = "a recognizer and a response format both describe the text",
                 .hint = "give one of them; a token mask or predicate works with both"};
  }
  if (!may_call_tools(g)) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "constraint_with_tools",
               .message = "a recognizer, token mask or predicate cannot be combined with tools",
               .hint = "give no tools, or the tool choice 'none'"};
}

// The language of a response format, with the caller's own constraints.
Result<std::unique_ptr<grammar::Recognizer>> answer_language(const Generation& g,
                                                             const Tokenizer& tokenizer) {
  const ResponseFormat any{.type = "regex", .schema = R"([\s\S]*)"};
  std::unique_ptr<grammar::Recognizer> made;
  if (g.recognizer != nullptr) {
    WICK_TRY(made, grammar::CustomRecognizer::make(g.recognizer));
  } else {
    const bool is_any = g.response_format.type == "text";
    WICK_TRY(made, grammar::make_recognizer(is_any ? any : g.response_format,
                                            grammar::names_of(tokenizer)));
  }
  if (g.predicate == nullptr) return made;
  return std::unique_ptr<grammar::Recognizer>(
      std::make_unique<grammar::PredicateRecognizer>(std::move(made), g.predicate));
}

// The end of the prompt that is the template's text, not the user's.
std::string_view trusted_end(const MarkedText& prompt) {
  const bool is_trusted =
      !prompt.trusted.empty() && prompt.trusted.back().end == prompt.text.size();
  if (!is_trusted) return {};
  return std::string_view(prompt.text).substr(prompt.trusted.back().begin);
}

bool ends_trusted(const MarkedText& prompt, std::string_view with) {
  return trusted_end(prompt).ends_with(with);
}

}  // namespace

// Tokenizing takes up to 0.1 s and 70 MB for each MB of a text, so a client that sends texts of any
// length would keep a core from others.
Result<void> LocalModel::check_length(std::string_view text) const {
  const std::size_t fewest = tokenizer().fewest_tokens(text);
  if (fewest <= static_cast<std::size_t>(engine_->context())) return {};
  return Error{
      .code = ErrorCode::kInvalid,
      .id = "context_length_exceeded",
      .message = cat("prompt of ", text.size(), " bytes, which are at least ", fewest,
                     " tokens > context ", engine_->context(), " tokens"),
      .hint = "shorten the prompt, or raise the context with -c"};
}

Result<void> LocalModel::read_prompt(const Request& request, bool must_fit,
                                     Prepared& prepared) const {
  std::vector<TokenId>& tokens = prepared.generate.prompt;
  if (const auto* const ids = std::get_if<std::vector<TokenId>>(&request.prompt)) {
    tokens = *ids;
    prepared.generate.is_continuing = true;
    return {};
  }
  if (const auto* const text = std::get_if<std::string>(&request.prompt)) {
    const auto prefix = tokenizer().prefix();
    tokens.assign(prefix.begin(), prefix.end());
    prepared.generate.is_continuing = !text->empty();
    if (must_fit) WICK_DO(check_length(*text));
    MarkedText marked;
    marked.append(*text, false);
    WICK_DO(tokenizer().encode(marked, tokens));
    return {};
  }
  const auto& messages = std::get<std::vector<Message>>(request.prompt);
  WICK_TRY(Object context, template_context(messages, request.generation));
  WICK_TRY(const MarkedText prompt, render(std::move(context), request.generation.cancel));
  if (must_fit) WICK_DO(check_length(prompt.text));
  prepared.marks = &templates_->reasoning_marks(may_call_tools(request.generation));
  prepared.begins_in_reasoning = ends_inside_reasoning(trusted_end(prompt), *prepared.marks);
  prepared.split = ReasoningSplit(prepared.begins_in_reasoning, *prepared.marks);
  WICK_DO(prepare_split(request.generation, prepared));
  const ToolFormat* const format = prepared.tool_format;
  if (format != nullptr && !format->text_head.empty() && ends_trusted(prompt, format->open)) {
    prepared.is_opened = true;
    prepared.tools->begin_opened();
  }
  WICK_DO(tokenizer().encode(prompt, tokens));
  return {};
}

// How the answer is taken apart into reasoning, text and tool calls.
Result<void> LocalModel::prepare_split(const Generation& g, Prepared& prepared) const {
  std::vector<std::string_view> shown;
  const auto show = [&](const auto& tokens) {
    shown.insert(shown.end(), std::begin(tokens), std::end(tokens));
  };
  const bool has_tools = may_call_tools(g);
  if (templates_->is_harmony(has_tools)) {
    std::vector<std::string> names;
    for (const Tool& tool : g.tools)
      if (has_tools) names.push_back(tool.name);
    prepared.harmony = std::make_unique<HarmonySplit>(std::move(names));
    show(kHarmonyTokens);
  } else if (has_tools || prepared.marks->has_sections) {
    WICK_TRY(const ChatTemplates::ToolUse use, templates_->tool_use());
    if (use.format == nullptr) return {};
    if (has_tools) prepared.tool_format = use.format;
    prepared.tools = std::make_unique<ToolCallSplit>(
        *use.format, has_tools ? tool_signatures(g) : std::vector<ToolSignature>());
    show(use.format->tokens);
  }
  if (prepared.harmony == nullptr) show(prepared.marks->tokens);
  for (const std::string_view text : shown) {
    if (text.empty()) continue;
    WICK_TRY(const std::vector<TokenId> ids, tokenizer().encode_special(text));
    if (ids.size() == 1) prepared.generate.shown_tokens.push_back(ids[0]);
  }
  return {};
}

// What the answer is held to: the response format, or its tool calls.
Result<void> LocalModel::add_filter(const Generation& g, int max_tokens, Prepared& prepared) const {
  FilterPlan plan{.reasoning_end = prepared.begins_in_reasoning ? prepared.marks->close : "",
                  .max_tokens = max_tokens,
                  .is_limited = g.max_tokens > 0};
  const bool must_call = must_call_tools(g), is_plain = g.response_format.type == "text";
  const bool knows_calls = prepared.tool_format != nullptr || prepared.harmony != nullptr;
  if (must_call && !knows_calls) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "tool_choice_unsupported",
                 .message = cat("the tool choice '", printable(g.tool_choice),
                                "' is not supported: wick does not know how the model of this chat "
                                "template writes calls; auto and none are")};
  }
  ToolPlan tools{.format = prepared.tool_format,
                 .marks = prepared.marks,
                 .begins_in_reasoning = prepared.begins_in_reasoning,
                 .is_required = must_call,
                 .is_opened = prepared.is_opened,
                 .is_single = !g.parallel_tool_calls};
  if (must_call && !is_plain) {  // there is no content that it could be of; a bad one is refused
    WICK_DO(grammar::make_recognizer(g.response_format, grammar::names_of(tokenizer())));
  }
  if (must_call || (is_plain && may_call_tools(g) && knows_calls)) {
    if (must_call && g.tool_choice != "required") tools.only = g.tool_choice;
    if (!must_call) plan.reasoning_end = {};
    plan.subject = "the tool calls";
    plan.key = tool_plan_key(g, tools);
    plan.make = [&] { return tool_constraint(g, tools, tokenizer()); };
  } else if (!is_plain || has_constraint(g)) {
    const bool is_shared = g.recognizer == nullptr && g.predicate == nullptr;
    if (is_shared) plan.key = cat(g.response_format.type, " ", g.response_format.schema);
    plan.make = [&] { return answer_language(g, tokenizer()); };
    plan.mask = g.token_mask;
  } else {
    return {};
  }
  WICK_TRY(prepared.generate.filter, formats_.filter(tokenizer(), plan));
  return {};
}

// The rendered prompt.
Result<MarkedText> LocalModel::render(Object context, std::stop_token stop) const {
  if (templates_->is_empty()) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "no_chat_template",
                 .message = cat(printable(file_.path().string()), " carries no chat template"),
                 .hint = "complete plain text with: wick run -m MODEL -p TEXT"};
  }
  WICK_TRY(const ChatTemplate* const tmpl, templates_->pick("", has_tools(context)));
  if (uses_tools(context)) {
    WICK_TRY(const ChatTemplates::ToolUse use, templates_->tool_use());
    if (!use.shows_tools) write_tools_as_text(context, use.has_system);
  }
  add_defaults(&tokenizer(), context);
  return tmpl->render(context, {.stop = std::move(stop)});
}

Result<LocalModel::Prepared> LocalModel::prepare(const Request& request) const {
  const Generation& g = request.generation;
  WICK_DO(check_files());
  WICK_DO(check_logprobs(g));
  WICK_DO(check_form(request));
  WICK_DO(check_constraint(g));
  WICK_DO(check_emission(g));
  Prepared prepared;
  WICK_DO(read_prompt(request, true, prepared));
  GenerateRequest& generate = prepared.generate;
  WICK_TRY(ResolvedSampling resolved, resolve_sampling(metadata(), g));
  WICK_DO(resolve_tokens(tokenizer(), g, resolved.params));
  const int room = engine_->context() - static_cast<int>(generate.prompt.size());
  prepared.parameters = std::move(resolved.effective);
  prepared.parameters.push_back({"max_tokens",
                                 static_cast<double>(g.max_tokens > 0 ? g.max_tokens : room),
                                 origin_of(g, "max_tokens", g.max_tokens > 0)});
  WICK_DO(add_filter(g, g.max_tokens > 0 ? g.max_tokens : room, prepared));
  generate.sampling = std::move(resolved.params);
  generate.max_tokens = g.max_tokens;
  generate.stop = g.stop;
  generate.stop_token_ids = g.stop_token_ids;
  WICK_TRY(generate.adapters, adapters_->uses(g.adapters));
  generate.tenant = g.tenant;
  generate.client = g.client;
  generate.priority = g.priority;
  generate.time_limit_ms = g.time_limit_ms;
  generate.emit_tokens = g.emit_tokens;
  generate.emit_ms = g.emit_ms;
  generate.top_logprobs = g.logprobs || g.prompt_logprobs ? g.top_logprobs : -1;
  return prepared;
}

Result<std::unique_ptr<Answer>> LocalModel::start(const Request& request,
                                                  std::shared_ptr<Wake> wake) {
  return catch_bad_alloc([&]() -> Result<std::unique_ptr<Answer>> {
    WICK_DO(check_caller());
    WICK_TRY(Prepared prepared, prepare(request));
    const LogitsHook& hook = request.generation.logits;
    return LocalAnswer::begin(*engine_, std::move(prepared.generate),
                              {.model = weak_from_this().lock(),
                               .counters = counters_,
                               .wake = std::move(wake),
                               .hook = hook ? std::make_shared<HookEditor>(hook) : nullptr,
                               .parameters = std::move(prepared.parameters),
                               .split = std::move(prepared.split),
                               .tools = std::move(prepared.tools),
                               .harmony = std::move(prepared.harmony),
                               .has_logprobs = request.generation.logprobs,
                               .has_prompt_logprobs = request.generation.prompt_logprobs,
                               .emit_bytes = request.generation.emit_bytes});
  });
}

Result<RequestEstimate> LocalModel::estimate(const Request& request) {
  WICK_DO(check_caller());
  WICK_TRY(Prepared prepared, prepare(request));
  if (!request.generation.prompt_logprobs) return engine_->estimate(prepared.generate);
  return engine_->estimate(ScoreRequest{.generate = std::move(prepared.generate)});
}

Result<std::string> LocalModel::apply_template(const Request& request) {
  const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt);
  if (messages == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "not_a_chat",
                 .message = "a chat template needs a prompt of messages"};
  }
  WICK_TRY(Object context, template_context(*messages, request.generation));
  WICK_TRY(MarkedText prompt, render(std::move(context), request.generation.cancel));
  return std::move(prompt.text);
}

Result<std::vector<TokenId>> LocalModel::prompt_tokens(const Request& request) {
  Prepared prepared;
  WICK_DO(read_prompt(request, false, prepared));
  return std::move(prepared.generate.prompt);
}

Result<InfillPrompt> LocalModel::infill_prompt(const std::string& /*model*/, const Infill& gap) {
  std::call_once(infill_once_,
                 [&] { infill_tokens_ = find_infill_tokens(metadata(), tokenizer()); });
  return catch_bad_alloc([&] { return wick::infill_prompt(gap, infill_tokens_, tokenizer()); });
}

}  // namespace wick
