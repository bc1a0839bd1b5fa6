#include "http/outbox.h"

#include <string_view>
#include <utility>

namespace wick::http {

void Outbox::flush(Stream& stream, std::function<void(bool is_ok)> done) {
  if (!may_flush()) return;
  writing_.clear();
  std::swap(writing_, tail_);
  written_ = 0;
  progress_ns_ = monotonic_ns();
  write(stream, std::move(done));
}

void Outbox::write(Stream& stream, std::function<void(bool is_ok)> done) {
  is_writing_ = true;
  stream.write(std::string_view(writing_).substr(written_),
               [this, &stream, done = std::move(done)](bool is_ok, std::size_t n) {
                 is_writing_ = false;
                 written_ += n;
                 progress_ns_ = monotonic_ns();
                 if (is_ok && written_ < writing_.size()) {
                   write(stream, done);
                 } else if (is_ok) {
                   writing_.clear();
                   written_ = 0;
                   if (writing_.capacity() > std::size_t{64} << 10) writing_.shrink_to_fit();
                 }
                 done(is_ok);
               });
}

}  // namespace wick::http
