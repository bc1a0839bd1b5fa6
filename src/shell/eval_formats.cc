// Tools that read files of one format: archives of objects, programs, pictures, documents. What a
// name means depends on the tool: a coder, a pipe, a program that is started.
#include <algorithm>
#include <span>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/limits.h"

namespace wick::shell {
namespace {

// Programs that came with the system or were put there by its administrator.
bool is_of_system(std::string_view path) {
  static constexpr std::string_view kFolders[] = {
      "/bin/",      "/sbin/",    "/lib/",         "/lib32/",     "/lib64/",    "/usr/bin/",
      "/usr/sbin/", "/usr/lib/", "/usr/libexec/", "/usr/local/", "/usr/games/"};
  return std::any_of(std::begin(kFolders), std::end(kFolders),
                     [&](auto folder) { return path.starts_with(folder); });
}

// ImageMagick goes by a file's content, whatever its name ends in, and runs other programs for some
// formats (PostScript, PDF, SVG, film) and scripts for others (MSL, MVG). A coder's name before the
// file's keeps it to that format.
std::string_view after_raster_coder(std::string_view text) {
  static constexpr std::string_view kCoders[] = {
      "png:", "jpg:", "jpeg:", "gif:", "bmp:", "webp:", "tif:", "tiff:",
      "ico:", "ppm:", "pgm:",  "pbm:", "pnm:", "heic:", "avif:"};
  const std::string lower = ascii_lower(text);
  for (const std::string_view coder : kCoders)
    if (lower.starts_with(coder)) return text.substr(coder.size());
  return {};
}

// Whether a text in double quotes is the path of a credential.
bool may_be_credential_in(std::string_view code, std::string_view home) {
  while (code.find('"') != std::string_view::npos) {
    code.remove_prefix(code.find('"') + 1);
    if (is_credential(code.substr(0, code.find('"')), home)) return true;
  }
  return false;
}

// `.[!.]*` matches each hidden name, so it chooses none.
bool chooses_keys(std::string_view pattern, std::string_view home) {
  return pattern.find_first_not_of("*?.[]!^", pattern.rfind('/') + 1) != std::string_view::npos &&
         may_be_credential(pattern, home);
}

constexpr const char* kByContent =
    "ImageMagick goes by the content of a file and runs other programs for some formats; png:FILE "
    "keeps it to one";

}  // namespace

void Evaluator::apply_format_role(char role, const Arg& arg, State& s, const Stream& in,
                                  Stream& out) {
  const auto all = [&](auto is_good) {
    return arg.value.is_known && std::all_of(arg.value.set.begin(), arg.value.set.end(), is_good);
  };
  switch (role) {
    case 'L':  // the loader of the file runs; without a slash it is one of the working directory
      if (!all([](const std::string& path) { return is_of_system(normal_path(path, "")); }))
        return unknown(arg.span, arg.text(), "ldd may run the file that it is asked about");
      break;
    case '4':
      return name_again(arg, s);
    case 'I': {
      if (!arg.is_exact()) return unknown(arg.span, arg.text(), kByContent);
      const std::string path(after_raster_coder(arg.text()));
      if (path.empty() || path.starts_with('@') || path.starts_with('|'))
        return unknown(arg.span, arg.text(), kByContent);
      return apply_role('r', {.value = Value::exact(path), .span = arg.span}, s, in, out);
    }
    case '3':
      return write_picture(arg, s, in, out);
    case 'O':  // Perl's open()
      if (!all([](const std::string& path) {
            return path.find('|') == std::string::npos && path.find('<') == std::string::npos &&
                   path.find('>') == std::string::npos;
          }))
        return unknown(arg.span, arg.text(), "a name that may be a pipe");
      break;
    case 'G': {  // |COMMAND, !COMMAND
      if (!arg.value.is_known && arg.value.prefix.empty())
        return unknown(arg.span, "", "a name that may be a command");
      const std::string text = arg.value.is_known ? arg.text() : arg.value.prefix;
      if (text[0] != '|' && text[0] != '!') return apply_role('w', arg, s, in, out);
      const Value code = arg.is_exact() ? Value::exact(text.substr(1)) : Value::unknown();
      State copy = new_shell(s);
      run_text(code, arg.span, copy, Stream::unknown(), Dialect::kPosix);
      return;
    }
    case 'J': {  // names of files that are read, too
      const Stream list = list_in(arg, s, in);
      return read_listed(list, 'r', arg.span, s, out);
    }
    case 'X': {  // nothing is overwritten
      if (!arg.is_exact()) return;
      const std::string path =
          cat(normal_path(arg.text(), s.cwd.size() == 1 ? s.cwd[0] : ""), "/x");
      const Folders folders = s.cwd.empty() ? Folders{.home = profile_.home} : folders_at(s.cwd[0]);
      return add(EffectKind::kCreates, scope_of(path, {}, folders), arg.text(), arg.span,
                 cat("creates a new file: ", arg.text()));
    }
    case 'K':  // an expression of yq: load("FILE") reads a file
      if (arg.is_exact() && arg.text().find("load") == std::string::npos) return;
      touch(EffectKind::kReadsContent, {.value = Value::unknown(), .span = arg.span}, s, {});
      if (arg.is_exact() && may_be_credential_in(arg.text(), profile_.home))
        add(EffectKind::kReadsCredentials, Scope::kNamed, arg.text(), arg.span,
            "reads a file that holds credentials");
      return;
    case 'E':  // a text, or @FILE
      if (!arg.is_exact()) return unknown(arg.span, "", "a text that may name a file");
      if (!arg.text().starts_with('@')) return;
      return apply_role('r', {.value = Value::exact(arg.text().substr(1)), .span = arg.span}, s, in,
                        out);
    default:
      return unknown(arg.span, arg.text(),
                     "an operand that is not known, or code that is not read");
  }
  apply_role('r', arg, s, in, out);
}

// ln -s ~/.ssh/id_rsa x; cat x
void Evaluator::name_again(const Arg& arg, State& s) {
  touch(EffectKind::kReadsNames, arg, s, {});
  for (const std::string& path : arg.value.set) {
    const std::string full = normal_path(path, s.cwd.size() == 1 ? s.cwd[0] : "");
    if (is_credential(full, profile_.home) || (arg.is_glob && chooses_keys(full, profile_.home)))
      add(EffectKind::kReadsCredentials, Scope::kNamed, path, arg.span,
          cat("gives another name to ", path, ", which holds credentials"));
  }
  if (!arg.value.is_known && arg.value.keys == Keys::kMeant)
    add(EffectKind::kReadsCredentials, Scope::kUnknown, "", arg.span,
        "gives other names to files that were found by names of credentials");
}

// ln TARGET… NAME: NAME, or what is below it where it is a folder, leads to the target.
void Evaluator::note_links(const Usage& usage, const State& s) {
  const bool is_symbolic = usage.has("-s") || usage.has("--symbolic");
  const auto is_known = [](const Usage::Item& item) { return item.arg->is_exact(); };
  const std::span<const Usage::Item> operands = usage.operands();
  if (operands.empty() || !std::all_of(operands.begin(), operands.end(), is_known)) return;
  const bool is_one = operands.size() == 1;
  const std::string last = is_one ? "." : operands.back().arg->text();
  for (std::size_t i = 0; i + (is_one ? 0 : 1) < operands.size(); ++i) {
    const std::string& target = operands[i].arg->text();
    const std::string inside = cat(last, "/", target.substr(target.rfind('/') + 1));
    for (const std::string& name : {last, inside}) {
      const std::string link = file_of(name, s);
      const std::string folder = is_symbolic ? link.substr(0, link.rfind('/')) : file_of(".", s);
      if (link.empty() || links_.size() >= kMaxLinks || (is_one && name == last)) continue;
      links_.emplace_back(link, normal_path(target, folder));
    }
  }
}

void Evaluator::write_picture(const Arg& arg, State& s, const Stream& in, Stream& out) {
  if (!arg.is_exact()) return apply_role('w', arg, s, in, out);
  const std::string path(after_raster_coder(arg.text()));
  const bool is_plain = path.empty() && arg.text().find_first_of(":|@") == std::string::npos;
  if (!is_plain && (path.empty() || path.starts_with('|')))
    return unknown(arg.span, arg.text(), kByContent);
  const std::string& file = is_plain ? arg.text() : path;
  apply_role('w', {.value = Value::exact(file), .span = arg.span}, s, in, out);
}

namespace {

bool is_one_of(std::string_view word, std::string_view words) {
  return !word.empty() && words.find(cat(" ", word, " ")) != std::string_view::npos;
}

// A chain of filters none of which opens a file, a socket or a library: scale=640:-1,fps=12
bool is_plain_filter(std::string_view chain) {
  constexpr std::string_view kPlain =
      " scale crop fps transpose rotate pad overlay setpts asetpts atempo volume trim atrim format "
      "yadif hflip vflip fade afade concat amix amerge split asplit palettegen paletteuse loudnorm "
      "eq hue setsar setdar boxblur null anull aresample reverse areverse tile thumbnail unsharp "
      "hstack vstack xstack pan silencedetect blackdetect select aselect lowpass highpass ";
  std::size_t begin = 0;
  int quotes = 0;
  for (std::size_t i = 0; i <= chain.size(); ++i) {
    if (i < chain.size() && chain[i] == '\'') ++quotes;
    if (i < chain.size() && (quotes % 2 == 1 || (chain[i] != ',' && chain[i] != ';'))) continue;
    std::string_view one = chain.substr(begin, i - begin);
    begin = i + 1;
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    while (one.starts_with('[') && one.find(']') != std::string_view::npos)
      one.remove_prefix(one.find(']') + 1);
    if (!is_one_of(one.substr(0, one.find_first_of("=[@ ")), kPlain)) return false;
  }
  return chain.find("file") == std::string_view::npos && quotes % 2 == 0;
}

// What is not the path of one file for ffmpeg: a protocol, a list of other files.
bool is_other_source(std::string_view name) {
  for (const std::string_view end : {".m3u8", ".m3u", ".ffconcat", ".sdp", ".mpd", ".txt"}) {
    if (name.ends_with(end)) return true;
  }
  return name.substr(0, name.find('/')).find(':') != std::string_view::npos;
}

bool is_known_for_ffmpeg(std::string_view option, std::string_view value) {
  constexpr std::string_view kPlain =
      " -c -codec -b -q -qscale -crf -preset -tune -r -s -t -ss -sseof -to -map -metadata -ar -ac "
      "-ab -vb -aspect -vcodec -acodec -scodec -pix_fmt -profile -level -g -movflags -frames "
      "-vframes -loop -start_number -framerate -video_size -threads -v -loglevel -async -vsync "
      "-fps_mode -itsoffset -stream_loop -disposition -map_metadata -map_chapters -maxrate "
      "-minrate -bufsize -tag -compression_level -sample_rate -channels -ch_layout -bf -qmin "
      "-qmax ";
  constexpr std::string_view kFormats =
      " mp4 mp3 wav flac ogg matroska webm gif image2 null avi mov adts s16le f32le rawvideo "
      "mpegts ";
  const std::string_view name = option.substr(0, option.find(':'));
  if (name == "-f") return is_one_of(value, kFormats);
  if (is_one_of(name, " -vf -af -filter -filter_complex -lavfi ")) return is_plain_filter(value);
  return is_one_of(name, kPlain);
}

}  // namespace

// ffmpeg [OPTION [VALUE]] … -i INPUT … OUTPUT …
Stream Commands::ffmpeg(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  constexpr std::string_view kFlags =
      " -y -n -hide_banner -nostdin -nostats -stats -shortest -an -vn -sn -dn -copyts -re -version "
      "-formats -codecs -encoders -decoders -filters -pix_fmts -protocols -buildconf -L ";
  Stream out = Stream::unknown();
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    const bool has_value = i + 1 < argv.size();
    if (argv[i].is_exact() && is_one_of(text, kFlags)) continue;
    if (text == "-" || text.starts_with("pipe:")) continue;  // standard output
    if (!argv[i].is_exact() || (text[0] != '-' && is_other_source(text))) {
      e.unknown(argv[i].span, text, "ffmpeg: an option or output that is not known");
    } else if (text == "-i" && has_value) {
      const Arg& source = argv[++i];
      const std::string& name = source.text();
      const bool is_url = name.starts_with("https://") || name.starts_with("http://");
      const bool is_input = name == "-" || name.starts_with("pipe:");
      if (!is_input && !is_url && is_other_source(name))
        e.unknown(source.span, name, "ffmpeg: an input that is not one file");
      if (!is_input) e.apply_role('U', source, s, in, out);
    } else if (text.starts_with('-') && has_value) {
      const Arg& value = argv[++i];
      if (!value.is_exact() || !is_known_for_ffmpeg(text, value.text()))
        e.unknown(argv[i - 1].span, text,
                  wick::cat("ffmpeg: ", printable(text), " is not known here"));
    } else if (text.starts_with('-')) {
      e.unknown(argv[i].span, text, wick::cat("ffmpeg: ", printable(text), " is not known here"));
    } else {
      e.apply_role('w', argv[i], s, in, out);
    }
  }
  return out;
}

// What a file of names of files holds; "-" is standard input.
Stream Evaluator::list_in(const Arg& file, State& s, const Stream& in) {
  const std::string& path = file.text();
  if (path == "-" || path == "/dev/stdin" || path == "/dev/fd/0") return in;
  Stream out = Stream::unknown();
  apply_role('r', file, s, in, out);
  const auto written = file.is_exact() ? files_.find(file_of(path, s)) : files_.end();
  return written != files_.end() ? written->second : out;
}

// The files that a list names are read, by `role`.
void Evaluator::read_listed(const Stream& list, char role, Span span, State& s, Stream& out) {
  if (!list.is_known) {
    Value name = list.is_names ? Value::below(list.prefix) : Value::unknown();
    name.is_everything = list.is_everything;
    name.keys = list.keys;
    return apply_role(role, {.value = std::move(name), .span = span}, s, Stream::none(), out);
  }
  std::string_view text = list.text;
  while (!text.empty() && step(span)) {
    const std::string_view ends("\n\0", 2);
    const std::size_t size = std::min(text.find_first_of(ends), text.size());
    const Arg name{.value = Value::exact(std::string(text.substr(0, size))), .span = span};
    if (size > 0) apply_role(role, name, s, Stream::none(), out);
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

// cpio -o, cpio -p: names on standard input.
Stream Commands::cpio(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("cpio");
  Stream out = e.apply_row(row, argv, 1, s, Stream::none());
  const Usage usage = read_usage(row, argv, 1);
  const bool is_copied = usage.has("-o") || usage.has("--create") || usage.has("-p") ||
                         usage.has("--pass-through");
  if (is_copied) e.read_listed(in, 'r', argv[0].span, s, out);
  return out;
}

// zip ARCHIVE -@: names on standard input.
Stream Commands::zip(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  bool has_list = false;
  Argv rest;
  for (const Arg& arg : argv) {
    const std::size_t at = arg.is_exact() ? arg.text().find('@') : std::string::npos;
    const bool is_flag = at != std::string::npos && arg.text()[0] == '-' && arg.text()[1] != '-';
    has_list = has_list || is_flag;
    if (is_flag && arg.text().size() == 2) continue;
    rest.push_back(arg);
    if (is_flag) rest.back().value = Value::exact(std::string(arg.text()).erase(at, 1));
  }
  Stream out = e.apply_row(*find_row("zip"), rest, 1, s, Stream::none());
  if (has_list) e.read_listed(in, 'r', argv[0].span, s, out);
  return out;
}

// ar [-]KEYS ARCHIVE [MEMBER …]
Stream Commands::ar(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  Stream out = Stream::unknown();
  if (argv.size() == 2 && (argv[1].text() == "--version" || argv[1].text() == "--help")) return out;
  std::string keys = argv.size() > 1 ? argv[1].text() : "";
  if (keys.starts_with('-')) keys.erase(0, 1);
  constexpr std::string_view kVerbs = "tdmpqrsx", kModifiers = "abcDfiNoOPsSuUvV";
  const std::size_t verb = keys.find_first_of(kVerbs);
  const auto n_verbs = std::count_if(keys.begin(), keys.end(), [&](char c) {
    return c != 's' && kVerbs.find(c) != std::string_view::npos;
  });
  const bool is_known =
      verb != std::string::npos && n_verbs <= 1 && argv.size() > 2 &&
      keys.find_first_not_of(std::string(kVerbs) + std::string(kModifiers)) == std::string::npos;
  const bool has_place = keys.find_first_of("abiN") != std::string::npos;  // of a member: one more
  if (!is_known || has_place || argv[2].may_be_option()) {
    e.unknown(argv[0].span, "ar", "ar with keys that are not known");
    return out;
  }
  const auto has = [&](char c) { return keys.find(c) != std::string::npos; };
  const bool reads = has('t') || has('p') || has('x');
  e.touch(reads && !has('s') ? EffectKind::kReadsContent : EffectKind::kOverwrites, argv[2], s, {});
  if (has('p')) e.unknown(argv[0].span, "ar", "prints members, which may lie outside the archive");
  if (has('x')) e.apply_effect('w', argv[0].span, "ar");
  for (std::size_t i = 3; i < argv.size() && (has('r') || has('q')); ++i)
    e.apply_role('r', argv[i], s, Stream::none(), out);
  return out;
}

// pdftotext FILE.pdf [TEXT]: without TEXT it writes FILE.txt.
Stream Commands::pdftotext(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("pdftotext");
  Stream out = e.apply_row(row, argv, 1, s, in);
  const Usage usage = read_usage(row, argv, 1);
  const bool only_prints = usage.has("-v") || usage.has("-h") || usage.has("-listenc");
  if (usage.n_operands != 1 || only_prints) return out;
  Arg text = *usage.operands()[0].arg;
  if (text.is_exact() && !text.is_glob) {
    std::string path = text.text();
    if (ascii_lower(path).ends_with(".pdf")) path.resize(path.size() - 4);
    text.value = Value::exact(path + ".txt");
  }
  e.touch(EffectKind::kOverwrites, text, s, {});
  return out;
}

}  // namespace wick::shell
