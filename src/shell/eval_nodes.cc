// Lists, pipelines, branches and loops. Both ways of a branch are walked; states are joined.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

// Output of two commands, one after the other.
void follow(Stream& out, Stream next) {
  if (out.is_none) {
    out = std::move(next);
    return;
  }
  if (next.is_none) return;
  Stream both = out.is_known && next.is_known ? Stream::of(out.text + next.text) : Stream();
  both.is_fetched = out.is_fetched || next.is_fetched;
  both.is_decoded = out.is_decoded || next.is_decoded;
  both.is_secret = out.is_secret || next.is_secret;
  both.keys = std::max(out.keys, next.keys);
  out = std::move(both);
}

Stream followed(Stream a, Stream b) {
  follow(a, std::move(b));
  return a;
}

// Output of one of two commands.
Stream either(const Stream& a, const Stream& b) {
  if (a.is_known && b.is_known && a.text == b.text) return followed(a, Stream::none());
  Stream out;
  out.is_fetched = a.is_fetched || b.is_fetched;
  out.is_decoded = a.is_decoded || b.is_decoded;
  out.is_secret = a.is_secret || b.is_secret;
  out.keys = std::max(a.keys, b.keys);
  out.is_none = a.is_none && b.is_none;
  return out;
}

// Standard input of commands that stand behind one another: one that reads takes a part of it.
class Input {
 public:
  // `n_known` counts those whose text is known: only then what is taken counts.
  Input(const Stream& in, int& n_known)
      : now_(&in), n_known_(n_known), is_known_(in.is_known && !in.text.empty()) {
    if (is_known_) ++n_known_;
  }

  ~Input() {
    if (is_known_) --n_known_;
  }

  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const Stream& now() const noexcept { return *now_; }

  void pass(Taken taken) {
    if (!is_known_ || taken == Taken::kNothing || !now_->is_known || now_->text.empty()) return;
    const bool is_line = now_->text.find('\n') + 1 == now_->text.size();
    rest_ = is_line && taken == Taken::kLine ? Stream::of("") : without_text(*now_);
    now_ = &*rest_;
  }

 private:
  const Stream* now_;
  int& n_known_;
  const bool is_known_;
  std::optional<Stream> rest_ = {};
};

// Counts what is taken from nothing on; at its end, what was taken before counts too.
class TakenBefore {
 public:
  explicit TakenBefore(Taken& taken) : taken_(taken) {}

  ~TakenBefore() { taken_ = std::max(taken_, before_); }

  TakenBefore(const TakenBefore&) = delete;
  TakenBefore& operator=(const TakenBefore&) = delete;

 private:
  Taken& taken_;
  const Taken before_ = std::exchange(taken_, Taken::kNothing);
};

std::vector<std::string> united(std::vector<std::string> a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return {};
  for (const std::string& path : b) {
    if (std::find(a.begin(), a.end(), path) == a.end()) a.push_back(path);
  }
  return a.size() > kMaxSet ? std::vector<std::string>{} : a;
}

bool have_equal_args(const State& a, const State& b) {
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](const Arg& x, const Arg& y) { return x.value == y.value; });
}

}  // namespace

// What a copy of the state takes, counted in variables.
std::size_t Evaluator::weight_of(const State& s) {
  std::size_t out = s.variables.size() + s.args.size() + s.locals.size();
  for (const auto& [name, variable] : s.variables)
    out += variable.elements.size();
  return out + (s.functions.size() + s.aliases.size()) / 2;
}

State Evaluator::copy_of(const State& s) {
  joined_ += weight_of(s);
  return s;
}

State Evaluator::joined(const State& a, const State& b) {
  joined_ += weight_of(a) + weight_of(b);
  State out = a;
  for (auto& [name, variable] : out.variables) {
    const auto other = b.variables.find(name);
    if (other == b.variables.end()) {
      variable.value = join(variable.value, Value::unknown());
      variable.has_elements = false;
      variable.is_map = false;
    } else if (!(variable == other->second)) {
      variable.value = join(variable.value, other->second.value);
      variable.has_elements = false;
      variable.is_array = variable.is_array || other->second.is_array;
      variable.is_map = variable.is_map && other->second.is_map;
    }
  }
  for (const auto& [name, variable] : b.variables) {
    if (a.variables.contains(name)) continue;
    Variable& mine = out.variables[name];
    mine = variable;
    mine.value = join(variable.value, Value::unknown());
    mine.has_elements = false;
    mine.is_map = false;
  }
  for (auto& [name, local] : out.locals)
    local.is_sure = local.is_sure && b.locals.contains(name);
  for (const auto& [name, local] : b.locals) {
    if (!a.locals.contains(name)) out.locals[name] = {.before = local.before, .is_sure = false};
  }
  out.integers.insert(b.integers.begin(), b.integers.end());
  std::erase_if(out.exported, [&](const std::string& name) { return !b.exported.contains(name); });
  out.fixed.insert(b.fixed.begin(), b.fixed.end());
  out.scoped.insert(b.scoped.begin(), b.scoped.end());
  bool are_same = true;  // a name has one meaning
  for (const auto& [name, body] : b.functions)
    are_same = out.functions.insert({name, body}).first->second == body && are_same;
  for (const auto& [name, text] : b.aliases)
    are_same = out.aliases.insert({name, text}).first->second == text && are_same;
  out.cwd = united(a.cwd, b.cwd);
  out.is_cwd_lost =
      a.is_cwd_lost || b.is_cwd_lost || (out.cwd.empty() && !(a.cwd.empty() && b.cwd.empty()));
  out.before.clear();
  out.is_path_changed = a.is_path_changed || b.is_path_changed;
  out.has_no_glob = a.has_no_glob && b.has_no_glob;
  out.has_hidden_alias = a.has_hidden_alias || b.has_hidden_alias || !are_same;
  if (a.args.size() != b.args.size()) {
    out.has_args = false;
    out.args.clear();
  } else {
    for (std::size_t i = 0; i < out.args.size(); ++i)
      out.args[i].value = join(a.args[i].value, b.args[i].value);
  }
  if (!traps_.empty()) run_traps_of_branches(a, b);
  return out;
}

// What becomes one state had different functions, aliases or arguments: traps may see both.
void Evaluator::run_traps_of_branches(const State& a, const State& b) {
  if (a.functions == b.functions && a.aliases == b.aliases && have_equal_args(a, b)) return;
  run_traps_now(0, a);
  run_traps_now(0, b);
}

// Behind anything but `&&`, the last cd may have failed.
void Evaluator::settle_cwd(State& s) {
  if (!s.before.empty()) s.cwd = united(s.cwd, s.before);
  s.before.clear();
}

// A trap that is set here prints into the same output.
Stream Evaluator::list(const List<Node>& nodes, State& s, const Stream& in) {
  const int n_traps = n_traps_;
  const TakenBefore before(taken_);
  Stream out = Stream::none();
  Input input(in, n_known_inputs_);
  for (const Node& item : nodes) {
    if (item.is_background) {
      add(EffectKind::kProcess, Scope::kNone, "", item.span, "leaves a process behind");
      State copy = copy_of(s);
      const std::size_t first = traps_.size();
      ++concurrent_;
      follow(out, node(item, copy, Stream::none()));
      run_traps(first, copy);
      --concurrent_;
      continue;
    }
    follow(out, node(item, s, input.now()));
    input.pass(taken_);
    settle_cwd(s);
  }
  if (n_traps_ != n_traps) out = without_text(out);
  return out;
}

Stream Evaluator::node(const Node& node, State& s, const Stream& in) {
  if (!step(node.span)) return Stream::unknown();
  const bool is_compound = node.kind != NodeKind::kSimple && node.kind != NodeKind::kFunction;
  const TakenBefore before(taken_);
  if (is_compound && !node.redirects.empty()) return redirected(node, s, in);
  return inner_node(node, s, in);
}

Stream Evaluator::redirected(const Node& node, State& s, const Stream& in) {
  const Stream from = redirects_in(node, s, in);
  ++n_readers_;
  Stream out = inner_node(node, s, from);
  --n_readers_;
  redirects_out(node, s, out);
  return out;
}

Stream Evaluator::inner_node(const Node& node, State& s, const Stream& in) {
  switch (node.kind) {
    case NodeKind::kSimple:
      return simple(node, s, in);
    case NodeKind::kPipeline:
      return pipeline(node, s, in);
    case NodeKind::kAndOr:
      return and_or(node, s, in);
    case NodeKind::kSubshell: {
      State copy = copy_of(s);
      const std::size_t n_traps = traps_.size();
      Stream out = list(node.bodies.front(), copy, in);
      run_traps(n_traps, copy);
      return out;
    }
    case NodeKind::kGroup:
      return list(node.bodies.front(), s, in);
    case NodeKind::kIf:
      return if_node(node, s, in);
    case NodeKind::kFor:
    case NodeKind::kSelect:
    case NodeKind::kArithFor:
    case NodeKind::kRepeat:
    case NodeKind::kWhile:
    case NodeKind::kUntil:
      return loop(node, s, in);
    case NodeKind::kCase:
      return case_node(node, s, in);
    case NodeKind::kFunction:
      define_functions(node, s);
      return Stream::none();
    case NodeKind::kAnonymous: {
      std::vector<Arg> argv = expand(node.words, s);
      argv.insert(argv.begin(), {.value = Value::exact("(anonymous)"), .span = node.span});
      return call_function(node.children.front(), "(anonymous)", argv, s, in);
    }
    case NodeKind::kAlways: {
      Stream first = list(node.bodies[0], s, in);
      return followed(std::move(first), list(node.bodies[1], s, in));
    }
    case NodeKind::kDoubleTest:
      test(*node.test, s);
      return Stream::none();
    case NodeKind::kArithmetic:
      arithmetic(node.arithmetic.front(), s, node.span);
      return Stream::none();
    case NodeKind::kCoproc: {
      add(EffectKind::kProcess, Scope::kNone, "", node.span, "leaves a process behind");
      State copy = copy_of(s);
      const std::size_t n_traps = traps_.size();
      ++concurrent_;
      this->node(node.children.front(), copy, Stream::unknown());
      run_traps(n_traps, copy);
      --concurrent_;
      const std::string name = node.name.empty() ? "COPROC" : node.name;
      set_variable(name, {.value = Value::number(), .is_array = true}, node.span, s);
      set_variable(name + "_PID", {.value = Value::number()}, node.span, s);
      return Stream::none();
    }
  }
  return Stream::unknown();
}

// Functions that a shell calls by itself are judged where they are defined.
void Evaluator::define_functions(const Node& node, State& s) {
  static constexpr std::string_view kHooks[] = {"precmd",
                                                "preexec",
                                                "chpwd",
                                                "periodic",
                                                "zshaddhistory",
                                                "zshexit",
                                                "prompt",
                                                "command_not_found_handler",
                                                "command_not_found_handle",
                                                "fish_prompt",
                                                "fish_greeting",
                                                "fish_right_prompt",
                                                "fish_command_not_found",
                                                "zsh_directory_name"};
  std::string_view names = node.name;
  while (!names.empty()) {
    const std::size_t size = std::min(names.find(' '), names.size());
    const std::string name(names.substr(0, size));
    names.remove_prefix(std::min(size + 1, names.size()));
    if (s.functions.contains(name)) run_traps_now(0, s);
    s.functions[name] = &node.children.front();
    bool is_hook = std::find(std::begin(kHooks), std::end(kHooks), name) != std::end(kHooks);
    std::vector<std::string>* arguments = nullptr;
    for (const Arg& arg : expand(node.words, s)) {  // fish
      const std::string& text = arg.text();
      const bool is_option = text.starts_with('-') || !arg.is_exact();
      if (is_option) arguments = nullptr;
      if (text == "-a" || text == "--argument-names" || text == "--argument") {
        arguments = &argument_names_[&node.children.front()];
      } else if (is_option && text != "-d" && text != "--description" && text != "-w" &&
                 text != "--wraps" && text != "-S") {
        is_hook = true;  // --on-event and the like
      } else if (arguments != nullptr) {
        arguments->push_back(text);
      }
    }
    add(EffectKind::kShellHooks, Scope::kNone, name, node.span, cat("defines the function ", name));
    if (!is_hook && !(name.starts_with("TRAP") && dialect_ == Dialect::kZsh)) continue;
    State copy = copy_of(s);
    call_function(node.children.front(), name, {{.value = Value::exact(name), .span = node.span}},
                  copy, Stream::unknown());
  }
}

Stream Evaluator::pipeline(const Node& node, State& s, const Stream& in) {
  if (node.children.size() == 1) return this->node(node.children.front(), s, in);
  Stream through = in;
  ++concurrent_;
  for (const Node& child : node.children) {
    State copy = copy_of(s);  // each command of a pipe runs in a shell of its own
    const std::size_t n_traps = traps_.size();
    const bool is_last = &child == &node.children.back();
    n_readers_ += is_last ? 0 : 1;
    through = this->node(child, copy, through);
    n_readers_ -= is_last ? 0 : 1;
    if (through.is_none) through = Stream::of("");
    const bool is_here = dialect_ == Dialect::kFish ||
                         (dialect_ == Dialect::kZsh && is_last);
    if (is_here) {
      s = joined(s, copy);
    } else {
      run_traps(n_traps, copy);
    }
  }
  --concurrent_;
  return through;
}

Stream Evaluator::and_or(const Node& node, State& s, const Stream& in) {
  Input input(in, n_known_inputs_);
  Stream out = this->node(node.children.front(), s, in);
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    input.pass(taken_);
    State without = copy_of(s);  // if this command does not run
    settle_cwd(without);
    if (!node.joins[i - 1]) settle_cwd(s);
    const bool is_and = node.joins[i - 1];
    s.before.clear();
    const Stream next = this->node(node.children[i], s, input.now());
    out = followed(out, next.is_none ? next : either(next, Stream::unknown()));
    // The rest of an && chain runs only if this command did.
    const bool goes_on = is_and && i + 1 < node.children.size() && node.joins[i];
    if (!goes_on) {
      State after = copy_of(s);
      settle_cwd(after);
      s = joined(after, without);
    }
  }
  return out;
}

Stream Evaluator::if_node(const Node& node, State& s, const Stream& in) {
  Stream out = Stream::none();
  std::optional<State> result;
  const auto end = [&](State&& state) {
    result = result ? joined(*result, state) : std::move(state);
  };
  std::size_t i = 0;
  Input input(in, n_known_inputs_);
  for (; i + 1 < node.bodies.size(); i += 2) {
    out = either(out, list(node.bodies[i], s, input.now()));
    input.pass(taken_);
    State branch = copy_of(s);
    out = either(out, list(node.bodies[i + 1], branch, input.now()));
    end(std::move(branch));
  }
  if (i < node.bodies.size()) {
    State branch = copy_of(s);
    out = either(out, list(node.bodies[i], branch, input.now()));
    end(std::move(branch));
  } else {
    end(std::move(s));
  }
  s = *std::move(result);
  return out;
}

void Evaluator::loop_variable(const Node& node, State& s) {
  if (node.kind == NodeKind::kArithFor) {
    for (const auto& clause : node.arithmetic)
      arithmetic(clause, s, node.span);
    return;
  }
  if (node.kind == NodeKind::kRepeat) {
    arithmetic(node.words.front().parts, s, node.span);
    return;
  }
  std::vector<Arg> items;
  if (node.has_in) {
    items = expand(node.words, s);
  } else if (s.has_args) {
    items = s.args;
  } else {
    items.push_back({.value = Value::unknown()});
  }
  if (items.empty()) return;
  Value value = items.front().value;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value item = items[i].value;
    if (items[i].is_glob && item.is_known) {  // one of the names that match
      const std::string& pattern = item.set.front();
      const std::size_t glob = pattern.find_first_of("*?[");
      const std::size_t slash = glob == std::string::npos ? glob : pattern.rfind('/', glob);
      Value name = Value::below(slash == std::string::npos ? "" : pattern.substr(0, slash + 1));
      name.is_everything = pattern.find_first_not_of(
                               "*?./", slash == std::string::npos ? 0 : slash) == std::string::npos;
      if (item.set.size() > 1) name = Value::unknown();
      item = name;
    }
    value = i == 0 ? item : join(value, item);
  }
  std::string_view names = node.name;  // zsh: several
  while (!names.empty()) {
    const std::size_t size = std::min(names.find(' '), names.size());
    set_variable(names.substr(0, size), {.value = value}, node.span, s);
    names.remove_prefix(std::min(size + 1, names.size()));
  }
}

namespace {

// Whether `v` is one of the texts that `wide` stands for.
bool covers(const Value& wide, const Value& v) {
  if (wide.is_known || wide.is_below || wide.is_path) return false;
  if ((v.is_secret && !wide.is_secret) || (v.is_fetched && !wide.is_fetched) ||
      v.keys > wide.keys)
    return false;
  if (!wide.is_number) return wide.prefix.empty() && wide.tail.empty();
  return v.is_known ? std::all_of(v.set.begin(), v.set.end(),
                                  [](const std::string& text) {
                                    return !text.empty() &&
                                           text.find_first_not_of("0123456789") == text.npos;
                                  })
                    : v.is_number;
}

bool is_stable(const State& a, const State& b) {
  return a.variables == b.variables && a.cwd == b.cwd && a.functions.size() == b.functions.size() &&
         a.aliases == b.aliases && have_equal_args(a, b);
}

}  // namespace

Stream Evaluator::loop(const Node& node, State& s, const Stream& in) {
  const bool is_while = node.kind == NodeKind::kWhile || node.kind == NodeKind::kUntil;
  Stream out = Stream::none();
  if (!is_while) loop_variable(node, s);
  Input input(in, n_known_inputs_);
  std::optional<State> left;
  loops_.push_back(&left);
  constexpr int kLastPass = 8;
  std::set<std::string> wide;  // variables that are not known from here on
  for (int pass = 0; pass <= kLastPass; ++pass) {
    const State before = copy_of(s);
    if (is_while) out = either(out, list(node.bodies[0], s, input.now()));
    if (is_while) input.pass(taken_);
    State after = copy_of(s);
    const Stream body = list(node.bodies[is_while ? 1 : 0], after, input.now());
    input.pass(taken_);
    out = body.is_none && out.is_none ? body : either(body, Stream::unknown());
    s = joined(s, after);
    if (left) s = joined(s, *std::exchange(left, std::nullopt));
    for (const std::string& name : wide) {
      const auto old = before.variables.find(name);
      if (old == before.variables.end()) continue;
      Variable& now = s.variables[name];
      if (covers(old->second.value, now.value)) now = old->second;
    }
    joined_ += weight_of(s);
    if (is_stable(before, s)) break;
    if (pass + 1 == kLastPass) {  // nothing is known
      s.variables.clear();
      wide.clear();
      s.cwd.clear();
      s.is_cwd_lost = true;
    } else if (pass >= 1) {  // widen: what still changes is not known
      s.has_args = s.has_args && have_equal_args(before, s);
      if (!s.has_args) s.args.clear();
      for (auto& [name, variable] : s.variables) {
        const auto old = before.variables.find(name);
        if (old != before.variables.end() && old->second == variable) continue;
        variable.value =
            join(variable.value, variable.value.is_number ? Value::number() : Value::unknown());
        variable.has_elements = false;
        wide.insert(name);
      }
      if (s.cwd != before.cwd) {
        s.cwd.clear();
        s.is_cwd_lost = true;
      }
    }
  }
  loops_.pop_back();
  return out;
}

// break, continue, return: the state goes on behind the loop or function, or at the loop's next
// pass, and not only behind the command.
void Evaluator::leave(const std::string& name, bool has_number, const State& s) {
  const auto add_state = [&](std::optional<State>& left) {
    left = left ? joined(*left, s) : copy_of(s);
  };
  if (name == "return") {
    if (function_ != nullptr) add_state(*function_);
    return;
  }
  for (std::size_t i = loops_.size(); i-- > 0;) {
    add_state(*loops_[i]);
    if (!has_number) return;
  }
}

Stream Evaluator::case_node(const Node& node, State& s, const Stream& in) {
  std::vector<Arg> ignored;
  value_of(node.words.front().parts, s);
  Stream out = Stream::none();
  State result = copy_of(s);
  for (const CaseItem& item : node.items) {
    for (const Word& pattern : item.patterns)
      value_of(pattern.parts, s);
    State branch = joined(s, result);  // ;& goes on into the next one
    out = either(out, list(item.body, branch, in));
    result = joined(result, branch);
  }
  s = std::move(result);
  return out;
}

void Evaluator::test(const Test& test, State& s) {
  for (const Test& inner : test.inner)
    this->test(inner, s);
  static constexpr std::string_view kNumeric[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
  const bool is_numeric =
      std::find(std::begin(kNumeric), std::end(kNumeric), test.op) != std::end(kNumeric);
  for (const Word& word : test.words) {
    const Value v = value_of(word.parts, s);
    if (test.op == "-v") name_of_variable(v, word.span);
    const bool is_file = test.op == "-t" && dialect_ == Dialect::kZsh;
    if (is_numeric || is_file) arithmetic(word.parts, s, word.span);
  }
}

}  // namespace wick::shell
