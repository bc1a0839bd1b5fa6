// The abstract value of a word: one of a few strings, or a string with a known prefix. Plain data
// of the evaluator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/syntax.h"

namespace wick::shell {

// Strings in order. Nearly all values are one string, which needs no array on the heap.
class StringSet {
 public:
  StringSet() = default;

  explicit StringSet(std::string item) : one_(std::move(item)), size_(1) {}

  static StringSet of_empty() noexcept { return StringSet(std::size_t{1}); }

  const std::string* begin() const noexcept { return size_ <= 1 ? &one_ : more_.data(); }

  const std::string* end() const noexcept { return begin() + size_; }

  std::string* begin() noexcept { return size_ <= 1 ? &one_ : more_.data(); }

  std::string* end() noexcept { return begin() + size_; }

  std::size_t size() const noexcept { return size_; }

  bool empty() const noexcept { return size_ == 0; }

  const std::string& operator[](std::size_t i) const noexcept { return begin()[i]; }

  std::string& operator[](std::size_t i) noexcept { return begin()[i]; }

  const std::string& front() const noexcept { return *begin(); }

  std::string& front() noexcept { return *begin(); }

  void push_back(std::string item) {
    if (size_ == 1) {
      more_.reserve(2);
      more_.push_back(std::move(one_));
    }
    if (size_ == 0) one_ = std::move(item);
    if (size_ > 0) more_.push_back(std::move(item));
    ++size_;
  }

  void assign(std::string item) {
    one_ = std::move(item);
    more_.clear();
    size_ = 1;
  }

  void clear() noexcept {
    one_.clear();
    more_.clear();
    size_ = 0;
  }

  bool operator==(const StringSet& other) const noexcept {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if ((*this)[i] != other[i]) return false;
    }
    return true;
  }

 private:
  explicit StringSet(std::size_t size) noexcept : size_(size) {}

  std::string one_ = {};                // if there is one
  std::vector<std::string> more_ = {};  // all, if there are several
  std::size_t size_ = 0;
};

// Whether a name may be that of a file with credentials.
enum class Keys : std::uint8_t {
  kNone,
  kSome,   // among others: any name below /
  kMeant,  // it was chosen by such names: find -name id_rsa
};

// A string. Known: one of `set`. Otherwise it begins with `prefix`, and ends in `tail`.
struct Value {
  bool is_known = true;
  StringSet set = StringSet::of_empty();
  std::string prefix = {}, tail = {};
  bool is_below = false;  // unknown, but a name below `prefix` (or cwd): no `..`, no dash first;
                          // with may_be_empty: from mktemp, which fails at times
  bool is_everything = false;  // … and any name there may be it: a glob `*`, a find without a test
  bool is_inner = false;       // unknown; behind a folder and a slash it leads to a place below
  bool is_number = false;      // unknown, but digits
  bool is_path = false;        // begins with PATH as it was
  bool is_secret = false;      // may hold a credential
  bool is_fetched = false;     // came from the network
  Keys keys = Keys::kNone;     // a name of a file; of a known one the name says it
  bool is_set = true;          // false: surely unset
  bool may_be_empty = false;

  static Value exact(std::string text);
  static Value unknown();
  static Value number();
  static Value below(std::string prefix);

  bool operator==(const Value&) const = default;
};

// Some text that comes from where `v` does.
Value unknown_like(const Value& v);

// Either of both.
Value join(const Value& a, const Value& b);

// `a` followed by `b`.
Value concat(const Value& a, const Value& b);

// The same, in place: text that grows by pieces is not copied for each of them.
void append(Value& a, const Value& b);
void append(Value& a, const std::string& b);

// An argument of a command, behind all expansions.
struct Arg {
  Value value;
  Span span = {};
  bool is_many = false;         // none, one or several words
  bool is_glob = false;         // a pattern of file names
  bool is_unset_slash = false;  // begins with an unknown word directly before a slash

  bool is_exact() const noexcept { return value.is_known && value.set.size() == 1 && !is_many; }

  // The one string, "" if it is not exact.
  const std::string& text() const noexcept;

  // May be an option: unknown without a beginning that forbids it.
  bool may_be_option() const noexcept;
};

// One of them, it is not known which, or nothing.
Value any_of(std::span<const Arg> args);

// Text that is not known and becomes several words: `$(cat f)` may be "a -o b".
bool may_be_many_options(const Arg& arg) noexcept;

// Whether a pattern of file names may stand in `text`.
inline bool has_wildcard(std::string_view text) noexcept {
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[') return true;
  }
  return false;
}

// What comes through a pipe or lies in a file.
struct Stream {
  bool is_known = false;
  bool is_none = false;  // nothing was connected: the terminal, or no output
  std::string text = {};
  bool is_fetched = false, is_decoded = false, is_secret = false, is_socket = false;
  bool is_number = false;
  bool is_endless = false;  // yes, /dev/zero
  bool is_shell = false;    // the output of a shell that runs unknown code
  bool is_names = false;    // lines are names below `prefix` (find, ls)
  bool is_temporary = false;  // one name that was just made, or nothing (mktemp)
  bool is_nul = false;      // … ended by NUL
  bool is_everything = false;
  std::string prefix = {};
  Keys keys = Keys::kNone;  // of the names

  static Stream of(std::string text);
  static Stream none();
  static Stream unknown();
};

// Something else that comes from where `stream` does.
Stream without_text(const Stream& stream);

}  // namespace wick::shell
