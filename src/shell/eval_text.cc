// Commands whose output is known exactly where their input is: echo, printf, cat, decoders.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/escapes.h"

namespace wick::shell {

namespace {

bool all_exact(const std::vector<Arg>& argv) {
  return std::all_of(argv.begin() + 1, argv.end(),
                     [](const Arg& a) { return a.is_exact() && !a.is_glob; });
}

// A stream that a decoder makes of `in`: the text if it is known.
Stream decoded(const Stream& in, std::optional<std::string> text) {
  Stream out = text ? Stream::of(*std::move(text)) : Stream::unknown();
  out.is_decoded = true;
  out.is_fetched = in.is_fetched;
  out.is_secret = in.is_secret;
  out.keys = in.keys;
  return out;
}

bool takes_secrets(const std::vector<Arg>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const Arg& a) { return a.value.is_secret; });
}

Keys keys_of(const std::vector<Arg>& argv) {
  Keys out = Keys::kNone;
  for (const Arg& arg : argv) {
    out = std::max(out, arg.value.keys);
    // ~/.ssh/id_rsa without a known home.
    if (!arg.value.is_known && is_credential(arg.value.tail, "")) out = Keys::kMeant;
  }
  return out;
}

}  // namespace

Stream Commands::echo(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(s);
  static_cast<void>(in);
  Stream out;
  if (!all_exact(argv)) {
    out.is_secret = takes_secrets(argv);
    out.keys = keys_of(argv);
    if (argv.size() == 2 && argv[1].value.is_number) out.is_number = true;
    return out;
  }
  std::size_t first = 1;
  bool decodes = e.dialect_ == Dialect::kPosix || e.dialect_ == Dialect::kZsh;
  bool has_newline = true;
  for (; first < argv.size(); ++first) {
    const std::string& text = argv[first].text();
    const std::string_view known = e.dialect_ == Dialect::kPosix ? "n" : "neE";
    if (text.size() < 2 || text[0] != '-' || text.find_first_not_of(known, 1) != std::string::npos)
      break;
    for (const char c : text.substr(1)) {
      if (c == 'n') has_newline = false;
      if (c == 'e') decodes = true;
      if (c == 'E') decodes = false;
    }
  }
  std::string text;
  for (std::size_t i = first; i < argv.size(); ++i) {
    if (i > first) text += ' ';
    text += argv[i].text();
  }
  bool has_code = false;
  if (decodes) text = decode_escapes(text, &has_code);
  if (has_newline) text += '\n';
  out = Stream::of(std::move(text));
  out.is_decoded = has_code;
  out.is_secret = takes_secrets(argv);
  out.keys = keys_of(argv);
  for (const Arg& arg : argv)
    out.is_decoded = out.is_decoded || e.decoded_.contains(arg.text());
  return out;
}

namespace {

// Whether each argument of this format of printf is text, so none is a number.
bool takes_texts(const std::string& format) {
  for (std::size_t i = format.find('%'); i < format.size(); i = format.find('%', i + 1)) {
    i = format.find_first_not_of("-0123456789.", i + 1);
    if (i == std::string::npos || std::string_view("sbqc%").find(format[i]) == std::string::npos)
      return false;
  }
  return true;
}

}  // namespace

Stream Commands::print_format(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  std::size_t first = 1;
  std::string variable;
  const bool may_be_v = argv.size() > 1 && !argv[1].value.is_known && argv[1].may_be_option();
  if (may_be_v && (may_be_many_options(argv[1]) || (argv.size() > 2 && !argv[2].is_exact())))
    e.unknown(argv[1].span, "", "a format that is not known and may be -v");
  if (argv.size() > 3 && argv[1].text() == "-v") {
    variable = argv[2].text();
    if (!e.name_of_variable(argv[2].is_many ? Value::unknown() : argv[2].value, argv[2].span))
      return Stream::none();
    first = 3;
  } else if (argv.size() > 1 && argv[1].text() == "--") {
    first = 2;
  }
  if (first < argv.size() && !(argv[first].is_exact() && takes_texts(argv[first].text()))) {
    for (std::size_t i = first + 1; i < argv.size(); ++i)
      e.zsh_number(argv[i], s);
  }
  Stream out = Stream::unknown();
  if (all_exact(argv) && first < argv.size()) {
    std::vector<std::string> arguments;
    for (std::size_t i = first + 1; i < argv.size(); ++i)
      arguments.push_back(argv[i].text());
    bool has_code = false;
    if (auto text = format_printf(argv[first].text(), arguments, &has_code)) {
      out = Stream::of(*std::move(text));
      out.is_decoded = has_code;
    }
  }
  out.is_secret = takes_secrets(argv);
  out.keys = keys_of(argv);
  if (variable.empty()) return out;
  e.set_variable(variable, {.value = out.is_known ? Value::exact(out.text) : Value::unknown()},
                 argv[2].span, s);
  return Stream::none();
}

Stream Commands::cat(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("cat");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  if (usage.operands().empty()) {
    const bool is_same = usage.options.empty() && !in.is_none;
    return is_same ? in : out;
  }
  for (const Usage::Item& operand : usage.operands()) {
    const Arg& file = *operand.arg;
    out.is_endless = out.is_endless || (file.is_exact() && is_endless_device(file.text()));
  }
  if (usage.operands().size() != 1 || !usage.options.empty()) return out;
  const std::string& path = usage.operands()[0].arg->text();
  if (path == "-" || path == "/dev/stdin") return in.is_none ? Stream::unknown() : in;
  const auto file = e.files_.find(e.file_of(path, s));
  return file != e.files_.end() && !path.empty() ? file->second : out;
}

Stream Commands::base64(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const bool is_32 = Evaluator::command_name(argv[0]) == "base32";
  const Row& row = *find_row("base64");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  const bool decodes = usage.has("-d") || usage.has("--decode") || usage.has("-D");
  if (!decodes) {
    if (in.is_known && usage.operands().empty() && usage.options.empty() && !is_32)
      return Stream::of(encode_base64(in.text) + "\n");
    return out;
  }
  Stream from = in;
  if (!usage.operands().empty() && usage.operands()[0].arg->text() != "-") {
    const auto file = e.files_.find(e.file_of(usage.operands()[0].arg->text(), s));
    from = file == e.files_.end() ? Stream::unknown() : file->second;
  }
  if (!from.is_known) return decoded(from, std::nullopt);
  return decoded(from, is_32 ? decode_base32(from.text) : decode_base64(from.text));
}

Stream Commands::xxd(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("xxd"), argv, 1);
  Stream out = e.apply_row(*find_row("xxd"), argv, 1, s, in);
  if (!usage.has("-r")) return out;
  const bool is_plain = usage.has("-p") && usage.operands().empty() && in.is_known;
  return decoded(in, is_plain ? decode_hex(in.text) : std::nullopt);
}

Stream Commands::rev(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  e.apply_row(*find_row(name), argv, 1, s, in);
  if (!in.is_known || argv.size() > 1 || name == "tac") return decoded(in, std::nullopt);
  std::string text;
  for (std::size_t at = 0; at < in.text.size();) {
    const std::size_t end = std::min(in.text.find('\n', at), in.text.size());
    const std::string line = in.text.substr(at, end - at);
    if (std::any_of(line.begin(), line.end(),
                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
      return decoded(in, std::nullopt);
    text.append(line.rbegin(), line.rend());
    if (end < in.text.size()) text += '\n';
    at = end + 1;
  }
  return decoded(in, std::move(text));
}

Stream Commands::tr(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("tr"), argv, 1);
  Stream out = e.apply_row(*find_row("tr"), argv, 1, s, in);
  const bool deletes = usage.options.size() == 1 && usage.has("-d");
  const std::size_t n = usage.operands().size();
  const bool is_exact =
      all_exact(argv) && in.is_known && (usage.options.empty() ? n == 2 : deletes && n == 1);
  if (!is_exact) return decoded(in, std::nullopt);
  return decoded(in, translate(in.text, usage.operands()[0].arg->text(),
                               n == 2 ? usage.operands()[1].arg->text() : "", deletes));
}

Stream Commands::unpack(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Row* row = find_row(name);
  if (row == nullptr) {
    e.unknown(argv[0].span, name, wick::cat("the command ", printable(name), " is not known"));
    return decoded(in, std::nullopt);
  }
  const Usage usage = read_usage(*row, argv, 1);
  const bool to_stdout = usage.has("-c") || usage.has("--stdout") || usage.has("--to-stdout");
  const Row* const reader = to_stdout ? find_row(wick::cat("stdout:", name)) : nullptr;
  e.apply_row(reader == nullptr ? *row : *reader, argv, 1, s, in);
  return decoded(in, std::nullopt);
}

Stream Commands::pwd(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  e.apply_row(*find_row("pwd"), argv, 1, s, in);
  return s.cwd.size() == 1 && argv.size() == 1 ? Stream::of(s.cwd[0] + "\n") : Stream::unknown();
}

Stream Commands::tee(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("tee"), argv, 1);
  e.unknown_options(usage, "tee");
  if (usage.is_help) return Stream::unknown();
  const Stream read = in.is_none ? Stream::unknown() : in;
  for (const Usage::Item& item : usage.items)
    e.write_stream(*item.arg, read, item.role == 'a', s);
  return read;
}

Stream Commands::yes(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(e);
  static_cast<void>(s);
  static_cast<void>(in);
  Stream out = Stream::unknown();
  out.is_endless = true;
  out.is_secret = takes_secrets(argv);
  out.keys = keys_of(argv);
  return out;
}

// Without operands it lists what is mounted.
Stream Commands::mount(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const bool lists = argv.size() == 1 || (argv.size() == 2 && argv[1].text() == "-l") ||
                     (argv.size() == 3 && argv[1].text() == "-t");
  return lists ? Stream::unknown() : e.apply_row(*find_row("mount"), argv, 1, s, in);
}

// Two addresses: EXEC and SYSTEM run a program, LISTEN waits for connections.
Stream Commands::socat(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("socat");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  out.is_fetched = true;
  bool runs = false;
  bool connects = false;
  for (const Usage::Item& operand : usage.operands()) {
    const Arg& address = *operand.arg;
    const std::string text = ascii_lower(address.text());
    const std::string kind = text.substr(0, text.find_first_of(":,"));
    if (!address.is_exact()) e.unknown(address.span, "", "an address of socat that is not known");
    const bool is_file = kind == "file" || kind == "open" || kind == "gopen" ||
                         kind.starts_with("creat") || kind.find('/') != std::string::npos;
    if (is_file) {
      const std::string& whole = address.text();
      const std::string path = kind.find('/') == std::string::npos
                                   ? whole.substr(std::min(kind.size() + 1, whole.size()))
                                   : whole;
      e.unknown(address.span, path, "socat reads or writes the file");
      if (is_credential(path.substr(0, path.find(',')), e.profile_.home))
        e.add(EffectKind::kSendsCredentials, Scope::kNone, path, address.span,
              "sends what may be a credential");
    }
    runs = runs || kind == "exec" || kind == "system" || kind == "shell";
    connects = connects || (!kind.empty() && kind != "-" && kind != "stdio" && kind != "exec" &&
                            kind != "system" && kind != "shell" && kind != "stdin");
    if (text.find("listen") != std::string::npos || kind.ends_with("-l") ||
        kind.find("recv") != std::string::npos)
      e.apply_effect('l', address.span, "socat");
  }
  if (runs && connects) {
    e.add(EffectKind::kSocketShell, Scope::kNone, "socat", argv[0].span,
          "ties a program to a connection");
  } else if (usage.operands().size() != 2 || !usage.unknown.empty() || runs) {
    e.unknown(argv[0].span, "socat", "what socat connects is not known");
  }
  if (!in.is_none && connects)
    e.add(in.is_secret  ? EffectKind::kSendsCredentials
          : in.is_known ? EffectKind::kSends
                        : EffectKind::kSendsUnknown,
          Scope::kNone, "socat", argv[0].span, "sends what it reads");
  return out;
}

}  // namespace wick::shell
