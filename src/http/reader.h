// Parses the bytes of a connection into requests, however they are split. It stops after each head,
// so that a request can be refused before its body is read. Knows no sockets; one thread.
//
//   for (std::size_t at = 0; at < bytes.size();) {
//     at += reader.feed(bytes.substr(at));
//     if (reader.state() == RequestReader::State::kHead) reader.read_body();
//     if (reader.state() == RequestReader::State::kWhole) …, reader.restart();
//   }
#pragma once

#include <string>
#include <string_view>

#include "http/head.h"

namespace wick::http {

class RequestReader {
 public:
  enum class State : std::uint8_t {
    kNeedsHead,
    kHead,  // there is a head: read_body() goes on
    kNeedsBody,
    kWhole,    // head and body: restart() goes on
    kRefused,  // final: the start of the next request is unknown
  };

  explicit RequestReader(const Limits& limits) : limits_(&limits), lines_(limits) {}

  // Returns the number of consumed bytes of `in`; stops at a state that needs a call.
  std::size_t feed(std::string_view in);
  void read_body();
  void restart();

  State state() const noexcept { return state_; }

  bool has_begun() const noexcept { return state_ != State::kNeedsHead || !block_.empty(); }

  // In the state kHead it may be moved from: the reader does not need it any more.
  Head& head() noexcept { return head_; }

  std::string& body() noexcept { return body_; }

  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  // Strict: no extensions of chunks, no trailers, which nobody sends and proxies read differently.
  enum class Chunk : std::uint8_t {
    kSize,
    kSizeFeed,
    kData,
    kDataReturn,
    kDataFeed,
    kEnd,
    kEndFeed
  };

  std::size_t feed_head(std::string_view in);
  std::size_t feed_length(std::string_view in);
  std::size_t feed_chunks(std::string_view in);
  bool take_chunk_byte(char c);
  void refuse(Refusal refusal);
  void refuse_body(std::uint64_t bytes);

  const Limits* limits_;
  HeadLines lines_;
  State state_ = State::kNeedsHead;
  std::string block_;  // what has come of the head
  Head head_;
  bool is_chunked_ = false;
  std::string body_;
  Refusal refusal_;
  Chunk chunk_ = Chunk::kSize;
  std::uint64_t left_ = 0;  // of the body, or of this chunk
  int digits_ = 0;
};

}  // namespace wick::http
