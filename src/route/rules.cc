#include "route/rules.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/strings.h"
#include "route/affinity.h"
#include "route/sent_text.h"

namespace wick::route {

namespace {

constexpr std::int64_t kBytesPerToken = 4;      // about
constexpr std::int64_t kTokensPerFrame = 64;  // at most, for roles and what templates add
constexpr std::int64_t kTokensPerRequest = 1024;

bool any_of(std::span<const std::string> texts, const auto& test) {
  return texts.empty() || std::any_of(texts.begin(), texts.end(), test);
}

// What a template may put into a prompt.
struct PromptSize {
  std::size_t bytes = 0;
  std::int64_t frames = 0;  // of messages, tools, calls and results: roles, names of fields

  void add(const Generation& generation) {
    bytes += generation.response_format.schema.size();
    for (const Tool& tool : generation.tools)
      bytes += tool.name.size() + tool.description.size() + tool.parameters.size();
    for (const auto& [name, value] : generation.template_variables)
      bytes += name.size() + value.size();
    frames += std::ssize(generation.tools);
  }

  void add(const Message& message) {
    frames += 1 + std::ssize(message.role) / kTokensPerFrame;
    for (const Part& part : message.content.parts)
      std::visit([this](const auto& one) { add(one); }, part);
  }

  void add(const TextPart& part) { bytes += part.text.size(); }

  void add(const ReasoningPart& part) { bytes += part.text.size(); }

  void add(const ImagePart& /*part*/) {}

  void add(const ToolCall& part) {
    ++frames;
    bytes += part.id.size() + part.name.size() + part.arguments.size();
  }

  void add(const ToolResult& part) {
    ++frames;
    bytes += part.call_id.size() + part.text.size();
  }
};

bool has_image(const Message& message) {
  const auto& parts = message.content.parts;
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::holds_alternative<ImagePart>(part);
  });
}

const Member* find_member(std::span<const Member> members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& one) { return one.name == name; });
  return found == members.end() ? nullptr : &*found;
}

bool lists(const Member& member, std::string_view model) {
  return std::any_of(member.models.begin(), member.models.end(),
                     [&](const MemberModel& one) { return one.name == model; });
}

// A rule's choice, or that of a model's name.
struct Choice {
  std::string_view rule = {};
  Strategy strategy = Strategy::kTiers;
  bool continues = false;
  std::vector<Target> targets = {};  // once each

  // "" = the member's default.
  void add(std::size_t index, const Member& member, std::string_view model) {
    if (model.empty() && !member.models.empty()) model = member.models.front().name;
    const bool is_there = std::any_of(targets.begin(), targets.end(), [&](const Target& one) {
      return one.member == index && one.model == model;
    });
    if (!is_there) targets.push_back({index, model});
  }

  // "*", "local", "openai/gpt-4o-mini".
  void add(std::span<const Member> members, std::string_view to) {
    const std::string_view name = to.substr(0, to.find('/'));
    const std::string_view model = to.substr(std::min(name.size() + 1, to.size()));
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      if (to != "*" && member.name != name) continue;
      if (to != "*" || member.models.empty()) {
        add(i, member, model);
        continue;
      }
      for (const MemberModel& one : member.models)
        add(i, member, one.name);
    }
  }
};

Choice choice_of(const Rule& rule, std::span<const Member> members) {
  Choice choice{.rule = rule.name, .strategy = rule.strategy, .continues = rule.continues};
  for (const std::string& to : rule.to)
    choice.add(members, to);
  return choice;
}

Choice choice_by_name(std::span<const Member> members, std::string_view model) {
  const std::string_view head = model.substr(0, model.find('/'));
  Choice choice{.rule = "model name"};
  if (find_member(members, head) != nullptr) {
    choice.add(members, model);
    return choice;
  }
  choice.strategy = Strategy::kCost;
  const bool is_remote = head == "remote";
  const std::string_view wanted =
      is_remote ? model.substr(std::min(head.size() + 1, model.size())) : model;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((!is_remote || !members[i].is_local) && lists(members[i], wanted))
      choice.add(i, members[i], wanted);
  }
  if (!choice.targets.empty() || is_remote) return choice;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].is_local) choice.add(i, members[i], wanted);
  }
  return choice;
}

// Of views into the rules, the members and facts.model.
Choice choose(std::span<const Rule> rules, std::span<const Member> members, const Facts& facts) {
  const std::string& model = facts.model;
  for (const Rule& rule : rules) {
    if (!rule.alias.empty() && rule.alias == model) return choice_of(rule, members);
  }
  if (!model.empty() && model != "auto") return choice_by_name(members, model);
  for (const Rule& rule : rules) {
    if (rule.alias.empty() && !rule.to.empty() && holds(rule.when, facts))
      return choice_of(rule, members);
  }
  Choice choice{.rule = "no rule", .strategy = Strategy::kLocalFirst};
  choice.add(members, "*");
  return choice;
}

void set_about(Candidate& candidate, const Member& member) {
  for (const MemberModel& one : member.models) {
    if (one.name == candidate.model) candidate.about = one;
  }
  if (member.models.empty() && member.is_free) candidate.about.price = Price{};
}

void reject(Candidate& candidate, std::string id, std::string why) {
  candidate.rejected_id = std::move(id);
  candidate.rejected = std::move(why);
}

// Privacy, what the model can do, and its price.
void check(Candidate& candidate, const Member& member, const Facts& facts, bool is_private) {
  const MemberModel& about = candidate.about;
  candidate.max_tokens = facts.max_tokens;
  if (is_private && !member.is_local)
    return reject(candidate, "private_request", "a private request stays on this machine");
  if (!member.models.empty() && !lists(member, candidate.model)) {
    return reject(candidate, "model_not_found",
                  cat(member.name, " has no model '", printable(candidate.model), "'"));
  }
  if (facts.has_tools && !about.has_tools)
    return reject(candidate, "not_supported", "it calls no tools");
  if (facts.has_schema && !about.has_schema)
    return reject(candidate, "not_supported", "it has no structured output");
  if (facts.has_images && !member.is_local && !about.has_images)
    return reject(candidate, "not_supported", "it takes no images");
  if (about.context > 0 && facts.prompt_tokens + facts.max_tokens > about.context) {
    return reject(candidate, "context_length_exceeded",
                  cat("its context of ", about.context, " tokens is too short for about ",
                      facts.prompt_tokens, " and an answer of ", facts.max_tokens));
  }
  if (member.is_local) return;
  if (!about.price) return reject(candidate, "price_unknown", "its price is not known");
  if (about.price->is_free()) return;
  if (facts.has_images) return reject(candidate, "price_unknown", "images have no known price");
  if (candidate.max_tokens == 0) candidate.max_tokens = about.max_tokens;
  candidate.most_cost = cost_of(*about.price, facts.most_tokens, candidate.max_tokens);
}

// Sorted by these, n candidates of weights w stand first with the probability w / sum of w
// (Efraimidis and Spirakis, "Weighted random sampling with a reservoir").
double weighted_key(double weight, std::uint64_t random) {
  const double uniform = (static_cast<double>(random >> 11U) + 0.5) * 0x1p-53;
  return weight > 0 ? -std::log(uniform) / weight : HUGE_VAL;
}

double sort_key(const Candidate& one, const Member& member, Strategy strategy, const Facts& facts,
                const Measured& measured) {
  switch (strategy) {
    case Strategy::kTiers:
      return 0;
    case Strategy::kLocalFirst:
      return member.is_local ? 0 : 1;
    case Strategy::kCost:
      return static_cast<double>(one.most_cost);
    case Strategy::kPerformance:
      return measured.first_token_ms ? measured.first_token_ms(one) : 0;
    case Strategy::kLeastBusy:
      return measured.running ? measured.running(one) : 0;
    case Strategy::kWeighted:
      return weighted_key(member.weight, measured.random ? measured.random() : 0);
    case Strategy::kAffinity:
      return weighted_key(member.weight, affinity(facts.prefix, member.name));
  }
  return 0;
}

// Those at their bounded load, of the candidates that may be asked.
std::vector<bool> find_full(std::span<const Candidate> candidates, const Measured& measured) {
  std::vector<bool> is_full(candidates.size());
  std::vector<int> running;
  for (const Candidate& one : candidates) {
    if (one.rejected.empty()) running.push_back(measured.running ? measured.running(one) : 0);
  }
  const int most = bounded_load(running);
  std::size_t n = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    is_full[i] = candidates[i].rejected.empty() && running[n++] >= most;
  return is_full;
}

void sort(std::vector<Candidate>& candidates, std::span<const Member> members, Strategy strategy,
          const Facts& facts, const Measured& measured) {
  if (candidates.size() < 2) return;

  struct Keyed {
    bool is_rejected, is_full;
    double key;  // one that is random is taken once
    std::uint64_t turn;
    Candidate candidate;

    auto rank() const { return std::tuple(is_rejected, is_full, key, turn); }
  };

  std::vector<bool> is_full(candidates.size());
  if (strategy == Strategy::kAffinity) is_full = find_full(candidates, measured);
  std::vector<Keyed> keyed;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& one = candidates[i];
    const double key = sort_key(one, members[one.member], strategy, facts, measured);
    const bool has_turn = strategy == Strategy::kLeastBusy && measured.last_turn;
    const std::uint64_t turn = has_turn ? measured.last_turn(one) : 0;
    keyed.push_back({!one.rejected.empty(), is_full[i], key, turn, std::move(one)});
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const Keyed& a, const Keyed& b) { return a.rank() < b.rank(); });
  for (std::size_t i = 0; i < keyed.size(); ++i)
    candidates[i] = std::move(keyed[i].candidate);
}

}  // namespace

FactsRead facts_read_by(std::span<const Rule> rules) noexcept {
  FactsRead read{.text = false, .prefix = false};
  for (const Rule& rule : rules) {
    read.text = read.text || !rule.when.contains.empty();
    read.prefix = read.prefix || rule.strategy == Strategy::kAffinity;
  }
  return read;
}

Facts facts_of(const Request& request, FactsRead read) {
  Facts facts{.model = request.model};
  const Generation& generation = request.generation;
  PromptSize size;
  size.add(generation);
  if (const auto* const messages = std::get_if<std::vector<Message>>(&request.prompt)) {
    for (const Message& message : *messages) {
      size.add(message);
      facts.has_images = facts.has_images || has_image(message);
      if (read.text) append_sent_text(message, facts.text);
    }
  } else if (const auto* const text = std::get_if<std::string>(&request.prompt)) {
    ++size.frames;
    size.bytes += text->size();
    if (read.text) facts.text = cat(*text, "\n");
  } else {
    ++size.frames;
    size.bytes += std::get<std::vector<TokenId>>(request.prompt).size() * kBytesPerToken;
  }
  if (read.text) {
    append_sent_text(generation, facts.text);
    append_sent_text(request.remote_fields, facts.text);
    facts.text = comparable(facts.text);
  }
  const auto bytes = static_cast<std::int64_t>(size.bytes);
  facts.prompt_tokens = (bytes + kBytesPerToken - 1) / kBytesPerToken;
  facts.most_tokens = bytes + kTokensPerFrame * size.frames + kTokensPerRequest;
  facts.max_tokens = generation.max_tokens;
  if (read.prefix) facts.prefix = prefix_hash(request);
  facts.has_tools = !generation.tools.empty();
  facts.has_schema = generation.response_format.type != "text";
  facts.key = request.key;
  facts.tag = request.tag;
  return facts;
}

bool matches(std::string_view pattern, std::string_view text) {
  // The last '*' takes as little as it may; only it is ever tried again.
  std::size_t p = 0, t = 0, star = std::string_view::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

std::string to_text(const When& when) {
  std::string out;
  const auto add = [&](const auto&... parts) { out += cat(out.empty() ? "" : ", ", parts...); };
  const auto add_list = [&](std::string_view what, const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& one : names)
      all += cat(all.empty() ? "'" : " or '", one, "'");
    if (!all.empty()) add(what, " ", all);
  };
  if (when.tokens_over) add("more than ", *when.tokens_over, " tokens");
  if (when.tokens_under) add("fewer than ", *when.tokens_under, " tokens");
  if (when.has_tools) add(*when.has_tools ? "tools" : "no tools");
  if (when.has_schema) add(*when.has_schema ? "schema" : "no schema");
  add_list("model", when.models);
  add_list("tag", when.tags);
  add_list("text", when.contains);
  return out;
}

bool holds(const When& when, const Facts& facts) {
  if (when.tokens_over && facts.prompt_tokens <= *when.tokens_over) return false;
  if (when.tokens_under && facts.prompt_tokens >= *when.tokens_under) return false;
  if (when.has_tools && facts.has_tools != *when.has_tools) return false;
  if (when.has_schema && facts.has_schema != *when.has_schema) return false;
  return any_of(when.models, [&](const std::string& one) { return matches(one, facts.model); }) &&
         any_of(when.tags, [&](const std::string& one) { return one == facts.tag; }) &&
         any_of(when.contains, [&](const std::string& one) {
           return facts.text.find(comparable(one)) != std::string::npos;
         });
}

std::vector<Target> targets_of(std::span<const Rule> rules, std::span<const Member> members,
                               const Facts& facts) {
  return choose(rules, members, facts).targets;
}

Decision decide(std::span<const Rule> rules, std::span<const Member> members, Facts facts,
                const Measured& measured) {
  Decision out{.facts = std::move(facts)};
  const Choice choice = choose(rules, members, out.facts);
  out.rule = choice.rule;
  out.continues = choice.continues;
  out.is_private = std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return rule.is_private && holds(rule.when, out.facts);
  });
  out.candidates.reserve(choice.targets.size());
  for (const Target& target : choice.targets) {
    const Member& member = members[target.member];
    Candidate& candidate = out.candidates.emplace_back();
    candidate.member = target.member;
    candidate.model = target.model;
    set_about(candidate, member);
    check(candidate, member, out.facts, out.is_private);
  }
  sort(out.candidates, members, choice.strategy, out.facts, measured);
  return out;
}

}  // namespace wick::route
