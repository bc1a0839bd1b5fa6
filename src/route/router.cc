#include "route/router.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/strings.h"
#include "route/cached_answer.h"
#include "route/request_key.h"
#include "route/routed_answer.h"
#include "route/routed_embed.h"
#include "route/similar_answers.h"

namespace wick::route {

namespace {

constexpr std::size_t kSimilarShare = 4;  // embeddings have a quarter of the cache's bytes besides

Decision decision_of(Core& core, const Request& request) {
  Facts facts = facts_of(request, core.facts_read);
  if (facts.model.empty()) facts.model = core.options.default_model;
  return decide(core.options.rules, core.options.members, std::move(facts), core.measured());
}

class RuledRouter final : public Router {
 public:
  explicit RuledRouter(RouterOptions options) : core_(std::make_shared<Core>(std::move(options))) {
    const CacheOptions& cache = core_->options.cache;
    if (cache.max_bytes > 0)
      cache_ = std::make_shared<ResponseCache>(cache, core_->options.cache_store);
    if (cache_ != nullptr && !cache.similar_by.empty()) {
      similar_ =
          std::make_shared<SimilarAnswers>(cache.max_bytes / kSimilarShare, cache.similarity);
    }
  }

  std::string_view name() const noexcept override { return "router"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override {
    return start_last(Request(request), std::move(wake));
  }

  Result<std::unique_ptr<Answer>> start_last(Request&& request,
                                             std::shared_ptr<Wake> wake) override {
    const bool is_cached = cache_ != nullptr &&
                           (is_repeatable(request.generation) ||
                            (cache_->options().has_sampled && !has_callbacks(request.generation)));
    if (!is_cached) {
      Decision decision = decision_of(*core_, request);
      return start_routed(core_, std::move(request), std::move(decision), std::move(wake));
    }
    CachedStart how{.key = request_key(request)};
    how.start = [core = core_, request](std::shared_ptr<Wake> its_wake) {
      Decision now = decision_of(*core, request);
      return start_routed(core, Request(request), std::move(now), std::move(its_wake));
    };
    // A local model may be replaced, or get other adapters, while the cache knows of nothing.
    how.may_keep = [core = core_](const AnswerReport& report) {
      return std::any_of(
          core->options.members.begin(), core->options.members.end(),
          [&](const Member& one) { return one.name == report.provider && !one.is_local; });
    };
    if (similar_ != nullptr) look_for_similar(request, how);
    return start_cached(cache_, core_->options.clock, std::move(how), std::move(wake));
  }

  // Where no target computes here, and nothing is asked of a store or of an embedding model. A
  // reservation is the ledger's thread to write. Rules may choose any target.
  bool starts_at_once(const std::string& model) const override {
    const RouterOptions& options = core_->options;
    if (similar_ != nullptr || options.limits != nullptr || options.cache_store != nullptr)
      return false;
    if (model.empty() || model == "auto") return false;
    const Facts facts{.model = model};
    const auto targets = targets_of(options.rules, options.members, facts);
    return std::all_of(targets.begin(), targets.end(), [&](const Target& one) {
      return options.members[one.member].provider->starts_at_once(std::string(one.model));
    });
  }

  // With the budgets as they are now, which start() asks one after another.
  Decision explain(const Request& request) override {
    Decision decision = decision_of(*core_, request);
    for (const Rule& rule : core_->options.rules) {
      if (rule.alias.empty() && rule.name == decision.rule) decision.when = to_text(rule.when);
      if (rule.is_private && decision.private_by.empty() && holds(rule.when, decision.facts))
        decision.private_by = rule.name;
    }
    std::vector<Candidate>& all = decision.candidates;
    for (Candidate& one : all) {
      if (!one.rejected.empty()) continue;
      if (const auto refused = core_->refusal(one, decision.facts)) {
        one.rejected = refused->message;
        one.rejected_id = refused->id;
      }
    }
    std::stable_partition(all.begin(), all.end(),
                          [](const Candidate& one) { return one.rejected.empty(); });
    return decision;
  }

  const std::vector<Member>& members() const noexcept override { return core_->options.members; }

  Result<std::vector<ModelInfo>> models() override {
    std::vector<ModelInfo> all;
    for (const Member& member : members()) {
      for (const MemberModel& one : member.models) {
        all.push_back({.name = cat(member.name, "/", one.name),
                       .source = member.name,
                       .context = one.context});
      }
      if (!member.is_local) continue;
      if (auto models = member.provider->models())
        all.insert(all.end(), models->begin(), models->end());
    }
    return all;
  }

  // By the same rules. Each text is a message: models put tokens of their own around each.
  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    std::vector<Message> messages;
    for (const std::string& text : request.texts)
      messages.push_back({.role = "", .content = text});
    Request asked{.model = request.model,
                  .prompt = std::move(messages),
                  .key = request.key,
                  .tag = request.tag,
                  .hops = request.hops,
                  .remote_fields = request.remote_fields};
    return embed_routed(core_, decision_of(*core_, asked), request);
  }

  // All else is the local member's, which knows tokens, memory and files.

  Result<RequestEstimate> estimate(const Request& request) override {
    Request named = request;
    const auto [provider, name] = member_of(request.model);
    if (provider == nullptr) return refusal("estimate");
    named.model = name;
    return provider->estimate(named);
  }

  Result<ModelInfo> load(const std::string& model) override {
    return with(model, "load", [](Provider& p, const std::string& name) { return p.load(name); });
  }

  Result<ModelInfo> replace(const std::string& model, const std::string& source) override {
    return with(model, "replace",
                [&](Provider& p, const std::string& name) { return p.replace(name, source); });
  }

  Result<void> unload(const std::string& model) override {
    return with(model, "unload",
                [](Provider& p, const std::string& name) { return p.unload(name); });
  }

  Result<void> pin(const std::string& model, bool is_pinned) override {
    return with(model, "pin",
                [&](Provider& p, const std::string& name) { return p.pin(name, is_pinned); });
  }

  Result<void> keep(const std::string& model, std::int64_t keep_ms) override {
    return with(model, "keep_alive",
                [&](Provider& p, const std::string& name) { return p.keep(name, keep_ms); });
  }

  Result<std::vector<TokenId>> tokenize(const std::string& model, std::string_view text) override {
    return with(model, "tokenize",
                [&](Provider& p, const std::string& name) { return p.tokenize(name, text); });
  }

  Result<std::string> detokenize(const std::string& model, std::span<const TokenId> ids) override {
    return with(model, "detokenize",
                [&](Provider& p, const std::string& name) { return p.detokenize(name, ids); });
  }

  Result<std::string> apply_template(const Request& request) override {
    return with(request.model, "chat template", [&](Provider& p, const std::string& name) {
      Request named = request;
      named.model = name;
      return p.apply_template(named);
    });
  }

  Result<std::vector<TokenId>> prompt_tokens(const Request& request) override {
    return with(request.model, "count of tokens", [&](Provider& p, const std::string& name) {
      Request named = request;
      named.model = name;
      return p.prompt_tokens(named);
    });
  }

  Result<std::vector<Embedding>> embed_tokens(const std::string& model,
                                              std::span<const std::vector<TokenId>> prompts,
                                              const EmbedOptions& options) override {
    return with(model, "embeddings of tokens", [&](Provider& p, const std::string& name) {
      return p.embed_tokens(name, prompts, options);
    });
  }

  Result<Statistics> statistics(const std::string& model) override {
    return with(model, "statistics",
                [](Provider& p, const std::string& name) { return p.statistics(name); });
  }

  Result<int> close_tenant(std::uint64_t tenant, bool wipe) override {
    return with("", "tenants",
                [&](Provider& p, const std::string&) { return p.close_tenant(tenant, wipe); });
  }

 private:
  struct Found {
    Provider* provider = nullptr;
    std::string name = {};  // of the model there
  };

  // "openai/x" is openai's x, "remote/x" nobody's, an alias its first target; any other name is the
  // local member's.
  Found member_of(const std::string& model) const {
    for (const Rule& rule : core_->options.rules) {
      if (rule.alias.empty() || rule.alias != model) continue;
      const Facts facts{.model = model};
      const auto targets = targets_of(core_->options.rules, members(), facts);
      if (targets.empty()) return {};
      return {.provider = members()[targets.front().member].provider.get(),
              .name = std::string(targets.front().model)};
    }
    const std::string_view head = std::string_view(model).substr(0, model.find('/'));
    for (const Member& member : members()) {
      if (member.name == head) {
        return {.provider = member.provider.get(),
                .name = model.substr(std::min(head.size() + 1, model.size()))};
      }
    }
    for (const Member& member : members()) {
      if (member.is_local && head != "remote")
        return {.provider = member.provider.get(), .name = model == "auto" ? "" : model};
    }
    return {};
  }

  // Sets `how.similar`, or how.on_kept, so that later questions find this one's answer.
  void look_for_similar(const Request& request, CachedStart& how) {
    const std::int64_t now_ms = core_->options.clock->now_ms();
    if (cache_->peek(how.key, now_ms) != nullptr) return;
    const std::optional<Question> question = question_of(request);
    if (!question) return;
    const auto [provider, model] = member_of(core_->options.cache.similar_by);
    if (provider == nullptr) return;
    const auto embedded = provider->embed({.model = model,
                                           .texts = std::span(&question->text, 1),
                                           .options = {.tenant = request.generation.tenant},
                                           .only_embedding_model = true});
    if (!embedded || embedded->empty()) {
      if (!has_warned_.exchange(true)) {
        log_message(LogLevel::kWarning,
                    cat("no answers to similar questions: ",
                        embedded ? "there is no embedding" : to_string(embedded.error())));
      }
      return;
    }
    const std::vector<float>& vector = embedded->front().values;
    if (const auto found = similar_->find(question->context, vector)) {
      how.similar = cache_->peek(found->key, now_ms);
      how.similarity = found->similarity;
      if (how.similar != nullptr) return;
    }
    how.on_kept = [similar = similar_, context = question->context, vector, key = how.key] {
      similar->add(context, vector, key);
    };
  }

  template <class Do>
  auto with(const std::string& model, std::string_view what, const Do& act) const
      -> decltype(act(std::declval<Provider&>(), model)) {
    const Found found = member_of(model);
    if (found.provider == nullptr) return refusal(what);
    return act(*found.provider, found.name);
  }

  const std::shared_ptr<Core> core_;
  std::shared_ptr<ResponseCache> cache_ = {};     // null: off
  std::shared_ptr<SimilarAnswers> similar_ = {};  // null: off
  std::atomic<bool> has_warned_ = false;
};

}  // namespace

std::shared_ptr<Router> make_router(RouterOptions options) {
  return std::make_shared<RuledRouter>(std::move(options));
}

std::string to_text(const Decision& decision, const std::vector<Member>& members) {
  const Facts& facts = decision.facts;
  std::string out = cat("rule: ", decision.rule);
  if (!decision.when.empty()) out += cat(" (", decision.when, ")");
  if (decision.is_private) out += ", private";
  if (decision.is_private && decision.private_by != decision.rule)
    out += cat(" by ", decision.private_by);
  if (decision.continues) out += ", goes on here if it breaks off";
  out += cat("\nprompt: about ", facts.prompt_tokens, " tokens", facts.has_tools ? ", tools" : "",
             facts.has_schema ? ", schema" : "", "\n");
  int place = 0;
  for (const Candidate& one : decision.candidates) {
    const std::string name = cat(members[one.member].name, one.model.empty() ? "" : "/", one.model);
    if (one.rejected.empty()) {
      out += cat(++place, ". ", name, ": at most ", to_dollars(one.most_cost), " USD",
                 one.remark.empty() ? "" : cat("; ", one.remark), "\n");
    } else {
      out += cat("not ", name, ": ", one.rejected, "\n");
    }
  }
  if (place == 0) out += "no provider would answer\n";
  return out;
}

}  // namespace wick::route
