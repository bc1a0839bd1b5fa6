// Admission control: refuses an answer whose estimated queue time exceeds the server's limit, so a
// client learns at once that it should try elsewhere. For each model it records which answers run
// and since when, which wait, how long recent ones took, and by how much the estimate was wrong: 99
// of 100 answers start within the estimate. Any thread.
//
//   WICK_TRY(auto place, admission.enter("smol", 1, {.slots = 16, .max_wait_ms = 5000}));
//   place->end(usage);   // for each answer; the destructor releases the place
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "wick/usage.h"

namespace wick::server {

struct AdmissionRules {
  int slots = 0;                 // answers of a model that are computed at once; 0: not known
  std::int64_t max_wait_ms = 0;  // 0: any
};

class Admission {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  // Of the answers to one request.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void end(const Usage& usage);  // of one of them

   private:
    friend class Admission;
    struct Model;

    struct Entry {
      bool is_computed = false;   // else it waits
      std::int64_t begun_ns = 0;  // of computing
      double slot_ns = 0;         // Model::slot_ns then
    };

    using Line = std::list<Entry>;

    Place(std::shared_ptr<Model> model, const Clock& clock);

    const std::shared_ptr<Model> model_;
    std::vector<Line::iterator> entries_ = {};  // of the answers that have not ended
    double wait_ms_ = 0;                        // as it was estimated
    const Clock& clock_;
  };

  // kUnavailable, id "overloaded". Embeddings and what comes past it wait unseen.
  Result<std::unique_ptr<Place>> enter(const std::string& model, int n, const AdmissionRules& rules,
                                       const Clock& clock = Clock::machine());

  // The error of enter() as it stands, if any; takes no place.
  Result<void> check(const std::string& model, int n, const AdmissionRules& rules,
                     const Clock& clock = Clock::machine());

  // Whether something was refused within the last second.
  bool refuses(const Clock& clock = Clock::machine()) const noexcept;

 private:
  std::shared_ptr<Place::Model> model_of(const std::string& name);
  Result<double> wait_ms(Place::Model& model, int n, const AdmissionRules& rules,
                         std::int64_t now_ns);

  std::atomic<std::int64_t> refused_ns_ = kNever;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Place::Model>> models_;
};

}  // namespace wick::server
