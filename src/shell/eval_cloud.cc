// Command lines of clouds: only what surely reads is told from the rest.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/evaluator.h"

namespace wick::shell {

namespace {

constexpr std::string_view kResources[] = {
    "compute",
    "instances",
    "zones",
    "regions",
    "networks",
    "subnets",
    "disks",
    "images",
    "snapshots",
    "projects",
    "container",
    "clusters",
    "machine-types",
    "addresses",
    "firewall-rules",
    "node-pools",
    "sql",
    "functions",
    "run",
    "services",
    "iam",
    "roles",
    "pubsub",
    "topics",
    "subscriptions",
    "builds",
    "app",
    "versions",
    "dns",
    "managed-zones",
    "artifacts",
    "buckets",
    "repositories",
    "logging",
    "storage",
    "service-accounts",
    "vm",
    "group",
    "network",
    "vnet",
    "nsg",
    "public-ip",
    "nic",
    "account",
    "aks",
    "acr",
    "webapp",
    "functionapp",
    "server",
    "db",
    "disk",
    "image",
    "resource",
    "role",
    "assignment",
    "monitor",
    "subscription",
    "cosmosdb",
    "redis",
    "repository",
};

// Verbs of clouds that read, behind names of resources: `gcloud compute instances list`.
bool reads_a_cloud(std::string_view name, const std::vector<std::string>& words) {
  if (name == "aws") {
    static constexpr std::string_view kOthers[] = {"get-caller-identity", "tail", "head-object",
                                                   "head-bucket", "filter-log-events"};
    return words.size() > 1 &&
           (words[1].starts_with("describe-") || words[1].starts_with("list-") ||
            std::find(std::begin(kOthers), std::end(kOthers), words[1]) != std::end(kOthers));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && (words[i] == "list" || words[i] == (name == "az" ? "show" : "describe")))
      return true;
    if (std::find(std::begin(kResources), std::end(kResources), words[i]) == std::end(kResources))
      return false;
  }
  return false;
}

}  // namespace

// aws, gcloud, az: what only reads has a row for its options; all else is not known.
Stream Commands::cloud(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  std::vector<std::string> words;
  for (std::size_t i = 1; i < argv.size() && argv[i].is_exact(); ++i) {
    if (argv[i].text().starts_with('-')) break;  // options behind the verb
    words.push_back(argv[i].text());
  }
  if (!words.empty()) {  // aws s3, gcloud config
    const std::string verb = wick::cat(name, " ", words.front());
    if (const Row* const row = find_row(verb)) {
      Argv rest = argv;
      rest.erase(rest.begin() + 1);
      e.current_verb_ = verb;
      return e.apply_row(*row, rest, 1, s, in);
    }
  }
  const bool reads = reads_a_cloud(name, words);
  return e.apply_row(*find_row(reads ? wick::cat("cloud:", name) : name), argv, 1, s, in);
}

// kubectl get KIND, KIND/NAME, KIND,KIND: the kind `secret` holds credentials.
void Evaluator::apply_resource(const Arg& arg) {
  if (!arg.is_exact()) return unknown(arg.span, "", "a resource that is not known may be a secret");
  std::string kinds = cat(",", ascii_lower(arg.text()));
  for (char& c : kinds) {
    if (c == '/' || c == '.') c = ',';
  }
  const bool is_secret = kinds.find(",secret") != std::string::npos;
  if (is_secret || kinds == ",shadow" || kinds == ",gshadow")
    add(EffectKind::kReadsCredentials, Scope::kNamed, arg.text(), arg.span,
        cat("reads ", arg.text(), ", which holds credentials"));
}

void Evaluator::apply_cloud_role(char role, const Arg& arg, State& s, const Stream& in,
                                 Stream& out) {
  const std::string& text = arg.text();
  const bool is_elsewhere = arg.is_exact() && text.find(':') < text.find('/');
  switch (role) {
    case 'B':  // a container or an image
      return apply_effect(arg.is_exact() && !arg.is_glob ? '1' : 'B', arg.span, text);
    case 'S':
      return apply_resource(arg);
    case 'j':  // a path that is sent, or NAME:PATH of another machine or container
      if (!is_elsewhere) apply_network_role('s', arg, s, in, out);
      return;
    case 'b':  // the same as a destination
      if (!is_elsewhere)
        touch(EffectKind::kOverwrites, arg, s, {.is_tree = true, .is_narrowed = true});
      return;
    default:
      return apply_format_role(role, arg, s, in, out);
  }
}

}  // namespace wick::shell
