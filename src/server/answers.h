// Turns answers into the bytes of an API: AnswersWork polls them on the loop thread, a Dialect
// formats them. One Dialect per request.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"
#include "provider/gather.h"
#include "server/context.h"
#include "server/json_out.h"

namespace wick::server {

class Dialect {
 public:
  virtual ~Dialect() = default;

  // Of a stream. `choice` counts the answers from 0; each out is appended to.
  virtual http::Response head() const;  // without a body: that of SSE

  virtual void start(std::string& /*out*/) {}  // before the first event

  // Any event but a DoneEvent.
  virtual void add(std::size_t choice, const Event& event, std::string& out) = 0;
  virtual void done(std::size_t choice, const DoneEvent& event, std::string& out) = 0;
  virtual void finish(std::string& out) = 0;                       // all are done
  virtual void fail(const ApiError& error, std::string& out) = 0;  // ends the stream instead

  virtual std::string_view heartbeat() const noexcept { return ": \n\n"; }

  // Of a whole answer: `answers` in the order of choices.
  virtual http::Response whole(const std::vector<Gather>& answers) = 0;
  // Before a stream began, or instead of a whole answer, of which `answers` are there.
  virtual http::Response refuse(const ApiError& error, const std::vector<Gather>& answers);
};

// The object that a tool gets, where an API has no text in its place; what is no object stands in
// one as {"arguments": text}.
void write_arguments(JsonOut& json, const std::string& arguments);

using Answers = std::vector<std::unique_ptr<Answer>>;

// parsed.n answers to each prompt, those of one prompt together. The first of a prompt has the
// request's seed, the others ones that are made of it; without a seed each is random.
// Refused where they would wait too long (server/admission.h). parsed.request is moved from.
struct Started {
  Answers answers = {};
  std::unique_ptr<Admission::Place> place = {};
  std::shared_ptr<KeyPass> pass = {};  // of the client's key
};

Result<Started> start_answers(Context& context, ParsedRequest& parsed,
                              const std::shared_ptr<Wake>& wake);

// The seed of choice i.
std::uint64_t choice_seed(std::uint64_t seed, int i) noexcept;

struct AnswersSetup {
  SharedContext context;
  std::string model = {};  // real name
  bool streams = false;
  std::vector<std::string> ignored = {};  // ParsedRequest::ignored
  std::vector<const Field*> given = {};
  Started started = {};
  std::unique_ptr<Dialect> dialect = {};
  std::unique_ptr<Span> span = {};  // null: nobody wants it
};

// What is known of it before the first answer; null if nobody wants it.
std::unique_ptr<Span> begin_span(const Context& context, const ParsedRequest& parsed,
                                 std::string_view operation);
// It has ended: for traces and the audit log.
void end_span(Context& context, std::unique_ptr<Span> span);

std::unique_ptr<http::Work> make_work(AnswersSetup&& setup);

// Starts the answers, or returns the error, formatted by `dialect`. `parsed` is moved from.
http::Reply answer(const SharedContext& context, ParsedRequest& parsed,
                   std::unique_ptr<Dialect> dialect, const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
