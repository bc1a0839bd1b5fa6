#include "shell/value.h"

#include <algorithm>
#include <utility>

#include "shell/limits.h"
#include "shell/paths.h"

namespace wick::shell {

Value Value::exact(std::string text) {
  Value out;
  out.set.assign(std::move(text));
  return out;
}

Value Value::unknown() {
  Value out;
  out.is_known = false;
  out.set.clear();
  out.may_be_empty = true;
  return out;
}

Value Value::number() {
  Value out = unknown();
  out.is_number = true;
  out.may_be_empty = false;
  return out;
}

Value Value::below(std::string prefix) {
  Value out = unknown();
  out.prefix = std::move(prefix);
  out.is_below = true;
  out.may_be_empty = false;
  return out;
}

Value unknown_like(const Value& v) {
  Value out = Value::unknown();
  out.is_secret = v.is_secret;
  out.is_fetched = v.is_fetched;
  out.keys = v.keys;
  return out;
}

namespace {

std::string common_prefix(const std::string& a, const std::string& b) {
  const auto [end, ignored] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  static_cast<void>(ignored);
  return {a.begin(), end};
}

std::string prefix_of(const Value& v) {
  if (!v.is_known) return v.prefix;
  std::string out = v.set.front();
  for (const std::string& s : v.set)
    out = common_prefix(out, s);
  return out;
}

bool is_digits(const Value& v) {
  if (!v.is_known) return v.is_number;
  for (const std::string& s : v.set) {
    if (s.empty() || s.find_first_not_of("0123456789") != std::string::npos) return false;
  }
  return true;
}

// What is left of a known name once it is one of others.
Keys keys_of(const Value& v) {
  const bool has_key =
      v.is_known && std::any_of(v.set.begin(), v.set.end(),
                                [](const std::string& s) { return is_credential(s, ""); });
  return has_key ? Keys::kMeant : v.keys;
}

}  // namespace

Value join(const Value& a, const Value& b) {
  if (a == b) return a;
  if (a.is_known && b.is_known) {
    Value out = a;
    for (const std::string& s : b.set) {
      if (std::find(out.set.begin(), out.set.end(), s) == out.set.end()) out.set.push_back(s);
    }
    out.is_secret = a.is_secret || b.is_secret;
    out.keys = std::max(a.keys, b.keys);
    out.is_fetched = a.is_fetched || b.is_fetched;
    out.is_set = a.is_set || b.is_set;
    if (out.set.size() <= kMaxSet) return out;
  }
  Value out = Value::unknown();
  out.prefix = common_prefix(prefix_of(a), prefix_of(b));
  out.is_below = !a.is_known && !b.is_known && a.is_below && b.is_below &&
                 a.prefix == b.prefix && a.may_be_empty == b.may_be_empty;
  out.is_everything = a.is_everything || b.is_everything;
  out.is_number = is_digits(a) && is_digits(b);
  if (out.is_number) out.prefix.clear();
  out.is_secret = a.is_secret || b.is_secret;
  out.keys = std::max(keys_of(a), keys_of(b));
  out.is_fetched = a.is_fetched || b.is_fetched;
  out.may_be_empty = !out.is_number && (!out.is_below || a.may_be_empty);
  return out;
}

namespace {

// Both are known. False: too many strings, or too long.
bool append_known(Value& a, const Value& b) {
  if (a.set.size() * b.set.size() > kMaxSet) return false;
  std::size_t bytes = 0;
  for (const std::string& x : a.set) {
    for (const std::string& y : b.set)
      bytes += x.size() + y.size();
  }
  if (bytes > kMaxText) return false;
  if (b.set.size() == 1) {
    for (std::string& x : a.set)
      x += b.set[0];
    return true;
  }
  StringSet all;
  for (const std::string& x : a.set) {
    for (const std::string& y : b.set)
      all.push_back(x + y);
  }
  a.set = std::move(all);
  return true;
}

// What `a`, which is known, and `b` begin with, if together they are not known.
Value beginning_of(const Value& a, const Value& b) {
  Value out = Value::unknown();
  if (a.set.size() != 1 || b.is_known) {
    out.prefix = prefix_of(a);
    out.is_path = a.is_path;
    out.may_be_empty = false;
    return out;
  }
  const std::string& text = a.set[0];
  out.prefix = text + b.prefix;
  out.tail = b.tail;
  out.is_number = text.empty() && b.is_number;
  out.is_below = b.is_below && (text.empty() || (b.prefix.empty() && text.back() == '/'));
  out.is_everything = b.is_everything;
  out.is_path = text.empty() && b.is_path;
  out.may_be_empty = text.empty() && b.may_be_empty;
  return out;
}

// `a` is not known: it keeps its beginning.
void append_behind(Value& a, const Value& b) {
  const bool is_exact = b.is_known && b.set.size() == 1;
  bool is_below = b.is_number && a.is_below;
  if (is_exact) {
    // A name below, and more of the name: still below. A slash and a name without `..` too.
    is_below = a.is_below && b.set[0].find("..") == std::string::npos;
    a.tail += b.set[0];
  } else {
    // A name below, a slash, and another name, or the rest of one: still below.
    const std::size_t slash = a.tail.rfind('/');
    const bool is_part = slash != std::string::npos &&
                         (slash + 1 == a.tail.size() ||
                          a.tail.find_first_not_of('.', slash + 1) != std::string::npos);
    const bool is_inside = a.is_below && (b.is_below || b.is_inner) && is_part &&
                           b.prefix.find("..") == std::string::npos;
    is_below = is_below || is_inside;
    a.tail = is_inside ? a.tail.substr(slash) + b.prefix + b.tail : "";
  }
  const bool is_same = is_exact && b.set[0].empty();
  a.is_below = is_below;
  a.is_number = a.is_number && is_same;
  // Each name, and each below it: `$f/*`.
  const bool is_rest = is_exact && b.set[0].find_first_not_of("*/") == std::string::npos;
  a.is_everything = a.is_everything && is_rest;
  a.is_inner = false;
  a.is_set = true;
  a.may_be_empty = a.may_be_empty && b.may_be_empty;
}

}  // namespace

Value concat(const Value& a, const Value& b) {
  Value out = a;
  append(out, b);
  return out;
}

void append(Value& a, const Value& b) {
  const bool is_secret = a.is_secret || b.is_secret;
  const Keys keys = std::max(a.keys, b.keys);
  const bool is_fetched = a.is_fetched || b.is_fetched;
  if (!a.is_known) {
    append_behind(a, b);
  } else if (!b.is_known || !append_known(a, b)) {
    a = beginning_of(a, b);
  }
  a.is_secret = is_secret;
  a.keys = keys;
  a.is_fetched = is_fetched;
}

void append(Value& a, const std::string& b) {
  if (a.is_known && a.set.size() == 1 && a.set[0].size() + b.size() <= kMaxText) {
    a.set[0] += b;
  } else {
    append(a, Value::exact(b));
  }
}

const std::string& Arg::text() const noexcept {
  static const std::string kNone;
  return is_exact() ? value.set.front() : kNone;
}

bool Arg::may_be_option() const noexcept {
  if (value.is_known) {
    for (const std::string& s : value.set) {
      if (s.size() > 1 && s[0] == '-') return true;
    }
    return false;
  }
  if (value.is_number || value.is_below) return false;
  return value.prefix.empty() || value.prefix[0] == '-';
}

Value any_of(std::span<const Arg> args) {
  Value out = Value::unknown();
  for (const Arg& arg : args)
    out = join(out, arg.value);
  return out;
}

bool may_be_many_options(const Arg& arg) noexcept {
  return arg.is_many && !arg.is_glob && !arg.value.is_known && arg.may_be_option();
}

Stream Stream::of(std::string text) {
  if (text.size() > kMaxText) return unknown();
  Stream out;
  out.is_known = true;
  out.text = std::move(text);
  return out;
}

Stream Stream::none() {
  Stream out;
  out.is_none = true;
  return out;
}

Stream Stream::unknown() {
  return {};
}

Stream without_text(const Stream& stream) {
  Stream out;
  out.is_fetched = stream.is_fetched;
  out.is_decoded = stream.is_decoded;
  out.is_secret = stream.is_secret;
  out.keys = stream.keys;
  return out;
}

}  // namespace wick::shell
