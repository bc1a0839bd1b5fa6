#include "server/responses.h"

#include "base/strings.h"
#include "provider/messages.h"
#include "server/openai_parts.h"
#include "server/response_items.h"

namespace wick::server {

namespace {

// A response on its way: items are told as they come, each with an index of its own, so that
// several may be open at once.
class ResponsesDialect final : public Dialect {
 public:
  explicit ResponsesDialect(ResponseSetup setup)
      : setup_(std::move(setup)),
        id_(make_id(*setup_.context, "resp_")),
        created_(unix_seconds()) {}

  void start(std::string& out) override {
    for (const char* const type : {"response.created", "response.in_progress"}) {
      JsonOut json = begin(type, out);
      json.key("response");
      write_response(json, "in_progress", {}, {});
      end(json, out);
    }
  }

  void add(std::size_t /*choice*/, const Event& event, std::string& out) override {
    if (const auto* const scores = std::get_if<LogprobsEvent>(&event)) {
      waiting_.insert(waiting_.end(), scores->tokens.begin(), scores->tokens.end());
      return;
    }
    add_part(event, out);
    waiting_.clear();
  }

  void done(std::size_t /*choice*/, const DoneEvent& event, std::string& out) override {
    for (OutputItem& item : items_)
      close(item, out);
    const std::string_view status = status_of(event.finish);
    cut_by_ = cut_by(event.finish);
    JsonOut json = begin(cat("response.", status), out);
    std::string body;
    JsonOut whole(body);
    write_response(whole, status, items_, event.usage);
    json.key("response").raw(body);
    end(json, out);
    store(std::move(body));
  }

  void finish(std::string& /*out*/) override {}

  void fail(const ApiError& error, std::string& out) override {
    JsonOut json = begin("error", out);
    json.field_or_null("code", error.code).field("message", error.message);
    json.field_or_null("param", error.param);
    end(json, out);
    JsonOut last = begin("response.failed", out);
    last.key("response");
    error_ = error_object(error);
    write_response(last, "failed", items_, {});
    end(last, out);
  }

  http::Response whole(const std::vector<Gather>& answers) override {
    const Completion& c = answers.front().completion;
    items_ = items_of(*setup_.context, answers.front());
    cut_by_ = cut_by(c.finish);
    http::Response response;
    JsonOut json(response.body);
    write_response(json, status_of(c.finish), items_, c.usage);
    store(response.body);
    return response;
  }

  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers) override {
    http::Response response = error_response(error);
    if (answers.empty() || !answers.front().has_said()) return response;
    response.body.pop_back();
    JsonOut json = JsonOut::on(response.body);
    json.key("output").array();
    for (const OutputItem& item : items_of(*setup_.context, answers.front()))
      write_item(json, item);
    json.end_array().end_object();
    return response;
  }

 private:
  static std::string_view status_of(FinishReason finish) noexcept {
    const bool is_cut = finish == FinishReason::kLength || finish == FinishReason::kContentFilter;
    return is_cut ? "incomplete" : "completed";
  }

  static std::string_view cut_by(FinishReason finish) noexcept {
    return finish == FinishReason::kLength ? "max_output_tokens" : "content_filter";
  }

  void add_part(const Event& event, std::string& out) {
    if (const auto* const text = std::get_if<TextEvent>(&event)) {
      OutputItem& item = item_of(OutputItem::Kind::kMessage, out);
      item.text += text->text;
      append_delta("response.output_text.delta", item, text->text, out);
      item.scores.insert(item.scores.end(), waiting_.begin(), waiting_.end());
    } else if (const auto* const thought = std::get_if<ReasoningEvent>(&event)) {
      OutputItem& item = item_of(OutputItem::Kind::kReasoning, out);
      item.text += thought->text;
      append_delta("response.reasoning_text.delta", item, thought->text, out);
    } else if (const auto* const call = std::get_if<ToolCallEvent>(&event)) {
      open(make_call(*setup_.context, call->index, call->id, call->name), out);
    } else if (const auto* const more = std::get_if<ArgumentsEvent>(&event)) {
      for (OutputItem& item : items_) {
        if (item.kind != OutputItem::Kind::kCall || item.call_index != more->index) continue;
        item.text += more->text;
        append_delta("response.function_call_arguments.delta", item, more->text, out);
      }
    }
  }

  JsonOut begin(std::string_view type, std::string& out) {
    out += cat("event: ", type, "\ndata: ");
    JsonOut json(out);
    json.object().field("type", type).field("sequence_number", n_events_++);
    return json;
  }

  static void end(JsonOut& json, std::string& out) {
    json.end_object();
    out += "\n\n";
  }

  // The last item if it is of that kind, else a new one.
  OutputItem& item_of(OutputItem::Kind kind, std::string& out) {
    if (!items_.empty() && items_.back().kind == kind) return items_.back();
    return open(make_item(*setup_.context, kind), out);
  }

  OutputItem& open(OutputItem item, std::string& out) {
    item.index = static_cast<int>(items_.size());
    JsonOut json = begin("response.output_item.added", out);
    json.field("output_index", item.index).key("item");
    write_item(json, item);
    end(json, out);
    if (item.kind == OutputItem::Kind::kMessage)
      append_part("response.content_part.added", item, out);
    items_.push_back(std::move(item));
    return items_.back();
  }

  void write_place(JsonOut& json, const OutputItem& item) const {
    json.field("item_id", item.id).field("output_index", item.index);
    if (item.kind != OutputItem::Kind::kCall) json.field("content_index", 0);
  }

  void append_part(std::string_view type, const OutputItem& item, std::string& out) {
    JsonOut json = begin(type, out);
    write_place(json, item);
    json.key("part");
    write_text_part(json, item);
    end(json, out);
  }

  void append_delta(std::string_view type, const OutputItem& item, std::string_view text,
                    std::string& out) {
    JsonOut json = begin(type, out);
    write_place(json, item);
    json.field("delta", text);
    if (item.kind == OutputItem::Kind::kMessage) {
      json.key("logprobs");
      write_scores(json, waiting_);
    }
    end(json, out);
  }

  void close(OutputItem& item, std::string& out) {
    item.is_done = true;
    const bool is_text = item.kind == OutputItem::Kind::kMessage;
    const bool is_call = item.kind == OutputItem::Kind::kCall;
    JsonOut json = begin(is_text   ? "response.output_text.done"
                         : is_call ? "response.function_call_arguments.done"
                                   : "response.reasoning_text.done",
                         out);
    write_place(json, item);
    if (is_call) json.field("name", item.name);
    json.field(is_call ? "arguments" : "text", item.text);
    if (is_text) {
      json.key("logprobs");
      write_scores(json, item.scores);
    }
    end(json, out);
    if (is_text) append_part("response.content_part.done", item, out);
    JsonOut last = begin("response.output_item.done", out);
    last.field("output_index", item.index).key("item");
    write_item(last, item);
    end(last, out);
  }

  void write_response(JsonOut& json, std::string_view status, const std::vector<OutputItem>& items,
                      const std::optional<Usage>& usage) const {
    json.object().field("id", id_).field("object", "response").field("created_at", created_);
    json.field("status", status).key("error").raw(error_.empty() ? "null" : error_);
    json.key("incomplete_details");
    if (status == "incomplete") {
      json.object().field("reason", cut_by_).end_object();
    } else {
      json.null();
    }
    json.field("model", setup_.parsed.request.model).key("output").array();
    for (const OutputItem& item : items)
      write_item(json, item);
    json.end_array();
    write_settings(json);
    if (usage && status != "in_progress" && status != "failed") {
      json.key("usage");
      write_response_usage(json, *usage);
      write_steered(json, *usage);
    }
    json.end_object();
  }

  void write_settings(JsonOut& json) const {
    const Generation& g = setup_.parsed.request.generation;
    json.field_or_null("instructions", setup_.instructions);
    json.field_or_null("previous_response_id", setup_.previous_id);
    json.field("store", setup_.is_stored).field("parallel_tool_calls", g.parallel_tool_calls);
    json.key("tool_choice");
    write_tool_choice(json, g.tool_choice);
    json.key("tools").array();
    for (const Tool& tool : g.tools)
      write_tool(json, tool);
    json.end_array().key("temperature");
    write_or_null(json, g.temperature);
    json.key("top_p");
    write_or_null(json, g.top_p);
    json.key("max_output_tokens");
    write_or_null(json, g.max_tokens > 0 ? std::optional<double>(g.max_tokens) : std::nullopt);
    const std::string& format = setup_.parsed.text_format;
    json.key("text").object().key("format");
    json.raw(format.empty() ? R"({"type":"text"})" : format).end_object();
    json.key("reasoning").object().field("effort", nullptr).field("summary", nullptr).end_object();
    json.field("truncation", "disabled").field("access_programs", nullptr);
    json.key("metadata").object().end_object();
  }

  static void write_tool_choice(JsonOut& json, std::string_view choice) {
    if (choice == "auto" || choice == "none" || choice == "required" || choice.empty()) {
      json.text(choice.empty() ? "auto" : choice);
    } else {
      json.object().field("type", "function").field("name", choice).end_object();
    }
  }

  static void write_or_null(JsonOut& json, const std::optional<double>& value) {
    if (value) {
      json.number(*value);
    } else {
      json.null();
    }
  }

  // The conversation goes on from here.
  void store(std::string body) {
    if (!setup_.is_stored) return;
    auto talk = std::move(std::get<std::vector<Message>>(setup_.parsed.request.prompt));
    talk.push_back(message_of(items_));
    setup_.context->responses.put({.id = id_,
                                   .tenant = setup_.parsed.request.generation.tenant,
                                   .talk = std::move(talk),
                                   .body = std::move(body)});
  }

  ResponseSetup setup_;
  const std::string id_;
  const std::int64_t created_;
  int n_events_ = 0;
  std::vector<OutputItem> items_;
  std::vector<TokenLogprob> waiting_;  // scores of no text yet
  std::string error_;
  std::string_view cut_by_ = {};
};

Error no_response(const std::string& id) {
  return {
      .code = ErrorCode::kNotFound,
      .id = "response_not_found",
      .message = cat("previous_response_id: there is no response '", printable(id, 80), "' here"),
      .hint = "the latest ones are kept in memory, unless store is false"};
}

Result<ResponseSetup> read_setup(const SharedContext& context, const http::Request& request) {
  WICK_TRY(ParsedRequest parsed, read_request(*context, kResponses, request));
  auto* const talk = std::get_if<std::vector<Message>>(&parsed.request.prompt);
  if (talk == nullptr) return bad_field("input", "is missing");
  if (!parsed.previous_id.empty()) {
    auto stored = context->responses.find(parsed.previous_id, request.tenant);
    if (!stored) return no_response(parsed.previous_id);
    talk->insert(talk->begin(), std::make_move_iterator(stored->talk.begin()),
                 std::make_move_iterator(stored->talk.end()));
  }
  ResponseSetup setup{.context = context, .parsed = std::move(parsed)};
  setup.instructions = setup.parsed.system;
  setup.previous_id = setup.parsed.previous_id;
  setup.is_stored = setup.parsed.is_stored;
  return setup;
}

}  // namespace

std::unique_ptr<Dialect> make_response_dialect(ResponseSetup setup) {
  return std::make_unique<ResponsesDialect>(std::move(setup));
}

http::Reply responses(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& wake) {
  auto setup = read_setup(context, request);
  if (!setup) return error_response(refusal(*context, setup.error()));
  ParsedRequest parsed = setup->parsed;
  if (!setup->instructions.empty()) {  // for this answer alone: they are not kept
    auto& talk = std::get<std::vector<Message>>(parsed.request.prompt);
    talk.insert(talk.begin(), {.role = "system", .content = setup->instructions});
  }
  return answer(context, parsed, make_response_dialect(*std::move(setup)), wake);
}

http::Reply show_response(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& /*wake*/) {
  auto stored = context->responses.find(request.rest, request.tenant);
  if (!stored) return error_response(refusal(*context, no_response(request.rest)));
  return http::Response{.body = std::move(stored->body)};
}

http::Reply delete_response(const SharedContext& context, const http::Request& request,
                            const std::shared_ptr<Wake>& /*wake*/) {
  if (!context->responses.erase(request.rest, request.tenant)) {
    return error_response(refusal(*context, no_response(request.rest)));
  }
  http::Response response;
  JsonOut json(response.body);
  json.object().field("id", request.rest).field("object", "response").field("deleted", true);
  json.end_object();
  return response;
}

}  // namespace wick::server
