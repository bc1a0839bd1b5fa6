// Handlers that take long, such as embeddings or the download of a model: they run on a separate
// thread, so the transport's workers stay free, and are cancelled when the client disconnects.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

// What a task has of its client. Any thread, while the task runs.
class TaskClient {
 public:
  virtual ~TaskClient() = default;
  virtual std::stop_token gone() const = 0;
  // A piece of the answer before its end; the first one begins it as lines of JSON. Left out while
  // the client does not read.
  virtual void tell(std::string_view piece) = 0;
};

using Task = std::function<http::Response(TaskClient& client)>;

// The answer is what `task` returns, behind what it told; then its body alone is used. It must own
// what it needs: its thread may outlive the client.
http::Reply run_task(const SharedContext& context, Task task, const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
