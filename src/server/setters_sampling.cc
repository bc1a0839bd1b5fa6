#include <charconv>
#include <limits>

#include "server/errors.h"
#include "server/limits.h"
#include "server/setters.h"

namespace wick::server {

void forget_origin(Generation& generation, std::string_view key) {
  std::erase_if(generation.origins, [&](const auto& origin) { return origin.first == key; });
}

namespace {

// Over the server's own default, whoever set that.
void set_parameter(Generation& g, std::string_view key, double value) {
  forget_origin(g, key);

  struct Named {
    std::string_view key;
    std::optional<double> Generation::*place;
  };

  constexpr Named kNamed[] = {{"temperature", &Generation::temperature},
                              {"top_p", &Generation::top_p},
                              {"min_p", &Generation::min_p},
                              {"repeat_penalty", &Generation::repeat_penalty}};
  for (const Named& named : kNamed) {
    if (named.key == key) return g.*named.place = value, void();
  }
  if (key == "top_k") return g.top_k = static_cast<int>(value), void();
  g.more.emplace_back(key, value);
}

}  // namespace

// -1 stands for "off" where llama.cpp and vLLM write it so and wick's sampler has 0.
SetResult set_sampler(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const double number = *real(value);
  const bool is_off = number < 0 && (field.key == "top_k" || field.key == "top_n_sigma");
  if (number < 0 && number != -1 && field.key == "top_n_sigma") {
    return bad_field(field.name, "is ", seen(value), ", allowed are 0 to 100, and -1 for off");
  }
  set_parameter(parsed.request.generation, field.key, is_off ? 0 : number);
  return {};
}

SetResult set_sampler_switch(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  set_parameter(parsed.request.generation, field.key, *value.boolean() ? 1 : 0);
  return {};
}

// -1 is llama.cpp's word for a random one; other negative numbers are their 64 bits.
SetResult set_seed(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const auto seed = whole(value);
  if (!seed) return bad_field(field.name, "is ", seen(value), ", allowed are -2^63 to 2^63 - 1");
  forget_origin(parsed.request.generation, "seed");
  parsed.request.generation.seed.reset();
  if (*seed != -1) parsed.request.generation.seed = static_cast<std::uint64_t>(*seed);
  return {};
}

SetResult set_samplers(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  forget_origin(parsed.request.generation, "samplers");
  std::string& order = parsed.request.generation.samplers;
  if (const std::string* const text = value.string()) {
    order = *text;
    return {};
  }
  order.clear();
  if (value.array() == nullptr) {
    return bad_field(field.name, "is ", seen(value), ", wanted is a string or an array");
  }
  for (const JsonValue& one : *value.array()) {
    if (one.string() == nullptr) return bad_field(field.name, "has an item that is no string");
    order += (order.empty() ? "" : ";") + *one.string();
  }
  return {};
}

SetResult set_breakers(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  std::vector<std::string> breakers;
  for (const JsonValue& one : *value.array()) {
    if (one.string() == nullptr) return bad_field(field.name, "has an item that is no string");
    breakers.push_back(*one.string());
  }
  parsed.request.generation.dry_sequence_breakers = std::move(breakers);
  return {};
}

namespace {

Result<double> bias_of(const JsonValue& value, const Field& field) {
  if (value.boolean() != nullptr && !*value.boolean())
    return -std::numeric_limits<double>::infinity();
  const auto bias = real(value);
  if (bias && *bias >= -100 && *bias <= 100) return *bias;
  return bad_field(field.name, "has the bias ", seen(value),
                   ", allowed are -100 to 100, and false");
}

// {"15043": -100}
SetResult bias_by_id(const Object& object, const Field& field, std::vector<TokenBias>& out) {
  for (const auto& [key, value] : object) {
    TokenId id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0) {
      return bad_field(field.name, "has the key '", printable(key, 40),
                       "', wanted is a token's id");
    }
    WICK_TRY(const double bias, bias_of(value, field));
    out.push_back({.id = id, .bias = bias});
  }
  return {};
}

// [[15043, -1.5], [" Hello", false]], as llama.cpp has it.
SetResult bias_by_pair(const Array& array, const Field& field, std::vector<TokenBias>& out) {
  for (const JsonValue& pair : array) {
    if (pair.array() == nullptr || pair.array()->size() != 2) {
      return bad_field(field.name, "has an item that is no pair of token and bias");
    }
    WICK_TRY(const double bias, bias_of((*pair.array())[1], field));
    const JsonValue& token = (*pair.array())[0];
    const auto id = whole(token);
    if (token.string() != nullptr) {
      out.push_back({.bias = bias, .text = *token.string()});
    } else if (id && *id >= 0 && *id <= std::numeric_limits<TokenId>::max()) {
      out.push_back({.id = static_cast<TokenId>(*id), .bias = bias});
    } else {
      return bad_field(field.name, "has the token ", seen(token), ", wanted is an id or a string");
    }
  }
  return {};
}

}  // namespace

SetResult set_logit_bias(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const Object* const object = value.object();
  const Array* const array = value.array();
  if (object == nullptr && array == nullptr) {
    return bad_field(field.name, "is ", seen(value), ", wanted is an object or an array");
  }
  const std::size_t n = object != nullptr ? object->size() : array->size();
  if (n > kMaxLogitBias) {
    return bad_field(field.name, "has ", n, " entries, allowed are ", kMaxLogitBias);
  }
  std::vector<TokenBias>& out = parsed.request.generation.logit_bias;
  out.clear();
  return object != nullptr ? bias_by_id(*object, field, out) : bias_by_pair(*array, field, out);
}

}  // namespace wick::server
