// wick key: the API keys of wick serve, in its key file. A running server reads changes within a
// second.
#include <algorithm>
#include <functional>
#include <memory>

#include "base/strings.h"
#include "cli/flags.h"
#include "cli/key_book.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/routing.h"
#include "http/limits.h"

namespace wick {

namespace {

struct KeyFlags {
  OptionFlags settings = {};
  http::KeyRules rules = {};
  std::vector<std::string> models = {}, ids = {};
  int tokens_per_minute = 0;
  std::vector<std::string> given = {};  // words of copy_rule()
  bool is_json = false;
  Result<int> (*run)(const KeyFlags&) = nullptr;
};

Result<std::shared_ptr<KeyBook>> book_of(const KeyFlags& o, bool may_be_missing) {
  WICK_TRY(const Config config, o.settings.resolve());
  const std::string path = config.text("server.api_key_file");
  if (path.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_key_file",
                 .message = "no key file is set",
                 .hint = "--api-key-file FILE, WICK_SERVER_API_KEY_FILE, or server.api_key_file in "
                         "config.toml"};
  }
  WICK_TRY(const RoutingSettings routing, routing_settings(config.tables()));
  return KeyBook::open({.path = path, .may_be_missing = may_be_missing, .open_ledger = [routing] {
                          return open_ledger(routing);
                        }});
}

std::string joined_texts(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += cat(out.empty() ? "" : ",", text);
  return out;
}

Array to_array(const std::vector<std::string>& texts) {
  return Array(texts.begin(), texts.end());
}

JsonValue number_or_null(std::int64_t number) {
  return number == 0 ? JsonValue() : JsonValue(number);
}

Object to_object(const server::KeyInfo& info) {
  Array budgets;
  for (const server::KeyBudget& one : info.budgets) {
    budgets.emplace_back(json_object({{"budget", one.budget},
                                      {"cap_usd", one.cap},
                                      {"used_usd", one.used},
                                      {"reserved_usd", one.reserved}}));
  }
  const http::KeyRules& rules = info.rules;
  Object out;
  out["id"] = info.id;
  out["scope"] = rules.may_admin ? "admin" : "infer";
  out["name"] = rules.name;
  out["models"] = to_array(rules.models);
  out["rpm"] = number_or_null(rules.per_minute);
  out["tpm"] = number_or_null(rules.tokens_per_minute);
  out["parallel"] = number_or_null(rules.parallel);
  out["budgets"] = std::move(budgets);
  out["expires"] = rules.expires;
  out["blocked"] = rules.is_blocked;
  return out;
}

http::KeyRules rules_of(const KeyFlags& o) {
  http::KeyRules rules = o.rules;
  rules.tokens_per_minute = o.tokens_per_minute;
  std::erase(rules.budgets, "");
  for (const std::string& list : o.models) {  // --models a,b is two
    std::size_t at = 0;
    while (at <= list.size()) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      if (comma > at) rules.models.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return rules;
}

Result<int> create(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, true));
  WICK_TRY(const server::ApiKeys::Made made, book->prepare(rules_of(o)));
  if (o.is_json) {
    Object out = to_object(made.info);
    out["key"] = made.key;
    print_json(JsonValue(std::move(out)));
  } else {
    print({"key (shown only once):  ", printable(made.key), "\n"});
  }
  flush_output();
  if (output_has_failed()) return kExitOk;  // end_output() tells; a key nobody saw is not added
  WICK_DO(book->add(made));
  return kExitOk;
}

std::string limits_text(const http::KeyRules& rules) {
  std::string out;
  const auto add = [&](std::string_view name, std::int64_t value) {
    if (value > 0) out += cat(out.empty() ? "" : " ", name, "=", value);
  };
  add("rpm", rules.per_minute);
  add("tpm", rules.tokens_per_minute);
  add("parallel", rules.parallel);
  if (!rules.expires.empty()) out += cat(out.empty() ? "" : " ", "expires=", rules.expires);
  if (rules.is_blocked) out += cat(out.empty() ? "" : " ", "blocked");
  return out.empty() ? "-" : out;
}

Result<int> list(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  WICK_TRY(const auto infos, book->list());
  if (o.is_json) {
    Array all;
    for (const server::KeyInfo& info : infos)
      all.emplace_back(to_object(info));
    print_json(json_object({{"keys", std::move(all)}}));
    return kExitOk;
  }
  print({padded(printable("id"), 14), padded(printable("name"), 16), padded(printable("scope"), 8),
         padded(printable("models"), 24), padded(printable("limits"), 24), "budgets\n"});
  for (const server::KeyInfo& info : infos) {
    std::string budgets;
    for (const server::KeyBudget& one : info.budgets)
      budgets += cat(budgets.empty() ? "" : ", ", one.used, " of ", one.budget, " USD");
    const http::KeyRules& rules = info.rules;
    const std::string models = rules.models.empty() ? "all" : joined_texts(rules.models);
    print({padded(printable(info.id), 14), padded(printable(rules.name), 16),
           padded(printable(rules.may_admin ? "admin" : "infer"), 8),
           padded(printable(models, 200), 24), padded(printable(limits_text(rules)), 24),
           printable(budgets.empty() ? "-" : budgets), "\n"});
  }
  return kExitOk;
}

// Of all keys that are given, before anything is changed. `example` is what follows the ID.
Result<std::vector<std::string>> ids_of(const KeyFlags& o, KeyBook& book, std::string_view name,
                                        std::string_view example = "") {
  if (o.ids.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = "no key is given",
                 .hint = cat("wick key ", name, " ID", example, "; wick key list shows the ids")};
  }
  std::vector<std::string> ids;
  for (const std::string& given : o.ids) {
    WICK_TRY(std::string id, book.id_of(given));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

// `done` is the word for it.
Result<int> edit(const KeyFlags& o, KeyBook& book, const std::vector<std::string>& ids,
                 std::string_view done, const std::function<void(http::KeyRules&)>& edit_one) {
  Array all;
  for (const std::string& id : ids) {
    WICK_TRY(const server::KeyInfo info, book.update(id, edit_one));
    if (!o.is_json) print({printable(done), " ", printable(id), "\n"});
    all.emplace_back(to_object(info));
  }
  if (o.is_json) print_json(json_object({{"keys", std::move(all)}}));
  return kExitOk;
}

Result<int> update(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  WICK_TRY(const auto ids, ids_of(o, *book, "update", " --rpm 5"));
  if (o.given.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_change",
                 .message = "no flag says what to change",
                 .hint = "wick key update ID --budget 5/month"};
  }
  return edit(o, *book, ids, "updated", [&, given = rules_of(o)](http::KeyRules& rules) {
    for (const std::string& word : o.given)
      http::copy_rule(word, given, rules);
  });
}

Result<int> block(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  WICK_TRY(const auto ids, ids_of(o, *book, "block"));
  return edit(o, *book, ids, "blocked", [](http::KeyRules& rules) { rules.is_blocked = true; });
}

Result<int> unblock(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  WICK_TRY(const auto ids, ids_of(o, *book, "unblock"));
  return edit(o, *book, ids, "unblocked",
              [](http::KeyRules& rules) { rules.is_blocked = false; });
}

Result<int> revoke(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  WICK_TRY(const auto ids, ids_of(o, *book, "revoke"));
  for (const std::string& id : ids) {
    WICK_DO(book->revoke(id));
    if (!o.is_json) print({"revoked ", printable(id), "\n"});
  }
  if (o.is_json) print_json(json_object({{"revoked", to_array(ids)}}));
  return kExitOk;
}

// Each has the name of its word in the file.
constexpr const char* kLimits[] = {"--name", "--models",   "--budget", "--rpm",
                                   "--tpm",  "--parallel", "--expires"};

void add_limits(Flags& command, KeyFlags& o) {
  command.text("--name", o.rules.name, "name of the owner");
  command.texts("--models", o.models,
                "allowed models, separated by commas; * is a wildcard; default: all models");
  command.texts("--budget", o.rules.budgets,
                "maximum cost in dollars: 5 (in all), 5/day, 5/month, 5/30d; may be repeated");
  command.integer("--rpm", o.rules.per_minute, {0, http::kMaxKeyRequests},
                  "requests per minute; 0 = no limit");
  command.integer("--tpm", o.tokens_per_minute, {0, int{http::kMaxKeyTokens}},
                  "tokens per minute; 0 = no limit");
  command.integer("--parallel", o.rules.parallel, {0, http::kMaxKeyRequests},
                  "concurrent requests; 0 = no limit");
  command.text("--expires", o.rules.expires,
               "last valid day (2027-01-31), or validity from now (30d); default: unlimited");
}

}  // namespace

Action setup_key(Flags flags) {
  const auto o = std::make_shared<KeyFlags>();
  flags.require_command();
  const auto common = [&](Flags& command) {
    o->settings.add(command, {"server.api_key_file"});
    command.toggle("--json", o->is_json, "print JSON");
  };
  Flags made = flags.command("create", "create an API key", [o] { o->run = create; });
  common(made);
  made.toggle("--admin", o->rules.may_admin, "allow all routes, those of admins included");
  add_limits(made, *o);
  Flags shown = flags.command("list", "list the keys with their limits and used budgets",
                              [o] { o->run = list; });
  common(shown);
  const auto with_ids = [&](const char* name, const char* help,
                            Result<int> (*run)(const KeyFlags&)) {
    Flags command = flags.command(name, help, [o, run] { o->run = run; });
    common(command);
    command.texts("ID", o->ids, "ids of wick key list, names, or whole keys");
    return command;
  };
  Flags changed = with_ids("update", "change the limits of keys", update);
  add_limits(changed, *o);
  changed.remark("A flag replaces what the key has; an empty text ('') or 0 removes the limit.");
  with_ids("block", "block keys; the server answers their requests with 401", block);
  with_ids("unblock", "unblock keys", unblock);
  with_ids("revoke", "revoke keys", revoke);
  return [o, changed] {
    for (const char* flag : kLimits) {
      if (changed.is_given(flag)) o->given.emplace_back(std::string_view(flag).substr(2));
    }
    return o->run(*o);
  };
}

}  // namespace wick
