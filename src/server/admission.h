// Whether an answer may begin: not where those before it would hold it up for longer than the
// server allows. Better a refusal at once than an answer too late. For each model it counts the
// answers under way, and how long they take once they are computed: the mean of the latest ones.
// Any thread.
//
//   WICK_TRY(auto place, admission.enter("smol", 1, {.slots = 16, .max_wait_ms = 5000}));
//   place->end(usage);   // of each answer; its destructor gives the place back
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "wick/usage.h"

namespace wick::server {

struct AdmissionRules {
  int slots = 0;                 // answers of a model that are computed at once; 0: not known
  std::int64_t max_wait_ms = 0;  // 0: any
};

class Admission {
 public:
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
    Place(std::shared_ptr<Model> model, int n);

    std::shared_ptr<Model> model_;
    int n_;
  };

  // kUnavailable, id "overloaded". Embeddings and what comes past it wait unseen.
  Result<std::unique_ptr<Place>> enter(const std::string& model, int n,
                                       const AdmissionRules& rules);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Place::Model>> models_;
};

}  // namespace wick::server
