#include "route/similar_answers.h"

#include <algorithm>

#include "base/unit_length.h"
#include "route/request_key.h"

namespace wick::route {

namespace {

constexpr std::size_t kQuestionBytes = 256;   // of lists and maps, about
constexpr std::size_t kMaxInContext = 4'096;  // that one request is compared with

// Of length 1; empty if it has none.
std::vector<float> normalized(std::span<const float> vector) {
  std::vector<float> out(vector.begin(), vector.end());
  if (!scale_to_unit(out)) out.clear();
  return out;
}

}  // namespace

std::optional<Question> question_of(const Request& request) {
  const Generation& generation = request.generation;
  const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt);
  if (messages == nullptr || messages->empty() || !generation.tools.empty() ||
      generation.response_format.type != "text" || generation.logprobs || has_callbacks(generation))
    return std::nullopt;
  const Message& last = messages->back();
  const auto* const text =
      last.content.parts.size() == 1 ? std::get_if<TextPart>(&last.content.parts.front()) : nullptr;
  if (last.role != "user" || text == nullptr || text->text.empty()) return std::nullopt;
  Question question{.text = text->text};
  Request context = request;
  std::get<std::vector<Message>>(context.prompt).back().content = std::string();
  question.context = request_key(context);
  return question;
}

std::size_t SimilarAnswers::Entry::bytes() const noexcept {
  return kQuestionBytes + context.capacity() + key.capacity() + vector.capacity() * sizeof(float);
}

std::optional<SimilarAnswers::Found> SimilarAnswers::find(const std::string& context,
                                                          std::span<const float> vector) const {
  const std::vector<float> wanted = normalized(vector);
  const std::lock_guard lock(mutex_);
  const auto found = by_context_.find(context);
  if (found == by_context_.end() || wanted.empty()) return std::nullopt;
  Found best{.similarity = -1};
  for (const Entries::iterator entry : found->second) {
    if (entry->vector.size() != wanted.size()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      sum += static_cast<double>(wanted[i]) * static_cast<double>(entry->vector[i]);
    if (sum > best.similarity) best = {.key = entry->key, .similarity = sum};
  }
  if (best.similarity < threshold_) return std::nullopt;
  return best;
}

void SimilarAnswers::add(const std::string& context, std::span<const float> vector,
                         std::string key) {
  Entry entry{.context = context, .key = std::move(key), .vector = normalized(vector)};
  const std::size_t bytes = entry.bytes();
  if (entry.vector.empty() || bytes > max_bytes_) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
  bytes_ += bytes;
  auto& same = by_context_[entries_.back().context];
  same.push_back(std::prev(entries_.end()));
  const bool is_full = same.size() > kMaxInContext;
  while (bytes_ > max_bytes_ || (is_full && by_context_[context].size() > kMaxInContext))
    drop_oldest();
}

void SimilarAnswers::drop_oldest() {
  const Entries::iterator oldest = entries_.begin();
  const auto found = by_context_.find(oldest->context);
  std::vector<Entries::iterator> same = std::move(found->second);
  by_context_.erase(found);  // its name may be the oldest's
  same.erase(std::find(same.begin(), same.end(), oldest));
  if (!same.empty()) by_context_.emplace(same.front()->context, std::move(same));
  bytes_ -= oldest->bytes();
  entries_.erase(oldest);
}

std::size_t SimilarAnswers::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace wick::route
