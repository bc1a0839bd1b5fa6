// Stored answers of /v1/responses for previous_response_id, in memory: the latest ones, within
// server/limits.h. A tenant sees only its own. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "wick/message.h"

namespace wick::server {

struct StoredResponse {
  std::string id = {};
  std::uint64_t tenant = 0;
  std::vector<Message> talk = {};  // with the answer; without instructions
  std::string body = {};           // the response as it was told
};

class ResponseStore {
 public:
  void put(StoredResponse response);
  std::optional<StoredResponse> find(const std::string& id, std::uint64_t tenant);
  bool erase(const std::string& id, std::uint64_t tenant);

 private:
  using Entries = std::list<StoredResponse>;  // latest first
  void drop(Entries::iterator entry);

  std::mutex mutex_;
  Entries entries_;
  std::map<std::string, Entries::iterator, std::less<>> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace wick::server
