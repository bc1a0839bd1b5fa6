// The configuration of a remote provider, and the known kinds of providers. Plain data; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "remote/secret.h"
#include "remote/sent_fields.h"

namespace wick::remote {

struct Dialect;

// What a service does differently from others of its dialect: one row of kinds_data.cc each.
struct Kind {
  std::string_view name;
  const Dialect* dialect = nullptr;
  std::string_view url = {};                   // "" = must be configured
  std::string_view variable = {};              // of the environment, with the key; "" = needs none
  std::string_view max_tokens = "max_tokens";  // the field's name
  SentFields fields = {};                      // that it takes besides those of its dialect
  bool has_structured_outputs = false;         // takes regex, choice, grammar, structural_tag
  bool keeps_reasoning = false;                // takes reasoning_content of earlier answers
  bool has_completions = false;                // completes a text without chat template
  bool has_stream_usage = true;                // takes stream_options
};

std::span<const Kind> kinds();
// kInvalid, id "no_such_kind", with the names there are.
Result<const Kind*> find_kind(std::string_view name);

struct Endpoint {
  std::string name = {};  // the provider's
  const Kind* kind = nullptr;
  std::string url = {};          // as the kind's: "https://api.openai.com/v1"
  Secret key = {};               // goes to the origin of `url` alone
  std::string no_key = {};       // why there is none, though one is needed: requests are refused
  std::string api_version = {};  // Azure's
  std::vector<std::string> models = {};  // those it may be asked for; empty: any
  std::string unix_socket = {};          // of a server on this machine, instead of the URL's host
  bool is_private = false;  // names of `url` may lead to private addresses, and to no others
  std::int64_t connect_ms = 5000, first_token_ms = 120'000, idle_ms = 30'000, total_ms = 600'000;
  int max_tokens = 0;  // of an answer whose request has no limit; 0 = the provider's
};

// Checks the URL and fills in what the kind knows. kInvalid, ids "bad_url", "plain_http" (http to
// a public address), "no_api_version".
Result<Endpoint> complete(Endpoint endpoint);
// Which addresses its connections may have.
AddressKind address_kind(const Endpoint& endpoint);

}  // namespace wick::remote
