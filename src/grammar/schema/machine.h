// Checks a JSON text against formulas, byte by byte. A deterministic machine, whose state (Place)
// is a small value. Open objects and arrays are frames on a stack that shares its lower parts. A
// frame has the remaining requirements on its value and those on the value in progress. The machine
// rejects an invalid text at its end at the latest; recognizer.h finds the first byte after which
// no document can continue.
//
// One thread. Memory is bounded: beyond it step() gives Where::kFailed, and failure() says why.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/flat_map.h"
#include "grammar/json_spelling.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/interned.h"

namespace wick::grammar {

class JsonMachine {
 public:
  enum class Where : std::uint8_t {
    kDead,
    kFailed,
    kValue,      // a value must come
    kFirstItem,  // a value, or the end of the array
    kString,     // within a string that is a value
    kNumber,
    kWord,        // true, false, null
    kFirstName,   // a name, or the end of the object
    kName,        // a name, behind a comma
    kNameString,  // within a name
    kColon,
    kBehindValue,  // a comma or an end
    kDone,
  };

  struct Place {
    Where where = Where::kDead;
    std::uint8_t n_done = 0;  // bytes of a word
    std::uint32_t frame = 0;  // of the object or array that the place is in; 0: none
    ListId content = 0;       // of a string: what may follow, by question
    CellId text = 0;          // of a name, number or string that is kept
    Spelling spelling = {};
    friend bool operator==(const Place&, const Place&) = default;
  };

  struct Frame {
    std::uint32_t below = 0;
    bool is_array = false;
    bool keeps_value = false;  // its value is compared with others
    bool keeps_items = false;  // its items are compared with each other, or it keeps its value
    bool is_root = false;      // of a document that is the value in progress
    ListId formulas = 0;       // what is left of each question about this value
    ListId questions = 0;      // about the value in progress; the first must be answered by yes
    TextId name = 0;           // of the member in progress
    CellId names = 0;          // that have come
    std::uint32_t last = 0;    // the declared place of the last; kNoEnd behind one without
    CellId values = 0;         // (in value_cells_) that have come, where they are kept
    // Of an array: the last item, which `formulas` still allow again; twice its text, or twice what
    // has come of it, and one.
    std::uint32_t pending = 0;
    friend bool operator==(const Frame&, const Frame&) = default;
  };

  // `has_order`: frames say how far the declared names have come.
  explicit JsonMachine(CompiledSchema schema, bool has_order = false);

  Place start();
  // Spends the pool's fuel, which the caller gives for each operation.
  Place step(const Place& place, unsigned char byte);
  // The place after a number, which ends at any byte that is not part of it.
  Place end_number(const Place& place);
  static bool is_of_number(unsigned char byte) noexcept;
  bool accepts(const Place& place);
  Error failure() const;
  // Half of a limit of memory is used.
  bool is_worn() const noexcept;
  std::size_t used_bytes() const noexcept;  // about

  // The root of documents without requirements. Numbers there are not kept.
  static constexpr std::uint32_t kAnyRoot = 1;
  // The root of documents of `formula`.
  std::uint32_t root_of(FormulaId formula);
  // The object or array `frame` as a document; nothing if more than one formula speaks of it, or if
  // it is compared with others.
  std::optional<std::uint32_t> as_document(std::uint32_t frame);
  // The place before the first item of the array that begins there.
  Place before_item(const Place& place);
  // The array `frame` with formulas that leave out its pending value. Its next item has not begun,
  // but may have been asked for.
  std::uint32_t settled(std::uint32_t frame, bool is_asked);
  // The place behind the value in progress in `frame`, if each question is answered by yes; `value`
  // is what it was, where that is kept.
  Place behind_value(std::uint32_t frame, TextId value = 0);

  const Frame& frame(std::uint32_t id) const noexcept { return frames_[id]; }

  ListId list_of(std::initializer_list<std::uint32_t> list) { return lists_.of(list); }

  std::span<const std::uint32_t> list(ListId id) const noexcept { return lists_.at(id); }

  FormulaPool& pool() noexcept { return *pool_; }

  const FormulaPool& pool() const noexcept { return *pool_; }

  Cells& cells() noexcept { return cells_; }

  // After drop_texts(n), places are invalid if their text began when n_texts() was n or more.
  std::size_t n_texts() const noexcept { return texts_.size(); }

  void drop_texts(std::size_t n) { texts_.drop(n); }

  // The number of a value in the form in which it is compared: a string behind a quote.
  TextId value_text(std::string_view text) { return value_texts_.of(text); }

  // What frames and places refer to.
  struct Sizes {
    std::size_t lists = 0, values = 0, value_texts = 0;
  };

  Sizes sizes() const noexcept { return {lists_.size(), value_cells_.size(), value_texts_.size()}; }

  // Forgets what came later; no frame or place that is left may refer to it.
  void drop(const Sizes& kept);

  // The decoded bytes of a name, number or string in progress.
  std::string spelled_text(CellId list) const;

  // The frame holds a part of a text that drop_texts() may drop.
  bool has_text(std::uint32_t frame) const noexcept { return frames_[frame].pending % 2 != 0; }

  std::size_t n_frames() const noexcept { return frames_.size(); }

  // Drops the frames from number `n` on but `kept` and those below it; gives the number of `kept`.
  std::uint32_t drop_frames(std::size_t n, std::uint32_t kept);

  // Whether `text` is a document of the schema. An operation of its own, with its own fuel.
  Result<bool> accepts(std::string_view text);

 private:
  static std::uint32_t hash_of(const Frame& f) noexcept;

  static bool is_space(unsigned char byte) noexcept {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
  }

  Place fail() noexcept { return {.where = Where::kFailed}; }

  Place or_failed(const Place& place) noexcept;
  Place stepped(const Place& place, unsigned char byte);
  std::size_t used_cells() const noexcept;
  std::uint32_t frame_of(const Frame& frame);
  Place begin_value(const Place& place, unsigned char byte);
  Place begin_nested(const Place& place, bool is_array);
  Place in_string(Place place, unsigned char byte);
  Place in_number(Place place, unsigned char byte);
  Place in_word(Place place, unsigned char byte);
  Place in_name(Place place, unsigned char byte);
  Place end_string(const Place& place);
  Place end_name(Place place);
  Place end_nested(const Place& place);
  // The value in progress is over; `answers` are those to its frame's questions.
  Place end_value(std::uint32_t frame, const std::vector<bool>& answers, TextId value,
                  CellId text = 0);
  // Computes the formulas of the next value from those of its frame.
  void ask(Frame& frame);
  static ListId questions_of(Lists& lists, std::vector<FormulaId> asked);
  bool keeps(std::uint32_t frame) const noexcept;
  void keep(Place& place, unsigned char byte);  // of the name, number or string in progress
  // Forgets the frames that are no longer open, and texts that have ended.
  Place without_past(Place place);
  TextId nested_value(const Frame& frame);
  FormulaId one_value(TextId value);

  std::unique_ptr<FormulaPool> pool_;
  Lists lists_ = {};
  Cells cells_ = {};        // names that have come
  Cells value_cells_ = {};  // values that have come, by their texts; of members with names
  TextTable value_texts_ = {};  // the first is empty
  Cells texts_ = {};        // what has come of the name, number or string in progress
  std::deque<Frame> frames_ = {};
  FlatHashMap frame_ids_ = {};
  bool has_order_ = false;
  // Formulas say which items have come. Without it a frame has their values, which takes less time
  // and memory, and an equal item is seen at its end.
  bool leaves_out_values_ = false;
  std::map<TextId, FormulaId> values_ = {};  // formulas of values that are kept, by value_texts_
  FormulaId root_ = kNever;
  bool is_full_ = false;
};

}  // namespace wick::grammar
