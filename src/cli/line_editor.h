// A line of input with editing and history (libedit) on a terminal, or plain lines where input is
// piped.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace wick {

class LineEditor {
 public:
  enum class End { kLine, kInterrupted, kEof };

  // `history`: loaded now, saved after each line; empty = none. A file that is not regular, or that
  // another program wrote, is neither read nor replaced.
  explicit LineEditor(std::filesystem::path history);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Reads one line, without its end. kInterrupted: Ctrl-C, the line is to be forgotten.
  // `initial` stands in the line already, to be edited; it has no control characters.
  End read(const std::string& prompt, std::string& line, const std::string& initial = "");
  void remember(const std::string& entry);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
