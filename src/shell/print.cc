// Syntax tree to text, one command a line. Texts of here-documents follow the line that their
// operator stands on, so they wait for the next newline, as in the parser.
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "shell/parser.h"
#include "shell/print_fish.h"

namespace wick::shell {

namespace {

class Printer {
 public:
  explicit Printer(Dialect dialect) : dialect_(dialect) {}

  void list(const List<Node>& nodes);
  void node(const Node& node);
  void word(const Word& word);
  void newline();

  std::string take() {
    if (!pending_.empty()) newline();
    return std::move(out_);
  }

 private:
  void parts(const List<WordPart>& parts);
  void part(const WordPart& part);
  void parameter(const Parameter& p);
  void simple(const Node& node);
  void assignment(const Assignment& a);
  void redirects(const Node& node);
  void redirect(const Redirect& r);
  void compound(const Node& node);
  void inner(const List<Node>& nodes);
  void if_command(const Node& node);
  void loop_head(const Node& node);
  void case_command(const Node& node);
  void pipeline(const Node& node);
  void test(const Test& test);
  void close();

  Dialect dialect_;
  std::string out_;
  std::vector<const HereDoc*> pending_;
};

void Printer::newline() {
  out_ += '\n';
  for (const HereDoc* doc : std::exchange(pending_, {}))
    out_ += doc->text + doc->delimiter + "\n";
}

// In a typed line `!)` is history expansion, and `! )` is none.
void Printer::close() {
  if (out_.back() == '!') out_ += ' ';
  out_ += ')';
}

void Printer::list(const List<Node>& nodes) {
  for (const Node& item : nodes) {
    node(item);
    if (item.is_background) out_ += " &";
    newline();
  }
}

void Printer::inner(const List<Node>& nodes) {
  newline();
  list(nodes);
}

void Printer::node(const Node& node) {
  switch (node.kind) {
    case NodeKind::kSimple:
      simple(node);
      return;
    case NodeKind::kPipeline:
      pipeline(node);
      return;
    case NodeKind::kAndOr:
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) out_ += node.joins[i - 1] ? " && " : " || ";
        this->node(node.children[i]);
      }
      return;
    case NodeKind::kFunction:
      if (node.has_in) out_ += "function ";
      out_ += node.name + " () ";
      this->node(node.children.front());
      return;
    case NodeKind::kAnonymous:
      out_ += "() ";
      this->node(node.children.front());
      for (const Word& w : node.words) {
        out_ += ' ';
        word(w);
      }
      redirects(node);
      return;
    case NodeKind::kCoproc:
      out_ += "coproc ";
      if (!node.name.empty()) out_ += node.name + " ";
      this->node(node.children.front());
      return;
    default:
      compound(node);
      redirects(node);
  }
}

void Printer::redirects(const Node& node) {
  for (const Redirect& r : node.redirects) {
    out_ += ' ';
    redirect(r);
  }
}

void Printer::pipeline(const Node& node) {
  if (node.is_timed) out_ += "time ";
  if (node.is_negated) out_ += "! ";
  const std::size_t begin = out_.size();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) out_ += node.children[i - 1].pipes_stderr ? " |& " : " | ";
    this->node(node.children[i]);
  }
  // A command of the name -p: `time -p` alone is an option.
  const bool has_option = node.is_timed && !node.is_negated && dialect_ != Dialect::kZsh;
  if (has_option && out_.compare(begin, 2, "-p") == 0 &&
      (begin + 2 == out_.size() || is_meta(out_[begin + 2])))
    out_.insert(begin, "-p ");
}

void Printer::simple(const Node& node) {
  const std::size_t begin = out_.size();
  const auto space = [&] {
    if (out_.size() > begin) out_ += ' ';
  };
  for (const Assignment& a : node.assignments) {
    space();
    assignment(a);
  }
  // Behind a redirection a reserved word is a plain one: `>f }`.
  std::size_t n_before = 0;
  if (node.assignments.empty() && !node.words.empty()) {
    const int first = node.words.front().span.begin;
    while (n_before < node.redirects.size() && node.redirects[n_before].span.begin < first)
      ++n_before;
  }
  const auto some_redirects = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      space();
      redirect(node.redirects[i]);
    }
  };
  some_redirects(0, n_before);
  for (const Word& w : node.words) {
    space();
    word(w);
  }
  some_redirects(n_before, node.redirects.size());
}

void Printer::assignment(const Assignment& a) {
  out_ += a.name;
  if (a.has_index) {
    out_ += '[';
    parts(a.index);
    out_ += ']';
  }
  out_ += a.is_append ? "+=" : "=";
  if (!a.is_array) {
    word(a.value);
    return;
  }
  out_ += '(';
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    if (i > 0) out_ += ' ';
    if (a.elements[i].has_index) {
      out_ += '[';
      parts(a.elements[i].index);
      out_ += "]=";
    }
    word(a.elements[i].value);
  }
  close();
}

void Printer::redirect(const Redirect& r) {
  static constexpr const char* kOps[] = {"<",  ">",  ">>",  "<>",  ">|", "<&",
                                         ">&", "<<", "<<-", "<<<", "&>", "&>>"};
  if (!r.variable.empty()) out_ += "{" + r.variable + "}";
  if (r.fd >= 0) out_ += std::to_string(r.fd);
  // zsh's `2>>&f` and `2>&|f`: in `2&>f` the number would be a word.
  const bool has_fd = r.fd >= 0 || !r.variable.empty();
  if (has_fd && r.op == RedirectOp::kBothAppend)
    out_ += ">>&";
  else if (has_fd && r.op == RedirectOp::kBoth)
    out_ += ">&|";
  else
    out_ += kOps[static_cast<int>(r.op)];
  out_ += ' ';  // with what follows, the operator could be another one: `<<(…)`, `<<-`, `>!`
  if (!r.here_doc) return word(r.target);
  if (!r.here_doc->is_quoted) {
    out_ += r.here_doc->delimiter;
  } else {
    for (const char c : r.here_doc->delimiter)
      out_ += c == '\'' ? std::string("\\'") : cat("'", std::string_view(&c, 1), "'");
    if (r.here_doc->delimiter.empty()) out_ += "''";
  }
  pending_.push_back(r.here_doc.get());
}

void Printer::word(const Word& word) {
  if (word.array) return assignment(*word.array);
  parts(word.parts);
}

void Printer::parts(const List<WordPart>& parts) {
  for (const WordPart& p : parts)
    part(p);
}

void Printer::part(const WordPart& part) {
  switch (part.kind) {
    case PartKind::kLiteral:
      out_ += part.text;
      return;
    case PartKind::kEscape:
      out_ += "\\" + part.text;
      return;
    case PartKind::kSingle:
      out_ += "'" + part.text + "'";
      return;
    case PartKind::kAnsiC:
      out_ += "$'" + part.text + "'";
      return;
    case PartKind::kDouble:
    case PartKind::kLocale:
      out_ += part.kind == PartKind::kDouble ? "\"" : "$\"";
      parts(part.parts);
      out_ += '"';
      return;
    case PartKind::kParameter:
      return parameter(*part.parameter);
    case PartKind::kArithmetic:
      out_ += part.text.empty() ? "$((" : "$[";
      parts(part.parts);
      out_ += part.text.empty() ? "))" : "]";
      return;
    case PartKind::kExtGlob:
      out_ += part.text + "(";
      parts(part.parts);
      out_ += ')';
      return;
    case PartKind::kCommandSub:
    case PartKind::kProcessSub: {
      if (part.text.starts_with('`')) {
        out_ += part.text;
        return;
      }
      // The here-documents of the line around it wait until that line ends.
      std::vector<const HereDoc*> outer = std::exchange(pending_, {});
      out_ += (part.kind == PartKind::kCommandSub ? "$" : part.text) + "(";
      const std::size_t begin = out_.size();
      for (std::size_t i = 0; i < part.body.size(); ++i) {
        node(part.body[i]);
        if (part.body[i].is_background) out_ += " &";
        if (!pending_.empty() || i + 1 < part.body.size()) newline();
      }
      if (out_[begin - 1] == '(' && out_.size() > begin && out_[begin] == '(')
        out_.insert(begin, 1, ' ');  // $(( is arithmetic
      close();
      pending_ = std::move(outer);
      return;
    }
  }
}

void Printer::parameter(const Parameter& p) {
  out_ += p.has_braces ? "${" : "$";
  if (!p.flags.empty()) out_ += "(" + p.flags + ")";
  out_ += p.marks;
  if (p.has_length) out_ += '#';
  if (p.is_indirect) out_ += '!';
  out_ += p.name;
  parts(p.nested);
  if (p.has_index) {
    out_ += '[';
    parts(p.index);
    out_ += ']';
  }
  out_ += p.op;
  parts(p.argument);
  if (p.has_pieces) {
    out_ += p.op == ":" ? ':' : '/';
    parts(p.second);
  }
  if (p.has_braces) out_ += '}';
}

void Printer::compound(const Node& node) {
  switch (node.kind) {
    case NodeKind::kSubshell:
    case NodeKind::kGroup:
      out_ += node.kind == NodeKind::kGroup ? "{" : "(";
      inner(node.bodies.front());
      out_ += node.kind == NodeKind::kGroup ? "}" : ")";
      return;
    case NodeKind::kIf:
      return if_command(node);
    case NodeKind::kFor:
    case NodeKind::kSelect:
    case NodeKind::kArithFor:
      return loop_head(node);
    case NodeKind::kWhile:
    case NodeKind::kUntil:
      out_ += node.kind == NodeKind::kWhile ? "while" : "until";
      inner(node.bodies[0]);
      out_ += "do";
      inner(node.bodies[1]);
      out_ += "done";
      return;
    case NodeKind::kCase:
      return case_command(node);
    case NodeKind::kRepeat:
      out_ += "repeat ";
      word(node.words.front());
      newline();
      out_ += "do";
      inner(node.bodies.front());
      out_ += "done";
      return;
    case NodeKind::kAlways:
      out_ += "{";
      inner(node.bodies[0]);
      out_ += "} always {";
      inner(node.bodies[1]);
      out_ += "}";
      return;
    case NodeKind::kDoubleTest:
      out_ += "[[ ";
      test(*node.test);
      out_ += " ]]";
      return;
    case NodeKind::kArithmetic:
      out_ += "((";
      parts(node.arithmetic.front());
      out_ += "))";
      return;
    default:
      return;
  }
}

void Printer::if_command(const Node& node) {
  std::size_t i = 0;
  for (; i + 1 < node.bodies.size(); i += 2) {
    out_ += i == 0 ? "if" : "elif";
    inner(node.bodies[i]);
    out_ += "then";
    inner(node.bodies[i + 1]);
  }
  if (i < node.bodies.size()) {
    out_ += "else";
    inner(node.bodies[i]);
  }
  out_ += "fi";
}

void Printer::loop_head(const Node& node) {
  if (node.kind == NodeKind::kArithFor) {
    out_ += "for ((";
    for (std::size_t i = 0; i < node.arithmetic.size(); ++i) {
      if (i > 0) out_ += ';';
      parts(node.arithmetic[i]);
    }
    out_ += "))";
  } else {
    out_ += node.kind == NodeKind::kFor ? "for " : "select ";
    out_ += node.name;
    if (node.has_in) out_ += " in";
    for (const Word& w : node.words) {
      out_ += ' ';
      word(w);
    }
  }
  newline();
  out_ += "do";
  inner(node.bodies.front());
  out_ += "done";
}

void Printer::case_command(const Node& node) {
  out_ += "case ";
  word(node.words.front());
  out_ += " in";
  newline();
  for (const CaseItem& item : node.items) {
    out_ += '(';
    for (std::size_t i = 0; i < item.patterns.size(); ++i) {
      if (i > 0) out_ += " | ";
      word(item.patterns[i]);
    }
    close();
    inner(item.body);
    out_ += item.end;
    newline();
  }
  out_ += "esac";
}

void Printer::test(const Test& test) {
  switch (test.kind) {
    case TestKind::kWord:
      word(test.words[0]);
      return;
    case TestKind::kUnary:
      out_ += test.op + " ";
      word(test.words[0]);
      return;
    case TestKind::kBinary:
      word(test.words[0]);
      out_ += " " + test.op + " ";
      word(test.words[1]);
      return;
    case TestKind::kNot:
      out_ += "! ";
      this->test(test.inner[0]);
      return;
    case TestKind::kAnd:
    case TestKind::kOr:
      this->test(test.inner[0]);
      out_ += test.kind == TestKind::kAnd ? " && " : " || ";
      this->test(test.inner[1]);
      return;
    case TestKind::kGroup:
      out_ += "( ";
      this->test(test.inner[0]);
      out_ += " )";
      return;
  }
}

}  // namespace

std::string print(const Script& script) {
  if (script.dialect == Dialect::kFish) return print_fish(script.body);
  Printer printer(script.dialect);
  printer.list(script.body);
  std::string text = printer.take();
  if (text.starts_with('^')) text.insert(text.begin(), ' ');  // `^old^new` of a typed line
  return text;
}

std::string print(const Node& node, Dialect dialect) {
  if (dialect == Dialect::kFish) return print_fish(node);
  Printer printer(dialect);
  printer.node(node);
  return printer.take();
}

std::string print(const Word& word, Dialect dialect) {
  if (dialect == Dialect::kFish) return print_fish(word);
  Printer printer(dialect);
  printer.word(word);
  return printer.take();
}

}  // namespace wick::shell
