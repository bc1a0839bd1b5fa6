#include "regex/code_points.h"

#include <algorithm>
#include <array>
#include <map>

#include "unicode/table.h"

namespace wick::regex {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

}  // namespace

void CodePoints::add(char32_t first, char32_t last) {
  if (first < kFirstSurrogate && last >= kFirstSurrogate) {
    ranges_.push_back({first, kFirstSurrogate - 1});
    first = kLastSurrogate + 1;
  }
  if (first >= kFirstSurrogate && first <= kLastSurrogate) first = kLastSurrogate + 1;
  if (first > last) return;
  ranges_.push_back({first, last});
  is_normal_ = false;
}

void CodePoints::add(const CodePoints& other) {
  const std::vector<CodeRange>& its = other.ranges();
  ranges_.insert(ranges_.end(), its.begin(), its.end());
  is_normal_ = false;
}

void CodePoints::normalize() const {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
  std::vector<CodeRange> out;
  for (const CodeRange& r : ranges_) {
    if (!out.empty() && r.first <= out.back().last + 1) {
      out.back().last = std::max(out.back().last, r.last);
    } else {
      out.push_back(r);
    }
  }
  ranges_ = std::move(out);
  is_normal_ = true;
}

const std::vector<CodeRange>& CodePoints::ranges() const {
  if (!is_normal_) normalize();
  return ranges_;
}

CodePoints CodePoints::complement() const {
  CodePoints out;
  char32_t next = 0;
  for (const CodeRange& r : ranges()) {
    if (r.first > next) out.add(next, r.first - 1);
    next = r.last + 1;
  }
  if (next <= kLastCodePoint) out.add(next, kLastCodePoint);
  return out;
}

CodePoints CodePoints::intersection(const CodePoints& other) const {
  CodePoints either = complement();
  either.add(other.complement());
  return either.complement();
}

bool CodePoints::has(char32_t code) const {
  const auto next = std::upper_bound(ranges().begin(), ranges().end(), code,
                                     [](char32_t c, const CodeRange& r) { return c < r.first; });
  return next != ranges().begin() && code <= std::prev(next)->last;
}

// ---- UTF-8.

namespace {

// Builds one level of UTF-8 after another: a block is the 64^n code points below one lead byte and
// the continuation bytes so far. Blocks that are full or empty end at once, and equal ones are one
// expression, so a set of any size takes a few hundred expressions.
class Utf8Builder {
 public:
  Utf8Builder(ExprPool& pool, const std::vector<CodeRange>& ranges) : pool_(pool), ranges_(ranges) {
    full_[0] = kEpsilon;
    const ExprId next = pool.bytes(ByteSet::range(0x80, 0xBF));
    for (std::size_t n = 1; n < full_.size(); ++n) {
      full_[n] = pool.concat(next, full_[n - 1]);
    }
  }

  ExprId build() {
    std::vector<ExprId> parts;
    ByteSet ascii;
    for (char32_t c = 0; c < 0x80; ++c) {
      if (is_in(c)) ascii.add(c);
    }
    parts.push_back(pool_.bytes(ascii));
    parts.push_back(level(0xC0, 32, 0, 1, 0x80, 0x7FF));
    parts.push_back(level(0xE0, 16, 0, 2, 0x800, 0xFFFF));
    parts.push_back(level(0xF0, 8, 0, 3, 0x10000, kLastCodePoint));
    return pool_.unite(parts);
  }

 private:
  const CodeRange* next_range(char32_t code) const {
    const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), code,
                                     [](const CodeRange& r, char32_t c) { return r.last < c; });
    return at == ranges_.end() ? nullptr : &*at;
  }

  bool is_in(char32_t code) const {
    const CodeRange* r = next_range(code);
    return r != nullptr && r->first <= code;
  }

  // The union over `count` bytes from `lead` on of byte·block, blocks of 64^n code points from
  // `base`, only code points from `low` to `high`.
  ExprId level(unsigned lead, unsigned count, char32_t base, unsigned n, char32_t low,
               char32_t high) {
    if (!pool_.spend(count)) return kNoExpr;
    std::map<ExprId, ByteSet> leads;
    const char32_t size = char32_t{1} << (6 * n);
    for (unsigned i = 0; i < count; ++i) {
      const ExprId rest = block(base + i * size, n, low, high);
      if (rest == kNoExpr) return kNoExpr;
      if (rest != kEmptySet) leads[rest].add(lead + i);
    }
    std::vector<ExprId> parts;
    for (const auto& [rest, bytes] : leads) {
      parts.push_back(pool_.concat(pool_.bytes(bytes), rest));
    }
    return pool_.unite(parts);
  }

  ExprId block(char32_t first, unsigned n, char32_t low, char32_t high) {
    const char32_t last = first + (char32_t{1} << (6 * n)) - 1;
    if (last < low || first > high) return kEmptySet;
    const CodeRange* r = next_range(std::max(first, low));
    if (r == nullptr || r->first > std::min(last, high)) return kEmptySet;
    if (r->first <= first && last <= r->last && low <= first && last <= high) return full_[n];
    if (n == 0) return kEpsilon;
    return level(0x80, 64, first, n - 1, low, high);
  }

  ExprPool& pool_;
  const std::vector<CodeRange>& ranges_;
  std::array<ExprId, 4> full_ = {};
};

}  // namespace

ExprId character_of(ExprPool& pool, const CodePoints& set) {
  const ExprId out = Utf8Builder(pool, set.ranges()).build();
  pool.mark_text(out);
  return out;
}

// ---- Properties.

namespace {

struct LongName {
  std::string_view name, short_name;
};

constexpr LongName kCategories[] = {{"Letter", "L"},
                                    {"Cased_Letter", "LC"},
                                    {"Uppercase_Letter", "Lu"},
                                    {"Lowercase_Letter", "Ll"},
                                    {"Titlecase_Letter", "Lt"},
                                    {"Modifier_Letter", "Lm"},
                                    {"Other_Letter", "Lo"},
                                    {"Mark", "M"},
                                    {"Combining_Mark", "M"},
                                    {"Nonspacing_Mark", "Mn"},
                                    {"Spacing_Mark", "Mc"},
                                    {"Enclosing_Mark", "Me"},
                                    {"Number", "N"},
                                    {"Decimal_Number", "Nd"},
                                    {"digit", "Nd"},
                                    {"Letter_Number", "Nl"},
                                    {"Other_Number", "No"},
                                    {"Symbol", "S"},
                                    {"Math_Symbol", "Sm"},
                                    {"Currency_Symbol", "Sc"},
                                    {"Modifier_Symbol", "Sk"},
                                    {"Other_Symbol", "So"},
                                    {"Punctuation", "P"},
                                    {"punct", "P"},
                                    {"Connector_Punctuation", "Pc"},
                                    {"Dash_Punctuation", "Pd"},
                                    {"Open_Punctuation", "Ps"},
                                    {"Close_Punctuation", "Pe"},
                                    {"Initial_Punctuation", "Pi"},
                                    {"Final_Punctuation", "Pf"},
                                    {"Other_Punctuation", "Po"},
                                    {"Separator", "Z"},
                                    {"Space_Separator", "Zs"},
                                    {"Line_Separator", "Zl"},
                                    {"Paragraph_Separator", "Zp"},
                                    {"Other", "C"},
                                    {"Control", "Cc"},
                                    {"cntrl", "Cc"},
                                    {"Format", "Cf"},
                                    {"Private_Use", "Co"},
                                    {"Unassigned", "Cn"}};

constexpr std::string_view kShort[] = {"L",  "LC", "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc",
                                       "Me", "N",  "Nd", "Nl", "No", "S",  "Sm", "Sc", "Sk", "So",
                                       "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Z",  "Zs",
                                       "Zl", "Zp", "C",  "Cc", "Cf", "Co", "Cn"};

// Characters side by side of one atom.
struct AtomRun {
  char32_t first, last;
  std::size_t atom;
};

// All of them, found once: a pattern asks for several properties.
const std::vector<AtomRun>& atom_runs() {
  static const std::vector<AtomRun> kRuns = [] {
    std::vector<AtomRun> runs;
    const auto add = [&](char32_t first, char32_t last) {
      const auto atom = static_cast<std::size_t>(unicode_atom(first));
      if (!runs.empty() && runs.back().atom == atom) {
        runs.back().last = last;
      } else {
        runs.push_back({first, last, atom});
      }
    };
    for (char32_t block = 0; block <= kLastCodePoint; block += kUnicodeBlock) {
      if (is_uniform_block(block)) {
        add(block, block + kUnicodeBlock - 1);
        continue;
      }
      for (char32_t c = block; c < block + kUnicodeBlock; ++c) {
        add(c, c);
      }
    }
    return runs;
  }();
  return kRuns;
}

template <class Wanted>
CodePoints where(const Wanted& is_wanted) {
  std::vector<bool> wanted;
  for (const UnicodeAtom& atom : unicode_atoms()) {
    wanted.push_back(is_wanted(atom));
  }
  CodePoints out;
  for (const AtomRun& run : atom_runs()) {
    if (wanted[run.atom]) out.add(run.first, run.last);
  }
  return out;
}

std::optional<CodePoints> category(std::string_view name) {
  for (const LongName& row : kCategories) {
    if (row.name == name) name = row.short_name;
  }
  if (std::find(std::begin(kShort), std::end(kShort), name) == std::end(kShort))
    return std::nullopt;
  return where([name](const UnicodeAtom& atom) {
    const std::string_view its = atom.category;
    if (name == "LC") return its == "Lu" || its == "Ll" || its == "Lt";
    return its.starts_with(name);
  });
}

std::optional<CodePoints> script(std::string_view name) {
  const auto is_member = [name](const UnicodeAtom& atom) { return atom.script == name; };
  const auto atoms = unicode_atoms();
  if (name.empty() || std::none_of(atoms.begin(), atoms.end(), is_member)) return std::nullopt;
  return where(is_member);
}

}  // namespace

CodePoints white_space() {
  return where([](const UnicodeAtom& atom) { return atom.is_space; });
}

CodePoints oniguruma_word_characters(bool in_class) {
  CodePoints out = where([](const UnicodeAtom& atom) { return is_word(atom); });
  if (in_class) return out;
  out.add(0xB2, 0xB3);
  out.add(0xB9, 0xB9);
  out.add(0xBC, 0xBE);
  return out;
}

std::optional<CodePoints> oniguruma_property(std::string_view name) {
  if (name == "Alphabetic") return unicode_property(name);
  if (name.size() <= 2) return category(name);
  return script(name);
}

std::optional<CodePoints> unicode_property(std::string_view name) {
  if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
    const std::string_view key = name.substr(0, equals), value = name.substr(equals + 1);
    if (key == "gc" || key == "General_Category") return category(value);
    if (key == "sc" || key == "Script") return script(value);
    return std::nullopt;
  }
  if (name == "Any") return CodePoints::all();
  if (name == "ASCII") return CodePoints(0, 0x7F);
  if (name == "Assigned") return category("Cn")->complement();
  if (name == "Alphabetic" || name == "Alpha") {
    return where([](const UnicodeAtom& atom) { return atom.is_alphabetic; });
  }
  if (name == "White_Space" || name == "space") return white_space();
  return category(name);
}

}  // namespace wick::regex
