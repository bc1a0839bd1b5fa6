#include "cli/report.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "provider/rule_refusal.h"

namespace wick {

namespace {
constexpr std::size_t kMaxMessage = 4096;  // bytes of an error's text that are shown
}

int exit_code(const Error& error) noexcept {
  if (error.id == "hash_mismatch") return kExitIntegrity;
  if (is_rule_refusal(error)) return kExitRefused;
  switch (error.code) {
    case ErrorCode::kInvalid:
      return kExitUsage;
    case ErrorCode::kDevice:
      return kExitDevice;
    case ErrorCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitFailure;
  }
}

JsonValue to_value(const Error& error) {
  return json_object({{"code", error.id.empty() ? name(error.code) : error.id},
                      {"message", to_string(error)},
                      {"hint", error.hint}});
}

void print_json(const JsonValue& value) {
  print({printable_json(to_json(value)), "\n"});
  flush_output();
}

void report(const Error& error, bool as_json) {
  if (as_json) return print_json(json_object({{"error", to_value(error)}}));
  note({"wick: ", printable(to_string(error), kMaxMessage), "\n"});
  if (!error.hint.empty()) note({"hint: ", printable(error.hint, kMaxMessage), "\n"});
}

Progress::Progress(std::string_view what)
    : what_(printable(what)),
      started_ns_(monotonic_ns()),
      is_terminal_(is_terminal(STDERR_FILENO)) {}

Progress::~Progress() {
  done();
}

void Progress::rename(std::string_view what) {
  const Printable name = printable(what);
  if (name.view() == what_.view()) return;
  what_ = name;
  has_first_ = false;
}

namespace {

std::string time_left(double seconds) {
  std::array<char, 32> text;
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 3600) {
    std::snprintf(text.data(), text.size(), "%ldh%02ldm", s / 3600, s / 60 % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%ld:%02ld", s / 60, s % 60);
  }
  return text.data();
}

std::size_t terminal_width() noexcept {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

void Progress::update(std::uint64_t done, std::uint64_t all) {
  if (!is_terminal_) return;
  const std::int64_t now = monotonic_ns();
  if (!has_first_) {  // speed counts what this run does, not what an earlier one left
    has_first_ = true;
    first_done_ = done;
    started_ns_ = now;
  }
  if (now - started_ns_ < 500'000'000 || now - shown_ns_ < 100'000'000) return;
  shown_ns_ = now;
  const double seconds = static_cast<double>(now - started_ns_) * 1e-9;
  const double speed = static_cast<double>(done - first_done_) / seconds;
  std::string line = cat(what_, "  ", human_bytes(done));
  if (all > 0) {
    line += cat(" of ", human_bytes(all), "  ", done * 100 / all, " %");
  }
  line += cat("  ", human_bytes(static_cast<std::uint64_t>(speed)), "/s");
  if (all > done && speed > 0)
    line += cat("  ", time_left(static_cast<double>(all - done) / speed), " left");
  line = line.substr(0, complete_utf8(line.substr(0, terminal_width() - 1)));
  note({"\r\x1b[K", printable(line, line.size())});
  is_shown_ = true;
}

void Progress::done() {
  if (is_shown_) note({"\r\x1b[K"});
  is_shown_ = false;
}

Working::Working(const Printable& what) {
  if (is_terminal(STDERR_FILENO)) note({what, "…"});
}

Working::~Working() {
  if (is_terminal(STDERR_FILENO)) note({"\r\x1b[K"});
}

}  // namespace wick
