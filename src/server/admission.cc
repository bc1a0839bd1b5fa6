#include "server/admission.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace wick::server {

namespace {

constexpr double kNewest = 1.0 / 16;      // weight of an answer in the mean
constexpr std::size_t kMaxModels = 1024;  // beyond: those that nothing waits for are forgotten

}  // namespace

struct Admission::Place::Model {
  std::mutex mutex;
  int under_way = 0;
  double mean_ms = 0;  // that an answer is computed; 0: none was yet
};

Admission::Place::Place(std::shared_ptr<Model> model, int n) : model_(std::move(model)), n_(n) {}

Admission::Place::~Place() {
  const std::lock_guard lock(model_->mutex);
  model_->under_way -= n_;
}

void Admission::Place::end(const Usage& usage) {
  const double ms = usage.prompt_ms + usage.generate_ms;
  const std::lock_guard lock(model_->mutex);
  if (n_ > 0) {
    --n_;
    --model_->under_way;
  }
  if (usage.generated_tokens == 0) return;
  double& mean = model_->mean_ms;
  mean = mean == 0 ? ms : mean + (ms - mean) * kNewest;
}

Result<std::unique_ptr<Admission::Place>> Admission::enter(const std::string& model, int n,
                                                           const AdmissionRules& rules) {
  std::shared_ptr<Place::Model> entry;
  {
    const std::lock_guard lock(mutex_);
    if (models_.size() >= kMaxModels && !models_.contains(model))
      std::erase_if(models_, [](const auto& one) { return one.second.use_count() == 1; });
    auto& found = models_[model];
    if (found == nullptr) found = std::make_shared<Place::Model>();
    entry = found;
  }
  {
    const std::lock_guard lock(entry->mutex);
    const int before = std::max(0, entry->under_way + n - rules.slots);
    const double wait_ms = rules.slots == 0 ? 0 : before * entry->mean_ms / rules.slots;
    if (rules.max_wait_ms > 0 && wait_ms > static_cast<double>(rules.max_wait_ms)) {
      return Error{.code = ErrorCode::kUnavailable,
                   .id = "overloaded",
                   .message = cat(entry->under_way, " answers are under way, and this one would ",
                                  "wait for about ", static_cast<std::int64_t>(wait_ms),
                                  " ms, allowed are ", rules.max_wait_ms),
                   .hint = "try again later"};
    }
    entry->under_way += n;
  }
  return std::unique_ptr<Place>(new Place(std::move(entry), n));
}

}  // namespace wick::server
