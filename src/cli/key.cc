// wick key: the API keys of wick serve, in its key file. A running server reads changes within a
// second.
#include <ctime>
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
  return out;
}

Result<int> create(const KeyFlags& o) {
  server::KeyWish wish = o.wish;
  wish.tokens_per_minute = o.tokens_per_minute;
  for (const std::string& list : o.models) {  // --models a,b is two
    std::size_t at = 0;
    while (at <= list.size()) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      if (comma > at) wish.models.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  WICK_TRY(const auto book, book_of(o, true));
  WICK_TRY(const server::ApiKeys::Made made, book->prepare(wish));
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
  made.text("--name", o->wish.name, "name of the owner");
  made.toggle("--admin", o->wish.may_admin, "allow all routes, those of admins included");
  made.texts("--models", o->models,
             "allowed models, separated by commas; * is a wildcard; default: all models");
  made.texts("--budget", o->wish.budgets,
             "maximum cost in dollars: 5 (in all), 5/day, 5/month, 5/30d; may be repeated");
  made.integer("--rpm", o->wish.requests_per_minute, {0, http::kMaxKeyRequests},
               "requests per minute; 0 = no limit");
  made.integer("--tpm", o->tokens_per_minute, {0, int{http::kMaxKeyTokens}},
               "tokens per minute; 0 = no limit");
  made.integer("--parallel", o->wish.parallel, {0, http::kMaxKeyRequests},
               "concurrent requests; 0 = no limit");
  made.text("--expires", o->wish.expires,
            "last valid day (2027-01-31), or validity from now (30d); default: unlimited");
  Flags shown = flags.command("list", "list the keys with their limits and used budgets",
                              [o] { o->run = list; });
  common(shown);
  Flags gone = flags.command("revoke", "revoke keys", [o] { o->run = revoke; });
  common(gone);
  gone.texts("ID", o->ids, "keys to revoke: the ids of wick key list, or whole keys");
  return [o] { return o->run(*o); };
}

}  // namespace wick
