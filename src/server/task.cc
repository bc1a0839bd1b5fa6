#include "server/task.h"

#include <mutex>
#include <optional>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "server/limits.h"
#include "server/starter.h"

namespace wick::server {

namespace {

// What the thread and the Work share.
class Shared final : public TaskClient {
 public:
  explicit Shared(std::shared_ptr<Wake> wake) : wake_(std::move(wake)) {}

  std::stop_token gone() const override { return gone_.get_token(); }

  void stop() { gone_.request_stop(); }

  void tell(std::string_view piece) override {
    {
      const std::lock_guard lock(mutex_);
      if (pieces_.size() + piece.size() > kStreamPiece) return;
      pieces_ += piece;
    }
    wake_->set();
  }

  void end(http::Response response) {
    {
      const std::lock_guard lock(mutex_);
      response_ = std::move(response);
    }
    wake_->set();
  }

  struct News {
    std::string pieces = {};
    std::optional<http::Response> response = {};
  };

  News take() {
    News news;
    const std::lock_guard lock(mutex_);
    news.pieces.swap(pieces_);
    news.response.swap(response_);
    return news;
  }

 private:
  std::shared_ptr<Wake> wake_;
  std::stop_source gone_;
  std::mutex mutex_;
  std::string pieces_;
  std::optional<http::Response> response_;
};

class TaskWork final : public http::Work {
 public:
  explicit TaskWork(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  ~TaskWork() override { shared_->stop(); }

  State advance(http::Writer& out) override {
    auto [pieces, response] = shared_->take();
    if (!has_begun_ && !pieces.empty()) {
      out.begin({.type = "application/x-ndjson"});
      has_begun_ = true;
    }
    if (!pieces.empty()) out.write(pieces);
    if (!response) return State::kWaits;
    if (!has_begun_) {
      out.whole(*std::move(response));
    } else if (!response->body.empty()) {
      out.write(response->body);
    }
    return State::kDone;
  }

  // The first time it goes on to its end, the second time it ends now.
  void drain() override {
    if (std::exchange(is_stopping_, true)) shared_->stop();
  }

 private:
  std::shared_ptr<Shared> shared_;
  bool has_begun_ = false, is_stopping_ = false;
};

}  // namespace

http::Reply run_task(const SharedContext& context, Task task, const std::shared_ptr<Wake>& wake) {
  const auto shared = std::make_shared<Shared>(wake);
  const auto tasks = context->tasks.lock();
  if (tasks == nullptr) return task(*shared);
  const auto posted = tasks->post([shared, context, task = std::move(task)] {
    auto made = catch_bad_alloc([&]() -> Result<http::Response> { return task(*shared); });
    if (!made) made = error_response(refusal(*context, made.error()));
    shared->end(*std::move(made));
  });
  if (!posted) return error_response(refusal(*context, posted.error()));
  return std::make_unique<TaskWork>(shared);
}

}  // namespace wick::server
