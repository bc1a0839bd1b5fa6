// HTTP/1.1 without TLS to addresses that the URL itself says, or to a Unix socket: requests written
// and answers read (Boost.Beast's parser) on the thread of the transfers, over connections that are
// kept for the next request. It takes a sixth of libcurl's instructions. For the sources of net/
// alone. The rules are those of net/transfers.h: no redirect is followed, no compression is asked
// for, the address of every connect() is checked.
//
//   if (auto target = plain_target(request)) {       // else libcurl has to do it
//     job->target = std::move(target);
//     http.start(*job);                              // `ended` is called once, perhaps from within
//   }
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/curl_poller.h"
#include "net/transfer_job.h"

namespace wick {

struct PlainConnection;

struct PlainTarget {
  struct Address {
    sockaddr_storage bytes = {};
    socklen_t size = 0;
  };

  std::vector<Address> addresses = {};  // tried in this order
  std::string pool = {};                // which connections may be used again
  std::string head = {};                // the request's first lines, but for the method
};

// nullptr for what libcurl has to do: https, names that have to be resolved, user names in URLs.
// Any thread.
std::shared_ptr<const PlainTarget> plain_target(const TransferRequest& request);

class PlainHttp {
 public:
  // `id` is "" for a whole answer, else as of TransferSink::end(); `why` is for messages.
  using Ended = std::function<void(TransferJob& job, std::string_view id, std::string_view why)>;

  PlainHttp(CurlPoller& poller, Ended ended);
  ~PlainHttp();  // no job is under way any more
  PlainHttp(const PlainHttp&) = delete;
  PlainHttp& operator=(const PlainHttp&) = delete;

  void start(TransferJob& job);
  void resume(TransferJob& job);         // its sink was full
  void leave(TransferJob& job) noexcept;  // closes its connection; `ended` is not called

 private:
  friend struct PlainConnection;
  using Owned = std::unique_ptr<PlainConnection>;

  void connect(TransferJob& job);
  bool try_address(PlainConnection& one);
  void on_ready(PlainConnection& one, std::uint32_t events);
  void on_connected(PlainConnection& one);
  bool send(PlainConnection& one);
  void read(PlainConnection& one);
  void feed(PlainConnection& one, std::string_view bytes);
  void on_closed(PlainConnection& one, bool is_clean);
  void finish(PlainConnection& one);
  void fail(PlainConnection& one, std::string_view id, std::string_view why);
  PlainConnection* take_idle(const TransferJob& job);
  void keep(PlainConnection& one);
  void drop(PlainConnection& one) noexcept;

  static constexpr std::size_t kReadBytes = std::size_t{64} << 10;

  CurlPoller& poller_;
  const Ended ended_;
  std::unordered_map<PlainConnection*, Owned> all_;
  std::vector<PlainConnection*> idle_ = {};  // of all pools, the newest last
  std::array<char, kReadBytes> buffer_ = {};
};

}  // namespace wick
