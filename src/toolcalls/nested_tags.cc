// Calls whose values are trees of tags, each behind a mark (MiniMax-M3). A tree says no types: a
// value becomes what the tool's schema says. Without one, children called "item" are a list, other
// children are members, and a text is JSON if it can be. So an empty list or object, and the
// text "42" where the schema allows a number, come back only by their schema.
#include <algorithm>

#include "base/strings.h"
#include "toolcalls/call_reader.h"
#include "toolcalls/limits.h"

namespace wick {
namespace {

struct Element {
  std::string name = {}, text = {};
  std::vector<Element> children = {};
};

const JsonValue* member(const JsonValue* schema, std::string_view key) {
  if (schema == nullptr || schema->object() == nullptr) return nullptr;
  return schema->object()->find(key);
}

std::string_view type_of(const JsonValue* schema) {
  const JsonValue* const type = member(schema, "type");
  return type != nullptr && type->string() != nullptr ? std::string_view(*type->string()) : "";
}

JsonValue value_of(const Element& element, const JsonValue* schema) {
  const std::string_view type = type_of(schema);
  const bool is_list =
      type == "array" || (type != "object" && !element.children.empty() &&
                          std::all_of(element.children.begin(), element.children.end(),
                                      [](const Element& child) { return child.name == "item"; }));
  if (is_list && (!element.children.empty() || element.text.empty())) {
    Array list;
    for (const Element& child : element.children)
      list.push_back(value_of(child, member(schema, "items")));
    return JsonValue(std::move(list));
  }
  if (!element.children.empty() || (type == "object" && element.text.empty())) {
    Object object;
    for (const Element& child : element.children)
      object[child.name] = value_of(child, member(member(schema, "properties"), child.name));
    return JsonValue(std::move(object));
  }
  auto json =
      type == "string" ? Result<JsonValue>(JsonValue(element.text)) : parse_json(element.text);
  return json ? *std::move(json) : JsonValue(element.text);
}

//   <invoke name="f">]<]minimax[>[<city>Rome]<]minimax[>[</city>]<]minimax[>[</invoke>
class NestedCall final : public CallReader {
 public:
  NestedCall(std::string_view mark, const std::vector<ToolSignature>& tools)
      : mark_(mark), tools_(tools) {}

  void push(char c) override {
    held_ += c;
    if (!is_named_) return push_name();
    if (!is_tag_) {
      if (!held_.ends_with(mark_)) return;
      held_.resize(held_.size() - mark_.size());
      is_tag_ = true;
      if (!open_.empty()) open_.back().text += held_;
      held_.clear();
      return;
    }
    if (held_.size() > kMaxCalledName + 3) return fail();
    if (held_.front() != '<') return fail();
    if (c != '>') return;
    is_tag_ = false;
    push_tag(std::string_view(held_).substr(1, held_.size() - 2));
    held_.clear();
  }

 private:
  void push_name() {
    constexpr std::string_view kEnd = "\">";
    if (held_.size() > kMaxCalledName + kEnd.size()) fail();
    if (!held_.ends_with(kEnd)) return;
    name_ = held_.substr(0, held_.size() - kEnd.size());
    held_.clear();
    is_named_ = true;
    arguments_ = "{";
    if (name_.empty()) fail();
  }

  void push_tag(std::string_view tag) {
    if (tag == "/invoke" && open_.empty()) {
      arguments_ += '}';
      return end();
    }
    if (tag.starts_with('/')) {
      if (open_.empty() || open_.back().name != tag.substr(1)) return fail();
      return close();
    }
    if (tag.empty() || open_.size() >= kMaxLiteralDepth) return fail();
    open_.push_back({.name = std::string(tag)});
  }

  void close() {
    Element done = std::move(open_.back());
    open_.pop_back();
    if (!open_.empty()) return open_.back().children.push_back(std::move(done));
    const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                   [&](const ToolSignature& t) { return t.name == name_; });
    const JsonValue* const schema = tool == tools_.end() ? nullptr : &tool->parameters;
    const JsonValue value = value_of(done, member(member(schema, "properties"), done.name));
    arguments_ +=
        cat(has_parameter_ ? ", " : "", to_json(JsonValue(done.name)), ": ", to_json(value));
    has_parameter_ = true;
  }

  std::string_view mark_;
  const std::vector<ToolSignature>& tools_;
  std::string held_ = {};  // of the name, of a text, or of a tag
  std::vector<Element> open_ = {};
  bool is_tag_ = false, has_parameter_ = false;
};

}  // namespace

std::unique_ptr<CallReader> read_nested_call(std::string_view mark,
                                             const std::vector<ToolSignature>& tools) {
  return std::make_unique<NestedCall>(mark, tools);
}

}  // namespace wick
