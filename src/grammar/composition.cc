#include "grammar/composition.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {

// ---- Triggers

namespace {

constexpr bool is_space(unsigned char byte) noexcept {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

}  // namespace

// With anchored triggers node 0 is the beginning, and node 1 free text where none counts any more.
Triggers::Triggers(std::vector<std::string> texts, bool is_anchored)
    : texts_(std::move(texts)), nodes_(is_anchored ? 2 : 1) {
  constexpr std::uint32_t kUnset = 0;
  for (std::uint32_t i = 0; i < texts_.size(); ++i) {
    std::uint32_t at = 0;
    for (std::size_t n = 0; n < texts_[i].size(); ++n) {
      const auto byte = static_cast<unsigned char>(texts_[i][n]);
      if (nodes_[at].next[byte] == kUnset) {
        nodes_[at].next[byte] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
        nodes_.back().path = texts_[i].substr(0, n + 1);
      }
      at = nodes_[at].next[byte];
    }
    if (nodes_[at].found == kNone) nodes_[at].found = i;
  }
  if (is_anchored) {
    for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t& next = nodes_[at].next[byte];
        const bool stays = at == 0 && is_space(static_cast<unsigned char>(byte));
        if (next == kUnset && !stays) next = 1;
      }
    }
    return;
  }
  std::vector<std::uint32_t> falls(nodes_.size(), 0);
  std::deque<std::uint32_t> todo;
  for (const std::uint32_t next : nodes_[0].next)
    if (next != kUnset) todo.push_back(next);
  for (; !todo.empty(); todo.pop_front()) {
    Node& node = nodes_[todo.front()];
    const Node& fall = nodes_[falls[todo.front()]];
    if (node.found == kNone) node.found = fall.found;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      if (node.next[byte] == kUnset) {
        node.next[byte] = fall.next[byte];
      } else {
        falls[node.next[byte]] = fall.next[byte];
        todo.push_back(node.next[byte]);
      }
    }
  }
}

std::string_view Triggers::rest(std::uint32_t state, std::uint32_t i) const noexcept {
  const std::string_view text = texts_[i], path = nodes_[state].path;
  for (std::size_t n = std::min(text.size(), path.size()); n > 0; --n) {
    if (path.ends_with(text.substr(0, n))) return text.substr(n);
  }
  return text;
}

// ---- Composition

std::uint32_t Program::free_bytes(const Step& step) const noexcept {
  if (step.max_bytes == kAnyLength) return 0;
  if (step.until == Triggers::kNone) return step.max_bytes;
  return step.max_bytes + static_cast<std::uint32_t>(frees[step.index].texts()[step.until].size());
}

Composition::Part Composition::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<Part>(nodes_.size() - 1);
}

namespace {

std::uint32_t last_of(const auto& list) {
  return static_cast<std::uint32_t>(list.size() - 1);
}

}  // namespace

Composition::Part Composition::text(std::string bytes) {
  out_.texts.push_back(std::move(bytes));
  return add({.kind = Kind::kText, .index = last_of(out_.texts)});
}

Composition::Part Composition::document(std::unique_ptr<Recognizer> language) {
  out_.documents.push_back(std::move(language));
  return add({.kind = Kind::kDocument, .index = last_of(out_.documents)});
}

Composition::Part Composition::sequence(std::vector<Part> parts) {
  return add({.kind = Kind::kSequence, .children = std::move(parts)});
}

Composition::Part Composition::any_of(std::vector<Part> parts) {
  return add({.kind = Kind::kChoice, .children = std::move(parts)});
}

Composition::Part Composition::repeat(Part part, std::uint32_t min, std::uint32_t max) {
  return add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {part}});
}

Composition::Part Composition::list(Part item, Part separator, std::uint32_t min) {
  const Part more = repeat(sequence({separator, item}), min > 0 ? min - 1 : 0, kMany);
  const Part whole = sequence({item, more});
  return min > 0 ? whole : optional(whole);
}

Composition::Part Composition::free_text(Free free) {
  out_.frees.emplace_back(std::move(free.triggers), free.is_anchored);
  return add({.kind = Kind::kFree, .index = last_of(out_.frees), .max = free.max_bytes});
}

Composition::Part Composition::until(Free free, std::uint32_t i) {
  const Part part = free_text(std::move(free));
  nodes_[part].until = i;
  return part;
}

Composition::Part Composition::capture(std::string name, Part part) {
  out_.captures.push_back(std::move(name));
  return add({.kind = Kind::kCapture, .index = last_of(out_.captures), .children = {part}});
}

std::uint32_t Composition::step(Program::Step step) {
  is_too_large_ = is_too_large_ || out_.steps.size() >= kMaxCompositionSteps;
  if (is_too_large_) return 0;
  out_.steps.push_back(std::move(step));
  return last_of(out_.steps);
}

// The steps of `part` that go on at `next`; returns the first.
std::uint32_t Composition::emit(Part part, std::uint32_t next, int depth) {
  is_too_large_ = is_too_large_ || depth > kMaxGrammarDepth;
  if (is_too_large_) return next;
  const Node& node = nodes_[part];
  switch (node.kind) {
    case Kind::kText:
      if (out_.texts[node.index].empty()) return next;
      return step({.kind = Program::Kind::kText, .next = next, .index = node.index});
    case Kind::kDocument:
      return step({.kind = Program::Kind::kDocument, .next = next, .index = node.index});
    case Kind::kFree:
      return step({.kind = Program::Kind::kFree,
                   .next = next,
                   .index = node.index,
                   .until = node.until,
                   .max_bytes = node.max});
    case Kind::kSequence:
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
        next = emit(*child, next, depth + 1);
      return next;
    case Kind::kChoice: {
      std::uint32_t out = Program::kNowhere;
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        const std::uint32_t one = emit(*child, next, depth + 1);
        out = out == Program::kNowhere
                  ? one
                  : step({.kind = Program::Kind::kSplit, .next = one, .other = out});
      }
      return out;
    }
    case Kind::kRepeat:
      return emit_repeat(node, next, depth);
    case Kind::kCapture: {
      const std::uint32_t close =
          step({.kind = Program::Kind::kClose, .next = next, .index = node.index});
      const std::uint32_t body = emit(node.children[0], close, depth + 1);
      return step({.kind = Program::Kind::kOpen, .next = body, .index = node.index});
    }
  }
  return next;
}

std::uint32_t Composition::emit_repeat(const Node& node, std::uint32_t next, int depth) {
  const Part part = node.children[0];
  const std::uint32_t min = node.min, max = node.max;
  if (max == kMany) {
    const std::uint32_t again = step({.kind = Program::Kind::kSplit, .other = next});
    const std::uint32_t body = emit(part, again, depth + 1);
    if (!is_too_large_) out_.steps[again].next = body;
    next = again;
  } else {
    const std::uint32_t end = next;
    for (std::uint32_t i = min; i < max && !is_too_large_; ++i)
      next =
          step({.kind = Program::Kind::kSplit, .next = emit(part, next, depth + 1), .other = end});
  }
  for (std::uint32_t i = 0; i < min && !is_too_large_; ++i)
    next = emit(part, next, depth + 1);
  return next;
}

namespace {

// Behind the step's own bytes; nothing if the step has no text.
std::optional<std::string> own_shortest(const Program& program, const Program::Step& step) {
  switch (step.kind) {
    case Program::Kind::kText:
      return program.texts[step.index];
    case Program::Kind::kDocument: {
      Recognizer& language = *program.documents[step.index];
      auto text = language.shortest(language.start());
      return text ? std::optional(*std::move(text)) : std::nullopt;
    }
    case Program::Kind::kFree:
      if (step.until == Triggers::kNone) return std::string();
      return program.frees[step.index].texts()[step.until];
    default:
      return std::string();
  }
}

bool has_text(const Program& program, const Program::Step& step) {
  if (step.kind == Program::Kind::kDocument)
    return program.documents[step.index]->start() != kDeadState;
  if (step.kind != Program::Kind::kFree || step.until == Triggers::kNone) return true;
  const Triggers& triggers = program.frees[step.index];
  const std::string& text = triggers.texts()[step.until];
  std::uint32_t state = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = triggers.step(state, static_cast<unsigned char>(text[i]));
    if (triggers.found(state) != Triggers::kNone)
      return i + 1 == text.size() && triggers.found(state) == step.until;
  }
  return false;
}

// By rounds, until nothing becomes shorter.
void find_ends(Program& program) {
  std::vector<std::optional<std::string>> own(program.steps.size());
  std::vector<bool> has(program.steps.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    has[i] = has_text(program, program.steps[i]);
    if (has[i]) own[i] = own_shortest(program, program.steps[i]);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < own.size(); ++i) {
      Program::Step& step = program.steps[i];
      for (const std::uint32_t next : {step.next, step.other}) {
        const bool is_end = step.kind == Program::Kind::kEnd;
        if (next == Program::kNowhere && !is_end) continue;
        const bool can_end = has[i] && (is_end || program.steps[next].can_end);
        has_changed = has_changed || can_end > step.can_end;
        step.can_end = step.can_end || can_end;
        if (!can_end || !own[i]) continue;
        const std::optional<std::string> none = std::string();
        const std::optional<std::string>& behind = is_end ? none : program.steps[next].shortest;
        if (!behind || own[i]->size() + behind->size() > kMaxShortestBytes) continue;
        if (step.shortest && step.shortest->size() <= own[i]->size() + behind->size()) continue;
        step.shortest = cat(*own[i], *behind);
        has_changed = true;
      }
    }
  }
}

}  // namespace

Result<Program> Composition::compile(Part whole) && {
  for (const auto& one : out_.documents)
    one->begin(kMaskFuel);
  const std::uint32_t end = step({.kind = Program::Kind::kEnd});
  out_.start = emit(whole, end, 0);
  if (is_too_large_) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "composition_size",
                 .message = cat("the format has more than ", kMaxCompositionSteps, " parts, or ",
                                kMaxGrammarDepth, " levels")};
  }
  if (out_.start != Program::kNowhere) find_ends(out_);
  if (out_.start == Program::kNowhere || !out_.steps[out_.start].can_end) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_document",
                 .message = "no text fulfills this format"};
  }
  return std::move(out_);
}

}  // namespace wick::grammar
