// What wick ask was called with, and what it finds on this machine.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "assist/history.h"
#include "assist/limits.h"
#include "base/strings.h"
#include "cli/ask.h"
#include "cli/out.h"
#include "cli/routing.h"
#include "cli/verdict_text.h"
#include "config/rules_file.h"
#include "net/transfers.h"
#include "provider/openers.h"
#include "remote/remote_provider.h"

namespace wick {

namespace fs = std::filesystem;
using shell::Level;

namespace {

Error too_long(std::string what, std::size_t size, std::size_t limit, std::string hint) {
  return {.code = ErrorCode::kInvalid,
          .id = "too_long",
          .message = cat("the ", what, " has ", size, " bytes, the limit is ", limit),
          .hint = std::move(hint)};
}

assist::SafetyLevel safety_of(const Config& config) {
  const std::string& text = config.text("safety.level");
  if (text == "strict") return assist::SafetyLevel::kStrict;
  return text == "permissive" ? assist::SafetyLevel::kPermissive : assist::SafetyLevel::kModerate;
}

Result<assist::Facts> facts_of(const Config& config, std::string_view key) {
  assist::Facts facts{.has_platform = false,
                      .has_tools = false,
                      .has_listing = false,
                      .has_git = false,
                      .has_input = false};
  const std::pair<std::string_view, bool*> kFacts[] = {{"platform", &facts.has_platform},
                                                       {"tools", &facts.has_tools},
                                                       {"listing", &facts.has_listing},
                                                       {"git", &facts.has_git},
                                                       {"input", &facts.has_input}};
  std::vector<std::string> names = config.texts(key);
  if (!config.is_set(key)) {
    names = {"platform", "tools"};
    if (key == "shell.context") names.insert(names.end(), {"listing", "git", "input"});
  }
  for (const std::string& name : names) {
    const auto* const found = std::find_if(std::begin(kFacts), std::end(kFacts),
                                           [&](const auto& fact) { return fact.first == name; });
    if (found == std::end(kFacts)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = cat(config.origin(key), ": ", key, " has '", printable(name), "'"),
                   .hint = "allowed are platform, tools, listing, git and input"};
    }
    *found->second = true;
  }
  return facts;
}

// A relative path starts where the user's config file is, never at the current folder.
Result<std::vector<assist::Rule>> rules_of(const Config& config) {
  std::vector<assist::Rule> rules;
  const auto files = config_files();
  const bool is_set = config.is_set("safety.rules");
  for (const std::string& name :
       is_set ? config.texts("safety.rules") : std::vector<std::string>{"rules.toml"}) {
    fs::path path = name;
    if (path.is_relative()) path = files.back().parent_path() / path;
    // A link to nothing and a folder that cannot be searched are errors: never fewer rules.
    struct stat status = {};
    if (!is_set && ::lstat(path.c_str(), &status) != 0 && errno == ENOENT) continue;
    WICK_TRY(std::vector<assist::Rule> more, read_rules(path));
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

// Most remote APIs take a schema but no pattern; wick serve takes both.
assist::Frame frame_of(const Config& config, bool is_remote) {
  const std::string& text = config.text("shell.frame");
  if (text == "line") return assist::Frame::kLine;
  if (text == "fence") return assist::Frame::kFence;
  return text == "json" || is_remote ? assist::Frame::kJson : assist::Frame::kFence;
}

// The Unix socket in the runtime directory of a `wick serve` of this user that takes connections.
std::string serving_socket() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime == nullptr || *runtime != '/') return "";
  std::string path = cat(runtime, "/wick.sock");
  sockaddr_un address = {};
  struct stat status = {};
  if (path.size() >= sizeof(address.sun_path) || ::lstat(path.c_str(), &status) != 0 ||
      !S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid())
    return "";
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_there =
      fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) ::close(fd);
  return is_there ? path : "";
}

// The first of a server's models that runs on this machine; "" if there is none. Behind a router
// they stand before "auto", and a name that a remote model has, too, may mean that one.
std::string local_one(const std::vector<ModelInfo>& models) {
  for (const ModelInfo& model : models) {
    if (model.name == "auto") return "";
    const auto may_mean_it = [&](const ModelInfo& other) {
      return other.name == model.name || other.name.ends_with("/" + model.name);
    };
    const auto n = std::count_if(models.begin(), models.end(), may_mean_it);
    if (n == 1 && find_opener(model.name).open == nullptr) return model.name;
  }
  return "";
}

// No provider: the server has no model of this machine, so the facts may not be sent to it.
Result<OpenModel> open_served(const std::string& socket) {
  remote::Endpoint endpoint{.name = "serve", .url = "http://localhost/v1", .unix_socket = socket};
  WICK_TRY(endpoint.kind, remote::find_kind("vllm"));
  WICK_TRY(endpoint, remote::complete(std::move(endpoint)));
  WICK_TRY(const auto transfers, Transfers::create());
  WICK_TRY(const auto models, remote::make_remote_provider(endpoint, transfers)->models());
  const std::string model = local_one(models);
  if (model.empty()) return OpenModel();
  endpoint.models = {model};
  return OpenModel{.provider = remote::make_remote_provider(std::move(endpoint), transfers),
                   .shown = cat(model, " of wick serve")};
}

}  // namespace

Result<std::unique_ptr<AskSetup>> set_up_ask(const AskFlags& flags) {
  auto out = std::make_unique<AskSetup>(flags);
  AskSetup& setup = *out;
  WICK_TRY(setup.config, flags.settings.resolve());
  WICK_TRY(setup.rules, rules_of(setup.config));
  setup.confirm = {.safety = safety_of(setup.config),
                   .is_yes = flags.is_yes,
                   .allows_critical = flags.allows_critical};
  setup.max_command = static_cast<std::size_t>(setup.config.integer("safety.max_command_length"));
  assist::MachineSources sources = assist::process_sources();
  sources.asked_shell = setup.config.text("shell.default");
  setup.machine = assist::probe(sources);
  if (!setup.machine.is_shell_known)
    note({"warning: the shell '", printable(setup.machine.shell),
          "' is not known: commands are for sh, and none is safe\n"});
  const std::string& model = setup.config.text("local.model_path");
  WICK_TRY(const RoutingSettings routing, routing_settings(setup.config.tables()));
  setup.is_remote = find_opener(model).open != nullptr || is_routed(routing, model);
  // Whoever names a model wants that one.
  if (!setup.config.is_set("local.model_path")) setup.socket = serving_socket();
  setup.facts_key = setup.is_remote ? "shell.remote_context" : "shell.context";
  WICK_TRY(setup.facts, facts_of(setup.config, setup.facts_key));
  setup.frame = frame_of(setup.config, setup.is_remote);
  return out;
}

assist::ProposeSettings AskSetup::propose_settings() const {
  return {.dialect = machine.dialect,
          .profile = assist::profile_of(machine),
          .frame = frame,
          .is_remote = is_remote,
          .max_command = max_command};
}

Result<void> AskSetup::check_sentence(const std::string& sentence) const {
  if (sentence.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "empty_sentence",
        .message = cat("the sentence is empty; it may have up to ", assist::kMaxSentence, " bytes"),
        .hint = "wick ask list all files"};
  }
  if (sentence.size() > assist::kMaxSentence)
    return too_long("sentence", sentence.size(), assist::kMaxSentence,
                    "pipe long texts in: they are context");
  return {};
}

Result<void> AskSetup::check_command(const std::string& command) const {
  if (command.size() <= max_command) return {};
  return too_long("command", command.size(), max_command,
                  "safety.max_command_length sets the limit");
}

shell::Verdict AskSetup::judge(const std::string& command, shell::Mode mode) const {
  shell::Verdict verdict =
      shell::judge(command, machine.dialect, mode, assist::profile_of(machine));
  if (!machine.is_shell_known) {
    verdict.effects.push_back(
        {.why = cat("the shell ", printable(machine.shell), " is not known")});
    verdict.level = std::max(verdict.level, Level::kHigh);
  }
  return verdict;
}

assist::RuleResult AskSetup::ruled(const std::string& command,
                                   const shell::Verdict& verdict) const {
  return assist::apply_rules(command, machine.dialect, verdict, rules);
}

Result<OpenModel> open_ask_model(const AskSetup& setup, int n_sequences) {
  if (!setup.socket.empty()) {
    WICK_TRY(OpenModel served, open_served(setup.socket));
    if (served.provider != nullptr) return served;
  }
  return open_model(setup.config, n_sequences);
}

void record(const AskSetup& setup, const AskRecord& one) {
  const fs::path path = assist::history_path();
  if (!setup.config.boolean("shell.history") || path.empty()) return;
  const auto added = assist::add_history(path, {.time = std::time(nullptr),
                                                .sentence = one.sentence,
                                                .command = one.command,
                                                .level = std::string(shell::name(one.level)),
                                                .outcome = one.outcome,
                                                .code = one.code,
                                                .shell = setup.machine.shell,
                                                .cwd = setup.machine.cwd,
                                                .undo = one.undo});
  if (!added) note({"warning: ", printable(to_string(added.error()), 4096), "\n"});
}

Error denied(const assist::RuleResult& result) {
  const assist::Rule& rule = *result.rule;
  std::string words;
  for (const std::string& word : rule.argv)
    words += cat(words.empty() ? "" : " ", word);
  return {.code = ErrorCode::kInvalid,
          .id = "command_denied",
          .message = cat("a rule denies '", printable(words), "'", rule.reason.empty() ? "" : ": ",
                         printable(rule.reason)),
          .hint = cat(printable(rule.place), " has the rule")};
}

Object to_object(const AskSetup& setup, const std::string& sentence,
                 const assist::Proposal& proposal) {
  Object out = json_object({{"ask", sentence}});
  if (proposal.command.empty()) {
    out["question"] = proposal.question;
    return out;
  }
  const shell::Verdict verdict = setup.judge(proposal.command);
  out["cmd"] = proposal.command;
  for (const auto& [key, value] : to_object(verdict))
    out[key] = value;
  const assist::RuleResult result = setup.ruled(proposal.command, verdict);
  if (result.rule != nullptr) {
    out["rule"] = json_object({{"kind", assist::name(result.rule->kind)},
                               {"reason", result.rule->reason},
                               {"level", shell::name(result.level)}});
  }
  out["shell"] = setup.machine.shell;
  out["retries"] = proposal.retries;
  out["ms"] = static_cast<std::int64_t>(proposal.ms + 0.5);
  return out;
}

std::string reason_of(const shell::Verdict& verdict) {
  const shell::Effect* const worst = assist::worst_effect(verdict);
  if (worst != nullptr) return std::string(worst->why);
  return verdict.level == Level::kSafe ? "output only" : "";
}

void print_risk(const std::string& command, const shell::Verdict& verdict, Level level,
                bool is_long) {
  constexpr int kOut = STDOUT_FILENO;
  const Color shade = level == Level::kSafe       ? Color::kGreen
                      : level == Level::kModerate ? Color::kYellow
                                                  : Color::kRed;
  print({"risk: ", color(kOut, shade), padded(printable(shell::name(level)), 9),
         color(kOut, Color::kNone), " ", printable(reason_of(verdict), 2000)});
  if (verdict.error)
    print({" (line ", verdict.error->line, ", column ", verdict.error->column, ")"});
  print({"\n"});
  if (is_long || verdict.level >= Level::kHigh) print_effects(command, verdict, is_long);
}

}  // namespace wick
