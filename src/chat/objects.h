// The objects that a template meets besides data: the `loop` of a for, cycler, joiner, iterators.
#pragma once

#include "chat/ast.h"
#include "chat/run.h"

namespace wick::jinja {

// The state of one for. It reads its items as late as jinja2's does: looking at loop.last or
// loop.nextitem reads one ahead, loop.length of something without a length reads all.
struct Loop {
  Iterator* items = nullptr;
  std::int64_t length = -1;  // −1: not known yet
  std::int64_t index0 = -1;
  std::int64_t depth0 = 0;
  bool has_after = false;
  Value before = {}, current = {}, after = {};
  Value last_changed = {};
  const Stmt* stmt = nullptr;  // of a recursive loop, else null
  Frame* frame = nullptr;      // around it

  // To the next item; false at the end.
  bool advance(Run& run);

  // Reads one ahead; false if there is none.
  bool peek(Run& run);

  // How many items there are in all.
  std::int64_t count(Run& run);
};

struct Cycler {
  const List* items = nullptr;
  std::size_t at = 0;
};

struct Joiner {
  const Text* separator = nullptr;
  bool used = false;
};

// An iterator whose next() is `next`, which has no destructor.
template <class Next>
class Generator final : public Iterator {
 public:
  explicit Generator(const Next& next) : next_(next) {}

  bool next(Run& run, Value& out) override { return next_(run, out); }

 private:
  Next next_;
};

template <class Next>
Iterator& generator(Run& run, const Next& next) {
  return *run.make<Generator<Next>>(next);
}

// loop.NAME; kMissing if there is no such thing.
Value loop_attribute(Run& run, const Value& loop, std::string_view name);

Value cycler_attribute(Run& run, const Value& cycler, std::string_view name);

}  // namespace wick::jinja
