// What chat.completion and text_completion have in common: the fields of the head, "choices" of
// whole answers, the usage of all, and the end of a stream. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answers.h"
#include "server/openai_parts.h"

namespace wick::server {

class Choices {
 public:
  // Writes what a choice holds between "index" and "finish_reason": fields of an open object.
  using Write = std::function<void(JsonOut& json, std::size_t choice, const Completion& c)>;

  Choices(Context& context, const ParsedRequest& parsed, std::string_view id_prefix,
          std::string_view object);

  const AnswerShape& shape() const noexcept { return shape_; }

  bool has_scores() const noexcept { return has_scores_; }

  // The fields before "choices", in an object that stands open.
  const std::string& head() const noexcept { return head_; }

  void count(Usage usage, std::size_t choice);
  void finish(std::string& out) const;

  http::Response whole(const std::vector<Gather>& answers, const Write& write);  // once
  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers,
                        const Write& write) const;

 private:
  void write_all(JsonOut& json, const std::vector<Gather>& answers, const Write& write) const;

  const AnswerShape shape_;
  const bool has_scores_;
  std::string head_;
  UsageSum usage_;
};

}  // namespace wick::server
