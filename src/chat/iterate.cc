// Going through values one by one.
#include "base/strings.h"
#include "chat/limits.h"
#include "chat/operators.h"
#include "chat/run.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

class ListIterator final : public Iterator {
 public:
  explicit ListIterator(std::span<const Value> items) : items_(items) {}

  bool next(Run& run, Value& out) override {
    if (at_ >= items_.size() || !run.charge(1)) return false;
    out = items_[at_++];
    return true;
  }

 private:
  std::span<const Value> items_;
  std::size_t at_ = 0;
};

class TextIterator final : public Iterator {
 public:
  explicit TextIterator(const Text& text) : text_(text) { text_.is_markup = false; }

  bool next(Run& run, Value& out) override {
    if (at_ >= text_.bytes.size() || !run.charge(1)) return false;
    const std::size_t end = at_ + code_point(text_.bytes, at_).size;
    out = run.cut(text_, at_, end);
    at_ = end;
    return !out.failed();
  }

 private:
  Text text_;
  std::size_t at_ = 0;
};

class DictIterator final : public Iterator {
 public:
  DictIterator(const Dict& dict, ViewKind kind) : dict_(dict), kind_(kind) {}

  bool next(Run& run, Value& out) override {
    if (at_ >= dict_.size || !run.charge(1)) return false;
    const Entry& entry = dict_.entries[at_++];
    out = kind_ == ViewKind::kKeys     ? entry.key
          : kind_ == ViewKind::kValues ? entry.value
                                       : run.tuple({entry.key, entry.value});
    return !out.failed();
  }

 private:
  const Dict& dict_;
  ViewKind kind_;
  std::size_t at_ = 0;
};

class RangeIterator final : public Iterator {
 public:
  explicit RangeIterator(const Range& range) : range_(range) {}

  bool next(Run& run, Value& out) override {
    if (at_ >= range_.size || !run.charge(1)) return false;
    out = Value::of(range_.at(at_++)).with_taint(range_.tainted);
    return true;
  }

 private:
  const Range& range_;
  std::int64_t at_ = 0;
};

}  // namespace

Iterator* Run::iterate(const Value& value) {
  switch (value.kind) {
    case Kind::kUndefined:
      return make<ListIterator>(std::span<const Value>());
    case Kind::kString:
      return make<TextIterator>(*value.text);
    case Kind::kList:
    case Kind::kTuple:
      return make<ListIterator>(value.list->span());
    case Kind::kDict:
      return make<DictIterator>(*value.dict, ViewKind::kKeys);
    case Kind::kView:
      return make<DictIterator>(*value.view->dict, value.view->kind);
    case Kind::kRange:
      return make<RangeIterator>(*value.range);
    case Kind::kIterator:
      return value.iterator;
    default:
      fail_type("iterated over", value);
      return nullptr;
  }
}

bool Run::collect(const Value& value, Vector<Value>& out) {
  if (value.is_sequence()) {
    if (!charge(value.list->size / 4)) return false;
    out.assign(value.list->begin(), value.list->end());
    return true;
  }
  Iterator* all = iterate(value);
  Value each;
  while (all != nullptr && all->next(*this, each)) {
    if (out.size() >= kMaxItems) return !too_many_items().failed();
    out.push_back(each);
  }
  return !failed();
}

}  // namespace wick::jinja
