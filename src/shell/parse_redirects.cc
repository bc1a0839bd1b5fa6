// Redirections and here-documents. A here-document's text follows the line that its operator stands
// on, so it waits in a queue until the newline; texts of two on one line follow in order.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

bool Parser::try_redirect(List<Redirect>& out, bool& is_one) {
  is_one = false;
  take(0);
  const char first = look(0);
  const bool may_be =
      is_digit(first) || first == '{' || first == '&' || first == '<' || first == '>';
  if (!may_be || zsh_number_range() > 0) return true;
  const int begin = pos_;
  Redirect found;
  int size = 0;
  if (is_digit(first)) {
    while (is_digit(look(size)) && size < 6)
      ++size;
  } else if (first == '{' && is_name_start(look(1)) && is_bash_like()) {
    size = 1;
    found.variable = name_at(size);
    if (look(size) != '}') return true;
    ++size;
  }
  const char c = look(size);
  const char next = look(size + 1);
  const bool is_both = size == 0 && c == '&' && next == '>' && is_bash_like();
  if (!is_both && c != '<' && c != '>') return true;
  if (size == 0 && next == '(' && is_bash_like()) return true;  // <(…) is a word
  for (int i = 0; i < size && found.variable.empty(); ++i)
    found.fd = std::max(found.fd, 0) * 10 + (look(i) - '0');
  take(size);
  if (!count() || !redirect_op(found)) return false;
  blanks();
  const bool is_document = found.op == RedirectOp::kHereDoc || found.op == RedirectOp::kHereDocTabs;
  if (is_document ? !here_doc_start(found) : !word(found.target)) return false;
  found.span = span_from(begin);
  out.push_back(std::move(found));
  is_one = true;
  return true;
}

bool Parser::redirect_op(Redirect& out) {
  struct Spelling {
    std::string_view text;
    RedirectOp op;
    bool is_bash;
  };

  static constexpr Spelling kSpellings[] = {// longest first
                                            {"&>>", RedirectOp::kBothAppend, true},
                                            {"<<<", RedirectOp::kHereString, true},
                                            {"<<-", RedirectOp::kHereDocTabs, false},
                                            {"&>", RedirectOp::kBoth, true},
                                            {"<<", RedirectOp::kHereDoc, false},
                                            {"<&", RedirectOp::kDupIn, false},
                                            {"<>", RedirectOp::kReadWrite, false},
                                            {">>", RedirectOp::kAppend, false},
                                            {">&", RedirectOp::kDupOut, false},
                                            {">|", RedirectOp::kClobber, false},
                                            {"<", RedirectOp::kIn, false},
                                            {">", RedirectOp::kOut, false}};
  for (const Spelling& spelling : kSpellings) {
    bool is_here = is_bash_like() || !spelling.is_bash;
    for (std::size_t i = 0; i < spelling.text.size() && is_here; ++i)
      is_here = look(static_cast<int>(i)) == spelling.text[i];
    if (!is_here) continue;
    take(static_cast<int>(spelling.text.size()));
    out.op = spelling.op;
    if (is_zsh()) zsh_redirect_suffix(out.op);
    return true;
  }
  return unexpected();
}

// >>&, and ! or | behind any operator that writes.
void Parser::zsh_redirect_suffix(RedirectOp& op) {
  if (op == RedirectOp::kAppend && cur() == '&') {
    take();
    op = RedirectOp::kBothAppend;
  }
  const bool writes = op == RedirectOp::kOut || op == RedirectOp::kAppend ||
                      op == RedirectOp::kDupOut || op == RedirectOp::kBoth ||
                      op == RedirectOp::kBothAppend;
  if (!writes || (cur() != '!' && cur() != '|')) return;
  take();
  if (op == RedirectOp::kOut) op = RedirectOp::kClobber;
  if (op == RedirectOp::kDupOut) op = RedirectOp::kBoth;
}

bool Parser::here_doc_start(Redirect& out) {
  const int begin = pos_;
  auto doc = std::make_unique<HereDoc>();
  doc->strips_tabs = out.op == RedirectOp::kHereDocTabs;
  while (!is_meta(cur())) {
    const char c = cur();
    take(0);
    if (c == '\\') {
      doc->is_quoted = true;
      ++pos_;
      if (static_cast<std::size_t>(pos_) >= text_.size()) break;
      doc->delimiter += text_[static_cast<std::size_t>(pos_++)];
      continue;
    }
    if (c != '\'' && c != '"') {
      if (c == '$' || c == '`') return fail(pos_, "a here-document's delimiter with an expansion");
      doc->delimiter += c;
      take();
      continue;
    }
    doc->is_quoted = true;
    const std::size_t close = text_.find(c, static_cast<std::size_t>(pos_) + 1);
    if (close == std::string_view::npos) return fail(pos_, "a quote is not closed");
    const auto from = static_cast<std::size_t>(pos_) + 1;
    const std::string_view inside = text_.substr(from, close - from);
    if (c == '"' && inside.find_first_of("\\$`") != std::string_view::npos)
      return fail(pos_, "a here-document's delimiter with an expansion");
    doc->delimiter += inside;
    pos_ = static_cast<int>(close) + 1;
  }
  if (pos_ == begin) return unexpected();
  if (doc->delimiter.find('\n') != std::string::npos)
    return fail(begin, "a here-document's delimiter of several lines");
  out.target.span = span_from(begin);
  out.here_doc = std::move(doc);
  pending_.push_back(out.here_doc.get());
  return true;
}

bool Parser::read_here_docs() {
  const std::vector<HereDoc*> docs = std::exchange(pending_, {});
  for (HereDoc* doc : docs) {
    if (!read_here_doc(*doc)) return false;
  }
  return true;
}

bool Parser::read_here_doc(HereDoc& doc) {
  const int begin = pos_;
  const auto size = static_cast<int>(text_.size());
  const auto at = [this](int i) { return text_[static_cast<std::size_t>(i)]; };
  std::string body;
  std::vector<int> map;
  bool is_continued = false;  // the line before ended in a backslash
  while (pos_ < size) {
    if (doc.strips_tabs && !is_continued) {
      while (pos_ < size && at(pos_) == '\t')
        ++pos_;
    }
    std::string line;
    std::vector<int> places;
    while (pos_ < size && at(pos_) != '\n') {
      places.push_back(span_from(pos_).begin);
      line += at(pos_++);
    }
    const bool has_newline = pos_ < size;
    if (has_newline) {
      places.push_back(span_from(pos_).begin);
      ++pos_;
    }
    if (line == doc.delimiter && !is_continued) break;
    std::size_t slashes = 0;
    while (slashes < line.size() && line[line.size() - 1 - slashes] == '\\')
      ++slashes;
    is_continued = !doc.is_quoted && slashes % 2 == 1;
    body += line;
    if (has_newline) body += '\n';
    map.insert(map.end(), places.begin(), places.end());
    if (body.size() > kMaxSource) return fail_limit("has a here-document beyond 64 kB");
  }
  doc.span = span_from(begin);
  if (body.empty()) return true;
  if (is_continued) return fail(pos_, "the text ends in a here-document");
  if (body.back() != '\n') {  // ended by the end of the text
    body += '\n';
    map.push_back(doc.span.end);
  }
  map.push_back(doc.span.end);
  if (doc.is_quoted) {
    doc.parts.emplace_back(PartKind::kSingle, doc.span, body);
    doc.text = std::move(body);
    return count();
  }
  const Nest nest(*this);
  if (!nest.ok) return false;
  state_.retried += body.size();
  if (state_.retried > 4 * kMaxSource) return fail_limit("has too much text in here-documents");
  doc.text = std::move(body);
  Parser parser(doc.text, &map, dialect_, Mode::kScript, state_);
  return parser.parse_text(doc.parts, In::kHereDoc);
}

}  // namespace wick::shell
