#include "cli/repl.h"

#include <unistd.h>

#include <array>

#include "base/strings.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/line_editor.h"
#include "cli/options.h"
#include "cli/out.h"
#include "hub/atomic_file.h"
#include "hub/store.h"

namespace wick {

namespace {

constexpr int kOut = STDOUT_FILENO;
constexpr std::size_t kMaxConversation = std::size_t{64} << 20;

constexpr char kHelp[] =
    "/system [TEXT]    set the system message, or remove it\n"
    "/reset            forget the conversation\n"
    "/undo             take back the last question and its answer\n"
    "/retry            answer the last question again\n"
    "/set KEY VALUE    temperature, top_k, top_p, min_p, any other sampling flag, seed, "
    "max_tokens\n"
    "/save FILE        write the conversation as JSON\n"
    "/load FILE        go on from one\n"
    "/stats            how the last answer went\n"
    "/quit             or Ctrl-D\n"
    "Several lines: begin with \"\"\" and end with \"\"\", or end a line with \\. Ctrl-C stops an "
    "answer.\n";

class Talk {
 public:
  Talk(Provider& provider, Conversation& conversation, Generation generation,
       std::vector<FileId> inputs, std::filesystem::path history)
      : provider_(provider),
        conversation_(conversation),
        generation_(std::move(generation)),
        inputs_(std::move(inputs)),
        history_(std::move(history)),
        editor_(history_) {}

  int run() {
    const auto models = provider_.models();
    for (const ModelInfo& model : models ? *models : std::vector<ModelInfo>()) {
      print({printable(model.name), color(kOut, Color::kDim), "  context ", model.context,
             " tokens, /help for commands", color(kOut, Color::kNone), "\n"});
    }
    std::string text;
    while (read(text)) {
      if (text.empty()) continue;
      editor_.remember(text);
      if (text.starts_with('/')) {
        if (!obey(text)) break;
      } else {
        conversation_.say(text);
        answer();
      }
    }
    return kExitOk;
  }

 private:
  // One input, of several lines if it says so; false at the end of input. Empty after Ctrl-C.
  bool read(std::string& text) {
    text.clear();
    std::string line;
    bool is_quoted = false;
    for (std::string prompt = "> ";; prompt = "… ") {
      switch (editor_.read(prompt, line)) {
        case LineEditor::End::kEof:
          return false;
        case LineEditor::End::kInterrupted:
          text.clear();
          return true;
        case LineEditor::End::kLine:
          break;
      }
      if (text.empty() && !is_quoted && line.starts_with("\"\"\"")) {
        is_quoted = true;
        line.erase(0, 3);
        if (line.empty()) continue;
      }
      if (is_quoted && line.ends_with("\"\"\"")) {
        text += line.substr(0, line.size() - 3);
        return true;
      }
      if (!is_quoted && !line.ends_with('\\')) {
        text += line;
        return true;
      }
      if (!is_quoted) line.pop_back();
      text += line + "\n";
    }
  }

  void answer() {
    const auto whole =
        ask(provider_, {.prompt = conversation_.messages(), .generation = generation_}, true);
    print({"\n"});
    if (!whole || whole->error) {
      report(whole ? *whole->error : whole.error(), false);
      conversation_.undo();  // a question without an answer would spoil the next one
      return;
    }
    conversation_.answer(whole->completion);
    last_ = figures(whole->completion);
    print({color(kOut, Color::kDim), last_, color(kOut, Color::kNone), "\n"});
  }

  // False to quit.
  bool obey(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    const std::size_t begin =
        space == std::string::npos ? line.size() : line.find_first_not_of(' ', space);
    const std::string rest = begin == std::string::npos ? std::string() : line.substr(begin);
    if (command == "/quit" || command == "/exit" || command == "/bye") return false;
    if (command == "/help" || command == "/?") {
      print({kHelp});
    } else if (command == "/system") {
      conversation_.set_system(rest);
    } else if (command == "/reset") {
      conversation_.reset();
    } else if (command == "/undo") {
      if (!conversation_.undo()) print({"There is nothing to take back.\n"});
    } else if (command == "/retry") {
      retry();
    } else if (command == "/set") {
      const std::size_t gap = rest.find(' ');
      show(set_parameter(generation_, rest.substr(0, gap),
                         gap == std::string::npos ? "" : rest.substr(gap + 1)));
    } else if (command == "/save") {
      show(save(rest));
    } else if (command == "/load") {
      show(load(rest));
    } else if (command == "/stats") {
      print({last_.size() == 0 ? Shown("There is no answer yet.") : Shown(last_), "\n"});
    } else {
      print({"There is no ", printable(command), "; /help lists the commands.\n"});
    }
    return true;
  }

  void retry() {
    conversation_.drop_answer();
    if (conversation_.last_question().empty()) {
      print({"There is no question to answer again.\n"});
    } else {
      answer();
    }
  }

  static Result<void> no_name(std::string_view command) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = cat(command, " needs the name of a file"),
                 .hint = cat(command, " talk.json")};
  }

  Result<void> save(const std::string& path) const {
    if (path.empty()) return no_name("/save");
    std::vector<FileId> inputs = inputs_;
    if (const auto id = file_id(history_)) inputs.push_back(*id);
    WICK_TRY(AtomicFile file, AtomicFile::create(path, inputs));
    WICK_DO(file.add(conversation_.to_json() + "\n"));
    return file.commit();
  }

  Result<void> load(const std::string& path) {
    if (path.empty()) return no_name("/load");
    WICK_TRY(const std::string text, read_text(path, kMaxConversation));
    Conversation read;
    if (const auto parsed = read.read_json(text); !parsed) {
      return Error{.code = ErrorCode::kIo,
                   .id = "bad_conversation",
                   .message = cat(printable(path), ": ", parsed.error().message)};
    }
    conversation_ = std::move(read);
    return {};
  }

  static void show(const Result<void>& result) {
    if (!result) report(result.error(), false);
  }

  Provider& provider_;
  Conversation& conversation_;
  Generation generation_;
  std::vector<FileId> inputs_;
  std::filesystem::path history_;
  LineEditor editor_;
  Printable last_;
};

}  // namespace

Result<int> talk(Provider& provider, Conversation& conversation, Generation generation,
                 std::vector<FileId> inputs) {
  const auto store = Store::open();
  return Talk(provider, conversation, std::move(generation), std::move(inputs),
              store ? store->root() / "history" : std::filesystem::path())
      .run();
}

}  // namespace wick
