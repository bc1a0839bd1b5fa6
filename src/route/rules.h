// Selects the targets that may answer a request and their order, and says why others may not. Pure
// functions of the rules, the providers, and the time to first token that was measured.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "provider/provider.h"
#include "route/health.h"
#include "route/limiter.h"
#include "route/money.h"

namespace wick::route {

struct MemberModel {
  std::string name = {};
  int context = 0;                  // tokens; 0 = not known
  int max_tokens = 4096;            // of an answer whose request has no limit
  std::optional<Price> price = {};  // empty: not known, and then only a free member is asked
  // How rows of the ledger name the price: "input 0.15 output 0.6 USD/M (config)", or in place of
  // "config" the price file and its date.
  std::string price_version = {};
  bool has_tools = true, has_schema = true, has_images = false;
};

// A provider of the router.
struct Member {
  std::string name = {};
  std::shared_ptr<Provider> provider = {};
  bool is_local = false;  // on this machine: private requests may go there, and it costs nothing
  std::vector<MemberModel> models = {};  // those it may be asked for; empty: any
  bool is_free = false;                  // the price of a model that is not listed: nothing
  LimitOptions limits = {};
  double weight = 1;  // its share with Strategy::kWeighted
  // What the ledger calls the model of a request that names none; empty: "". Any thread.
  std::function<std::string()> default_model = {};
};

enum class Strategy : std::uint8_t {
  kTiers,        // in the order of `to`
  kLocalFirst,   // local members first
  kCost,         // what the request may cost, the least first
  kPerformance,  // the shortest time to the first token first; unknown ones before, to be measured
  kLeastBusy,    // the fewest running requests first; of equal ones the least recently asked
  kWeighted,     // in random order, by the weights of the members
  kAffinity,     // prompts that begin alike to the same member (route/affinity.h)
};

struct When {                                                       // all that is set must hold
  std::optional<std::int64_t> tokens_over = {}, tokens_under = {};  // of the prompt, about
  std::optional<bool> has_tools = {}, has_schema = {};
  std::vector<std::string> models = {};    // names asked for; "gpt-*"
  std::vector<std::string> tags = {};      // one of them
  std::vector<std::string> contains = {};  // one of these texts, in any case
};

struct Rule {
  std::string name = {};  // "route 2"
  When when = {};
  std::vector<std::string> to = {};  // "openai/gpt-4o-mini", "local", "*"
  Strategy strategy = Strategy::kTiers;
  bool is_private = false;  // such a request stays on this machine, whatever other rules say
  // An answer that breaks off elsewhere goes on here (route/continuation.h).
  bool continues = false;
  std::string alias = {};  // the name of a model that means this rule; "" = a rule of "auto"
};

// What the rules look at.
struct Facts {
  std::string model = {}, tag = {}, key = {};
  std::int64_t prompt_tokens = 0;  // about: a quarter of its bytes
  std::int64_t most_tokens = 0;    // never more: its bytes, and some for each message
  int max_tokens = 0;              // of the answer; 0 = the model's
  bool has_tools = false, has_schema = false, has_images = false;
  std::uint64_t prefix = 0;  // a hash of how the prompt begins
  std::string text = {};     // comparable (route/sent_text.h), for `contains`
};

// Facts that take long and that few rules read: for `contains`, and for Strategy::kAffinity.
struct FactsRead {
  bool text = true, prefix = true;
};

FactsRead facts_read_by(std::span<const Rule> rules) noexcept;
// Without those that `read` leaves out.
Facts facts_of(const Request& request, FactsRead read = {});
bool holds(const When& when, const Facts& facts);
// "more than 3000 tokens, tools"; "" for no condition.
std::string to_text(const When& when);
// "gpt-*" of "gpt-4o"; '*' is any text.
bool matches(std::string_view pattern, std::string_view text);

struct Candidate {
  std::size_t member = 0;
  std::string model = {};  // "" = the member's default
  MemberModel about = {};
  std::string rejected = {};     // why not; "" = it may be asked
  std::string rejected_id = {};  // of an error
  std::string remark = {};       // for people: what comes first if it is asked
  Nanos most_cost = 0;
  int max_tokens = 0;  // as it is asked for; 0 = no limit
};

struct Decision {
  std::string rule = {};
  // Of Router::explain(): the conditions of the rule, and the rule that makes the request private.
  std::string when = {}, private_by = {};
  bool is_private = false, continues = false;
  Facts facts = {};
  std::vector<Candidate> candidates = {};  // those that may be asked first, in order
};

struct Target {
  std::size_t member = 0;
  std::string_view model = {};  // "" = the member's default
};

// Those that decide() makes candidates of, in the order of the rule; for a model other than "auto"
// by the model alone. Views into the rules, the members and facts.model.
std::vector<Target> targets_of(std::span<const Rule> rules, std::span<const Member> members,
                               const Facts& facts);

// What strategies look at. Functions that are not set count as 0.
struct Measured {
  std::function<double(const Candidate&)> first_token_ms = {};
  std::function<int(const Candidate&)> running = {};
  std::function<std::uint64_t(const Candidate&)> last_turn = {};  // when it was asked last
  std::function<std::uint64_t()> random = {};
};

// A model is "auto" or "" (the rules), an alias, "NAME/model" (a member's), "remote/model" (of any
// member that is not local), or a name that members list; any other is the local member's.
Decision decide(std::span<const Rule> rules, std::span<const Member> members, Facts facts,
                const Measured& measured);

}  // namespace wick::route
