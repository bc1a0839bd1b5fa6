// wick route: which provider would answer, and why the others would not. Nothing is sent.
#include <algorithm>
#include <istream>
#include <memory>
#include <sstream>

#include "cli/flags.h"
#include "cli/option_flags.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/routing.h"
#include "server/fields.h"

namespace wick {

namespace {

constexpr std::size_t kMaxLog = std::size_t{256} << 20;

struct RouteFlags {
  OptionFlags settings = {};
  std::string model = "auto", prompt = {}, tag = {}, log = {};
  int max_tokens = 0;
  bool is_json = false;
  Result<int> (*run)(const RouteFlags&) = nullptr;
};

struct Rules {
  RoutingSettings settings = {};
  std::shared_ptr<route::Router> router = {};
  bool is_offline = false;
};

Result<Rules> rules_of(const RouteFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  Rules rules{.is_offline = config.boolean("hub.offline")};
  WICK_TRY(rules.settings, routing_settings(config.tables()));
  WICK_TRY(rules.router, open_router(rules.settings, lazy_local(rules.settings, config), "auto"));
  return rules;
}

JsonValue to_value(const route::Decision& decision, const std::vector<route::Member>& members) {
  Array candidates;
  for (const route::Candidate& one : decision.candidates) {
    candidates.emplace_back(json_object({{"provider", members[one.member].name},
                                         {"model", one.model},
                                         {"rejected", one.rejected},
                                         {"reason", one.rejected_id},
                                         {"remark", one.remark},
                                         {"most_cost_usd", route::to_dollars(one.most_cost)}}));
  }
  return json_object({{"rule", decision.rule},
                      {"when", decision.when},
                      {"private", decision.is_private},
                      {"prompt_tokens", decision.facts.prompt_tokens},
                      {"candidates", std::move(candidates)}});
}

void explain(const RouteFlags& o, const Rules& rules, const Request& request) {
  route::Decision decision = rules.router->explain(request);
  add_obstacles(rules.settings, *rules.router, rules.is_offline, decision);
  if (o.is_json) return print_json(to_value(decision, rules.router->members()));
  print({printable_lines(route::to_text(decision, rules.router->members()))});
}

Result<int> explain(const RouteFlags& o) {
  WICK_TRY(const Rules rules, rules_of(o));
  Request request{.model = o.model, .prompt = std::vector<Message>{{.content = o.prompt}}};
  request.generation.max_tokens = o.max_tokens;
  request.tag = o.tag;
  explain(o, rules, request);
  return kExitOk;
}

// As the server reads it; "tag" is a header there.
Result<Request> read_logged(const std::string& line) {
  WICK_TRY(const JsonValue value, parse_json(line));
  const Object* const object = value.object();
  server::ParsedRequest parsed;
  if (object != nullptr) WICK_DO(server::read_fields(server::kChat, *object, parsed));
  if (!std::holds_alternative<std::vector<Message>>(parsed.request.prompt))
    return Error{.code = ErrorCode::kInvalid, .id = "bad_log", .message = "there are no messages"};
  Request& request = parsed.request;
  const auto limit =
      parsed.max_completion_tokens ? parsed.max_completion_tokens : parsed.max_tokens;
  request.generation.max_tokens = std::max(limit.value_or(0), 0);
  const JsonValue* const tag = object->find("tag");
  if (tag != nullptr && tag->string() != nullptr) request.tag = *tag->string();
  return request;
}

// Each line of a log is the body of a request to /v1/chat/completions. A line that is none is
// named, and the others get their answers.
Result<int> test(const RouteFlags& o) {
  WICK_TRY(const std::string log, read_text(o.log, kMaxLog));
  WICK_TRY(const Rules rules, rules_of(o));
  std::istringstream lines(log);
  int number = 0;
  bool is_bad = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    auto request = read_logged(line);
    if (!request) {
      is_bad = true;
      flush_output();
      report(wrap(std::move(request).error(), cat(printable(o.log), ":", number)), o.is_json);
      continue;
    }
    if (!o.is_json) print({"# line ", printable(std::to_string(number)), "\n"});
    explain(o, rules, *request);
  }
  return is_bad ? kExitUsage : kExitOk;
}

}  // namespace

Action setup_route(Flags flags) {
  const auto o = std::make_shared<RouteFlags>();
  flags.require_command();
  o->settings.add_file(flags);
  Flags one = flags.command("explain", "show which provider would answer a prompt",
                            [o] { o->run = explain; });
  one.text("MODEL", o->model, "auto, remote/model, local/model, or PROVIDER/model");
  one.text("-p,--prompt", o->prompt, "the prompt");
  one.integer("-n,--max-tokens", o->max_tokens, {0, 1 << 24},
              "maximum tokens of the answer; 0 = the provider's default");
  one.text("--tag", o->tag, "tag of the request, for rules and budgets");
  one.toggle("--json", o->is_json, "print JSON");
  o->settings.add_file(one);
  Flags many = flags.command("test", "apply the current rules to each request of a log",
                             [o] { o->run = test; });
  many.required_text("FILE", o->log, "file of requests, one JSON object per line");
  many.toggle("--json", o->is_json, "print JSON");
  o->settings.add_file(many);
  return [o] { return o->run(*o); };
}

}  // namespace wick
