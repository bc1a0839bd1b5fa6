// One answer of a remote API: the thread of the transfers decodes frames into a queue of events,
// the reader takes them. A reader that is too slow pauses its connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/transfers.h"
#include "provider/answer.h"
#include "remote/dialect.h"

namespace wick::remote {

struct AnswerSetup {
  std::shared_ptr<const Endpoint> endpoint;
  std::string model = {};
  TransferRequest request = {};
  bool has_time_limit = false;  // request.total_ms is the client's
  std::vector<std::string> ignored = {};  // AnswerReport::ignored
};

// The headers of every request to `endpoint`, its key among them.
std::vector<std::string> request_headers(const Endpoint& endpoint);

Result<std::unique_ptr<Answer>> start_answer(AnswerSetup&& setup, Transfers& transfers,
                                             std::shared_ptr<Wake> wake);

// A whole answer, waited for: JSON of at most kMaxWholeBytes with a status of 200. `report` gets
// the status, and why it failed; kNone if it was cancelled.
Result<JsonValue> fetch_json(const Endpoint& endpoint, TransferRequest request,
                             Transfers& transfers, const std::stop_token& stop,
                             AnswerReport& report);

}  // namespace wick::remote
