#include "shell/syntax.h"

#include <algorithm>
#include <utility>

namespace wick::shell {

WordPart::WordPart() = default;

WordPart::WordPart(PartKind k, Span s) : kind(k), span(s) {}
WordPart::WordPart(PartKind k, Span s, std::string&& t) : kind(k), span(s), text(std::move(t)) {}
WordPart::WordPart(PartKind k, Span s, std::string_view t) : kind(k), span(s), text(t) {}

WordPart::WordPart(WordPart&&) noexcept = default;
WordPart& WordPart::operator=(WordPart&&) noexcept = default;
WordPart::~WordPart() = default;

Word::Word() = default;
Word::Word(Word&&) noexcept = default;
Word& Word::operator=(Word&&) noexcept = default;
Word::~Word() = default;

const std::string* plain_text(const Word& word) noexcept {
  if (word.array || word.parts.size() != 1) return nullptr;
  const WordPart& part = word.parts.front();
  return part.kind == PartKind::kLiteral ? &part.text : nullptr;
}

namespace {

bool equal(const Node& a, const Node& b);
bool equal(const Word& a, const Word& b);
bool equal(const WordPart& a, const WordPart& b);
bool equal(const ArrayElement& a, const ArrayElement& b);
bool equal(const Assignment& a, const Assignment& b);
bool equal(const Redirect& a, const Redirect& b);
bool equal(const Test& a, const Test& b);
bool equal(const CaseItem& a, const CaseItem& b);

template <class T>
bool equal(const List<T>& a, const List<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return equal(x, y); });
}

bool equal(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.has_braces == b.has_braces && a.has_length == b.has_length &&
         a.is_indirect == b.is_indirect && a.has_index == b.has_index &&
         a.has_pieces == b.has_pieces && a.op == b.op && equal(a.index, b.index) &&
         equal(a.argument, b.argument) && equal(a.second, b.second) && a.flags == b.flags &&
         a.marks == b.marks && equal(a.nested, b.nested);
}

bool equal(const WordPart& a, const WordPart& b) {
  if (a.kind != b.kind || a.text != b.text || !a.parameter != !b.parameter) return false;
  return equal(a.parts, b.parts) && equal(a.body, b.body) &&
         (!a.parameter || equal(*a.parameter, *b.parameter));
}

bool equal(const ArrayElement& a, const ArrayElement& b) {
  return a.has_index == b.has_index && equal(a.index, b.index) && equal(a.value, b.value);
}

bool equal(const Assignment& a, const Assignment& b) {
  return a.name == b.name && a.has_index == b.has_index && a.is_append == b.is_append &&
         a.is_array == b.is_array && equal(a.index, b.index) && equal(a.value, b.value) &&
         equal(a.elements, b.elements);
}

bool equal(const Word& a, const Word& b) {
  if (!a.array != !b.array) return false;
  return equal(a.parts, b.parts) && (!a.array || equal(*a.array, *b.array));
}

bool equal(const Redirect& a, const Redirect& b) {
  if (a.fd != b.fd || a.variable != b.variable || a.op != b.op || !a.here_doc != !b.here_doc)
    return false;
  if (!a.here_doc) return equal(a.target, b.target);
  return a.here_doc->is_quoted == b.here_doc->is_quoted &&
         a.here_doc->delimiter == b.here_doc->delimiter &&
         equal(a.here_doc->parts, b.here_doc->parts);
}

bool equal(const Test& a, const Test& b) {
  return a.kind == b.kind && a.op == b.op && equal(a.words, b.words) && equal(a.inner, b.inner);
}

bool equal(const CaseItem& a, const CaseItem& b) {
  return a.end == b.end && equal(a.patterns, b.patterns) && equal(a.body, b.body);
}

bool equal(const Node& a, const Node& b) {
  return a.kind == b.kind && a.is_negated == b.is_negated && a.is_timed == b.is_timed &&
         a.is_background == b.is_background && a.has_in == b.has_in &&
         a.pipes_stderr == b.pipes_stderr && a.name == b.name && a.joins == b.joins &&
         equal(a.assignments, b.assignments) && equal(a.words, b.words) &&
         equal(a.redirects, b.redirects) && equal(a.children, b.children) &&
         equal(a.bodies, b.bodies) && equal(a.items, b.items) &&
         equal(a.arithmetic, b.arithmetic) && !a.test == !b.test &&
         (!a.test || equal(*a.test, *b.test));
}

}  // namespace

bool equal(const Script& a, const Script& b) {
  return equal(a.body, b.body);
}

}  // namespace wick::shell
