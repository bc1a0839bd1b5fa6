#include "http/reader.h"

#include <algorithm>

#include "base/hex.h"
#include "base/strings.h"

namespace wick::http {

namespace {

constexpr int kMaxChunkDigits = 8;

}  // namespace

void RequestReader::refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  state_ = State::kRefused;
}

void RequestReader::refuse_body(std::uint64_t bytes) {
  refuse({.status = 413,
          .code = "body_too_large",
          .message = cat("the body has ", bytes, " bytes or more, at most ", limits_->body_bytes,
                         " are allowed")});
}

std::size_t RequestReader::feed(std::string_view in) {
  switch (state_) {
    case State::kNeedsHead:
      return feed_head(in);
    case State::kNeedsBody:
      return is_chunked_ ? feed_chunks(in) : feed_length(in);
    default:
      return 0;
  }
}

std::size_t RequestReader::feed_head(std::string_view in) {
  const std::size_t before = block_.size();
  block_.append(in.substr(0, limits_->head_bytes + 1 - before));
  const auto found = lines_.find_end(block_);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    refuse(*refusal);
    return in.size();
  }
  const std::size_t end = std::get<std::size_t>(found);
  if (end == 0) return block_.size() - before;
  if (auto refusal = parse_head(std::string_view(block_).substr(0, end), head_)) {
    refuse(*std::move(refusal));
    return in.size();
  }
  is_chunked_ = head_.is_chunked;
  left_ = is_chunked_ ? 0 : head_.length;
  state_ = State::kHead;
  return end - before;
}

void RequestReader::read_body() {
  state_ = is_chunked_ || left_ > 0 ? State::kNeedsBody : State::kWhole;
  chunk_ = Chunk::kSize;
  digits_ = 0;
  if (left_ > limits_->body_bytes) refuse_body(left_);
}

void RequestReader::restart() {
  lines_.restart();
  block_.clear();
  body_ = std::string();
  head_ = Head();
  state_ = State::kNeedsHead;
}

std::size_t RequestReader::feed_length(std::string_view in) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), left_));
  body_.append(in.substr(0, n));
  left_ -= n;
  if (left_ == 0) state_ = State::kWhole;
  return n;
}

std::size_t RequestReader::feed_chunks(std::string_view in) {
  std::size_t at = 0;
  while (at < in.size() && state_ == State::kNeedsBody) {
    if (chunk_ == Chunk::kData) {
      at += feed_length(in.substr(at));
      state_ = State::kNeedsBody;
      if (left_ == 0) chunk_ = Chunk::kDataReturn;
    } else if (!take_chunk_byte(in[at++])) {
      if (state_ != State::kRefused)
        refuse({.status = 400, .code = "bad_chunk", .message = "a chunk of the body is malformed"});
    }
  }
  return at;
}

bool RequestReader::take_chunk_byte(char c) {
  const auto expect = [&](char wanted, Chunk next) {
    chunk_ = next;
    return c == wanted;
  };
  switch (chunk_) {
    case Chunk::kSize: {
      if (c == '\r') {
        chunk_ = Chunk::kSizeFeed;
        return digits_ > 0;
      }
      const int digit = hex_value(c);
      left_ = left_ * 16 + static_cast<std::uint64_t>(std::max(digit, 0));
      return digit >= 0 && ++digits_ <= kMaxChunkDigits;
    }
    case Chunk::kSizeFeed:
      digits_ = 0;
      if (c != '\n') return false;
      if (left_ > limits_->body_bytes - body_.size()) {
        refuse_body(body_.size() + left_);
        return false;
      }
      chunk_ = left_ == 0 ? Chunk::kEnd : Chunk::kData;
      return true;
    case Chunk::kDataReturn:
      return expect('\r', Chunk::kDataFeed);
    case Chunk::kDataFeed:
      return expect('\n', Chunk::kSize);
    case Chunk::kEnd:
      return expect('\r', Chunk::kEndFeed);
    case Chunk::kEndFeed:
      state_ = State::kWhole;
      return c == '\n' || (state_ = State::kNeedsBody, false);
    case Chunk::kData:
      break;
  }
  return false;
}

}  // namespace wick::http
