// Emptiness and shortest strings.
//
// Problem: is there a string in x, and which is the shortest? Without ∩ and ¬ the form says it: x
// is empty only if it is kEmptySet, min_len is exact, and a shortest string is read off. Otherwise
// we search the graph of derivatives for a nullable state: A*, since min_len never says more than
// what is needed (of an intersection the largest of its parts', of a complement 0 or 1), so the
// first nullable state taken from the queue is at the end of a shortest string. For a{100000} ∩
// [ab]* that walks straight to the end. A union has a string if one of its parts has, also within
// an intersection: the search takes such parts one by one, so two languages are compared state by
// state, not set of states by set of states. States proved dead or alive are remembered: a search
// that finds nothing proves all states it saw dead; one that succeeds proves its path alive.
#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "regex/automaton.h"

namespace wick::regex {
namespace {

// What a search may hold beside the pool: about 64 bytes a state.
constexpr std::size_t kMaxSearchStates = 120'000;
constexpr int kMaxNestedParts = 1'000;
constexpr std::size_t kMaxSplit = 256;  // parts of one state that are looked at on their own

}  // namespace

void Automaton::remember(ExprId state, Liveness life) {
  if (state >= life_.size()) {
    const std::size_t size = pool_.size() + pool_.size() / 4;
    if (!pool_.reserve(size)) return;
    life_.resize(size);
    count_bytes();
  }
  life_[state] = life;
}

Liveness Automaton::liveness(ExprId state) {
  return liveness(state, 0);
}

// What is remembered bounds the steps: parts may be shared by very many ways.
Liveness Automaton::liveness(ExprId state, int depth) {
  if (state == kNoExpr || depth > kMaxNestedParts) return Liveness::kUnknown;
  const Expr e = pool_.at(state);
  if (state == kEmptySet) return Liveness::kDead;
  if (e.is_positive || e.is_nullable) return Liveness::kLive;
  if (state < life_.size() && life_[state] != Liveness::kUnknown) return life_[state];
  if (e.kind == ExprKind::kIntersection || e.kind == ExprKind::kComplement)
    return search(state, nullptr, nullptr);
  if (!pool_.spend(1)) return Liveness::kUnknown;
  Liveness life = Liveness::kUnknown;
  if (e.kind == ExprKind::kConcat) {
    life = liveness_of_sequence(state, depth);
  } else if (e.kind == ExprKind::kRepeat) {
    life = liveness(e.a, depth + 1);
  } else {
    life = Liveness::kDead;
    const auto its = pool_.children(e);
    for (const ExprId part : std::vector<ExprId>(its.begin(), its.end())) {
      const Liveness its_life = liveness(part, depth + 1);
      if (its_life != Liveness::kDead) life = its_life;
      if (life == Liveness::kLive) break;
    }
  }
  if (life != Liveness::kUnknown) remember(state, life);
  return life;
}

// x·y has a string if both have one.
Liveness Automaton::liveness_of_sequence(ExprId state, int depth) {
  while (true) {
    const Expr e = pool_.at(state);
    if (e.kind != ExprKind::kConcat || e.is_positive) return liveness(state, depth + 1);
    const Liveness first = liveness(e.a, depth + 1);
    if (first != Liveness::kLive) return first;
    state = e.b;
  }
}

// The parts of `state` whose union it is: of a union, and of an intersection with one.
bool Automaton::split(ExprId state, std::vector<ExprId>& out) {
  if (state == kNoExpr || !pool_.spend(1)) return false;
  if (out.size() >= kMaxSplit) {
    out.push_back(state);
    return true;
  }
  const Expr e = pool_.at(state);
  if (e.kind != ExprKind::kUnion && e.kind != ExprKind::kIntersection) {
    if (state != kEmptySet) out.push_back(state);
    return true;
  }
  const auto its = pool_.children(e);
  const std::vector<ExprId> parts(its.begin(), its.end());
  if (e.kind == ExprKind::kUnion) {
    return std::all_of(parts.begin(), parts.end(), [&](ExprId p) { return split(p, out); });
  }
  const auto part = std::find_if(parts.begin(), parts.end(),
                                 [&](ExprId p) { return pool_.at(p).kind == ExprKind::kUnion; });
  if (part == parts.end()) {
    out.push_back(state);
    return true;
  }
  const auto choices = pool_.children(pool_.at(*part));
  std::vector<ExprId> rest = parts;
  for (const ExprId choice : std::vector<ExprId>(choices.begin(), choices.end())) {
    rest[static_cast<std::size_t>(part - parts.begin())] = choice;
    if (!split(pool_.intersect(rest), out)) return false;
  }
  return true;
}

Liveness Automaton::search(ExprId from, std::string* path, std::uint32_t* length) {
  struct Seen {
    std::uint32_t distance;
    ExprId parent;
    unsigned char byte;
  };

  // Ordered by the length of the shortest string through a state, then the deepest first.
  using Entry = std::tuple<std::uint32_t, std::uint32_t, ExprId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::unordered_map<ExprId, Seen> seen;
  const bool wants_shortest = path != nullptr || length != nullptr;
  bool is_complete = true;
  const auto push = [&](ExprId state, Seen how) {
    if (state < life_.size() && life_[state] == Liveness::kDead) return;
    const auto [found, is_new] = seen.try_emplace(state, how);
    if (!is_new && found->second.distance <= how.distance) return;
    found->second = how;
    const std::uint32_t least = pool_.at(state).min_len;
    is_complete &= least < kUnbounded - 1 - how.distance;
    if (least < kUnbounded - 1 - how.distance) {
      queue.emplace(how.distance + least, kUnbounded - how.distance, state);
    }
  };
  std::vector<ExprId> parts;
  if (!split(from, parts)) return Liveness::kUnknown;
  for (const ExprId part : parts) {
    push(part, {0, kNoExpr, 0});
  }
  while (!queue.empty()) {
    const auto [total, depth_key, state] = queue.top();
    queue.pop();
    const std::uint32_t distance = kUnbounded - depth_key;
    if (seen[state].distance < distance) continue;
    const Expr e = pool_.at(state);
    const bool is_live = state < life_.size() && life_[state] == Liveness::kLive;
    if (e.is_nullable || (!wants_shortest && (e.is_positive || is_live))) {
      if (length != nullptr) *length = distance;
      remember(from, Liveness::kLive);
      for (ExprId at = state; at != kNoExpr; at = seen[at].parent) {
        remember(at, Liveness::kLive);
        if (path != nullptr && seen[at].parent != kNoExpr)
          path->push_back(static_cast<char>(seen[at].byte));
      }
      if (path != nullptr) std::reverse(path->begin(), path->end());
      return Liveness::kLive;
    }
    const auto its = edges(state);
    if (!its || seen.size() + its->size() > kMaxSearchStates) return Liveness::kUnknown;
    for (const Edge& edge : std::vector<Edge>(its->begin(), its->end())) {
      const auto byte = static_cast<unsigned char>(pool_.sets()[edge.set].plainest());
      parts.clear();
      if (!split(edge.to, parts)) return Liveness::kUnknown;
      for (const ExprId part : parts) {
        push(part, {distance + 1, state, byte});
      }
    }
    if (!pool_.spend(2)) return Liveness::kUnknown;
  }
  if (!is_complete) return Liveness::kUnknown;
  for (const auto& [state, how] : seen) {
    remember(state, Liveness::kDead);
  }
  remember(from, Liveness::kDead);
  return Liveness::kDead;
}

namespace {

Error too_long() {
  return {ErrorCode::kUnsupported, "regex_length",
          "the shortest string of the regular expression is longer than 2^32 - 2 bytes",
          "Use smaller counts."};
}

}  // namespace

Result<std::optional<std::uint32_t>> Automaton::min_length(ExprId language) {
  pool_.refuel();
  if (language == kNoExpr) return pool_.failure();
  if (language == kEmptySet) return std::optional<std::uint32_t>();
  const Expr& e = pool_.at(language);
  std::uint32_t length = e.min_len;
  if (length >= kUnbounded - 1) return too_long();
  if (e.is_positive) return std::optional(length);
  switch (search(language, nullptr, &length)) {
    case Liveness::kLive:
      return std::optional(length);
    case Liveness::kDead:
      return std::optional<std::uint32_t>();
    case Liveness::kUnknown:
      break;
  }
  return pool_.failure();
}

// The first byte of the string that append_shortest() writes, except in a union within.
unsigned Automaton::first_of_shortest(ExprId id) const {
  while (true) {
    const Expr& e = pool_.at(id);
    if (e.kind == ExprKind::kBytes) return pool_.set_of(e).plainest();
    if (e.kind == ExprKind::kWords)
      return static_cast<unsigned char>(pool_.shortest_word(e).front());
    if (e.kind == ExprKind::kConcat) {
      id = pool_.at(e.a).min_len > 0 ? e.a : e.b;
    } else if (e.kind == ExprKind::kRepeat) {
      id = e.a;
    } else {
      return 256;
    }
  }
}

// Of a positive expression, whose min_len is exact, so the form says the string: a repetition is
// its part `min` times. What has the length 0 is left out, so each visit appends a byte or leads to
// one.
void Automaton::append_shortest(ExprId id, std::string& out) const {
  while (pool_.at(id).min_len > 0) {
    const Expr& e = pool_.at(id);
    switch (e.kind) {
      case ExprKind::kBytes:
        out.push_back(static_cast<char>(pool_.set_of(e).plainest()));
        return;
      case ExprKind::kWords:
        out += pool_.shortest_word(e);
        return;
      case ExprKind::kConcat:
        append_shortest(e.a, out);
        id = e.b;
        break;
      case ExprKind::kRepeat: {
        const std::size_t begin = out.size();
        append_shortest(e.a, out);
        const std::string once = out.substr(begin);
        for (std::uint32_t i = 1; i < e.min; ++i)
          out += once;
        return;
      }
      case ExprKind::kUnion: {
        const auto its = pool_.children(e);
        id = *std::min_element(its.begin(), its.end(), [&](ExprId a, ExprId b) {
          const std::uint32_t of_a = pool_.at(a).min_len, of_b = pool_.at(b).min_len;
          return of_a != of_b ? of_a < of_b : first_of_shortest(a) < first_of_shortest(b);
        });
        break;
      }
      default:
        return;
    }
  }
}

Result<std::optional<std::string>> Automaton::shortest(ExprId language) {
  pool_.refuel();
  if (language == kNoExpr) return pool_.failure();
  if (language == kEmptySet) return std::optional<std::string>();
  const std::uint32_t least = pool_.at(language).min_len;
  if (least > kMaxShortestBytes) {
    return Error{ErrorCode::kUnsupported, "regex_length",
                 "the shortest string of the regular expression is longer than 1 MiB",
                 "Ask for its length instead."};
  }
  std::string path;
  if (pool_.at(language).is_positive) {
    append_shortest(language, path);
    return std::optional(std::move(path));
  }
  if (least >= kMaxSearchStates) {  // each byte of the path leads to another state
    return Error{ErrorCode::kUnsupported, "regex_length",
                 "the shortest string of the regular expression, which has lookaheads or "
                 "intersections, is longer than 120,000 bytes",
                 "Ask for its length instead."};
  }
  switch (search(language, &path, nullptr)) {
    case Liveness::kLive:
      return std::optional(std::move(path));
    case Liveness::kDead:
      return std::optional<std::string>();
    case Liveness::kUnknown:
      break;
  }
  return pool_.failure();
}


// The search above over paths instead of states: paths through live states only, so each that is
// taken from the queue leads to a string.
Result<std::vector<std::string>> Automaton::shortest_strings(ExprId language, std::size_t n) {
  struct Path {
    std::uint32_t parent, length;
    ExprId state;
    unsigned char byte;
  };

  pool_.refuel();
  if (language == kNoExpr) return pool_.failure();
  // By the length of the shortest string of a path, then the longest path first.
  using Entry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<Path> paths;
  std::vector<std::string> out;
  const auto push = [&](const Path& path) {
    if (path.state == kEmptySet) return true;
    const Liveness life = liveness(path.state);
    if (life == Liveness::kDead) return true;
    if (life == Liveness::kUnknown || !pool_.spend(1) || paths.size() >= kMaxSearchStates)
      return false;
    queue.emplace(std::uint64_t{path.length} + pool_.at(path.state).min_len,
                  kUnbounded - path.length, static_cast<std::uint32_t>(paths.size()));
    paths.push_back(path);
    return true;
  };
  if (!push({kUnbounded, 0, language, 0})) return pool_.failure();
  while (!queue.empty() && out.size() < n) {
    const std::uint32_t id = std::get<2>(queue.top());
    queue.pop();
    const Path path = paths[id];
    if (pool_.is_nullable(path.state)) {
      std::string& text = out.emplace_back(path.length, '\0');
      for (std::uint32_t at = id, i = path.length; i > 0; at = paths[at].parent)
        text[--i] = static_cast<char>(paths[at].byte);
    }
    const auto its = edges(path.state);
    if (!its) return pool_.failure();
    for (const Edge& edge : std::vector<Edge>(its->begin(), its->end())) {
      bool is_pushed = true;
      const ByteSet set = pool_.sets()[edge.set];
      set.for_each([&](unsigned byte) {
        is_pushed = is_pushed &&
                    push({id, path.length + 1, edge.to, static_cast<unsigned char>(byte)});
      });
      if (!is_pushed) return pool_.failure();
    }
  }
  return out;
}

}  // namespace wick::regex
