// Text completion, with token counts. Downloads the model if it is not on this machine; download
// progress and log messages go to standard error.
//
//   local_inference MODEL [PROMPT]
#include <iostream>
#include <string>

#include "wick/log.h"
#include "wick/model.h"

namespace {

// Called at most a few times per second. Returning false would cancel the download.
bool show(const wick::OpenProgress& at) {
  if (at.phase != wick::OpenPhase::kDownload) return true;
  std::cerr << "\r" << at.what << ": " << at.done / 1'000'000 << " of " << at.total / 1'000'000
            << " MB" << (at.done == at.total ? "\n" : "");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: local_inference MODEL [PROMPT]\n";
    return 2;
  }
  wick::set_log([](wick::LogLevel level, std::string_view message) {
    std::cerr << wick::name(level) << ": " << message << "\n";
  });
  const auto model =
      wick::Model::open(argv[1], {.max_concurrent = 1, .may_download = true, .progress = show});
  if (!model) {
    std::cerr << wick::to_string(model.error()) << "\nhint: " << model.error().hint << "\n";
    return 1;
  }
  const std::string prompt = argc > 2 ? argv[2] : "The capital of France is";
  const auto answer = model->complete(prompt, {.temperature = 0, .max_tokens = 16});
  if (!answer) {
    std::cerr << wick::to_string(answer.error()) << "\n";
    return 1;
  }
  std::cout << prompt << answer->text << "\n";
  std::cerr << answer->usage.prompt_tokens << " tokens in, " << answer->usage.generated_tokens
            << " out\n";
}
