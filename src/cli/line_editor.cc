#include "cli/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cwchar>
#include <iostream>

#include "base/late_functions.h"
#include "base/strings.h"
#include "cli/out.h"
#include "hub/durable.h"

namespace wick {

// libedit, which is loaded (dlopen) for the first line that is read from a terminal.
// clang-format off
#define WICK_EDIT(each) \
  each(el_end) each(el_get) each(el_gets) each(el_init) each(el_push) each(el_reset) \
  each(el_set) each(el_source) each(history) each(history_end) each(history_init)
// clang-format on

WICK_LATE_FUNCTIONS(WICK_EDIT);

struct LineEditor::State {
  EditLine* editor = nullptr;  // nullptr: input is not a terminal, or libedit is not installed
  History* history = nullptr;
  std::filesystem::path history_path;
  std::string prompt;
  int interrupts = -1;
};

namespace {

constexpr int kHistoryLines = 1000;
constexpr std::size_t kMaxHistoryBytes = std::size_t{4} << 20;

char* prompt_of(EditLine* editor) {
  std::string* prompt = nullptr;
  el_get(editor, EL_CLIENTDATA, &prompt);
  return prompt->data();
}

// An interrupt's way to whoever waits for a key, on any thread and however early it comes: an
// eventfd, for a system call that is not yet made cannot be ended.
std::atomic<int> interrupts = -1;

void on_interrupt(int /*number*/) {
  const int saved = errno;
  const std::uint64_t one = 1;
  static_cast<void>(::write(interrupts.load(), &one, sizeof(one)) == sizeof(one));
  errno = saved;
}

bool take_interrupt() {
  std::uint64_t count = 0;
  return ::read(interrupts.load(), &count, sizeof(count)) == sizeof(count);
}

// The next character for libedit: 1; 0 at the end of input; -1 with EINTR for an interrupt.
int next_key(EditLine* /*editor*/, wchar_t* out) {
  std::mbstate_t state = {};
  for (;;) {
    pollfd watched[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                        {.fd = interrupts.load(), .events = POLLIN, .revents = 0}};
    if (::poll(watched, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (watched[1].revents != 0 && take_interrupt()) {
      errno = EINTR;
      return -1;
    }
    if (watched[0].revents == 0) continue;
    char byte = 0;
    const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return static_cast<int>(n);
    const std::size_t length = std::mbrtowc(out, &byte, 1, &state);
    if (length == static_cast<std::size_t>(-2)) continue;  // the rest of it comes
    if (length != static_cast<std::size_t>(-1)) return 1;
    state = {};
  }
}

Result<void> load_libedit() {
  SharedLibrary library("libedit.so.2");
  WICK_FIND_FUNCTIONS(library, WICK_EDIT)
  return library.check("no_libedit", "to edit lines, install libedit (Debian: libedit2)");
}

// False: something stands there that this program did not write, and that stays as it is.
bool load_history(History* history, const std::filesystem::path& path) {
  const auto text = read_small_file(path, kMaxHistoryBytes);
  if (!text) return text.error().code == ErrorCode::kNotFound;
  HistEvent event;
  return text->empty() || ::history(history, &event, H_LOAD, path.c_str()) >= 0;
}

// Whole or not at all.
void save_history(History* history, const std::filesystem::path& path) {
  const std::string fresh = cat(path.string(), ".", ::getpid(), ".tmp");
  HistEvent event;
  const bool is_whole = ::history(history, &event, H_SAVE, fresh.c_str()) >= 0;
  if (!is_whole || ::rename(fresh.c_str(), path.c_str()) != 0) ::unlink(fresh.c_str());
}

}  // namespace

LineEditor::LineEditor(std::filesystem::path history) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.history_path = std::move(history);
  if (!is_terminal(STDIN_FILENO)) return;
  if (const auto loaded = load_libedit(); !loaded) {
    note({printable(loaded.error().message), "; ", printable(loaded.error().hint), "\n"});
    return;
  }
  s.interrupts = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (s.interrupts < 0) return;
  if (std::setlocale(LC_CTYPE, "") == nullptr ||
      std::string_view(std::setlocale(LC_CTYPE, nullptr)) == "C") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  s.editor = el_init("wick", stdin, stdout, stderr);
  if (s.editor == nullptr) return;
  s.history = history_init();
  HistEvent event;
  ::history(s.history, &event, H_SETSIZE, kHistoryLines);
  ::history(s.history, &event, H_SETUNIQUE, 1);
  if (!s.history_path.empty() && !load_history(s.history, s.history_path)) {
    note({printable(s.history_path.string()), ": is no history of wick's, so none is kept\n"});
    s.history_path.clear();
  }
  el_set(s.editor, EL_CLIENTDATA, &s.prompt);
  el_set(s.editor, EL_PROMPT, prompt_of);
  el_set(s.editor, EL_EDITOR, "emacs");
  el_set(s.editor, EL_HIST, ::history, s.history);
  el_set(s.editor, EL_SIGNAL, 0);
  el_set(s.editor, EL_GETCFN, next_key);
  el_source(s.editor, nullptr);  // the user's ~/.editrc
  // libedit 3.1 reads past the end of a command whose quote is not closed.
  for (const char* keys : {"^[x", "^[X"})
    el_set(s.editor, EL_BIND, "-r", keys, nullptr);
  el_set(s.editor, EL_BIND, "-a", "-r", ":", nullptr);  // of vi
}

LineEditor::~LineEditor() {
  if (state_->history != nullptr) history_end(state_->history);
  if (state_->editor != nullptr) el_end(state_->editor);
  if (state_->interrupts >= 0) ::close(state_->interrupts);
}

LineEditor::End LineEditor::read(const std::string& prompt, std::string& line,
                                 const std::string& initial) {
  State& s = *state_;
  if (s.editor == nullptr) {
    if (is_terminal(STDIN_FILENO)) print({printable(prompt)});
    return std::getline(std::cin, line) ? End::kLine : End::kEof;
  }
  flush_output();  // libedit writes by itself
  s.prompt = prompt;
  interrupts = s.interrupts;
  struct sigaction action = {}, previous = {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, &previous);
  int length = 0;
  errno = 0;
  if (!initial.empty()) el_push(s.editor, initial.c_str());
  const char* text = el_gets(s.editor, &length);
  bool is_interrupted = errno == EINTR;
  ::sigaction(SIGINT, &previous, nullptr);
  if (take_interrupt()) {  // after the last key
    is_interrupted = true;
    text = nullptr;
  }
  if (text == nullptr || length <= 0) {
    print({"\n"});
    if (!is_interrupted) return End::kEof;
    el_reset(s.editor);
    return End::kInterrupted;
  }
  line.assign(text, static_cast<std::size_t>(length));
  if (line.ends_with('\n')) line.pop_back();
  return End::kLine;
}

void LineEditor::remember(const std::string& entry) {
  State& s = *state_;
  if (s.history == nullptr || entry.empty()) return;
  HistEvent event;
  ::history(s.history, &event, H_ENTER, entry.c_str());
  if (!s.history_path.empty()) save_history(s.history, s.history_path);
}

}  // namespace wick
