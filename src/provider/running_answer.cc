#include "provider/running_answer.h"

#include <atomic>

#include "base/ring.h"

namespace wick {

namespace {
constexpr std::size_t kRingBytes = 1 << 16;
}

// The last delta's facts are written before the ring is closed and read after it, which orders
// them.
class RunningAnswer::Sink final : public DeltaSink {
 public:
  bool offer(const TextDelta& delta) noexcept override {
    if (!delta.text.empty() && !ring.write(delta.text)) return false;
    if (delta.stop == StopReason::kNone) return true;
    done = {.stop = delta.stop, .usage = delta.usage};
    if (delta.error != nullptr) error = *delta.error;  // cold: the request has failed
    ring.close();
    return true;
  }

  bool is_closed() const noexcept override { return is_dropped.load(std::memory_order_relaxed); }

  ByteRing ring{kRingBytes};
  std::atomic<bool> is_dropped = false;
  DoneEvent done = {};
  Error error = {};
};

RunningAnswer::RunningAnswer(Engine& engine, std::shared_ptr<Sink> sink) noexcept
    : engine_(&engine), sink_(std::move(sink)) {}

RunningAnswer::~RunningAnswer() {
  sink_->is_dropped.store(true, std::memory_order_relaxed);
  if (!is_over_) cancel();  // the sink is shared: the engine may still write into it
}

Result<std::unique_ptr<RunningAnswer>> RunningAnswer::begin(Engine& engine,
                                                            GenerateRequest request) {
  auto sink = std::make_shared<Sink>();
  request.sink = sink;
  WICK_TRY(const RequestId id, engine.submit(std::move(request)));
  std::unique_ptr<RunningAnswer> answer(new RunningAnswer(engine, std::move(sink)));
  answer->id_ = id;
  return answer;
}

bool RunningAnswer::read(std::string& out) {
  if (is_over_) return false;
  const std::size_t before = out.size();
  while (out.size() == before) {
    sink_->ring.wait();
    if (!sink_->ring.read(out)) {
      is_over_ = true;
      return false;
    }
  }
  return true;
}

void RunningAnswer::cancel() noexcept {
  engine_->cancel(id_);
}

DoneEvent RunningAnswer::done() const {
  return sink_->done;
}

const Error& RunningAnswer::error() const {
  return sink_->error;
}

}  // namespace wick
