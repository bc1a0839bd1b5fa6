// Filters over sequences. Those that are generators in Python are iterators here: they do their
// work when an item is asked for, are always true and can be walked once.
#include <algorithm>

#include "base/strings.h"
#include "chat/filters.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja::filters {
namespace {

class AttributeMap final : public Iterator {
 public:
  AttributeMap(Iterator& items, const AttributePath& path, const Val& otherwise)
      : items_(items), path_(path), otherwise_(otherwise) {}

  bool next(Run& run, Val& out) override {
    DataLevel level(run);  // generators of generators
    Val item;
    if (level.too_deep() || !items_.next(run, item)) return false;
    out = path_.get(run, item, otherwise_);
    return !out.failed();
  }

 private:
  Iterator& items_;
  const AttributePath& path_;
  Val otherwise_;
};

// map('filter', …), select('test', …) and their kin. What has a destructor is kept by the run.
struct Mapping {
  Iterator* items = nullptr;
  const Builtin* builtin = nullptr;  // null: the item itself
  Arguments args = {};
  AttributePath path = {};  // of the item that is tested
  Val otherwise = {};
  std::string_view missing = {};  // a filter or test of that name does not exist
  bool negated = false;
};

class FilterMap final : public Iterator {
 public:
  explicit FilterMap(const Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Val& out) override {
    DataLevel level(run);  // generators of generators
    Val item;
    if (level.too_deep() || !mapping_.items->next(run, item)) return false;
    if (mapping_.builtin == nullptr) {
      out = run.fail(cat("no filter named '", printable(mapping_.missing, 60), "'"));
      return false;
    }
    out = call_builtin(run, *mapping_.builtin, item, mapping_.args);
    return !out.failed();
  }

 private:
  const Mapping& mapping_;
};

class Selection final : public Iterator {
 public:
  explicit Selection(const Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Val& out) override {
    DataLevel level(run);
    while (!level.too_deep() && mapping_.items->next(run, out)) {
      const Val looked_at = mapping_.path.get(run, out);
      if (looked_at.failed()) return false;
      if (!mapping_.missing.empty()) {
        run.fail(cat("no test named '", printable(mapping_.missing, 60), "'"));
        return false;
      }
      const Val holds = mapping_.builtin == nullptr
                            ? looked_at
                            : call_builtin(run, *mapping_.builtin, looked_at, mapping_.args);
      if (holds.failed()) return false;
      if (is_true(run, holds) != mapping_.negated) return true;
    }
    return false;
  }

 private:
  const Mapping& mapping_;
};

template <class T>
Val lazily(Run& run, const Mapping& mapping) {
  Iterator* made = run.make<T>(mapping);
  return made == nullptr ? Val::failure() : Val::of(made);
}

// The items of a value that nobody looks at before the first is asked for. What is false has none.
class LateItems final : public Iterator {
 public:
  explicit LateItems(const Val& value) : value_(value) {}

  bool next(Run& run, Val& out) override {
    if (items_ == nullptr) items_ = run.iterate(is_true(run, value_) ? value_ : run.undefined(""));
    return items_ != nullptr && items_->next(run, out);
  }

 private:
  Val value_;
  Iterator* items_ = nullptr;
};

// A filter that does its work when the first item is asked for.
class LateFilter final : public Iterator {
 public:
  LateFilter(Native filter, const Val& value, Args args)
      : filter_(filter), value_(value), args_(args) {}

  bool next(Run& run, Val& out) override {
    DataLevel level(run);
    if (level.too_deep()) return false;
    if (items_ == nullptr) {
      const Val all = filter_(run, value_, args_);
      items_ = all.failed() ? nullptr : run.iterate(all);
    }
    return items_ != nullptr && items_->next(run, out);
  }

 private:
  Native filter_;
  Val value_;
  Args args_;
  Iterator* items_ = nullptr;
};

Val choose(Run& run, const Val& value, const Arguments& args, bool negated, bool by_attribute) {
  Mapping& mapping = run.keep<Mapping>();
  mapping.negated = negated;
  mapping.items = run.make<LateItems>(value);
  if (mapping.items == nullptr) return Val::failure();
  std::size_t used = 0;
  if (by_attribute) {
    if (args.positional.empty()) return run.fail("the name of an attribute is missing");
    if (!mapping.path.parse(run, args.positional[used++])) return Val::failure();
  }
  if (used < args.positional.size()) {
    const Val& name = args.positional[used++];
    if (!name.is_string()) return run.fail_type("the name of a test", name);
    mapping.builtin = find_test(name.bytes());
    if (mapping.builtin == nullptr) mapping.missing = name.bytes();
    mapping.args.positional.assign(args.positional.begin() + static_cast<std::ptrdiff_t>(used),
                                   args.positional.end());
    mapping.args.named = args.named;
  }
  return lazily<Selection>(run, mapping);
}

Val no_item(Run& run, std::string_view which) {
  return run.undefined(cat("there is no ", which, " item, the sequence is empty"));
}

Val batch_now(Run& run, const Val& value, Args args) {
  std::int64_t size = 0;
  std::vector<Val> all, out, row;
  if (!take_int(run, args[0], "a size", size) || !run.collect(value, all)) return Val::failure();
  const auto finish_row = [&] {
    out.push_back(run.list(row));
    row.clear();
  };
  for (const Val& item : all) {
    if (static_cast<std::int64_t>(row.size()) == size) finish_row();
    row.push_back(item);
  }
  if (!row.empty()) {
    const bool fills = !args[1].is_missing() && !args[1].is_none();
    if (fills && size > 100'000) return run.fail("a batch is too large", "template_limit");
    while (fills && static_cast<std::int64_t>(row.size()) < size)
      row.push_back(args[1]);
    finish_row();
  }
  return run.failed() ? Val::failure() : run.list(out);
}

Val slice_now(Run& run, const Val& value, Args args) {
  std::int64_t slices = 0;
  std::vector<Val> all, out;
  if (!take_int(run, args[0], "a number of slices", slices) || !run.collect(value, all)) {
    return Val::failure();
  }
  if (slices == 0) return run.fail("integer division or modulo by zero");
  if (slices > 100'000) return run.fail("too many slices", "template_limit");
  const auto n = static_cast<std::int64_t>(all.size());
  for (std::int64_t i = 0, from = 0; i < slices; ++i) {
    const bool extra = i < n % slices;
    const auto size = static_cast<std::size_t>(n / slices + (extra ? 1 : 0));
    const std::span<const Val> part(all.data() + from, size);
    std::vector<Val> row(part.begin(), part.end());
    if (!extra && !args[1].is_missing() && !args[1].is_none()) row.push_back(args[1]);
    out.push_back(run.list(row));
    from += static_cast<std::int64_t>(size);
  }
  return run.failed() ? Val::failure() : run.list(out);
}

Val items_now(Run& run, const Val& value, Args) {
  if (value.kind != Kind::kDict && !value.is_undefined()) {
    return run.fail_type("taken apart into items", value);
  }
  Iterator* made =
      run.iterate(value.is_undefined() ? value : run.view(value.dict, ViewKind::kItems));
  return made == nullptr ? Val::failure() : Val::of(made);
}

}  // namespace

Val late(Run& run, Native filter, const Val& value, Args args) {
  const Val kept = run.list(args);
  Iterator* made = kept.failed() ? nullptr : run.make<LateFilter>(filter, value, kept.list->span());
  return made == nullptr ? Val::failure() : Val::of(made);
}

Val batch(Run& run, const Val& value, Args args) {
  return late(run, batch_now, value, args);
}

Val slice(Run& run, const Val& value, Args args) {
  return late(run, slice_now, value, args);
}

Val items(Run& run, const Val& value, Args args) {
  return late(run, items_now, value, args);
}

Val map(Run& run, const Val& value, const Arguments& args) {
  Mapping& mapping = run.keep<Mapping>();
  mapping.items = run.make<LateItems>(value);
  if (mapping.items == nullptr) return Val::failure();
  if (!args.positional.empty()) {
    const Val& name = args.positional[0];
    if (!name.is_string()) return run.fail_type("the name of a filter", name);
    mapping.builtin = find_filter(name.bytes());
    mapping.missing = name.bytes();
    mapping.args.positional.assign(args.positional.begin() + 1, args.positional.end());
    mapping.args.named = args.named;
    return lazily<FilterMap>(run, mapping);
  }
  Val attribute;
  for (const auto& [name, given] : args.named) {
    if (name == "attribute") {
      attribute = given;
    } else if (name == "default") {
      mapping.otherwise = given;
    } else {
      return run.fail(cat("map takes no argument named '", name, "'"));
    }
  }
  if (attribute.is_missing()) return run.fail("map needs the name of a filter");
  if (!mapping.path.parse(run, attribute)) return Val::failure();
  Iterator* made = run.make<AttributeMap>(*mapping.items, mapping.path, mapping.otherwise);
  return made == nullptr ? Val::failure() : Val::of(made);
}

Val select(Run& run, const Val& value, const Arguments& args) {
  return choose(run, value, args, false, false);
}

Val reject(Run& run, const Val& value, const Arguments& args) {
  return choose(run, value, args, true, false);
}

Val selectattr(Run& run, const Val& value, const Arguments& args) {
  return choose(run, value, args, false, true);
}

Val rejectattr(Run& run, const Val& value, const Arguments& args) {
  return choose(run, value, args, true, true);
}

Val first(Run& run, const Val& value, Args) {
  Iterator* items = run.iterate(value);
  Val item;
  if (items != nullptr && items->next(run, item)) return item;
  return run.failed() ? Val::failure() : no_item(run, "first");
}

Val last(Run& run, const Val& value, Args) {
  if (value.kind == Kind::kIterator) return run.fail_type("reversed", value);
  std::vector<Val> all;
  if (value.is_string() && !value.bytes().empty())
    return get_item(run, value, Val::of(std::int64_t{-1}));
  if (!run.collect(value, all)) return Val::failure();
  return all.empty() ? no_item(run, "last") : all.back();
}

Val join(Run& run, const Val& value, Args args) {
  const Text none = {{}, Trust::kAll};
  const Text* separator = args[0].is_missing() ? &none : to_text(run, args[0]);
  AttributePath path;
  if (separator == nullptr || !path.parse(run, args[1])) return Val::failure();
  std::vector<const Text*> parts;
  Iterator* all = run.iterate(value);
  Val item;
  while (all != nullptr && all->next(run, item)) {
    const Val part = path.get(run, item);
    const Text* text = part.failed() ? nullptr : to_text(run, part);
    if (text == nullptr) return Val::failure();
    parts.push_back(text);
  }
  if (run.failed()) return Val::failure();
  Text plain = *separator;  // str(separator) is no markup
  plain.is_markup = false;
  return jinja::join(run, plain, parts);
}

Val length(Run& run, const Val& value, Args) {
  const std::int64_t n = value.kind == Kind::kLoop ? -1 : run.length(value);
  if (n < 0) return run.fail_type("asked for its length", value);
  return run.failed() ? Val::failure() : Val::of(n);
}

Val list(Run& run, const Val& value, Args) {
  std::vector<Val> all;
  return run.collect(value, all) ? run.list(all) : Val::failure();
}

Val reverse(Run& run, const Val& value, Args) {
  const Val back = Val::of(std::int64_t{-1});
  if (value.is_string()) return get_slice(run, value, {}, {}, back);
  std::vector<Val> all;
  if (!run.collect(value, all)) return Val::failure();
  std::reverse(all.begin(), all.end());
  // A generator has no order to reverse: Python makes a list of it.
  const Val backward = run.list(all);
  Iterator* made = backward.failed() ? nullptr : run.iterate(backward);
  if (made == nullptr || value.kind == Kind::kIterator) return backward;
  return Val::of(made);
}

}  // namespace wick::jinja::filters
