#include "cli/conversation.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/strings.h"

namespace wick {

namespace {

constexpr std::size_t kMaxSessionBytes = 64U << 20;

Value message(std::string_view role, std::string_view content) {
  Object object;
  object["role"] = role;
  object["content"] = content;
  return Value(std::move(object));
}

std::string field(const Value& value, std::string_view key) {
  const Object* object = value.object();
  const Value* found = object == nullptr ? nullptr : object->find(key);
  const std::string* text = found == nullptr ? nullptr : found->string();
  return text == nullptr ? std::string() : *text;
}

std::string role_of(const Value& value) {
  return field(value, "role");
}

Error file_error(std::string_view path, std::string_view what) {
  return {
      .code = ErrorCode::kIo, .id = "session_file", .message = cat(printable(path), ": ", what)};
}

}  // namespace

ChatRequest Conversation::request() const {
  ChatRequest request;
  request.input["messages"] = messages_;
  request.settings = settings_;
  return request;
}

void Conversation::say(std::string_view text) {
  messages_.push_back(message("user", text));
}

void Conversation::answer(std::string_view text) {
  messages_.push_back(message("assistant", text));
}

void Conversation::set_system(std::string_view text) {
  std::erase_if(messages_, [](const Value& m) { return role_of(m) == "system"; });
  if (!text.empty()) messages_.insert(messages_.begin(), message("system", text));
}

void Conversation::reset() {
  std::erase_if(messages_, [](const Value& m) { return role_of(m) != "system"; });
}

bool Conversation::undo() {
  drop_answer();
  if (messages_.empty() || role_of(messages_.back()) != "user") return false;
  messages_.pop_back();
  return true;
}

bool Conversation::drop_answer() {
  if (messages_.empty() || role_of(messages_.back()) != "assistant") return false;
  messages_.pop_back();
  return true;
}

std::string Conversation::last_question() const {
  const auto last = std::find_if(messages_.rbegin(), messages_.rend(),
                                 [](const Value& m) { return role_of(m) == "user"; });
  return last == messages_.rend() ? std::string() : field(*last, "content");
}

Result<void> Conversation::set(std::string_view key, std::string_view text) {
  const auto is_key = [&](const auto& pair) { return pair.first == key; };
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_number",
                 .message = cat("'", printable(text), "' is not a number")};
  }
  if (key == "max_tokens") {
    if (!(value >= 0 && value <= 1 << 24)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_max_tokens",
                   .message = cat("max_tokens is ", value, ", allowed are 0 to ", 1 << 24)};
    }
    settings_.max_tokens = static_cast<int>(value);
    std::erase_if(settings_.origins, is_key);
    return {};
  }
  const auto rows = sampler_params();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const SamplerParam& r) { return r.key == key; });
  if (row == rows.end() && key != "seed") {
    std::string known = "seed, max_tokens";
    for (const SamplerParam& r : rows)
      known += cat(", ", r.key);
    return Error{.code = ErrorCode::kInvalid,
                 .id = "unknown_parameter",
                 .message = cat("'", printable(key), "' cannot be set"),
                 .hint = cat("settings are ", known)};
  }
  if (row != rows.end() && !(value >= row->min && value <= row->max)) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "sampling_out_of_range",
                 .message = cat(key, " is ", value, ", allowed are ", row->min, " to ", row->max)};
  }
  std::erase_if(settings_.sampling, is_key);
  std::erase_if(settings_.origins, is_key);
  settings_.sampling.emplace_back(key, value);
  return {};
}

Result<void> Conversation::save(const std::string& path) const {
  Object root;
  root["messages"] = messages_;
  std::ofstream out(path, std::ios::binary);
  out << to_json(Value(std::move(root))) << "\n";
  out.close();
  if (!out) return file_error(path, "cannot be written");
  return {};
}

Result<void> Conversation::load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_error(path, "cannot be read");
  std::string text;
  text.resize(kMaxSessionBytes + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxSessionBytes)
    return file_error(path, cat("is larger than ", human_bytes(kMaxSessionBytes)));
  WICK_TRY(const Value root, parse_json(text));
  const Object* object = root.object();
  const Value* messages = object == nullptr ? nullptr : object->find("messages");
  if (messages == nullptr || messages->array() == nullptr)
    return file_error(path, "holds no array \"messages\"");
  return set_messages(*messages->array(), path);
}

Result<void> Conversation::set_messages(const Array& messages, std::string_view path) {
  for (const Value& m : messages) {
    const std::string role = role_of(m);
    if (role != "system" && role != "user" && role != "assistant") {
      return file_error(path, cat("has a message with the role '", printable(role), "'"));
    }
  }
  messages_ = messages;
  return {};
}

}  // namespace wick
