#include "server/admission.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <list>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace wick::server {

namespace {

constexpr double kNewest = 1.0 / 16;  // weight of an answer in the mean
constexpr double kLeastMs = 1e-3;
constexpr std::int64_t kPressureNs = 1'000'000'000;
constexpr std::size_t kMaxModels = 1024;  // beyond: those that nothing waits for are forgotten

// How long an answer is computed: means of the latest ones, by how many were computed with it, for
// a step of a full batch takes longer than one of a single sequence. What makes the answers of one
// batch size longer or shorter does so to all.
class ComputeTimes {
 public:
  void add(double beside, double ms) noexcept {
    ms = std::max(ms, kLeastMs);
    Mean& mean = means_[level_of(beside)];
    if (mean.n == 0) {
      const double below = mean_ms(beside);
      mean = below > 0 ? Mean{below, 1} : Mean{ms, 0};  // a first answer
    }
    const double weight = std::max(kNewest, 1.0 / ++mean.n);
    const double change = 1 + (ms / mean.ms - 1) * weight;
    mean.ms *= change;
    if (weight > kNewest) return;  // too few yet to say something of the others
    for (Mean& other : means_) {
      if (&other != &mean) other.ms *= change;
    }
  }

  // Beside `n`, or as near below as is known; 0: not known.
  double mean_ms(double n) const noexcept {
    std::size_t level = level_of(n);
    while (level > 0 && means_[level].ms == 0)
      --level;
    return means_[level].ms;
  }

 private:
  static std::size_t level_of(double n) noexcept {
    const auto whole = static_cast<unsigned>(std::max(1L, std::lround(n)));
    return std::min(kLevels, static_cast<std::size_t>(std::bit_width(whole))) - 1;
  }

  static constexpr std::size_t kLevels = 16;  // 1, 2 to 3, 4 to 7, …

  struct Mean {
    double ms = 0;  // 0: none was yet
    double n = 0;   // answers in it
  };

  std::array<Mean, kLevels> means_ = {};
};

// By which factor waiting takes longer than was estimated, in all but one of a hundred cases: a
// quantile that follows what is seen. Each case above it raises it by as much as 99 below lower it.
class LateFactor {
 public:
  double value() const noexcept { return value_; }

  void add(double estimate_ms, double ms) noexcept {
    value_ *= ms > value_ * estimate_ms ? kRise : 1 / std::pow(kRise, 1.0 / 99);
    value_ = std::clamp(value_, 1.0, kMost);
  }

 private:
  static constexpr double kRise = 1.2, kMost = 2;

  double value_ = 1;
};

}  // namespace

struct Admission::Place::Model {
  std::mutex mutex;
  Line computed, waiting;  // in the order of arrival, in which the engine takes them
  int slots = 0;
  ComputeTimes times = {};
  LateFactor late = {};
  double slot_ns = 0;  // sum of what all answers were computed, until
  std::int64_t at_ns = 0;

  // Goes forward in time.
  void pass(std::int64_t now_ns) noexcept {
    slot_ns += static_cast<double>(computed.size()) * static_cast<double>(now_ns - at_ns);
    at_ns = now_ns;
  }

  int under_way() const noexcept { return static_cast<int>(computed.size() + waiting.size()); }

  void fill(std::int64_t now_ns) {
    pass(now_ns);
    while (!waiting.empty() && (slots == 0 || static_cast<int>(computed.size()) < slots)) {
      computed.splice(computed.end(), waiting, waiting.begin());
      computed.back() = {.is_computed = true, .begun_ns = now_ns, .slot_ns = slot_ns};
    }
  }

  // How many were computed while `entry` was, itself among them: the mean over its time.
  double beside(const Entry& entry) const noexcept {
    const std::int64_t ns = at_ns - entry.begun_ns;
    return ns > 0 ? (slot_ns - entry.slot_ns) / static_cast<double>(ns) : 1;
  }

  void erase(Line::iterator entry, std::int64_t now_ns) {
    pass(now_ns);
    (entry->is_computed ? computed : waiting).erase(entry);
    fill(now_ns);
  }

  double wait_ms(int n, std::int64_t now_ns) const;
};

// Until the last of `n` new answers is computed. The computed ones end one after another, each a
// mean after its beginning; what has taken longer already needs half a mean more, and the longer
// the later it is. The waiting ones follow in their slots.
double Admission::Place::Model::wait_ms(int n, std::int64_t now_ns) const {
  const double mean = times.mean_ms(slots);
  if (slots == 0 || mean == 0) return 0;
  const int n_free = std::max(0, slots - static_cast<int>(computed.size()));
  const int behind = static_cast<int>(waiting.size()) + n - n_free;  // waits for so many ends
  if (behind <= 0) return 0;
  std::vector<double> free_in;  // of each slot: ms
  for (const Entry& entry : computed) {
    const double age = static_cast<double>(now_ns - entry.begun_ns) * 1e-6;
    free_in.push_back(age < mean ? mean - age : age - mean / 2);
  }
  free_in.insert(free_in.end(), static_cast<std::size_t>(n_free), mean);
  std::sort(free_in.begin(), free_in.end());
  const auto at = static_cast<std::size_t>(behind - 1);
  return free_in[at % free_in.size()] + static_cast<double>(at / free_in.size()) * mean;
}

Admission::Place::Place(std::shared_ptr<Model> model, const Clock& clock)
    : model_(std::move(model)), clock_(clock) {}

Admission::Place::~Place() {
  if (entries_.empty()) return;
  const std::lock_guard lock(model_->mutex);
  for (const Line::iterator entry : entries_)
    model_->erase(entry, clock_.now_ns());
}

void Admission::Place::end(const Usage& usage) {
  auto& all = entries_;
  if (all.empty()) return;
  const std::lock_guard lock(model_->mutex);
  const auto computed =
      std::find_if(all.begin(), all.end(), [](Line::iterator entry) { return entry->is_computed; });
  const auto at = computed == all.end() ? all.begin() : computed;
  const Line::iterator ended = *at;
  all.erase(at);
  const std::int64_t now_ns = clock_.now_ns();
  model_->pass(now_ns);
  if (usage.generated_tokens > 0) {
    model_->times.add(model_->beside(*ended), usage.prompt_ms + usage.generate_ms);
  }
  if (all.empty() && wait_ms_ > 0) model_->late.add(wait_ms_, usage.queue_ms);
  model_->erase(ended, now_ns);
}

std::shared_ptr<Admission::Place::Model> Admission::model_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (models_.size() >= kMaxModels && !models_.contains(name))
    std::erase_if(models_, [](const auto& one) { return one.second.use_count() == 1; });
  auto& found = models_[name];
  if (found == nullptr) found = std::make_shared<Place::Model>();
  return found;
}

// How long `n` new answers would wait; under the model's mutex.
Result<double> Admission::wait_ms(Place::Model& model, int n, const AdmissionRules& rules,
                                  std::int64_t now_ns) {
  model.slots = rules.slots;
  model.fill(now_ns);
  const double ms = model.wait_ms(n, now_ns) * model.late.value();
  if (rules.max_wait_ms == 0 || ms <= static_cast<double>(rules.max_wait_ms)) return ms;
  refused_ns_.store(now_ns, std::memory_order_relaxed);
  return Error{.code = ErrorCode::kUnavailable,
               .id = "overloaded",
               .message = cat(model.under_way(), " answers are under way, and this one would ",
                              "wait for about ", static_cast<std::int64_t>(ms), " ms, allowed are ",
                              rules.max_wait_ms),
               .hint = "try again later"};
}

Result<std::unique_ptr<Admission::Place>> Admission::enter(const std::string& model, int n,
                                                           const AdmissionRules& rules,
                                                           const Clock& clock) {
  const auto entry = model_of(model);
  std::unique_ptr<Place> place(new Place(entry, clock));
  const std::lock_guard lock(entry->mutex);  // released before `place` gives back what it has
  const std::int64_t now_ns = clock.now_ns();
  WICK_TRY(const double wait, wait_ms(*entry, n, rules, now_ns));
  auto& all = place->entries_;
  place->wait_ms_ = wait / entry->late.value();
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    all.push_back(entry->waiting.insert(entry->waiting.end(), Place::Entry{}));
  entry->fill(now_ns);
  return place;
}

Result<void> Admission::check(const std::string& model, int n, const AdmissionRules& rules,
                              const Clock& clock) {
  const auto entry = model_of(model);
  const std::lock_guard lock(entry->mutex);
  WICK_TRY([[maybe_unused]] const double wait, wait_ms(*entry, n, rules, clock.now_ns()));
  return {};
}

bool Admission::refuses(const Clock& clock) const noexcept {
  const std::int64_t at_ns = refused_ns_.load(std::memory_order_relaxed);
  return at_ns != kNever && clock.now_ns() - at_ns < kPressureNs;
}

}  // namespace wick::server
