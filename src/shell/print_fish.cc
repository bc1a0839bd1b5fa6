// Trees of fish to text, one command a line.
#include "shell/print_fish.h"

#include <string>

#include "shell/parse.h"

namespace wick::shell {

namespace {

class FishPrinter {
 public:
  void list(const List<Node>& nodes) {
    for (const Node& item : nodes) {
      node(item);
      if (item.is_background) out_ += " &";
      out_ += '\n';
    }
  }

  void node(const Node& node);

  void word(const Word& word) { parts(word.parts, false); }

  std::string take() { return std::move(out_); }

 private:
  void parts(const List<WordPart>& parts, bool is_quoted) {
    for (const WordPart& p : parts)
      part(p, is_quoted);
  }

  void part(const WordPart& part, bool is_quoted);

  void words(const List<Word>& words) {
    for (const Word& w : words) {
      out_ += ' ';
      word(w);
    }
  }

  void block(const Node& node);
  void simple(const Node& node);
  void redirects(const Node& node);

  std::string out_;
};

void FishPrinter::part(const WordPart& part, bool is_quoted) {
  switch (part.kind) {
    case PartKind::kEscape:
      out_ += "\\" + part.text;
      return;
    case PartKind::kSingle:
      out_ += '\'';
      for (const char c : part.text) {
        if (c == '\'' || c == '\\') out_ += '\\';
        out_ += c;
      }
      out_ += '\'';
      return;
    case PartKind::kDouble:
      out_ += '"';
      parts(part.parts, true);
      out_ += '"';
      return;
    case PartKind::kParameter:
      out_ += "$" + part.parameter->name;
      if (part.parameter->has_index) {
        out_ += '[';
        parts(part.parameter->index, is_quoted);
        out_ += ']';
      }
      return;
    case PartKind::kCommandSub:
      out_ += part.text;
      out_ += '\n';
      list(part.body);
      out_ += ')';
      if (!part.parts.empty()) {
        out_ += '[';
        parts(part.parts, is_quoted);
        out_ += ']';
      }
      return;
    default:
      out_ += part.text;
  }
}

void FishPrinter::redirects(const Node& node) {
  static constexpr const char* kOps[] = {"<",  ">", ">>", "", ">",  "<&",
                                         ">&", "",  "",   "", "&>", "&>>"};
  for (const Redirect& r : node.redirects) {
    out_ += ' ';
    if (r.fd >= 0) out_ += std::to_string(r.fd);
    out_ += kOps[static_cast<int>(r.op)];
    out_ += ' ';  // `>?` is another operator
    word(r.target);
  }
}

void FishPrinter::simple(const Node& node) {
  for (const Assignment& a : node.assignments) {
    out_ += a.name + "=";
    word(a.value);
    out_ += ' ';
  }
  for (std::size_t i = 0; i < node.words.size(); ++i) {
    if (i > 0) out_ += ' ';
    word(node.words[i]);
  }
}

void FishPrinter::block(const Node& node) {
  switch (node.kind) {
    case NodeKind::kGroup:
      out_ += "begin\n";
      list(node.bodies.front());
      break;
    case NodeKind::kIf: {
      std::size_t i = 0;
      for (; i + 1 < node.bodies.size(); i += 2) {
        out_ += i == 0 ? "if " : "else if ";
        list(node.bodies[i]);
        list(node.bodies[i + 1]);
      }
      if (i < node.bodies.size()) {
        out_ += "else\n";
        list(node.bodies[i]);
      }
      break;
    }
    case NodeKind::kFor:
      out_ += "for " + node.name + " in";
      words(node.words);
      out_ += '\n';
      list(node.bodies.front());
      break;
    case NodeKind::kWhile:
      out_ += "while ";
      list(node.bodies[0]);
      list(node.bodies[1]);
      break;
    case NodeKind::kCase:
      out_ += "switch";
      words(node.words);
      out_ += '\n';
      for (const CaseItem& item : node.items) {
        out_ += "case";
        words(item.patterns);
        out_ += '\n';
        list(item.body);
      }
      break;
    default:  // kFunction
      out_ += "function " + node.name;
      words(node.words);
      out_ += '\n';
      list(node.children.front().bodies.front());
  }
  out_ += "end";
}

void FishPrinter::node(const Node& node) {
  switch (node.kind) {
    case NodeKind::kSimple:
      simple(node);
      break;
    case NodeKind::kAndOr:
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) out_ += node.joins[i - 1] ? " && " : " || ";
        this->node(node.children[i]);
      }
      return;
    case NodeKind::kPipeline:
      if (node.is_timed) out_ += "time ";
      if (node.is_negated) out_ += "! ";
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) out_ += node.children[i - 1].pipes_stderr ? " &| " : " | ";
        this->node(node.children[i]);
      }
      return;
    default:
      block(node);
  }
  redirects(node);
}

}  // namespace

std::string print_fish(const List<Node>& nodes) {
  FishPrinter printer;
  printer.list(nodes);
  return printer.take();
}

std::string print_fish(const Node& node) {
  FishPrinter printer;
  printer.node(node);
  return printer.take();
}

std::string print_fish(const Word& word) {
  FishPrinter printer;
  printer.word(word);
  return printer.take();
}

}  // namespace wick::shell
