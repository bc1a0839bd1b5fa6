// Normalization: a sequence of steps, each of which rewrites the whole text. Built by a loader,
// then immutable; any thread. The scratch belongs to one call.
//
//   Normalizer steps;
//   steps.add(make_form(UnicodeForm::kNfc));
//   steps.add(make_replace(" ", "▁"));
//   steps.apply("a b", RunPlace::kTextStart, scratch);  // "a▁b"
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pattern.h"
#include "unicode/normal_forms.h"

namespace wick {

// The place of a run in the text: at the very start, or after an added token or a cut.
enum class RunPlace : std::uint8_t { kTextStart, kRunStart };

struct NormalizerScratch {            // memory that outlives a call
  std::string a = {}, b = {};         // of the row of steps
  std::string inner = {}, more = {};  // of a single step
  std::vector<std::int32_t> codes = {};
  Matcher matcher = {};
  // The limit for a normalized text (kMaxNormalizedGrowth). A longer one is dropped, and
  // is_overgrown is set.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  bool is_overgrown = false;

  bool is_full(const std::string& out) const noexcept { return out.size() > most_bytes; }
};

struct NormalizerStep {
  // Appends `text` rewritten. Bytes that are not UTF-8 stay. `is_first`: the run stands at the very
  // start of what is encoded. A step whose growth a file decides stops once scratch.is_full(out).
  std::function<void(std::string& out, std::string_view text, bool is_first,
                     NormalizerScratch& scratch)>
      append = {};
  std::size_t growth = 1;     // most bytes of output for each byte of a long text
  std::size_t shrinkage = 0;  // most bytes of input for each byte of output; 0: no limit
};

class Normalizer {
 public:
  void add(NormalizerStep step) { steps_.push_back(std::move(step)); }

  bool is_empty() const noexcept { return steps_.empty(); }

  std::size_t size() const noexcept { return steps_.size(); }

  // Of all steps together.
  std::size_t growth() const noexcept;
  std::size_t shrinkage() const noexcept;

  // `text` after all steps; the result is `text` itself or in the scratch. Empty if it would be
  // longer than scratch.most_bytes.
  std::string_view apply(std::string_view text, RunPlace place, NormalizerScratch& scratch) const;

 private:
  std::vector<NormalizerStep> steps_ = {};
};

// --- The steps ----------------------------------------------------------------------------------

NormalizerStep make_form(UnicodeForm form);

NormalizerStep make_prepend(std::string text);  // prepends `text` to every non-empty run
// Prepends `text` to a run that does not start with it; `only_first`: only at the start of the
// text.
NormalizerStep make_lead(std::string text, bool only_first);
NormalizerStep make_replace(std::string from, std::string to);
NormalizerStep make_replace(Pattern from, std::string to);
NormalizerStep make_strip(bool left, bool right);  // white space at the ends of a run

NormalizerStep make_lowercase();
NormalizerStep make_strip_accents();  // without marks that combine
NormalizerStep make_byte_alphabet();  // each byte as GPT-2's alphabet spells it
NormalizerStep make_nmt();            // control characters away, all white space to spaces

struct BertNormalization {
  bool cleans = true;             // control characters away, all white space to spaces
  bool spaces_ideographs = true;  // a space on either side of each
  bool strips_accents = true;
  bool lowers = true;
};

NormalizerStep make_bert(const BertNormalization& how);

}  // namespace wick
