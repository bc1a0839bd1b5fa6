// Languages put together: texts, documents of other recognizers, sequences, alternatives,
// repetitions, and free text up to a trigger. One description is a constraint (ComposedRecognizer,
// composed.h) and a streaming parser that tells what its captures hold (captures.h).
//
//   Composition c;
//   const auto call = c.sequence({c.text("<call>"), c.capture("arguments", c.document(schema)),
//                                 c.text("</call>")});
//   const auto free = c.free_text({"<call>"});       // text that does not hold "<call>"
//   WICK_TRY(Program program, std::move(c).compile(c.sequence({free, c.repeat(call, 0, 3)})));
//
// A description is a tree: a part that is used twice is copied.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/recognizer.h"

namespace wick::grammar {

// Finds the first of some texts in a stream of bytes (Aho-Corasick). A state is the longest
// beginning of a trigger that the stream ends with; a trigger that is found ends the text.
class Triggers {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit Triggers(std::vector<std::string> texts, bool is_anchored = false);

  std::uint32_t step(std::uint32_t state, unsigned char byte) const noexcept {
    return nodes_[state].next[byte];
  }

  // The trigger that ends in this state; kNone.
  std::uint32_t found(std::uint32_t state) const noexcept { return nodes_[state].found; }

  // The bytes that complete trigger `i` from `state`.
  std::string_view rest(std::uint32_t state, std::uint32_t i) const noexcept;

  std::span<const std::string> texts() const noexcept { return texts_; }

 private:
  struct Node {
    std::uint32_t next[256] = {};
    std::uint32_t found = kNone;
    std::string path = {};
  };

  std::vector<std::string> texts_;
  std::vector<Node> nodes_;
};

// A compiled composition: instructions of a nondeterministic automaton.
struct Program {
  enum class Kind : std::uint8_t { kText, kDocument, kFree, kSplit, kOpen, kClose, kEnd };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  static constexpr std::uint32_t kAnyLength = ~std::uint32_t{0};

  struct Step {
    Kind kind = Kind::kEnd;
    std::uint32_t next = kNowhere;
    std::uint32_t other = kNowhere;            // of kSplit: tried second
    std::uint32_t index = 0;                   // of texts, documents, frees or captures
    std::uint32_t until = Triggers::kNone;     // of kFree: the trigger that ends it
    std::uint32_t max_bytes = kAnyLength;      // of kFree
    std::optional<std::string> shortest = {};  // a text from here to the end; unknown: none found
    bool can_end = false;                      // some text leads from here to the end
  };

  // The limit of free text: its bytes, and those of the trigger that ends it; 0 without a limit.
  std::uint32_t free_bytes(const Step& step) const noexcept;

  std::vector<Step> steps = {};
  std::uint32_t start = 0;
  std::vector<std::string> texts = {};
  std::vector<std::unique_ptr<Recognizer>> documents = {};
  std::vector<Triggers> frees = {};
  std::vector<std::string> captures = {};
};

class Composition {
 public:
  using Part = std::uint32_t;
  static constexpr std::uint32_t kMany = ~std::uint32_t{0};

  Part text(std::string bytes);
  Part document(std::unique_ptr<Recognizer> language);
  Part sequence(std::vector<Part> parts);
  Part any_of(std::vector<Part> parts);
  Part repeat(Part part, std::uint32_t min, std::uint32_t max);

  Part optional(Part part) { return repeat(part, 0, 1); }

  // Texts `items` with `separator` between them.
  Part list(Part item, Part separator, std::uint32_t min);

  struct Free {
    std::vector<std::string> triggers = {};  // the text does not hold them
    bool is_anchored = false;  // they count at the beginning of the text, behind white space, alone
    std::uint32_t max_bytes = Program::kAnyLength;
  };

  // Any bytes without a trigger.
  Part free_text(Free free);
  // Any bytes without a trigger, and then trigger number `i`.
  Part until(Free free, std::uint32_t i);
  // What `part` reads is told under this name.
  Part capture(std::string name, Part part);

  // Refused: a language without any text ("no_document"), and one that is too large
  // ("composition_size").
  Result<Program> compile(Part whole) &&;

 private:
  enum class Kind : std::uint8_t { kText, kDocument, kFree, kSequence, kChoice, kRepeat, kCapture };

  struct Node {
    Kind kind = Kind::kText;
    std::uint32_t index = 0;
    std::uint32_t until = Triggers::kNone;
    std::uint32_t min = 0, max = 0;  // max: of kFree, bytes
    std::vector<Part> children = {};
  };

  Part add(Node node);
  std::uint32_t emit(Part part, std::uint32_t next, int depth);
  std::uint32_t emit_repeat(const Node& node, std::uint32_t next, int depth);
  std::uint32_t step(Program::Step step);

  std::vector<Node> nodes_ = {};
  Program out_ = {};
  bool is_too_large_ = false;
};

}  // namespace wick::grammar
