// What becomes of a text before it is cut: a row of steps, each of which rewrites all of it. Built
// by a loader, then immutable; any thread. The scratch belongs to one call.
//
//   Normalizer steps;
//   steps.add(make_form(UnicodeForm::kNfc));
//   steps.add(make_replace(" ", "▁"));
//   steps.apply("a b", RunPlace::kTextStart, scratch);  // "a▁b"
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pattern.h"
#include "unicode/normal_forms.h"

namespace wick {

// Where a text stands that is rewritten: at the very start of all, or behind an added token or a
// cut.
enum class RunPlace : std::uint8_t { kTextStart, kRunStart };

struct NormalizerScratch {            // memory that outlives a call
  std::string a = {}, b = {};         // of the row of steps
  std::string inner = {}, more = {};  // of a single step
  std::vector<std::int32_t> codes = {};
  Matcher matcher = {};
  // No text may become longer (kMaxNormalisedGrowth); one that does is dropped, and says so here.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  bool is_overgrown = false;

  bool is_full(const std::string& out) const noexcept { return out.size() > most_bytes; }
};

class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  // Appends `text` rewritten. Bytes that are not UTF-8 stay. `is_first`: the run stands at the very
  // start of what is encoded. A step whose growth a file decides stops once scratch.is_full(out).
  virtual void append(std::string& out, std::string_view text, bool is_first,
                      NormalizerScratch& scratch) const = 0;

  // At most so many bytes for each byte of a long text.
  virtual std::size_t growth() const noexcept { return 1; }
};

using NormalizerStepPtr = std::unique_ptr<const NormalizerStep>;

class Normalizer {
 public:
  void add(NormalizerStepPtr step) { steps_.push_back(std::move(step)); }

  bool is_empty() const noexcept { return steps_.empty(); }

  std::size_t size() const noexcept { return steps_.size(); }

  // Of all steps together.
  std::size_t growth() const noexcept;

  // `text` after all steps; the result lies in `text` itself or in the scratch. Nothing where it
  // would be longer than scratch.most_bytes.
  std::string_view apply(std::string_view text, RunPlace place, NormalizerScratch& scratch) const;

 private:
  std::vector<NormalizerStepPtr> steps_ = {};
};

// --- The steps ----------------------------------------------------------------------------------

NormalizerStepPtr make_form(UnicodeForm form);

NormalizerStepPtr make_prepend(std::string text);  // before every run that is not empty
// `text` before a run that does not start with it; `only_first`: at the very start alone.
NormalizerStepPtr make_lead(std::string text, bool only_first);
NormalizerStepPtr make_replace(std::string from, std::string to);
NormalizerStepPtr make_replace(Pattern from, std::string to);
NormalizerStepPtr make_strip(bool left, bool right);  // white space at the ends of a run

NormalizerStepPtr make_lowercase();
NormalizerStepPtr make_strip_accents();  // without marks that combine
NormalizerStepPtr make_byte_alphabet();  // each byte as GPT-2's alphabet spells it
NormalizerStepPtr make_nmt();            // control characters away, all white space to spaces

struct BertNormalisation {
  bool cleans = true;             // control characters away, all white space to spaces
  bool spaces_ideographs = true;  // a space on either side of each
  bool strips_accents = true;
  bool lowers = true;
};

NormalizerStepPtr make_bert(const BertNormalisation& how);

}  // namespace wick
