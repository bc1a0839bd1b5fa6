// wick template: renders a conversation with a model's chat template. The prompt goes to standard
// output as it is; --tokens shows its tokens and whose words they are, --diff how another template
// differs.
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/strings.h"
#include "cli/answer.h"
#include "cli/line_diff.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/option_flags.h"
#include "format/model_file.h"
#include "local/chat_templates.h"
#include "text/tokenizer.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTemplateInput = std::size_t{64} << 20;

struct TemplateFlags {
  OptionFlags settings = {};
  std::string messages = {}, source = {}, name = {}, other = {};
  std::vector<std::string> variables = {};
  bool has_model = false;
  bool adds_prompt = false, adds_no_prompt = false, is_tokens = false, is_json = false;
};

// A place that chat templates come from, with its tokenizer where there is one.
struct Source {
  ChatTemplates templates;
  std::shared_ptr<const Tokenizer> tokenizer = {};
};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<Source> open_source(const fs::path& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const bool is_bare = path.extension() == ".jinja" || path.extension() == ".json" ||
                       (is_folder && !is_there(path / "config.json"));
  if (!is_bare) {
    WICK_TRY(const ModelFile file, open_model(path));
    WICK_TRY(auto tokenizer, Tokenizer::from(file.metadata()));
    return Source{ChatTemplates(file.metadata()), std::move(tokenizer)};
  }
  const fs::path folder = is_folder ? path : path.parent_path();
  // A tokenizer.json says nothing of templates; what lies beside it does.
  const fs::path holder = path.filename() == "tokenizer.json" ? folder : path;
  WICK_TRY(const Metadata meta, read_chat_templates(holder.empty() ? "." : holder));
  Source source{ChatTemplates(meta)};
  if (path.extension() != ".jinja" && is_there(folder / "tokenizer.json")) {
    WICK_TRY(source.tokenizer, Tokenizer::open(folder / "tokenizer.json"));
  }
  return source;
}

Result<Source> find_source(const TemplateFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  if (o.source.empty()) {
    WICK_TRY(const auto path, find_model(config));
    return open_source(path);
  }
  WICK_TRY(Source source, open_source(o.source));
  if (o.has_model) {
    WICK_TRY(const auto path, find_model(config));
    WICK_TRY(source.tokenizer, Tokenizer::open(path));
  }
  return source;
}

Error bad_conversation(std::string_view where, std::string_view what) {
  return {
      .code = ErrorCode::kInvalid,
      .id = "bad_conversation",
      .message = cat(where.empty() ? std::string("standard input") : printable(where), ": ", what),
      .hint = "an array of messages, or an object with \"messages\", \"tools\" and the like"};
}

// The template's context: the conversation with the variables of --set.
Result<Object> context_of(const TemplateFlags& o) {
  WICK_TRY(const std::string text, read_text(o.messages, kMaxTemplateInput));
  auto parsed = parse_json(text);
  if (!parsed) return bad_conversation(o.messages, parsed.error().message);
  Object context;
  if (parsed->array() != nullptr) {
    context["messages"] = std::move(*parsed);
  } else if (parsed->object() != nullptr && parsed->object()->find("messages") != nullptr) {
    context = std::move(*parsed->object());
  } else {
    return bad_conversation(o.messages, "is no conversation");
  }
  WICK_TRY(const auto variables, parse_variables(o.variables));
  for (const auto& [key, json] : variables) {
    WICK_TRY(context[key], parse_json(json));
  }
  if (o.adds_prompt) context["add_generation_prompt"] = true;
  if (o.adds_no_prompt) context["add_generation_prompt"] = false;
  return context;
}

Result<MarkedText> render(const Source& source, std::string_view name, Object context,
                          const Interrupt& interrupt) {
  WICK_TRY(const ChatTemplate* const tmpl, source.templates.pick(name, has_tools(context)));
  add_defaults(source.tokenizer.get(), context);
  return tmpl->render(context, {.stop = interrupt.token()});
}

// A token of a prompt, and whose words it is.
struct Piece {
  TokenId id;
  std::string_view bytes;
  const char* from;  // "template", "input", "both"; "?" where a tokenizer changes the text
};

const char* whose(const MarkedText& prompt, std::size_t begin, std::size_t end) {
  std::size_t trusted = 0;
  for (const Span& span : prompt.trusted) {
    const std::size_t from = std::max(begin, span.begin);
    trusted += std::min(end, span.end) > from ? std::min(end, span.end) - from : 0;
  }
  if (trusted == 0) return "input";
  return trusted == end - begin ? "template" : "both";
}

// Token by token along the text. What a tokenizer puts before a text of its own (one space) or
// changes (normal forms) is looked past.
Result<std::vector<Piece>> pieces_of(const Tokenizer& tokenizer, const MarkedText& prompt) {
  constexpr std::size_t kFar = 64;
  std::vector<TokenId> ids;
  WICK_DO(tokenizer.encode(prompt, ids));
  const std::string_view text = prompt.text;
  std::vector<Piece> out;
  std::size_t at = 0;
  for (const TokenId id : ids) {
    const std::string_view bytes = tokenizer.bytes(id);
    std::string_view wanted = bytes;
    if (text.substr(at, wanted.size()) != wanted && wanted.starts_with(' '))
      wanted.remove_prefix(1);
    const std::size_t found = text.substr(at, kFar + wanted.size()).find(wanted);
    if (found == std::string_view::npos || wanted.empty()) {
      out.push_back({id, bytes, "?"});
      continue;
    }
    at += found;
    out.push_back({id, bytes, whose(prompt, at, at + wanted.size())});
    at += wanted.size();
  }
  return out;
}

void print_pieces(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    const bool is_input = std::string_view(piece.from) == "input";
    print({piece.id, "\t", printable(piece.from), "\t",
           color(STDOUT_FILENO, is_input ? Color::kYellow : Color::kCyan), "'",
           printable(piece.bytes), "'", color(STDOUT_FILENO, Color::kNone), "\n"});
  }
  note({pieces.size(), " tokens\n"});
}

// The prompt as it is; on a terminal what the template wrote is colored, and what a terminal would
// obey is escaped.
void print_prompt(const MarkedText& prompt) {
  const std::string_view text = prompt.text;
  std::size_t at = 0;
  for (const Span& span : prompt.trusted) {
    print_text(text.substr(at, span.begin - at));
    print({color(STDOUT_FILENO, Color::kCyan)});
    print_text(text.substr(span.begin, span.end - span.begin));
    print({color(STDOUT_FILENO, Color::kNone)});
    at = span.end;
  }
  print_text(text.substr(at));
  if (is_terminal(STDOUT_FILENO)) print({"\n"});
}

Result<Object> as_json(const std::string& name, const MarkedText& prompt,
                       const Tokenizer* tokenizer) {
  Array spans;
  for (const Span& span : prompt.trusted) {
    spans.emplace_back(Array{span.begin, span.end});
  }
  Object out = json_object({{"template", name}, {"text", prompt.text}, {"trusted", spans}});
  if (tokenizer == nullptr) return out;
  Array tokens;
  WICK_TRY(const auto pieces, pieces_of(*tokenizer, prompt));
  for (const Piece& piece : pieces) {
    tokens.push_back(json_object({{"id", piece.id}, {"text", piece.bytes}, {"from", piece.from}}));
  }
  out["tokens"] = std::move(tokens);
  return out;
}

// For a template that raises, its message is compared.
std::string text_or_error(const Result<MarkedText>& prompt) {
  return prompt ? prompt->text : cat("error: ", to_string(prompt.error()));
}

Result<int> diff(const TemplateFlags& o, const Source& source, const Object& context) {
  WICK_TRY(Source other, open_source(o.other));
  if (other.tokenizer == nullptr) other.tokenizer = source.tokenizer;
  WICK_TRY(const auto interrupt, Interrupt::begin());
  const std::string before = text_or_error(render(source, o.name, context, *interrupt));
  const std::string behind = text_or_error(render(other, o.name, context, *interrupt));
  if (interrupt->was_hit()) return kExitInterrupted;
  if (o.is_json) {
    print_json(json_object({{"is_same", before == behind}, {"text", before}, {"other", behind}}));
  } else {
    print_line_diff(before, behind);
  }
  return before == behind ? kExitOk : kExitDeclined;
}

Result<int> run_template(const TemplateFlags& o) {
  WICK_TRY(const Source source, find_source(o));
  WICK_TRY(const Object context, context_of(o));
  if (!o.other.empty()) return diff(o, source, context);
  if (o.is_tokens && source.tokenizer == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_tokenizer",
                 .message = "--tokens needs a tokenizer, and a template alone has none",
                 .hint = "name the model, too: -m MODEL"};
  }
  WICK_TRY(const auto interrupt, Interrupt::begin());
  WICK_TRY(const MarkedText prompt, render(source, o.name, context, *interrupt));
  if (o.is_json) {
    const auto name = source.templates.picked_name(o.name, has_tools(context));
    WICK_TRY(const Object shown, as_json(name.value_or(""), prompt, source.tokenizer.get()));
    print_json(shown);
  } else if (o.is_tokens) {
    WICK_TRY(const auto pieces, pieces_of(*source.tokenizer, prompt));
    print_pieces(pieces);
  } else {
    print_prompt(prompt);
  }
  return kExitOk;
}

}  // namespace

Action setup_template(Flags flags) {
  const auto o = std::make_shared<TemplateFlags>();
  flags.text("MESSAGES", o->messages,
             "JSON file: an array of messages, or an object with messages, tools, documents and "
             "any other variable; standard input if absent");
  o->settings.add_model(flags, false);
  flags.text("--template", o->source,
             "template to use: a .jinja file, tokenizer_config.json, folder or model");
  flags.text("--name", o->name,
             "name of the template, if the model has several: default, tool_use, rag, …");
  flags.texts("--set", o->variables, "set a variable of the template: KEY=JSON; may be repeated");
  flags.toggle("--add-generation-prompt", o->adds_prompt,
               "append the generation prompt, the start of the assistant's turn "
               "(add_generation_prompt = true)");
  flags.toggle("--no-generation-prompt", o->adds_no_prompt,
               "do not append the generation prompt (add_generation_prompt = false)");
  flags.exclude("--add-generation-prompt", "--no-generation-prompt");
  flags.toggle("--tokens", o->is_tokens,
               "print the tokens; mark those that come from the template");
  flags.text("--diff", o->other,
             "print a diff with the prompt of this template; exit status 1 if they differ");
  flags.toggle("--json", o->is_json,
               "print one JSON object: template name, text, byte ranges from the template, tokens");
  return [o, flags] {
    o->has_model = flags.is_given("--model");
    return run_template(*o);
  };
}

}  // namespace wick
