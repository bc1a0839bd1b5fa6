// wick chat: a conversation at the terminal, which obeys /commands, or one answer with -p or piped
// input. It talks to a Provider, never to the engine.
#include "cli/chat.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "cli/cli.h"
#include "cli/flags.h"
#include "cli/line_editor.h"
#include "cli/out.h"
#include "hub/atomic_file.h"
#include "hub/store.h"
#include "local/local.h"
#include "provider/conversation.h"

namespace wick {

namespace {

constexpr int kOut = STDOUT_FILENO;
constexpr std::size_t kMaxConversation = std::size_t{64} << 20;
constexpr std::size_t kMaxTools = std::size_t{4} << 20;  // bytes
constexpr std::size_t kMaxShownCall = 4096;

constexpr char kHelp[] =
    "/system [TEXT]    set the system message; without TEXT remove it\n"
    "/reset            remove all messages but the system message\n"
    "/undo             remove the last question and its answer\n"
    "/retry            answer the last question again\n"
    "/set KEY VALUE    set temperature, top_k, seed, max_tokens or another sampling flag\n"
    "/save FILE        save the conversation as JSON\n"
    "/load FILE        load a saved conversation\n"
    "/stats            print tokens and speed of the last answer\n"
    "/quit             quit (also Ctrl-D)\n"
    "Several lines: begin with \"\"\" and end with \"\"\", or end a line with \\ to go on. Ctrl-C "
    "stops an answer.\n";

// "/set top_k 5" is "/set" and "top_k 5".
std::pair<std::string, std::string> cut(const std::string& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::size_t rest = std::min(line.find_first_not_of(' ', space), line.size());
  return {line.substr(0, space), line.substr(rest)};
}

void show(const Result<void>& result) {
  if (!result) report(result.error(), false);
}

Error no_name(std::string_view command) {
  return {.code = ErrorCode::kInvalid,
          .id = "usage",
          .message = cat(command, " needs the name of a file"),
          .hint = cat(command, " talk.json")};
}

// The tools of a file, or of JSON itself.
Result<std::vector<Tool>> read_tools(const std::string& given) {
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && given[first] == '[';
  std::string text = given;
  if (!is_json) {
    WICK_TRY(text, read_text(given, kMaxTools));
  }
  auto tools = tools_from_json(text);
  if (tools) return tools;
  return Error{
      .code = tools.error().code,
      .id = tools.error().id,
      .message = cat(printable(is_json ? "--tools" : given), ": ", tools.error().message),
      .hint = R"([{"type": "function", "function": {"name": "weather", "parameters": {…}}}])"};
}

// One line for each call: weather({"city": "Oslo"}).
void show_calls(const std::vector<ToolCall>& calls) {
  for (const ToolCall& call : calls) {
    print({&call == calls.data() ? Shown("") : Shown("\n"), color(kOut, Color::kDim),
           printable(call.name), "(", printable(call.arguments, kMaxShownCall), ")",
           color(kOut, Color::kNone)});
  }
}

// The conversation and its settings.
struct Talk {
  Provider& provider;
  Generation generation;
  std::vector<FileId> files;  // that /save replaces none of, nor `history`
  std::filesystem::path history = {};
  Conversation conversation = {};
  Printable last = {};           // how the last answer went
  LineEditor* editor = nullptr;  // at a terminal

  Result<Gather> answer(bool is_printing) {
    WICK_TRY(
        const Gather whole,
        ask(provider, {.prompt = conversation.messages(), .generation = generation}, is_printing));
    if (!whole.error) conversation.answer(whole.completion);
    return whole;
  }

  Result<int> once(std::string_view prompt, const AskOptions& o) {
    if (prompt.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "empty_prompt",
                   .message = "the prompt is empty",
                   .hint = "wick chat -p \"Why is the sky blue?\""};
    }
    conversation.say(prompt);
    WICK_TRY(const Gather whole, answer(!o.is_json));
    const Completion& said = whole.completion;
    if (!o.is_json && !said.tool_calls.empty()) {
      if (!said.text.empty()) print({"\n"});
      show_calls(said.tool_calls);
    }
    return end_answer(whole, o);
  }

  // Until /quit or the end of input.
  int at_terminal() {
    if (const auto store = Store::open()) history = store->root() / "history";
    LineEditor lines(history);
    editor = &lines;
    const auto models = provider.models();
    for (const ModelInfo& model : models ? *models : std::vector<ModelInfo>()) {
      print({printable(model.name), color(kOut, Color::kDim), "  context ", model.context,
             " tokens, /help for commands", color(kOut, Color::kNone), "\n"});
    }
    std::string text;
    while (read(lines, text)) {
      if (text.empty()) continue;
      lines.remember(text);
      if (text.starts_with('/')) {
        if (!obey(text)) break;
      } else {
        conversation.say(text);
        reply();
      }
    }
    return kExitOk;
  }

  // One input, of several lines if it says so; false at the end of input. Empty after Ctrl-C.
  static bool read(LineEditor& editor, std::string& text) {
    text.clear();
    std::string line;
    bool is_quoted = false;
    for (std::string prompt = "> ";; prompt = "… ") {
      switch (editor.read(prompt, line)) {
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

  // Answers the last question. The results of tool calls are asked of the person.
  void reply() {
    while (true) {
      const auto whole = answer(true);
      print({"\n"});
      if (!whole || whole->error) {
        report(whole ? *whole->error : whole.error(), false);
        conversation.undo();  // a question without an answer would spoil the next one
        return;
      }
      const Completion& said = whole->completion;
      show_calls(said.tool_calls);
      if (!said.tool_calls.empty()) print({"\n"});
      last = figures(said);
      print({color(kOut, Color::kDim), last, color(kOut, Color::kNone), "\n"});
      if (said.tool_calls.empty()) return;
      if (add_results(said.tool_calls)) continue;
      conversation.undo();  // nor may a call be without a result
      return;
    }
  }

  // False if the person gives none.
  bool add_results(const std::vector<ToolCall>& calls) {
    for (const ToolCall& call : calls) {
      std::string text;
      const Printable prompt = joined({"result of ", printable(call.name), "> "});
      if (editor->read(prompt, text) != LineEditor::End::kLine) return false;
      conversation.add(
          {.role = "tool",
           .content = std::vector<Part>{ToolResult{.call_id = call.id, .text = text}}});
    }
    return true;
  }

  // False to quit.
  bool obey(const std::string& line) {
    const auto [command, rest] = cut(line);
    if (command == "/quit" || command == "/exit" || command == "/bye") return false;
    if (command == "/help" || command == "/?") {
      print({kHelp});
    } else if (command == "/system") {
      conversation.set_system(rest);
    } else if (command == "/reset") {
      conversation.reset();
    } else if (command == "/undo") {
      if (!conversation.undo()) print({"There is nothing to undo.\n"});
    } else if (command == "/retry") {
      retry();
    } else if (command == "/set") {
      const auto [key, value] = cut(rest);
      show(set_parameter(generation, key, value));
    } else if (command == "/save") {
      show(save(rest));
    } else if (command == "/load") {
      show(load(rest));
    } else if (command == "/stats") {
      print({last.size() == 0 ? Shown("There is no answer yet.") : Shown(last), "\n"});
    } else {
      print({"There is no ", printable(command), "; /help lists the commands.\n"});
    }
    return true;
  }

  void retry() {
    conversation.drop_answer();
    if (conversation.last_question().empty()) {
      print({"There is no question to answer again.\n"});
    } else {
      reply();
    }
  }

  Result<void> save(const std::string& path) const {
    if (path.empty()) return no_name("/save");
    std::vector<FileId> inputs = files;
    if (const auto id = file_id(history)) inputs.push_back(*id);
    WICK_TRY(AtomicFile file, AtomicFile::create(path, inputs));
    WICK_DO(file.add(conversation.to_json() + "\n"));
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
    conversation = std::move(read);
    return {};
  }
};

}  // namespace

Result<int> run_chat(const ChatOptions& o) {
  WICK_TRY(auto variables, parse_variables(o.variables));
  WICK_TRY(Asking asking, prepare(o));
  auto& [model, prompt, generation] = asking;
  generation.template_variables = std::move(variables);
  generation.thinking = o.thinking;
  if (!o.tools.empty()) {
    WICK_TRY(generation.tools, read_tools(o.tools));
  }
  generation.tool_choice = o.tool_choice;
  Talk talk{*model.provider, std::move(generation),
            model.local != nullptr ? model.local->files() : std::vector<FileId>()};
  // Noticed before the answer is computed, not after it.
  if (o.has_session_file) WICK_DO(AtomicFile::check(o.session_file, talk.files));
  std::error_code ignored;
  if (o.has_session_file && std::filesystem::exists(o.session_file, ignored)) {
    WICK_TRY(std::vector<Message> messages, model.provider->load_session(o.session_file));
    talk.conversation.set_messages(std::move(messages));
  }
  if (!o.system.empty()) talk.conversation.set_system(o.system);
  WICK_TRY(const int status, !o.has_prompt && is_terminal(STDIN_FILENO)
                                 ? Result<int>(talk.at_terminal())
                                 : talk.once(prompt, o));
  const bool is_answered = status == kExitOk || status == kExitInterrupted;
  if (o.has_session_file && is_answered) {
    WICK_DO(model.provider->save_session(o.session_file, talk.conversation.messages()));
  }
  return status;
}

Action setup_chat(Flags flags) {
  const auto o = std::make_shared<ChatOptions>();
  o->settings.add_model(flags, true);
  add_prompt_flags(flags, *o, "answer this prompt and exit");
  flags.text("-s,--system", o->system, "system message");
  flags.text("--session-file", o->session_file,
             "load conversation and KV cache from this file; write them to it at the end");
  flags.texts("--set", o->variables,
              "set a variable of the chat template: KEY=JSON; may be repeated");
  flags.text("--tools", o->tools,
             "tools as in OpenAI's API: a JSON file, or JSON itself; calls are shown, not run");
  flags.text("--tool-choice", o->tool_choice, "auto (default), none, required, or a tool's name");
  flags.toggle("--think,!--no-think",
               "switch reasoning on or off (template variables enable_thinking and thinking)",
               [o](bool is_on) { o->thinking = is_on; });
  add_ask_flags(flags, *o);
  return [o, flags]() -> Result<int> {
    WICK_DO(read_prompt_file(*o, flags));
    o->has_session_file = flags.is_given("--session-file");
    if (const auto text = o->settings.take_argument())
      return argument_too_many(*text, "a prompt is the value of -p: wick chat -m MODEL -p PROMPT");
    auto status = run_chat(*o);
    if (!status) return o->settings.with_prompt_hint(status.error(), "chat");
    return status;
  };
}

}  // namespace wick
