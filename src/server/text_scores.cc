#include "server/text_scores.h"

#include <algorithm>
#include <string>

#include "base/hex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "server/openai_parts.h"

namespace wick::server {

namespace {

std::string token_text(const std::string& bytes) {
  if (repair_utf8(bytes) == bytes) return bytes;
  std::string out = "bytes:";
  for (const char c : bytes) {
    out += "\\x";
    append_hex(out, static_cast<unsigned char>(c), 2);
  }
  return out;
}

void write_top(JsonOut& json, const std::vector<TextScore>& tokens) {
  json.key("top_logprobs").array();
  for (const TextScore& one : tokens) {
    if (!one.is_told) {
      json.null();
      continue;
    }
    json.object();
    std::vector<std::string> seen;
    for (const TokenLogprob& other : one.token.top_logprobs) {
      std::string text = token_text(other.bytes);
      if (std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
      json.field(text, told_logprob(other.logprob));
      seen.push_back(std::move(text));
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::size_t write_text_scores(JsonOut& json, const std::vector<TextScore>& tokens,
                              std::size_t offset) {
  json.object().key("tokens").array();
  for (const TextScore& one : tokens)
    json.text(token_text(one.token.bytes));
  json.end_array().key("token_logprobs").array();
  for (const TextScore& one : tokens) {
    if (one.is_told) {
      json.number(told_logprob(one.token.logprob));
    } else {
      json.null();
    }
  }
  json.end_array();
  write_top(json, tokens);
  json.key("text_offset").array();
  for (const TextScore& one : tokens) {
    json.number(std::uint64_t{offset});
    offset += count_characters(one.token.bytes);
  }
  json.end_array().end_object();
  return offset;
}

}  // namespace wick::server
