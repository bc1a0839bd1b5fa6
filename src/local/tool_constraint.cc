#include "local/tool_constraint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "chat/json_value.h"
#include "grammar/composed.h"
#include "grammar/notation.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/recognizer.h"
#include "grammar/special_tokens.h"
#include "toolcalls/call_reader.h"
#include "toolcalls/limits.h"

namespace wick {

namespace {

using grammar::Composition;
using grammar::Recognizer;
using Part = Composition::Part;
using Language = Result<std::unique_ptr<Recognizer>>;

// Keywords of a tool's parameters that say something of several of them at once.
constexpr std::string_view kJointKeywords[] = {"$ref",
                                               "$dynamicRef",
                                               "allOf",
                                               "anyOf",
                                               "oneOf",
                                               "not",
                                               "if",
                                               "dependentRequired",
                                               "dependencies",
                                               "dependentSchemas",
                                               "minProperties",
                                               "patternProperties",
                                               "propertyNames",
                                               "maxProperties",
                                               "const",
                                               "enum",
                                               "unevaluatedProperties"};

// Of trees of tags: tags in each other, and items that a list must have; beyond these it is JSON.
constexpr int kMaxTags = 8;
constexpr std::uint32_t kMaxTagItems = 1000;

Error unsupported(std::string_view what) {
  return {.code = ErrorCode::kUnsupported,
          .message = cat("the tool-call format of this model's chat template does not support the "
                         "keyword ",
                         what)};
}

Error of_tool(const Tool& tool, Error error) {
  const bool is_unsupported = error.code == ErrorCode::kUnsupported;
  if (!is_unsupported) error.code = ErrorCode::kInvalid;
  error.id = is_unsupported ? "tool_schema_unsupported" : "bad_tool";
  error.message =
      cat("the parameters of the tool '", printable(tool.name), "': ", error.message);
  return error;
}

// The parameters of a tool, as a schema whose references stay inside of it.
JsonValue parameters_of(const Tool& tool) {
  auto schema = parse_json(tool.parameters);
  if (!schema || schema->object() == nullptr) return json_object({{"type", "object"}});
  Object& object = *schema->object();
  if (object.find("type") == nullptr) object["type"] = "object";
  if (object.find("$id") == nullptr) object["$id"] = "https://tools.invalid/";
  return *std::move(schema);
}

Language schema_language(const JsonValue& schema) {
  auto made = grammar::SchemaRecognizer::parse(to_json(schema), {});
  if (!made) return std::move(made).error();
  return std::unique_ptr<Recognizer>(*std::move(made));
}

Language any_object() {
  return schema_language(json_object({{"type", "object"}}));
}

// `key` as a part of a JSON pointer in an address.
std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    constexpr std::string_view kHex = "0123456789ABCDEF";
    if (is_plain) {
      out += c;
    } else if (c == '~' || c == '/') {
      out += c == '~' ? "~0" : "~1";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte / 16U];
      out += kHex[byte % 16U];
    }
  }
  return out;
}

// The part of the parameters at `pointer`, as a schema of its own.
JsonValue schema_at(const JsonValue& parameters, std::string_view pointer) {
  const std::string id = *parameters.object()->find("$id")->string();
  return json_object(
      {{"$defs", json_object({{"tool", parameters}})}, {"$ref", cat(id, "#", pointer)}});
}

const JsonValue* member(const JsonValue& schema, std::string_view key) {
  return schema.object() == nullptr ? nullptr : schema.object()->find(key);
}

bool is_of_type(const JsonValue& schema, std::string_view type) {
  const JsonValue* const its = member(schema, "type");
  return its != nullptr && its->string() != nullptr && *its->string() == type;
}

// The keyword of a schema for objects that parameters one after another cannot have.
std::string_view joint_keyword(const JsonValue& schema) {
  for (const std::string_view keyword : kJointKeywords)
    if (member(schema, keyword) != nullptr) return keyword;
  return {};
}

bool is_required_in(const JsonValue& schema, std::string_view key) {
  const JsonValue* const required = member(schema, "required");
  if (required == nullptr || required->array() == nullptr) return false;
  return std::any_of(
      required->array()->begin(), required->array()->end(),
      [&](const JsonValue& one) { return one.string() != nullptr && *one.string() == key; });
}

class Maker {
 public:
  Maker(const Generation& generation, const ToolPlan& plan, const Tokenizer& tokenizer)
      : g_(generation), plan_(plan), tokenizer_(tokenizer) {}

  Language make() {
    WICK_TRY(const Part whole, plan_.format == nullptr ? harmony() : formatted());
    WICK_TRY(grammar::Program program, std::move(c_).compile(whole));
    std::unique_ptr<Recognizer> made =
        std::make_unique<grammar::ComposedRecognizer>(std::move(program));
    if (made->start() == grammar::kFailedState) return made->failure();
    return made;
  }

 private:
  // Control tokens in a text of the format become their spelling.
  std::string spelled(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      std::string_view next;
      std::size_t at = std::string_view::npos;
      for (const std::string_view token : tokens()) {
        const std::size_t found = token.empty() ? std::string_view::npos : text.find(token);
        const bool is_first = found < at || (found == at && token.size() > next.size());
        if (found == std::string_view::npos || !is_first) continue;
        at = found;
        next = token;
      }
      out += text.substr(0, at);
      if (at == std::string_view::npos) break;
      out += grammar::marker(tokenizer_, next);
      text.remove_prefix(at + next.size());
    }
    return out;
  }

  std::vector<std::string_view> tokens() const {
    if (plan_.format == nullptr)
      return {"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"};
    std::vector<std::string_view> out(std::begin(plan_.format->tokens),
                                      std::end(plan_.format->tokens));
    out.insert(out.end(), std::begin(plan_.marks->tokens), std::end(plan_.marks->tokens));
    return out;
  }

  Part text(std::string_view text) { return c_.text(spelled(text)); }

  bool is_single() const { return plan_.is_single || !plan_.only.empty(); }

  std::uint32_t most_calls() const { return is_single() ? 1 : Composition::kMany; }

  bool may_call(const Tool& tool) const { return plan_.only.empty() || plan_.only == tool.name; }

  Result<Part> formatted() {
    const ToolFormat& f = *plan_.format;
    if (f.open.empty()) return bare();
    WICK_TRY(const Part call, call_behind_opening());
    if (!plan_.is_required)
      return free_calls(
          c_.sequence({call, c_.optional(c_.text(std::string(f.space))), text(f.close)}));
    const Part end = text(cat(f.space, f.close));
    const Part one = c_.sequence({text(cat(f.open, f.space)), call, end});
    const Part first = plan_.is_opened ? c_.sequence({text(f.space), call, end}) : one;
    const Part more = c_.repeat(c_.sequence({text(f.between), one}), 0, Composition::kMany);
    const bool is_one = is_single() || f.has_list;
    const Part calls = is_one ? first : c_.sequence({first, more});
    return c_.sequence({text(f.before_all), calls, text(f.behind_all)});
  }

  // What stands between the markers: a call, or a list of them.
  Result<Part> call_behind_opening() {
    const ToolFormat& f = *plan_.format;
    WICK_TRY(const Part body, any_call());
    if (!f.has_list) return body;
    const Part list = is_single() ? body : c_.list(body, c_.text(", "), 1);
    return c_.sequence({c_.text("["), list, c_.text("]")});
  }

  Result<Part> any_call() {
    std::vector<Part> calls;
    for (const Tool& tool : g_.tools) {
      if (!may_call(tool)) continue;
      auto call = call_of(tool);
      if (!call) return of_tool(tool, std::move(call).error());
      calls.push_back(*call);
    }
    return c_.any_of(std::move(calls));
  }

  // Free text, in which the opening marker begins a call, or in some formats text.
  Part free_calls(Part rest) {
    const std::string open = spelled(plan_.format->open), head(plan_.format->text_head);
    const Part space = c_.text(std::string(plan_.format->space));
    const Part body = c_.sequence({c_.optional(space), rest});
    const Part marker = c_.until({.triggers = {open}}, 0);
    const Part call = c_.sequence({marker, body});
    const Part free = c_.free_text({.triggers = {open}});
    if (head.empty())
      return behind_reasoning(c_.sequence({c_.repeat(call, 0, most_calls()), free}));
    const Part texts = c_.repeat(c_.sequence({marker, c_.text(head)}), 0, Composition::kMany);
    const Part more = c_.sequence({texts, free});
    const Part calls =
        is_single()
            ? c_.sequence({texts, c_.optional(call), more})
            : c_.sequence({c_.repeat(c_.sequence({texts, call}), 0, Composition::kMany), more});
    if (!plan_.is_opened) return behind_reasoning(calls);
    const Part behind_call = c_.sequence({body, is_single() ? more : calls});
    return c_.any_of({behind_call, c_.sequence({c_.text(head), calls})});
  }

  // Markers within reasoning are text. Whether there is reasoning shows at its end.
  Part behind_reasoning(Part part) {
    const Part thought = c_.until({.triggers = {spelled(plan_.marks->close)}}, 0);
    const Part begun =
        plan_.begins_in_reasoning ? thought : c_.sequence({text(plan_.marks->open), thought});
    return c_.sequence({c_.optional(begun), part});
  }

  // Formats without an opening marker: calls are the whole answer.
  Result<Part> bare() {
    const ToolFormat& f = *plan_.format;
    WICK_TRY(const Part call, any_call());
    Part calls = call;
    if (f.has_list) {
      const Part list = is_single() ? call : c_.list(call, c_.text(", "), 1);
      calls = c_.sequence({c_.text("["), list, c_.text("]")});
    } else if (!is_single()) {
      calls = c_.list(call, c_.text("; "), 1);
    }
    if (plan_.is_required) return calls;
    Composition::Free free{.is_anchored = true};
    for (const Tool& tool : g_.tools)
      free.triggers.push_back(f.has_list ? cat("[", tool.name, "(") : head_of(tool));
    std::sort(free.triggers.begin(), free.triggers.end());
    return c_.any_of({calls, c_.free_text(std::move(free))});
  }

  std::string head_of(const Tool& tool) const {
    const ToolFormat& f = *plan_.format;
    const std::string name = to_json(JsonValue(tool.name));
    if (f.body == ToolFormat::Body::kKeyed) return cat("{", name, ": ");
    return cat("{\"", f.name_key, "\": ", name, ", \"", f.arguments_key, "\": ");
  }

  Result<Part> call_of(const Tool& tool) {
    const ToolFormat& f = *plan_.format;
    switch (f.body) {
      case ToolFormat::Body::kJson:
      case ToolFormat::Body::kKeyed: {
        WICK_TRY(const Part arguments, json_arguments(tool));
        return c_.sequence({c_.text(head_of(tool)), arguments, c_.text("}")});
      }
      case ToolFormat::Body::kName: {
        WICK_TRY(const Part arguments, json_arguments(tool));
        const std::string head = cat(f.before_name, tool.name);
        // Kimi K2 numbers the calls.
        const Part number =
            f.before_name == "functions." ? number_of_call() : c_.text(std::string());
        const Part tail = f.close.starts_with('`') ? c_.text("\n") : c_.text(std::string());
        return c_.sequence({text(head), number, text(f.behind_name), arguments, tail});
      }
      case ToolFormat::Body::kGemma: {
        WICK_TRY(auto language, arguments_language(tool));
        const Part arguments = c_.document(std::make_unique<grammar::NotationRecognizer>(
            std::move(language), grammar::gemma_object(spelled(R"(<|"|>)"))));
        return c_.sequence({c_.text(cat("call:", tool.name)), arguments});
      }
      case ToolFormat::Body::kNested: return nested_call(tool);
      case ToolFormat::Body::kTags:
      case ToolFormat::Body::kPython:
        return call_by_parameters(tool);
    }
    return c_.text({});
  }

  Part number_of_call() {
    auto digits = grammar::RegexRecognizer::parse("[0-9]{1,4}");
    return c_.sequence({c_.text(":"), c_.document(*std::move(digits))});
  }

  Language arguments_language(const Tool& tool) {
    auto language = schema_language(parameters_of(tool));
    const bool has_text = language && (*language)->start() != grammar::kDeadState;
    if (language && !has_text && plan_.is_required) {
      return Error{.code = ErrorCode::kInvalid, .message = "no arguments fulfill their schema"};
    }
    if (has_text || plan_.is_required) return language;
    return any_object();
  }

  Result<Part> json_arguments(const Tool& tool) {
    WICK_TRY(auto language, arguments_language(tool));
    return c_.document(std::move(language));
  }

  // ---- Parameters one after another: tags, and Python

  Result<Part> call_by_parameters(const Tool& tool) {
    const JsonValue parameters = parameters_of(tool);
    auto list = parameter_list(tool, parameters);
    if (!list && !plan_.is_required) list = c_.sequence({});
    if (!list) return std::move(list).error();
    const ToolFormat& f = *plan_.format;
    if (f.body == ToolFormat::Body::kPython)
      return c_.sequence({c_.text(cat(tool.name, "(")), *list, c_.text(")")});
    const TagStyle& t = f.tags;
    const std::string head = cat(t.before_name, tool.name, t.name_end);
    const Part number = f.name == "kimi-k3" ? call_index() : c_.text(std::string());
    const std::string line = t.has_lines || t.head_end.empty() ? "\n" : "";
    return c_.sequence({text(head), number, text(cat(t.head_end, line)), *list, text(t.call_end)});
  }

  Part call_index() {
    auto digits = grammar::RegexRecognizer::parse(R"( index="[1-9][0-9]?")");
    return c_.document(*std::move(digits));
  }

  // In the order of the schema. Other parameters than those it names are left out.
  Result<Part> parameter_list(const Tool& tool, const JsonValue& parameters) {
    if (const auto keyword = joint_keyword(parameters); !keyword.empty())
      return unsupported(keyword);
    const JsonValue* const properties = member(parameters, "properties");
    if (properties == nullptr || properties->object() == nullptr) return c_.sequence({});
    const bool is_python = plan_.format->body == ToolFormat::Body::kPython;
    // Of Python: what comes first has no comma before it.
    std::vector<Part> firsts, all;
    std::vector<std::pair<Part, bool>> items;
    for (const auto& [key, one] : *properties->object()) {
      static_cast<void>(one);
      WICK_TRY(const Part item, parameter(tool, parameters, key));
      items.emplace_back(item, is_required_in(parameters, key));
    }
    if (!is_python) {
      for (const auto& [item, must] : items)
        all.push_back(must ? item : c_.optional(item));
      return c_.sequence(std::move(all));
    }
    for (std::size_t first = 0; first < items.size(); ++first) {
      std::vector<Part> row = {items[first].first};
      for (std::size_t i = first + 1; i < items.size(); ++i) {
        const Part more = c_.sequence({c_.text(", "), items[i].first});
        row.push_back(items[i].second ? more : c_.optional(more));
      }
      firsts.push_back(c_.sequence(std::move(row)));
      if (items[first].second) return c_.any_of(std::move(firsts));
    }
    firsts.push_back(c_.text({}));
    return c_.any_of(std::move(firsts));
  }

  Result<Part> parameter(const Tool& tool, const JsonValue& parameters, const std::string& key) {
    auto made = schema_language(
        schema_at(parameters, cat("/properties/", escaped(key))));
    const bool has_text = made && (*made)->start() != grammar::kDeadState;
    if (!has_text && !plan_.is_required) made = schema_language(JsonValue(true));
    if (!made) return std::move(made).error();
    const ToolFormat& f = *plan_.format;
    if (f.body == ToolFormat::Body::kPython) {
      const Part value = c_.document(
          std::make_unique<grammar::NotationRecognizer>(*std::move(made), grammar::python_value()));
      return c_.sequence({c_.text(cat(key, "=")), value});
    }
    const TagStyle& t = f.tags;
    const std::string line = t.has_lines ? "\n" : "";
    const std::string end = spelled(t.value_end);
    const bool is_text = is_string_parameter({{tool.name, parameters}}, tool.name, key);
    const std::string_view mark = is_text ? t.text_mark : t.json_mark;
    const Part value = c_.document(is_text ? std::make_unique<grammar::NotationRecognizer>(
                                                 *std::move(made), grammar::raw_text(end))
                                           : *std::move(made));
    const std::string behind = t.has_lines || f.tags.head_end.empty() ? "\n" : "";
    return c_.sequence({text(cat(t.before_key, key, t.key_end, mark, between(t), line)), value,
                        text(cat(line, t.value_end, behind))});
  }

  // GLM has a line between the key and the value.
  static std::string between(const TagStyle& tags) {
    if (tags.key_end == "</arg_key>") return cat("\n", tags.value_open);
    return std::string(tags.value_open);
  }

  // ---- Trees of tags, as nested_tags.cc reads them

  Result<Part> nested_call(const Tool& tool) {
    const JsonValue parameters = parameters_of(tool);
    std::string_view keyword = joint_keyword(parameters);
    if (keyword.empty() && member(parameters, "properties") && !has_plain_names(parameters))
      keyword = "properties";
    Result<Part> list = keyword.empty() ? elements(parameters, parameters, "", 0)
                                        : Result<Part>(unsupported(keyword));
    if (!list && plan_.is_required) return list;
    const std::string end = cat(plan_.format->mark, "</invoke>");
    const Part body = list ? c_.sequence({*list, text(end)})
                           : c_.until({.triggers = {spelled(end)}}, 0);
    return c_.sequence({c_.text(cat(tool.name, "\">")), body});
  }

  // The properties of the schema `of`, which is at `pointer`, in their order.
  Result<Part> elements(const JsonValue& parameters, const JsonValue& of,
                        const std::string& pointer, int depth) {
    std::vector<Part> all;
    const JsonValue* const properties = member(of, "properties");
    if (properties == nullptr || properties->object() == nullptr) return c_.sequence({});
    for (const auto& [key, one] : *properties->object()) {
      const std::string its = cat(pointer, "/properties/", escaped(key));
      WICK_TRY(const Part item, element(parameters, one, its, key, depth));
      all.push_back(is_required_in(of, key) ? item : c_.optional(item));
    }
    return c_.sequence(std::move(all));
  }

  Result<Part> element(const JsonValue& parameters, const JsonValue& schema,
                       const std::string& pointer, const std::string& name, int depth) {
    const std::string_view mark = plan_.format->mark;
    WICK_TRY(const Part value, nested_value(parameters, schema, pointer, depth));
    return c_.sequence(
        {text(cat(mark, "<", name, ">")), value, text(cat(mark, "</", name, ">"))});
  }

  // Lists and objects of plain schemas are tags, texts are raw; all else is JSON.
  Result<Part> nested_value(const JsonValue& parameters, const JsonValue& schema,
                            const std::string& pointer, int depth) {
    const bool has_tags = depth < kMaxTags && joint_keyword(schema).empty();
    if (has_tags && is_of_type(schema, "object") && has_plain_names(schema))
      return elements(parameters, schema, pointer, depth + 1);
    if (has_tags && is_of_type(schema, "array") && is_plain_list(schema)) {
      const JsonValue& items = *member(schema, "items");
      WICK_TRY(const Part item,
               element(parameters, items, cat(pointer, "/items"), "item", depth + 1));
      return c_.repeat(item, count_of(schema, "minItems", 0),
                       count_of(schema, "maxItems", Composition::kMany));
    }
    auto made = schema_language(schema_at(parameters, pointer));
    const bool has_text = made && (*made)->start() != grammar::kDeadState;
    if (!has_text && !plan_.is_required) made = schema_language(JsonValue(true));
    if (!made || !is_of_type(schema, "string")) {
      WICK_TRY(auto language, std::move(made));
      return c_.document(std::move(language));
    }
    const std::string end = spelled(plan_.format->mark);
    return c_.document(
        std::make_unique<grammar::NotationRecognizer>(*std::move(made), grammar::raw_text(end)));
  }

  // Whether the members are those of `properties`, with names that tags can have.
  static bool has_plain_names(const JsonValue& schema) {
    const JsonValue* const properties = member(schema, "properties");
    if (properties == nullptr || properties->object() == nullptr) return false;
    const JsonValue* const required = member(schema, "required");
    if (required != nullptr && required->array() != nullptr) {
      for (const JsonValue& one : *required->array())
        if (one.string() == nullptr || member(*properties, *one.string()) == nullptr) return false;
    }
    for (const auto& [key, one] : *properties->object()) {
      static_cast<void>(one);
      if (key.empty() || key.size() > kMaxCalledName || key.starts_with('/') ||
          key.find_first_of("<>\n") != std::string::npos)
        return false;
    }
    return true;
  }

  static bool is_plain_list(const JsonValue& schema) {
    for (const std::string_view keyword : {"prefixItems", "contains", "uniqueItems",
                                           "additionalItems", "unevaluatedItems"})
      if (member(schema, keyword) != nullptr) return false;
    const std::uint32_t least = count_of(schema, "minItems", 0);
    if (least > kMaxTagItems || least > count_of(schema, "maxItems", Composition::kMany))
      return false;
    const JsonValue* const items = member(schema, "items");
    return items != nullptr && items->object() != nullptr;
  }

  static std::uint32_t count_of(const JsonValue& schema, std::string_view key,
                                std::uint32_t otherwise) {
    const JsonValue* const its = member(schema, key);
    if (its == nullptr || its->integer() == nullptr || *its->integer() < 0) return otherwise;
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(*its->integer(), Composition::kMany));
  }

  // ---- Harmony

  Result<Part> harmony() {
    std::vector<Part> calls;
    for (const Tool& tool : g_.tools) {
      if (!may_call(tool)) continue;
      auto arguments = json_arguments(tool);
      if (!arguments) return of_tool(tool, std::move(arguments).error());
      calls.push_back(
          c_.sequence({c_.text(tool.name), text(" <|constrain|>json<|message|>"), *arguments}));
    }
    const Part call = c_.any_of(std::move(calls));
    const std::vector<std::string> triggers = {spelled("<|channel|>commentary to=functions."),
                                               spelled("<|start|>assistant to=functions.")};
    const Part begun = c_.until({.triggers = triggers}, 0);
    if (plan_.is_required) {
      const Part thought = c_.sequence({text("<|channel|>analysis<|message|>"),
                                        c_.until({.triggers = {spelled("<|end|>")}}, 0),
                                        text("<|start|>assistant")});
      return c_.sequence({c_.optional(thought), text("<|channel|>commentary to=functions."), call});
    }
    const Part some = c_.repeat(c_.sequence({begun, call}), 0, most_calls());
    return c_.sequence({some, c_.free_text({.triggers = triggers})});
  }

  const Generation& g_;
  const ToolPlan& plan_;
  const Tokenizer& tokenizer_;
  Composition c_ = {};
};

}  // namespace

std::string tool_plan_key(const Generation& generation, const ToolPlan& plan) {
  Array tools;
  for (const Tool& tool : generation.tools)
    tools.push_back(Array{tool.name, tool.parameters});
  return cat("tools ", plan.format == nullptr ? "harmony" : plan.format->name, " ",
             plan.begins_in_reasoning, plan.is_required, plan.is_opened, plan.is_single, " ",
             plan.only, " ", to_json(JsonValue(std::move(tools))));
}

Result<std::unique_ptr<Recognizer>> tool_constraint(const Generation& generation,
                                                    const ToolPlan& plan,
                                                    const Tokenizer& tokenizer) {
  return Maker(generation, plan, tokenizer).make();
}

}  // namespace wick
