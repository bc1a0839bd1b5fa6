// wick key: the API keys of wick serve, in its key file. A running server reads changes within a
// second.
#include <ctime>
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
  server::KeyWish wish = {};
  std::vector<std::string> models = {}, ids = {};
  int tokens_per_minute = 0;
  std::vector<std::string> given = {};  // flags of update
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
                 .hint = "--api-key-file FILE, or server.api_key_file in config.toml"};
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
  Object out;
  out["id"] = info.id;
  out["scope"] = info.may_admin ? "admin" : "infer";
  out["name"] = info.name;
  out["models"] = to_array(info.models);
  out["rpm"] = number_or_null(info.requests_per_minute);
  out["tpm"] = number_or_null(info.tokens_per_minute);
  out["parallel"] = number_or_null(info.parallel);
  out["budgets"] = std::move(budgets);
  out["expires"] = info.expires;
  out["blocked"] = info.is_blocked;
  return out;
}

server::KeyWish wish_of(const KeyFlags& o) {
  server::KeyWish wish = o.wish;
  wish.tokens_per_minute = o.tokens_per_minute;
  std::erase(wish.budgets, "");
  for (const std::string& list : o.models) {  // --models a,b is two
    std::size_t at = 0;
    while (at <= list.size()) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      if (comma > at) wish.models.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return wish;
}

Result<int> create(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, true));
  WICK_TRY(const server::ApiKeys::Made made, book->prepare(wish_of(o)));
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

std::string limits_text(const server::KeyInfo& info) {
  std::string out;
  const auto add = [&](std::string_view name, std::int64_t value) {
    if (value > 0) out += cat(out.empty() ? "" : " ", name, "=", value);
  };
  add("rpm", info.requests_per_minute);
  add("tpm", info.tokens_per_minute);
  add("parallel", info.parallel);
  if (!info.expires.empty()) out += cat(out.empty() ? "" : " ", "until=", info.expires);
  if (info.is_blocked) out += cat(out.empty() ? "" : " ", "blocked");
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
    const std::string models = info.models.empty() ? "all" : joined_texts(info.models);
    print({padded(printable(info.id), 14), padded(printable(info.name), 16),
           padded(printable(info.may_admin ? "admin" : "infer"), 8),
           padded(printable(models, 200), 24), padded(printable(limits_text(info)), 24),
           printable(budgets.empty() ? "-" : budgets), "\n"});
  }
  return kExitOk;
}

void change(const KeyFlags& o, server::KeyWish& key) {
  const server::KeyWish wish = wish_of(o);
  for (const std::string& flag : o.given) {
    if (flag == "--name") key.name = wish.name;
    if (flag == "--models") key.models = wish.models;
    if (flag == "--budget") key.budgets = wish.budgets;
    if (flag == "--rpm") key.requests_per_minute = wish.requests_per_minute;
    if (flag == "--tpm") key.tokens_per_minute = wish.tokens_per_minute;
    if (flag == "--parallel") key.parallel = wish.parallel;
    if (flag == "--expires") key.expires = wish.expires;
  }
}

// Of each key in o.ids; `done` is the word for it.
Result<int> edit(const KeyFlags& o, std::string_view done,
                 const std::function<void(server::KeyWish&)>& edit_one) {
  WICK_TRY(const auto book, book_of(o, false));
  Array all;
  for (const std::string& given : o.ids) {
    const std::string id(http::public_part(given));
    WICK_TRY(const server::KeyInfo info, book->update(id.empty() ? given : id, edit_one));
    if (!o.is_json) print({printable(done), " ", printable(id), "\n"});
    all.emplace_back(to_object(info));
  }
  if (o.is_json) print_json(json_object({{"keys", std::move(all)}}));
  return kExitOk;
}

Result<int> update(const KeyFlags& o) {
  if (o.given.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_change",
                 .message = "no flag says what to change",
                 .hint = "wick key update ID --budget 5/month"};
  }
  return edit(o, "updated", [&](server::KeyWish& key) { change(o, key); });
}

Result<int> block(const KeyFlags& o) {
  return edit(o, "blocked", [](server::KeyWish& key) { key.is_blocked = true; });
}

Result<int> unblock(const KeyFlags& o) {
  return edit(o, "unblocked", [](server::KeyWish& key) { key.is_blocked = false; });
}

Result<int> revoke(const KeyFlags& o) {
  WICK_TRY(const auto book, book_of(o, false));
  for (const std::string& given : o.ids) {
    const std::string id(http::public_part(given));
    WICK_DO(book->revoke(id.empty() ? given : id));
    if (!o.is_json) print({"revoked ", printable(id), "\n"});
  }
  if (o.is_json) print_json(json_object({{"revoked", to_array(o.ids)}}));
  return kExitOk;
}

constexpr const char* kLimits[] = {"--name", "--models",   "--budget", "--rpm",
                                   "--tpm",  "--parallel", "--expires"};

void add_limits(Flags& command, KeyFlags& o) {
  command.text("--name", o.wish.name, "name of the owner");
  command.texts("--models", o.models,
                "allowed models, separated by commas; * is a wildcard; default: all models");
  command.texts("--budget", o.wish.budgets,
                "maximum cost in dollars: 5 (in all), 5/day, 5/month, 5/30d; may be repeated");
  command.integer("--rpm", o.wish.requests_per_minute, {0, http::kMaxKeyRequests},
                  "requests per minute; 0 = no limit");
  command.integer("--tpm", o.tokens_per_minute, {0, int{http::kMaxKeyTokens}},
                  "tokens per minute; 0 = no limit");
  command.integer("--parallel", o.wish.parallel, {0, http::kMaxKeyRequests},
                  "concurrent requests; 0 = no limit");
  command.text("--expires", o.wish.expires,
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
  made.toggle("--admin", o->wish.may_admin, "allow all routes, those of admins included");
  add_limits(made, *o);
  Flags shown = flags.command("list", "list the keys with their limits and used budgets",
                              [o] { o->run = list; });
  common(shown);
  const auto with_ids = [&](const char* name, const char* help,
                            Result<int> (*run)(const KeyFlags&)) {
    Flags command = flags.command(name, help, [o, run] { o->run = run; });
    common(command);
    command.texts("ID", o->ids, "ids of wick key list, or whole keys");
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
      if (changed.is_given(flag)) o->given.emplace_back(flag);
    }
    return o->run(*o);
  };
}

}  // namespace wick
