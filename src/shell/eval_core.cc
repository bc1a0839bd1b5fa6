// Effects as they are noted: limits, places, paths and what is special about them; check() and
// judge().
#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"
#include "shell/key_names.h"
#include "shell/limits.h"

namespace wick::shell {

Evaluator::Evaluator(const Profile& profile, Dialect dialect)
    : profile_(profile), dialect_(dialect) {}

bool Evaluator::step(Span span) {
  if (is_too_complex_) return false;
  const bool is_in_limits = ++steps_ <= kMaxSteps && built_ <= kMaxBuilt && nested_ <= kMaxNested &&
                            joined_ <= kMaxJoined && words_ <= kMaxWords;
  if (is_in_limits) return true;
  is_too_complex_ = true;
  unknown(span, "",
          nested_ > kMaxNested   ? "too complex: code nests deeper than 16"
          : joined_ > kMaxJoined ? "too complex: too many variables in too many branches"
          : words_ > kMaxWords   ? "too complex: more words than the limit of 32,768"
                                 : "too complex: more steps than the limit of 10,000");
  return false;
}

void Evaluator::add(EffectKind kind, Scope scope, std::string target, Span span, std::string why) {
  if (outer_ != nullptr) span = *outer_;
  reads_keys_ = reads_keys_ || kind == EffectKind::kReadsCredentials;
  // Root's `sudo` lifts nothing, but what root fetches runs with all rights.
  const bool is_foreign_code = kind == EffectKind::kFetchedCode || kind == EffectKind::kDecodedCode;
  const bool is_lifted = profile_.is_root ? is_foreign_code : lifted_ > 0;
  if (effects_.size() >= kMaxEffects) {
    const Effect effect{.kind = kind, .scope = scope, .is_lifted = is_lifted};
    const bool is_worse = std::all_of(effects_.begin(), effects_.end(), [&](const Effect& e) {
      return level_of(e) < level_of(effect);
    });
    if (!is_worse) return;
  }
  if (span.begin > newest_) {  // most are: the effects before are of other places
    newest_ = span.begin;
    first_newest_ = effects_.size();
  }
  const std::size_t first = span.begin == newest_ ? first_newest_ : 0;
  const auto others = std::span(effects_).subspan(first);
  const bool is_seen = std::any_of(others.begin(), others.end(), [&](const Effect& e) {
    return e.span.begin == span.begin && e.span.end == span.end && e.kind == kind &&
           e.scope == scope && e.is_lifted == is_lifted && e.target == target && e.why == why;
  });
  if (is_seen) return;
  Effect& added = effects_.emplace_back();
  added.kind = kind;
  added.scope = scope;
  added.is_lifted = is_lifted;
  added.target = std::move(target);
  added.span = span;
  added.why = std::move(why);
}

void Evaluator::unknown(Span span, std::string target, std::string why) {
  add(EffectKind::kUnknown, Scope::kNone, std::move(target), span, std::move(why));
}

Folders Evaluator::folders_at(std::string_view cwd) const {
  return {.cwd = cwd, .home = profile_.home};
}

std::string Evaluator::shown(const std::string& path, const State& s) const {
  if (s.cwd.size() != 1 || std::string_view(s.cwd[0]) == "/") return path;
  const std::string& folder = s.cwd[0];
  if (!path.starts_with(folder)) return path;
  if (path.size() == folder.size()) return ".";
  return path[folder.size()] == '/' ? path.substr(folder.size() + 1) : path;
}

namespace {

std::string_view verb_of(EffectKind kind) {
  switch (kind) {
    case EffectKind::kReadsNames:
      return "reads names of";
    case EffectKind::kReadsContent:
      return "reads";
    case EffectKind::kCreates:
      return "creates or appends to";
    case EffectKind::kOverwrites:
      return "overwrites";
    case EffectKind::kDeletes:
      return "deletes";
    case EffectKind::kDestroys:
      return "destroys beyond recovery";
    case EffectKind::kChangesMode:
      return "changes mode or owner of";
    default:
      return "touches";
  }
}

bool writes(EffectKind kind) {
  return kind != EffectKind::kReadsNames && kind != EffectKind::kReadsContent &&
         kind != EffectKind::kReadsCredentials;
}

std::string sentence(EffectKind kind, Scope scope, std::string_view target, Reach reach) {
  const std::string_view verb = reach.is_moved ? "moves" : verb_of(kind);
  std::string out;
  out.reserve(verb.size() + target.size() + 32);  // one allocation: there is one for each path
  out += verb;
  switch (scope) {
    case Scope::kTree:
      if (reach.is_glob && target.ends_with("/*")) {
        target.remove_suffix(target.size() > 2 ? 2 : 1);
      } else if (reach.is_glob) {
        out += " everything that matches ";
        break;
      }
      out += " everything below ";
      break;
    case Scope::kCwdAll:
      out += " everything in ";
      if (target == ".") target = "the working directory";
      break;
    case Scope::kDevice:
      out += " the device ";
      break;
    case Scope::kUnknown:
      out += " files that are not known";
      return out;
    default:
      out += reach.is_glob ? " files matching " : reach.is_narrowed ? " files below " : " ";
      out += target;
      if (reach.is_tree && !reach.is_glob && !reach.is_narrowed) out += " and what is below";
      return out;
  }
  out += target;
  return out;
}

}  // namespace

// What stands out about a path besides its scope.
void Evaluator::touch_special(EffectKind kind, const std::string& path, const std::string& shown,
                              Span span) {
  if (kind == EffectKind::kReadsContent) {
    const bool is_pattern = has_wildcard(path);
    if (is_credential(path, profile_.home) ||
        (is_pattern && may_be_credential(path, profile_.home)))
      add(EffectKind::kReadsCredentials, Scope::kNamed, shown, span,
          cat("reads ", shown, ", which holds credentials"));
    return;
  }
  if (!writes(kind)) return;
  if (std::string_view(path) == "/proc/sysrq-trigger")
    return add(EffectKind::kKernelTrigger, Scope::kNone, path, span,
               "triggers the kernel directly");
  if (path.starts_with("/proc/sys") || path.starts_with("/sys/"))
    return add(EffectKind::kPower, Scope::kNone, path, span,
               cat("sets the kernel parameter ", path));
  const bool is_lost = kind == EffectKind::kDeletes || kind == EffectKind::kOverwrites;
  if (is_lost && is_key_store(path))
    add(EffectKind::kDestroys, Scope::kNamed, shown, span,
        cat("loses keys in ", shown, ", which cannot be restored"));
  if (is_trust_root(path))
    return add(EffectKind::kTrustRoot, Scope::kNone, path, span,
               cat("changes ", path, ", which can grant root rights"));
  if (is_persistence(path, profile_.home))
    return add(EffectKind::kPersistence, Scope::kNone, shown, span,
               cat("changes ", shown, ", which runs later by itself"));
  if (is_history_file(path, profile_.home))
    add(EffectKind::kTampering, Scope::kNone, shown, span, cat("changes ", shown, ", a record"));
}

// What is done through a link that the command itself made is done to its target. A deletion takes
// the link.
void Evaluator::follow_links(EffectKind kind, const std::string& path, Span span, State& s,
                             Reach reach) {
  for (const auto& [link, target] : links_) {
    const bool is_below =
        path.starts_with(link) && path.size() > link.size() && path[link.size()] == '/';
    const bool is_link = path == link && kind != EffectKind::kDeletes;
    if (!is_below && !is_link) continue;
    if (++followed_ > kMaxFollowed)
      return unknown(span, path, "too complex: too many paths through links");
    touch_path(kind, target + path.substr(link.size()), span, s, reach);
  }
}

void Evaluator::touch_path(EffectKind kind, const std::string& path, Span span, State& s,
                           Reach reach) {
  if (path.empty()) return;  // no file has an empty name
  const bool is_relative = !path.starts_with('/');
  const bool may_be_sink = !is_relative && path.find("dev") != std::string::npos;
  if (may_be_sink && kind != EffectKind::kDeletes && is_sink(normal_path(path, ""))) return;
  const std::size_t n = is_relative ? std::max<std::size_t>(s.cwd.size(), 1) : 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view folder = i < s.cwd.size() ? std::string_view(s.cwd[i]) : "";
    const std::string full = normal_path(path, folder);
    if (!links_.empty()) follow_links(kind, full, span, s, reach);
    // A file that goes to /tmp is written below it.
    const bool is_put =
        (kind == EffectKind::kCreates || kind == EffectKind::kOverwrites) && is_tmp_folder(full);
    Scope scope = scope_of(is_put ? cat(full, "/x") : full, reach, folders_at(folder));
    if (is_relative && s.is_cwd_lost && writes(kind)) scope = std::max(scope, Scope::kUnknown);
    // A deletion counts a folder that `cd` named as a link, too.
    const std::string_view physical = kind == EffectKind::kDeletes ? "" : folder;
    const bool is_behind_link = writes(kind) && may_leave_by_link(path, folder, {physical, start_});
    if (is_behind_link) scope = std::max(scope, Scope::kUnknown);
    std::string target = shown(full, s);
    touch_special(kind, full, target, span);
    // A credential that is read, a history that goes: said already, the file itself is no more.
    const EffectKind noted = kind;
    std::string why = is_behind_link && scope == Scope::kUnknown
                          ? cat(verb_of(kind), " ", path, ", which may lead elsewhere by a link")
                          : sentence(noted, scope, target, reach);
    if (noted == EffectKind::kDeletes && (scope == Scope::kTree || scope == Scope::kCwdAll) &&
        suggestion_.empty())
      suggestion_ = "list it first: replace the deletion by `ls -d`, or move it to the trash";
    add(noted, scope, std::move(target), span, std::move(why));
  }
  if (is_relative && s.is_cwd_lost && writes(kind)) {
    const std::string below = normal_path(path, "");
    add(kind, Scope::kUnknown, below, span,
        cat(verb_of(kind), " ", below, " in a directory that is not known"));
  }
}

std::string Evaluator::file_of(const std::string& path, const State& s) const {
  const std::string_view cwd = s.cwd.size() == 1 ? std::string_view(s.cwd[0]) : "";
  if (may_leave_by_link(path, cwd, {cwd, start_})) return "";
  return normal_path(path, cwd);
}

void Evaluator::touch(EffectKind kind, const Arg& arg, State& s, Reach reach) {
  const Value& v = arg.value;
  if (v.is_known) {
    reach.is_glob = reach.is_glob || arg.is_glob;
    for (const std::string& path : v.set)
      touch_path(kind, path, arg.span, s, reach);
    return;
  }
  const bool is_in_keys = !v.prefix.empty() && is_credential(v.prefix, profile_.home);
  if (kind == EffectKind::kReadsContent && !v.is_number && (v.keys == Keys::kMeant || is_in_keys))
    add(EffectKind::kReadsCredentials, Scope::kUnknown, v.prefix, arg.span,
        is_in_keys ? cat("reads a file in ", v.prefix, ", which holds credentials")
                   : std::string("reads files that were found by names of credentials"));
  // Everything in the folder that mktemp made; if it failed, everything in /.
  const bool is_all_of_it = v.tail.find_first_not_of("*/?.") == std::string::npos;
  const bool is_put = kind == EffectKind::kOverwrites && !reach.is_tree;
  if (v.is_below && arg.is_unset_slash && is_all_of_it && writes(kind) && !is_put &&
      kind != EffectKind::kCreates)
    return add(kind, Scope::kUnknown, v.tail, arg.span,
               cat(verb_of(kind), " what is in a folder of mktemp: if that failed, what is in /"));
  if (v.is_below || v.is_number) {
    if (v.is_number && v.prefix.empty()) {
      return add(kind, Scope::kNamed, "a number", arg.span,
                 cat(verb_of(kind), " a file named by a number"));
    }
    // A tree from which tests of sizes and the like choose may show keys as the whole does.
    const std::string folder = normal_path(v.prefix, s.cwd.size() == 1 ? s.cwd[0] : "");
    const bool may_show_keys = kind == EffectKind::kReadsContent && v.keys >= Keys::kSome &&
                               may_hold_keys(folder, profile_.home);
    const bool is_all = (v.is_everything || may_show_keys) &&
                        v.tail.find_first_not_of("*/?.") == std::string::npos;
    const std::string base = v.prefix.empty() ? "." : v.prefix;
    return touch_path(kind, base, arg.span, s,
                      {.is_tree = true, .is_glob = false, .is_narrowed = !is_all});
  }
  if (kind == EffectKind::kReadsNames)
    return add(kind, Scope::kUnknown, "", arg.span, "reads names of files that are not known");
  if (arg.is_unset_slash && writes(kind))
    return add(
        kind, Scope::kUnknown, v.tail, arg.span,
        cat(verb_of(kind), " a path that begins with a word that is not known: empty means root"));
  add(kind, Scope::kUnknown, v.prefix, arg.span, sentence(kind, Scope::kUnknown, v.prefix, reach));
}

namespace {

// Bytes that a terminal or reader takes for something else: control characters, Unicode blanks,
// characters without width, bidirectional controls, broken UTF-8.
bool is_misleading(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
  });
  if (is_plain) return false;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F) return true;
      ++i;
      continue;
    }
    const int size = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || text.size() - i < static_cast<std::size_t>(size)) return true;
    char32_t code = c & (0x7F >> size);
    for (int k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xC0) != 0x80) return true;
      code = code << 6 | (next & 0x3F);
    }
    const bool is_blank =
        code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200F) ||
        (code >= 0x2028 && code <= 0x202F) || code == 0x205F || code == 0x3000 ||
        (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || code == 0xAD || code < 0xA0 ||
        code == 0x180E || code == 0x34F || code == 0x61C || (code >= 0xE0000 && code <= 0xE0FFF) ||
        (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0xD800 && code < 0xE000) || code == 0x115F ||
        code == 0x1160 || code == 0x17B4 || code == 0x17B5 || code == 0x2800 || code == 0x3164 ||
        code == 0xFFA0 || (code >= 0xFFF0 && code <= 0xFFFB) ||
        (code >= 0x1BCA0 && code <= 0x1BCA3) || (code >= 0x1D173 && code <= 0x1D17A);
    if (is_blank) return true;
    i += static_cast<std::size_t>(size);
  }
  return false;
}

}  // namespace

// Outside quotes, such bytes make the command read as another: the source without its quoted parts.
void Evaluator::scan_hidden(const Script& script) {
  if (!is_misleading(script.source)) return;
  std::string open;
  char quote = '\0';
  for (std::size_t i = 0; i < script.source.size(); ++i) {
    const char c = script.source[i];
    if (quote == '\0' && c == '\\') {
      if (++i < script.source.size()) open += script.source[i];
    } else if (quote == '"' && c == '\\') {
      ++i;
    } else if (c == quote) {
      quote = '\0';
      open += ' ';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == '\0') {
      open += c;
    }
  }
  if (is_misleading(open))
    unknown({0, static_cast<int>(script.source.size())}, "",
            "holds control characters, invisible or broken characters outside quotes");
}

void Evaluator::run(const Script& script) {
  const std::size_t n_usual = 8 + 2 * std::min<std::size_t>(script.body.size(), 64);
  effects_.reserve(n_usual);
  made_.reserve(n_usual);
  State state;
  if (!profile_.cwd.empty()) {
    start_ = normal_path(profile_.cwd, "/");
    state.cwd = {start_};
  }
  scan_hidden(script);
  list(script.body, state, Stream::none());
  run_traps(0, state);
}

Verdict Evaluator::take() {
  Verdict out;
  for (const Effect& effect : effects_)
    out.level = std::max(out.level, level_of(effect));
  out.effects = std::move(effects_);
  out.suggestion = std::move(suggestion_);
  out.calls = std::move(made_);
  if (is_too_complex_) out.calls.push_back({.argv = {std::nullopt}});
  return out;
}

namespace {

constexpr std::string_view kSomeHome = "/home/-";

Verdict evaluated(const Script& script, const Profile& profile) {
  Evaluator evaluator(profile, script.dialect);
  evaluator.run(script);
  return evaluator.take();
}

void write_as_tilde(std::string& text) {
  for (std::size_t at = 0; (at = text.find(kSomeHome, at)) != std::string::npos; ++at)
    text.replace(at, kSomeHome.size(), "~");
}

}  // namespace

// A home that is not known may be any folder, so little is known of ~/.ssh. With a home of some
// name it is a folder of keys: what is worse there counts, too.
Verdict check(const Script& script, const Profile& profile) {
  Verdict out = evaluated(script, profile);
  if (!profile.home.empty() || out.level >= Level::kHigh) return out;
  Profile at_home = profile;
  at_home.home = kSomeHome;
  Verdict there = evaluated(script, at_home);
  for (Effect& effect : there.effects) {
    if (level_of(effect) <= out.level) continue;
    write_as_tilde(effect.target);
    write_as_tilde(effect.why);
    out.effects.push_back(std::move(effect));
  }
  out.level = std::max(out.level, there.level);
  return out;
}

Verdict judge(std::string_view text, Dialect dialect, Mode mode, const Profile& profile) {
  const Parsed parsed = parse(text, dialect, mode);
  if (const auto* script = std::get_if<Script>(&parsed)) return check(*script, profile);
  Verdict out;
  out.level = Level::kHigh;
  out.error = std::get<SyntaxError>(parsed);
  const std::string_view what = out.error->is_limit ? "too complex: " : "cannot analyze: ";
  out.effects.push_back({.kind = EffectKind::kUnknown,
                         .span = out.error->span,
                         .why = cat(what, out.error->message)});
  return out;
}

}  // namespace wick::shell
