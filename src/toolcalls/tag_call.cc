#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "toolcalls/call_reader.h"
#include "toolcalls/limits.h"
#include "toolcalls/python_literal.h"

namespace wick {
namespace {

constexpr std::string_view kCdata = "<![CDATA[", kCdataEnd = "]]>";

// Parameters between tags:
//
//   <function=f>                                  Qwen3-Coder, Qwen 3.5, Seed-OSS
//   <parameter=city>
//   Rome
//   </parameter>
//   </function>
//
//   f<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>      GLM 4.5 to 5
//
//   <function name="f"><param name="city">Rome</param></function>        MiniCPM5
//
// A value becomes a string where its tag or the tool's schema says so or where it is no JSON.
class TagCall final : public CallReader {
 public:
  TagCall(const TagStyle& style, const std::vector<ToolSignature>& tools)
      : style_(style), tools_(tools), at_(style.before_name.empty() ? At::kName : At::kStart) {}

  void push(char c) override {
    const bool is_between = at_ == At::kStart || at_ == At::kTag;
    if (held_.empty() && is_between && is_call_space(c)) return;
    held_ += c;
    switch (at_) {
      case At::kStart:
        return push_start();
      case At::kName:
        return push_name(c);
      case At::kHead:
        take_until(style_.head_end, At::kTag);
        return;
      case At::kTag:
        return push_tag();
      case At::kKey:
        if (take_until(style_.key_end, style_.value_open.empty() ? At::kValue : At::kAttributes))
          begin_parameter();
        return;
      case At::kAttributes:
        if (take_until(style_.value_open, At::kValue)) attributes_ = taken_;
        return;
      case At::kValue:
        if (!is_value_over()) return;
        held_.resize(held_.size() - style_.value_end.size());
        end_value(true);
        at_ = At::kTag;
    }
  }

  void finish() override {
    if (at_ == At::kValue) end_value(false);
  }

 private:
  enum class At { kStart, kName, kHead, kTag, kKey, kAttributes, kValue };

  void push_start() {
    if (held_ == style_.before_name) {
      at_ = At::kName;
      held_.clear();
    } else if (!style_.before_name.starts_with(held_)) {
      fail();
    }
  }

  // Without a text behind the name it ends before a line break or a tag.
  void push_name(char c) {
    if (!style_.name_end.empty()) {
      if (take_until(style_.name_end, style_.head_end.empty() ? At::kTag : At::kHead)) begin_call();
      return;
    }
    if (held_.size() == 1 && is_call_space(c)) return held_.clear();
    if (held_.size() > kMaxCalledName) fail();
    if (!is_call_space(c) && c != style_.before_key[0]) return;
    held_.pop_back();
    taken_ = std::exchange(held_, {});
    at_ = At::kTag;
    begin_call();
    if (!is_call_space(c)) push(c);
  }

  void begin_call() {
    name_ = taken_;
    is_named_ = true;
    arguments_ = "{";
    if (name_.empty()) fail();
  }

  void begin_parameter() {
    key_ = taken_;
    attributes_.clear();
    if (key_.empty()) fail();
  }

  // Whether `end` came; what stands before it is in taken_.
  bool take_until(std::string_view end, At next) {
    if (held_.size() > kMaxCalledName + end.size()) fail();
    if (!held_.ends_with(end)) return false;
    held_.resize(held_.size() - end.size());
    taken_ = std::exchange(held_, {});
    at_ = next;
    return true;
  }

  void push_tag() {
    if (held_ == style_.before_key) {
      held_.clear();
      at_ = At::kKey;
    } else if (held_ == style_.call_end) {
      arguments_ += '}';
      end();
    } else if (!style_.before_key.starts_with(held_) && !style_.call_end.starts_with(held_)) {
      fail();
    }
  }

  bool is_value_over() const {
    if (!held_.ends_with(style_.value_end)) return false;
    const std::string_view value =
        std::string_view(held_).substr(0, held_.size() - style_.value_end.size());
    return !style_.has_cdata || !value.starts_with(kCdata) || value.ends_with(kCdataEnd);
  }

  void end_value(bool is_whole) {
    std::string_view value = held_;
    if (style_.has_cdata && value.starts_with(kCdata)) {
      value.remove_prefix(kCdata.size());
      if (value.ends_with(kCdataEnd)) value.remove_suffix(kCdataEnd.size());
    }
    if (style_.has_lines && value.starts_with('\n')) value.remove_prefix(1);
    if (style_.has_lines && is_whole && value.ends_with('\n')) value.remove_suffix(1);
    arguments_ += cat(has_parameter_ ? ", " : "", to_json(JsonValue(key_)), ": ");
    has_parameter_ = true;
    const bool says_text = attributes_.find(R"(="true")") != std::string::npos ||
                           attributes_.find(R"(="string")") != std::string::npos;
    std::optional<std::string> json;
    if (!says_text && !is_string_parameter(tools_, name_, key_))
      json = parse_json(value) ? std::string(value) : json_of_python(value);
    if (!json) {
      json = to_json(JsonValue(value));
      if (!is_whole) json->pop_back();
    }
    arguments_ += *json;
    held_.clear();
  }

  TagStyle style_;
  const std::vector<ToolSignature>& tools_;
  At at_;
  std::string held_ = {}, taken_ = {}, key_ = {}, attributes_ = {};
  bool has_parameter_ = false;
};

}  // namespace

std::unique_ptr<CallReader> read_tag_call(const TagStyle& style,
                                          const std::vector<ToolSignature>& tools) {
  return std::make_unique<TagCall>(style, tools);
}

bool is_string_parameter(const std::vector<ToolSignature>& tools, std::string_view name,
                         std::string_view key) {
  const auto tool = std::find_if(tools.begin(), tools.end(),
                                 [&](const ToolSignature& t) { return t.name == name; });
  if (tool == tools.end() || tool->parameters.object() == nullptr) return false;
  const JsonValue* at = tool->parameters.object()->find("properties");
  if (at != nullptr && at->object() != nullptr) at = at->object()->find(key);
  if (at == nullptr || at->object() == nullptr) return false;
  const auto is_string = [](const JsonValue& value) { return value.string() != nullptr; };
  if (const JsonValue* const type = at->object()->find("type"); type != nullptr)
    return is_string(*type) && *type->string() == "string";
  const JsonValue* const choices = at->object()->find("enum");
  return choices != nullptr && choices->array() != nullptr &&
         std::all_of(choices->array()->begin(), choices->array()->end(), is_string);
}

}  // namespace wick
