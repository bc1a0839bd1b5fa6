// A streamed answer. A stop token cancels it after one minute; the text so far is kept.
//
//   streaming_chat MODEL [QUESTION]
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

#include "wick/model.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: streaming_chat MODEL [QUESTION]\n";
    return 2;
  }
  const auto model = wick::Model::open(argv[1], {.max_concurrent = 1});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\n";
    return 1;
  }
  std::stop_source limit;
  auto stream = model->stream(
      {{.role = "system", .content = "You answer in one sentence."},
       {.role = "user", .content = argc > 2 ? argv[2] : "What is the capital of Japan?"}},
      {.temperature = 0, .max_tokens = 64, .cancel = limit.get_token()});
  if (!stream) {
    std::cerr << wick::to_string(stream.error()) << "\n";
    return 1;
  }
  // Any thread may request the stop. This one does so after one minute, unless it is stopped first.
  std::jthread timer([&limit](const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, done, std::chrono::minutes(1), [] { return false; });
    if (!done.stop_requested()) limit.request_stop();
  });
  for (const std::string_view piece : *stream)
    std::cout << piece << std::flush;
  std::cout << "\n";
  const auto answer = stream->finish();
  if (!answer) {
    std::cerr << wick::to_string(answer.error()) << "\n";
    return 1;
  }
  std::cerr << "ended: " << wick::name(answer->finish) << "\n";
}
