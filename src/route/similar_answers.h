// Which answers of the response cache were given to a similar question (a semantic cache): all of
// the two requests is the same but the text of the last message, and the embeddings of these texts
// are close. Such an answer is approximate, so this is opt-in. Bounded by bytes, the oldest goes
// first. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "provider/provider.h"

namespace wick::route {

struct Question {
  std::string context = {};  // request_key() without the text: who asks, what before, parameters
  std::string text = {};     // of the last message, a user's
};

// None for requests with tools, structured output or logprobs, and for those that do not end with
// one text of a user: their answers must fit exactly.
std::optional<Question> question_of(const Request& request);

class SimilarAnswers {
 public:
  struct Found {
    std::string key = {};  // of the response cache
    double similarity = 0;
  };

  SimilarAnswers(std::size_t max_bytes, double threshold)
      : max_bytes_(max_bytes), threshold_(threshold) {}

  // The most similar one within the threshold.
  std::optional<Found> find(const std::string& context, std::span<const float> vector) const;
  void add(const std::string& context, std::span<const float> vector, std::string key);

  std::size_t bytes() const;

 private:
  struct Entry {
    std::string context = {}, key = {};
    std::vector<float> vector = {};  // of length 1

    std::size_t bytes() const noexcept;
  };

  using Entries = std::list<Entry>;

  void drop_oldest();

  const std::size_t max_bytes_;
  const double threshold_;
  mutable std::mutex mutex_;
  Entries entries_ = {};  // the newest last
  std::unordered_map<std::string_view, std::vector<Entries::iterator>> by_context_ = {};
  std::size_t bytes_ = 0;
};

}  // namespace wick::route
