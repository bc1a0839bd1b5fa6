// Sentences of standard input, one a line; the answers keep the order. Several are computed at
// once by one model. Nothing runs.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "assist/limits.h"
#include "base/strings.h"
#include "base/thread.h"
#include "cli/ask.h"
#include "cli/line_reader.h"
#include "cli/out.h"

namespace wick {

namespace {

constexpr int kAtOnce = 4;
constexpr std::size_t kMaxWaiting = 16;  // lines read ahead

struct Line {
  std::int64_t number = 0;
  std::string sentence = {};
};

struct Answered {
  std::string sentence = {};
  Result<assist::Proposal> proposal = Error{};
};

class SentenceBatch {
 public:
  SentenceBatch(const AskSetup& setup, Provider& provider, std::stop_token cancel)
      : setup_(setup), provider_(provider), cancel_(std::move(cancel)) {}

  Result<int> run() {
    std::vector<std::jthread> workers;
    for (int i = 0; i < kAtOnce; ++i) {
      auto worker = start_thread([this] { work(); });
      if (worker) workers.push_back(*std::move(worker));
      if (!worker && workers.empty()) return std::move(worker).error();
    }
    const auto read = read_lines();
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    workers.clear();  // joins
    if (!read) return read.error();
    if (cancel_.stop_requested()) return kExitInterrupted;
    return worst_;
  }

 private:
  Result<void> read_lines() {
    LineReader lines(assist::kMaxSentence);
    std::string line;
    for (std::int64_t number = 0;; ++number) {
      WICK_TRY(const LineReader::Got got, lines.next(line));
      if (got == LineReader::Got::kEnd || cancel_.stop_requested()) return {};
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return waiting_.size() < kMaxWaiting; });
      if (got == LineReader::Got::kTooLong) {
        keep(number, {.proposal = lines.too_long()});
      } else {
        waiting_.push_back({.number = number, .sentence = line});
      }
      lock.unlock();
      changed_.notify_all();
    }
  }

  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_over_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Line line = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      changed_.notify_all();
      Answered answered{.sentence = line.sentence, .proposal = propose(line.sentence)};
      lock.lock();
      keep(line.number, std::move(answered));
    }
  }

  Result<assist::Proposal> propose(const std::string& sentence) {
    WICK_DO(setup_.check_sentence(sentence));
    assist::Conversation talk(
        provider_, setup_.propose_settings(),
        assist::make_prompt(setup_.machine, {.sentence = sentence}, setup_.facts, setup_.frame));
    talk.set_cancel(cancel_);
    return talk.propose();
  }

  // Under the lock. Prints what is next in order.
  void keep(std::int64_t number, Answered one) {
    done_.emplace(number, std::move(one));
    for (auto it = done_.find(next_); it != done_.end(); it = done_.find(++next_)) {
      show(it->second);
      done_.erase(it);
    }
  }

  void show(const Answered& one) {
    const auto fail = [&](const Error& error) {
      worst_ = std::max(worst_, exit_code(error));
      if (setup_.flags.is_json) {
        print_json(json_object({{"ask", one.sentence}, {"error", to_value(error)}}));
      } else {
        print({"\n"});
        report(error, false);
      }
    };
    if (!one.proposal) return fail(one.proposal.error());
    const assist::Proposal& proposal = *one.proposal;
    const assist::RuleResult result =
        setup_.ruled(proposal.command, setup_.judge(proposal.command));
    if (result.is_denied) return fail(denied(result));
    if (setup_.flags.is_json) return print_json(to_object(setup_, one.sentence, proposal));
    if (proposal.command.empty()) {
      print({"\n"});
      note({"needs an answer: ", printable(proposal.question, 2000), "\n"});
      return;
    }
    // One line for one line, with the same bytes as --print.
    if (proposal.command.find_first_of("\r\n") != std::string::npos)
      return fail({.code = ErrorCode::kUnsupported,
                   .id = "several_lines",
                   .message = "the command has several lines, which --batch cannot write as one",
                   .hint = "wick ask --batch --json"});
    print_text(proposal.command + "\n");
    flush_output();
  }

  const AskSetup& setup_;
  Provider& provider_;
  const std::stop_token cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Line> waiting_;
  std::map<std::int64_t, Answered> done_;  // by number of the line, from next_ on
  std::int64_t next_ = 0;
  int worst_ = kExitOk;
  bool is_over_ = false;
};

}  // namespace

Result<int> ask_batch(const AskSetup& setup) {
  WICK_TRY(const OpenModel model, open_ask_model(setup, kAtOnce));
  WICK_TRY(const auto interrupt, Interrupt::begin());
  // The reader of standard input waits in the system. What was printed has been flushed.
  const std::stop_callback end(interrupt->token(), [] { ::_exit(kExitInterrupted); });
  return SentenceBatch(setup, *model.provider, interrupt->token()).run();
}

}  // namespace wick
