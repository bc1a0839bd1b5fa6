// Converts a remote API's error (status, body, headers) to a Failure and an Error. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"
#include "net/transfers.h"
#include "provider/answer_report.h"
#include "remote/endpoint.h"
#include "remote/json_view.h"

namespace wick::remote {

struct Refusal {
  Failure failure = Failure::kNone;
  Error error = {};
  int status = 0;  // that of HTTP, or that which an error in a stream means
};

// `body` may be JSON of any shape, or null.
Refusal read_refusal(int status, const JsonValue* body);
// What `frame` of a stream says is wrong; empty if it is no error.
std::optional<Refusal> stream_refusal(Json frame);
// Of what Transfers report.
Refusal transfer_refusal(const Error& error);
Refusal bad_answer(std::string_view what);
// Of a whole body that is something else, such as the page of a proxy.
Refusal no_json(std::string_view content_type);

// In milliseconds from now, of retry-after-ms and Retry-After (seconds or a date); -1 = not told.
std::int64_t retry_after_ms(const TransferHead& head, std::int64_t unix_s);

// `message` without `key`; without its beginning, too, in any case, from 16 characters on.
std::string without_key(std::string_view message, const Secret& key);

}  // namespace wick::remote
