#include "toolcalls/learned_format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "toolcalls/tool_calls.h"

namespace wick {

namespace {

constexpr std::string_view kFirst = "wickprobeone", kSecond = "wickprobetwo";
constexpr std::string_view kMadeTextKey = "wicktextkey", kMadeText = "wicktextvalue";
constexpr std::string_view kMadeNumberKey = "wicknumberkey", kMadeNumber = "70717";
constexpr std::string_view kUser = "wickuserspeaks", kSaid = "wickassistantspeaks";

Object arguments() {
  return json_object({{kMadeTextKey, kMadeText}, {kMadeNumberKey, 70717}});
}

JsonValue call(std::string_view id, std::string_view name) {
  const Object function = json_object({{"name", name}, {"arguments", arguments()}});
  return json_object({{"id", id}, {"type", "function"}, {"function", function}});
}

JsonValue tool(std::string_view name) {
  const Object text = json_object({{"type", "string"}, {"description", "text"}});
  const Object number = json_object({{"type", "integer"}, {"description", "number"}});
  const Object parameters =
      json_object({{"type", "object"},
                   {"properties", json_object({{kMadeTextKey, text}, {kMadeNumberKey, number}})},
                   {"required", Array{std::string(kMadeTextKey)}}});
  const Object function =
      json_object({{"name", name}, {"description", "probe"}, {"parameters", parameters}});
  return json_object({{"type", "function"}, {"function", function}});
}

// What the template writes behind the user's message; nullopt where it fails.
std::optional<std::string> rendered(const ChatTemplate& tmpl, std::string_view content,
                                    Array calls) {
  Object answer = json_object({{"role", "assistant"}, {"content", content}});
  if (!calls.empty()) answer["tool_calls"] = std::move(calls);
  const Object user = json_object({{"role", "user"}, {"content", kUser}});
  const Object context = json_object({{"messages", Array{user, answer}},
                                      {"tools", Array{tool(kFirst), tool(kSecond)}},
                                      {"add_generation_prompt", false},
                                      {"bos_token", ""},
                                      {"eos_token", "<wickend>"}});
  const auto text = tmpl.render(context, {.now_seconds = 0});
  if (!text) return std::nullopt;
  const std::size_t at = text->text.rfind(kUser);
  if (at == std::string::npos) return std::nullopt;
  return text->text.substr(at + kUser.size());
}

std::string_view common_prefix(std::string_view a, std::string_view b) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return a.substr(0, static_cast<std::size_t>(differs.first - a.begin()));
}

std::string_view common_suffix(std::string_view a, std::string_view b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[a.size() - 1 - n] == b[b.size() - 1 - n])
    ++n;
  return a.substr(a.size() - n);
}

std::string_view spaces_before(std::string_view text) {
  return text.substr(0, text.size() - without_call_spaces(std::string(text) + "x").size() + 1);
}

// The text between the ends of `before` and the beginning of `behind`, from `at` on, which becomes
// the place behind `behind`.
std::optional<std::string_view> take_to(std::string_view text, std::size_t& at,
                                        std::string_view behind) {
  const std::size_t found = text.find(behind, at);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view out = text.substr(at, found - at);
  at = found + behind.size();
  return out;
}

class Learner {
 public:
  Learner(std::string one, std::string two) : one_(std::move(one)), two_(std::move(two)) {}

  std::unique_ptr<const LearnedFormat> learn() {
    out_->format.name = "learned";
    if (!learn_json() && !learn_tags()) return nullptr;
    find_tokens();
    if (!reads_back()) return nullptr;
    return std::move(out_);
  }

 private:
  std::string_view keep(std::string_view text) {
    out_->texts.push_back(std::make_unique<const std::string>(text));
    return *out_->texts.back();
  }

  // The arguments stand there as JSON.
  bool learn_json() {
    ToolFormat& f = out_->format;
    for (const std::string_view form : {to_json(JsonValue(arguments())), compact()}) {
      std::size_t at = 0;
      const auto head = take_to(two_, at, kFirst), between = take_to(two_, at, form);
      const auto middle = take_to(two_, at, kSecond), again = take_to(two_, at, form);
      if (!head || !between || !middle || !again || *between != *again) continue;
      const std::string_view tail = std::string_view(two_).substr(at);
      if (head->ends_with("\"") && between->starts_with("\"")) return learn_objects(*head, tail);
      f.body = ToolFormat::Body::kName;
      f.behind_name = keep(*between);
      f.close = keep(without_call_spaces(common_prefix(*middle, tail)));
      const std::string_view open = middle->substr(common_prefix(*middle, tail).size());
      f.between = keep(spaces_before(open));
      f.open = keep(without_call_spaces(open));
      f.before_all = keep(without_call_spaces(head->substr(
          0, head->size() - std::min(head->size(), without_call_spaces(open).size()))));
      f.sections[0] = f.before_all;
      return !f.open.empty() && !f.behind_name.empty() &&
             head->ends_with(without_call_spaces(open));
    }
    return false;
  }

  static std::string compact() {
    return cat("{\"", kMadeTextKey, "\":\"", kMadeText, "\",\"", kMadeNumberKey, "\":", kMadeNumber,
               "}");
  }

  // {"name": "f", "arguments": {…}}: what comes before the brace, and behind the last one.
  bool learn_objects(std::string_view head, std::string_view tail) {
    ToolFormat& f = out_->format;
    const std::size_t brace = head.rfind('{'), end = tail.find('}');
    if (brace == std::string_view::npos || end == std::string_view::npos) return false;
    const std::string_view keys = head.substr(brace);
    f.name_key = keys.find("tool_name") != std::string_view::npos ? "tool_name" : "name";
    f.arguments_key = two_.find("\"parameters\"") != std::string::npos ? "parameters" : "arguments";
    std::string_view open = without_call_spaces(head.substr(0, brace)),
                     close = tail.substr(end + 1);
    f.has_list = open.ends_with('[') && without_call_spaces(close).starts_with(']');
    if (f.has_list) {
      open = without_call_spaces(open.substr(0, open.size() - 1));
      close = without_call_spaces(close).substr(1);
    }
    const std::size_t last = close.find("<wickend>");
    f.open = keep(open);
    f.close = keep(without_call_spaces(closing_of(close.substr(0, last))));
    f.space = f.between = f.has_list ? "" : keep("\n");
    return !f.open.empty();
  }

  // Behind calls the template may write its marker of a turn's end, which is no part of them.
  static std::string_view closing_of(std::string_view text) {
    text = without_call_spaces(text);
    const std::size_t end = text.find_first_of(">]");
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
  }

  // Each parameter between tags.
  bool learn_tags() {
    ToolFormat& f = out_->format;
    std::size_t at = 0;
    const auto head = take_to(two_, at, kFirst), begin = take_to(two_, at, kMadeTextKey);
    const auto open_text = take_to(two_, at, kMadeText), next = take_to(two_, at, kMadeNumberKey);
    const auto open_number = take_to(two_, at, kMadeNumber), middle = take_to(two_, at, kSecond);
    if (!middle || !head || !begin || !open_text || !next || !open_number) return false;
    for (const std::string_view word : {kMadeTextKey, kMadeText, kMadeNumberKey, kMadeNumber})
      if (!take_to(two_, at, word)) return false;
    const std::string_view tail = std::string_view(two_).substr(at);
    TagStyle& t = f.tags;
    f.body = ToolFormat::Body::kTags;
    t.before_key = keep(without_call_spaces(tag_start(common_suffix(*begin, *next))));
    if (t.before_key.empty()) return false;
    t.has_lines = open_text->ends_with('\n') && next->starts_with('\n');
    const std::string_view value_end = without_call_spaces(
        next->substr(0, next->size() - tag_start(common_suffix(*begin, *next)).size()));
    t.value_end = keep(value_end);
    t.name_end = keep(without_call_spaces(begin->substr(0, begin->rfind(t.before_key))));
    if (*open_text == *open_number) {
      t.key_end = keep(without_call_spaces(*open_text));
    } else {
      const std::string_view same = common_prefix(*open_text, *open_number);
      const std::string_view open = common_suffix(*open_text, *open_number);
      const std::size_t quote = same.find('"');
      if (quote == std::string_view::npos) return false;
      t.key_end = keep(same.substr(0, quote + 1));
      t.value_open = keep(without_call_spaces(open.substr(open.find_last_of("\"") + 1)));
      t.text_mark = keep(mark_of(*open_text, t));
      t.json_mark = keep(mark_of(*open_number, t));
    }
    const std::string_view ends = whole_tags(common_prefix(*middle, tail));
    const std::size_t behind = ends.find(value_end);
    if (behind == std::string_view::npos) return false;
    t.call_end = keep(without_call_spaces(ends.substr(behind + value_end.size())));
    const std::string_view open = without_call_spaces(middle->substr(ends.size()));
    f.between = keep("\n");
    f.open = keep(open);
    const bool has_open = !open.empty() && head->ends_with(open);
    f.before_all =
        keep(has_open ? without_call_spaces(head->substr(0, head->size() - open.size())) : "");
    f.sections[0] = f.before_all;
    const std::string_view last =
        closing_of(tail.substr(0, tail.find("<wickend>")).substr(ends.size()));
    if (last.starts_with("</")) f.behind_all = f.sections[1] = keep(last);
    return has_open && !t.call_end.empty() && !t.value_end.empty() && !t.key_end.empty();
  }

  // Without the beginning of a tag at its end.
  static std::string_view whole_tags(std::string_view text) {
    const std::size_t at = text.rfind('<');
    const bool is_open =
        at != std::string_view::npos && text.find('>', at) == std::string_view::npos;
    return is_open ? text.substr(0, at) : text;
  }

  // From the sign that begins a tag.
  static std::string_view tag_start(std::string_view text) {
    const std::size_t at = text.rfind('<');
    return at == std::string_view::npos ? text : text.substr(at);
  }

  static std::string_view mark_of(std::string_view text, const TagStyle& t) {
    text.remove_prefix(std::min(text.size(), t.key_end.size()));
    return text.substr(0, text.size() - std::min(text.size(), t.value_open.size()));
  }

  // <…> in the texts of a call may be control tokens.
  void find_tokens() {
    ToolFormat& f = out_->format;
    std::size_t n = 0;
    const std::string_view texts[] = {f.open,          f.close,           f.behind_name,
                                      f.before_all,    f.tags.name_end,   f.tags.before_key,
                                      f.tags.key_end,  f.tags.value_open, f.tags.value_end,
                                      f.tags.call_end, f.behind_all};
    for (std::string_view text : texts) {
      for (std::size_t at = 0; (at = text.find('<', at)) != std::string_view::npos;) {
        const std::size_t end = text.find('>', at);
        if (end == std::string_view::npos || n == std::size(f.tokens)) break;
        const std::string_view token = text.substr(at, end + 1 - at);
        if (std::find(std::begin(f.tokens), std::end(f.tokens), token) == std::end(f.tokens))
          f.tokens[n++] = token;
        at = end;
      }
    }
  }

  bool reads_back() const {
    for (const auto& [text, n] :
         {std::pair<const std::string*, std::size_t>{&one_, 1}, {&two_, 2}}) {
      ToolCallSplit split(out_->format, {{std::string(kFirst), {}}, {std::string(kSecond), {}}});
      std::vector<ToolPiece> pieces;
      split.push(std::string_view(*text).substr(0, text->find("<wickend>")), pieces);
      split.finish(pieces);
      std::vector<std::string> names, calls;
      for (const ToolPiece& piece : pieces) {
        if (piece.kind == ToolPiece::Kind::kCall) names.push_back(piece.text);
        if (piece.kind == ToolPiece::Kind::kArguments) calls.push_back(piece.text);
      }
      if (names.size() != n || calls.size() != n || names[0] != kFirst) return false;
      for (const std::string& one : calls) {
        const auto read = parse_json(one);
        if (!read || to_json(*read) != to_json(JsonValue(arguments()))) return false;
      }
    }
    return true;
  }

  std::string one_, two_;  // renders of one call and of two, behind what comes before any
  std::unique_ptr<LearnedFormat> out_ = std::make_unique<LearnedFormat>();
};

}  // namespace

std::unique_ptr<const LearnedFormat> learn_tool_format(const ChatTemplate& tmpl) {
  const auto plain = rendered(tmpl, kSaid, {});
  const auto one = rendered(tmpl, "", {call("wickcall1", kFirst)});
  const auto two = rendered(tmpl, "", {call("wickcall1", kFirst), call("wickcall2", kSecond)});
  if (!plain || !one || !two) return nullptr;
  const std::size_t n = common_prefix(common_prefix(*plain, *one), *two).size();
  return Learner(one->substr(n), two->substr(n)).learn();
}

}  // namespace wick
