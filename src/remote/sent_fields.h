// Which settings of a request an API takes. A dialect has a table of them, a kind has those that
// its service takes in addition. What a request sets and no table has is ignored, and the client is
// told its name (AnswerReport::ignored). Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/json_value.h"
#include "provider/provider.h"

namespace wick::remote {

struct Kind;

enum class NumberForm : std::uint8_t { kReal, kInteger, kSwitch };  // kSwitch: true or false

// A numeric setting, and its field in the API. A value above `max` is sent as `max`, one below
// `min` is not sent; both count as ignored.
struct SentNumber {
  std::string_view setting, field;
  NumberForm form = NumberForm::kReal;
  double min = std::numeric_limits<double>::lowest(), max = std::numeric_limits<double>::max();
};

struct SentFields {
  std::span<const SentNumber> numbers = {};       // add_numbers() writes them
  std::span<const std::string_view> others = {};  // the dialect writes them; names of settings
};

// Settings have the names of the fields of wick's /v1/chat/completions. Besides: "repeat_penalty",
// "reasoning.thinking" and "reasoning.effort" (of several fields), "tools.strict".
bool sends(const Kind& kind, std::string_view setting) noexcept;
void add_numbers(const Kind& kind, const Generation& generation, Object& out);
// Those that the kind takes.
void add_remote_fields(const Kind& kind, const RemoteFields& fields, Object& out);
// What the request sets and the kind does not send.
std::vector<std::string> ignored_settings(const Kind& kind, const Request& request);
// The setting that the kind sends in this field of its API.
std::string setting_of(const Kind& kind, std::string_view field);

}  // namespace wick::remote
