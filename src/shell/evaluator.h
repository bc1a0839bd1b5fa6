// Internals of the abstract interpreter behind shell/verdict.h. It visits the tree with a State
// (the known values of variables, cwd and functions) and collects effects. At a branch, a loop or
// `||` it visits both paths and joins their states; no path is ever ruled out. One Evaluator makes
// one verdict, on one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shell/paths.h"
#include "shell/rows.h"
#include "shell/value.h"
#include "shell/verdict.h"

namespace wick::shell {

struct Variable {
  Value value;
  std::vector<Value> elements = {};  // of an array whose elements are known by number
  bool is_array = false;
  bool has_elements = false;
  bool is_map = false;  // surely associative: a subscript is a text

  bool operator==(const Variable&) const = default;
};

// What a function declared as its own, as it was before: it is so again at the function's end.
struct Local {
  std::optional<Variable> before = {};
  bool is_sure = true;  // declared on every way
};

struct State {
  std::map<std::string, Variable, std::less<>> variables = {};
  std::map<std::string, Local, std::less<>> locals = {};  // of the function that runs
  std::set<std::string, std::less<>> integers = {};       // may have the integer attribute
  std::set<std::string, std::less<>> exported = {};  // surely; "*": all that are set from here on
  std::set<std::string, std::less<>> fixed = {};     // may be readonly: an assignment fails
  std::set<std::string, std::less<>> scoped = {};    // fish: set in a scope that may end
  std::map<std::string, const Node*, std::less<>> functions = {};
  std::map<std::string, std::string, std::less<>> aliases = {};
  Value zero = Value::unknown();         // $0
  std::vector<Arg> args = {};            // $1 …
  bool has_args = false;                 // they are known
  bool is_in_function = false;           // of this shell
  std::vector<std::string> cwd = {};     // one of these; empty: not known
  std::vector<std::string> before = {};  // … or, if the last cd failed, one of these
  bool is_cwd_lost = false;              // a cd to an unknown place
  bool is_path_changed = false;
  bool has_no_glob = false;
  bool has_hidden_alias = false;  // an alias or function of unknown text
};

// A word cut open: text, or an expansion, quoted or not.
struct Piece {
  std::string text = {};
  const WordPart* expansion = nullptr;
  bool is_quoted = false;
};

bool is_variable_name(std::string_view text) noexcept;

// Code that runs later, in a state that is not known yet.
struct Trap {
  Value code;
  Span span;
  bool is_at_exit = false;  // and runs once
  // Where it was set: what a branch around it did not run says nothing about what it sees.
  std::map<std::string, Variable, std::less<>> variables = {};
};

// What variables and the working directory became since the first trap was set.
struct Since {
  std::map<std::string, Value> changed = {};  // all values that were assigned
  std::map<std::string, Value> known = {};    // those of them, and of all before, that are known
  std::vector<std::string> cwds = {};
};

// What a command may have read from standard input.
enum class Taken : std::uint8_t { kNothing, kLine, kSome };

class Fields;  // fields.h

class Evaluator {
 public:
  Evaluator(const Profile& profile, Dialect dialect);

  void run(const Script& script);
  Verdict take();

 private:
  friend struct Commands;

  // Nodes (eval_nodes.cc). `in` is what stands on standard input; the result is standard output.
  Stream list(const List<Node>& nodes, State& s, const Stream& in);
  Stream node(const Node& node, State& s, const Stream& in);
  Stream redirected(const Node& node, State& s, const Stream& in);
  Stream inner_node(const Node& node, State& s, const Stream& in);
  Stream pipeline(const Node& node, State& s, const Stream& in);
  Stream and_or(const Node& node, State& s, const Stream& in);
  Stream if_node(const Node& node, State& s, const Stream& in);
  Stream loop(const Node& node, State& s, const Stream& in);
  void leave(const std::string& name, bool has_number, const State& s);
  Stream case_node(const Node& node, State& s, const Stream& in);
  void loop_variable(const Node& node, State& s);
  void define_functions(const Node& node, State& s);
  void test(const Test& test, State& s);
  void arithmetic(const List<WordPart>& parts, State& s, Span span);
  void arithmetic(const Value& text, State& s, Span span);
  void arithmetic_names(std::string_view text, State& s, Span span);
  void zsh_number(const Arg& arg, State& s);
  void settle_cwd(State& s);
  State joined(const State& a, const State& b);
  State new_shell(const State& s);
  State copy_of(const State& s);  // of a subshell or branch; counts towards kMaxJoined
  static std::size_t weight_of(const State& s);

  // Words (eval_words.cc, eval_parameters.cc).
  std::vector<Arg> expand(const List<Word>& words, State& s);
  void expand(const List<Word>& words, State& s, std::vector<Arg>& out);
  void expand(const Word& word, State& s, std::vector<Arg>& out);
  Value value_of(const List<WordPart>& parts, State& s);
  void cut(const List<WordPart>& parts, bool is_quoted, std::vector<Piece>& out);
  void plain_piece(const Piece& piece, bool is_first, bool is_alone, State& s, Fields& fields);
  void fields(const std::vector<Piece>& pieces, State& s, Span span, std::vector<Arg>& out);
  Value expansion(const WordPart& part, State& s);
  Value parameter(const WordPart& part, State& s);
  Value variable(std::string_view name, State& s);
  void subscript(const Parameter& p, const Value& index, State& s, Span span);
  Value apply_operator(const Parameter& p, Value v, Span span, State& s);
  Value default_value(const Parameter& p, Value v, Span span, State& s);
  bool has_quoted_glob(const List<WordPart>& parts, State& s);
  Value trimmed(const Parameter& p, const Value& v, const Value& pattern);
  Value arithmetic_value(const WordPart& part, State& s);
  Value substitution(const WordPart& part, State& s);
  bool all_fields(const Piece& piece, State& s, std::vector<Value>& out, bool& is_known);
  Value tilde(std::string& text, State& s);

  // What only zsh has (eval_zsh.cc).
  bool zsh_text(const std::string& text, bool is_first, Span span, Fields& fields);
  void group(const WordPart& part, bool is_last, State& s, Fields& fields);
  void later_glob(const List<WordPart>& parts, State& s);
  void glob_in_default(const WordPart& part);
  Value zsh_parameter(const WordPart& part, State& s);
  Value zsh_value(const WordPart& part, State& s);
  static bool is_of_zsh(const Parameter& p);
  static bool splits(const WordPart& part);

  // What only fish has (eval_fish.cc).
  void fish_list(const WordPart& part, bool is_alone, State& s, Fields& fields);
  Value fish_parameter(const WordPart& part, State& s);

  // Variables (eval_variables.cc).
  void assign(const Assignment& a, State& s, bool is_prefix);
  void note_assignment(std::string_view name, const Value& v, Span span, bool is_prefix, State& s);
  void set_variable(std::string_view name, Variable v, Span span, State& s);
  void note_change(std::string_view name, const Value& value);
  void note_change_back(const std::string& name, const State& s);
  void keep(std::string_view name, Variable v, Span span, State& s);
  bool name_of_variable(const Value& name, Span span);
  void declare_maps(const Node& node, State& s);
  static void make_map(std::string_view name, State& s);
  static bool is_map(std::string_view name, const State& s);

  // Simple commands (eval_simple.cc).
  Stream simple(const Node& node, State& s, const Stream& in);
  Stream redirects_in(const Node& node, State& s, const Stream& in);
  Stream inputs(const Node& node, State& s, const Stream& in);
  void redirects_out(const Node& node, State& s, Stream& out);
  void write_stream(const Arg& target, const Stream& out, bool is_append, State& s);
  Stream invoke(std::vector<Arg>&& argv, State& s, const Stream& in);  // argv may change
  Stream invoke_one(std::vector<Arg>& argv, State& s, const Stream& in);
  Stream invoke_name(const std::string& name, std::vector<Arg>& argv, State& s, const Stream& in);
  Stream run_command(const std::string& name, std::vector<Arg>& argv, State& s, const Stream& in);
  void note_socket(const Node& node, State& s);
  void note_input(const std::string& name, const std::vector<Arg>& argv);
  void note_call(const std::string& name, const std::vector<Arg>& argv);
  std::optional<Stream> call_alias(const Node& node, State& s, const Stream& in);
  static void keep_local(const std::string& name, State& s);
  static void declare_local(const std::string& name, bool is_list, State& s);
  Stream call_function(const Node& body, const std::string& name, const std::vector<Arg>& argv,
                       State& s, const Stream& in);
  void scan_hidden(const Script& script);
  void run_traps(std::size_t first, State& s);
  bool is_exit_trap(const std::vector<Arg>& argv, std::size_t code) const;
  void run_traps_now(std::size_t first, const State& s);
  void run_traps_of_branches(const State& a, const State& b);
  void run_each(const std::vector<Trap>& traps, const State& s, bool has_known_alone);
  bool keep_seen(const Trap& trap, bool has_known_alone, State& s) const;
  void remember_variables(Trap& trap, const State& s);
  void note_known(const std::string& name, const Value& value);

  // Rows (eval_rows.cc).
  Stream apply_row(const Row& row, const std::vector<Arg>& argv, std::size_t first, State& s,
                   const Stream& in);
  void send_secrets(const std::vector<Arg>& argv, std::size_t first, std::string_view name,
                    const Stream& in);
  void apply_option_effects(const Usage& usage, std::string_view name);
  void apply_calls(const Row& tool, bool is_version, Span span, std::string_view name);
  void apply_help(const Row& row, const Usage& usage, const std::vector<Arg>& argv, State& s,
                  Stream& out);
  void apply_roles(const Usage& usage, State& s, const Stream& in, Stream& out);
  static bool is_kept(const Usage& usage, const State& s);
  bool put_into_root(const Usage& usage, const Usage::Item& target, State& s);
  bool is_credential_somewhere(const Arg& arg);
  void apply_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out);
  void apply_network_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out);
  static void pass_names(std::string_view name, const Usage& usage, const Stream& in, Stream& out);
  void apply_mount(const Arg& arg, const State& s);
  void apply_resource(const Arg& arg);  // eval_cloud.cc
  void apply_cloud_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out);
  void apply_other_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out);
  void apply_format_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out);
  void name_again(const Arg& arg, State& s);
  void write_picture(const Arg& arg, State& s, const Stream& in, Stream& out);
  Stream list_in(const Arg& file, State& s, const Stream& in);
  void read_listed(const Stream& list, char role, Span span, State& s, Stream& out);
  void apply_name_glob(const Usage& usage, const Arg& glob, Stream& out);
  static std::string_view command_name(const Arg& arg);  // without a system directory
  void apply_effect(char letter, Span span, std::string_view command);
  void touch(EffectKind kind, const Arg& arg, State& s, Reach reach);
  void touch_path(EffectKind kind, const std::string& path, Span span, State& s, Reach reach);
  void note_links(const Usage& usage, const State& s);
  void follow_links(EffectKind kind, const std::string& path, Span span, State& s, Reach reach);
  void touch_special(EffectKind kind, const std::string& path, const std::string& shown, Span span);

  // Code (eval_code.cc): text that a shell or interpreter runs.
  Stream run_text(const Value& text, Span span, State& s, const Stream& in, Dialect dialect);
  Stream run_code(const std::string& text, Span span, State& s, const Stream& in, Dialect dialect);
  Stream run_stream(const Stream& code, Span span, State& s, Dialect dialect);
  void run_file(const Arg& file, const std::vector<Arg>& args, State& s);
  Level level_of_code(const std::string& text, const State& s);
  void look_for_deletions(const std::vector<Arg>& argv, const Stream& in);
  void look_into_written_files(Span span);

  void add(EffectKind kind, Scope scope, std::string target, Span span, std::string why);
  void unknown(Span span, std::string target, std::string why);
  void unknown_options(const Usage& usage, std::string_view command);
  void unknown_subscripts(Span span, std::string_view target, std::string_view why);
  bool step(Span span);  // false: the verdict has become too complex
  Folders folders_at(std::string_view cwd) const;
  // Its key in files_; "" if only the file system knows which file that is.
  std::string file_of(const std::string& path, const State& s) const;
  std::string shown(const std::string& path, const State& s) const;

  const Profile& profile_;
  Dialect dialect_;
  std::string start_ = {};  // the profile's cwd, normal
  std::vector<Effect> effects_;
  int newest_ = -1;                // the last place in the text of an effect so far
  std::size_t first_newest_ = 0;   // the first effect of that place
  std::vector<Call> made_;  // calls so far, at most kMaxCalls
  std::map<const Node*, std::vector<std::string>> argument_names_;  // fish: function -a
  std::deque<Script> scripts_;  // texts evaluated on the way; functions point into them
  std::map<std::string, Stream, std::less<>> files_;  // written here, by normal path
  std::vector<std::pair<std::string, std::string>> links_ = {};  // made here: path and target
  std::vector<std::pair<std::string, int>> calls_;    // functions entered, with concurrency then
  std::set<std::string, std::less<>> decoded_;        // texts that a decoder made
  std::vector<Arg> spare_;                            // empty; its memory is used again
  std::string suggestion_;
  std::string current_verb_;                       // "git remote" while its verb is looked up
  std::vector<std::optional<State>*> loops_ = {};  // around: the states of break and continue
  std::optional<State>* function_ = nullptr;       // around: the state of return
  const Span* outer_ = nullptr;                    // the place of nested text
  int concurrent_ = 0;                             // pipes and background jobs around
  int invoked_ = 0;                                // commands that stand behind one another now
  const Stream* given_ = nullptr;  // what a command writes into the >(…) that is expanded
  int n_readers_ = 0;  // around: pipes, substitutions and files that take the output
  int followed_ = 0;  // paths through links_
  int nested_ = 0;
  int n_traps_ = 0;
  std::vector<Trap> traps_;  // of the shells around
  Since seen_;               // the first trap
  int n_shells_ = 0;         // started without code: they run what comes in
  int steps_ = 0;
  int lifted_ = 0;
  std::size_t built_ = 0;
  std::size_t joined_ = 0;  // variables of states, copied or joined
  std::size_t words_ = 0;   // that commands have, each time that they run
  Taken taken_ = Taken::kNothing;
  int n_known_inputs_ = 0;      // texts around that commands read: taken_ counts for these alone
  bool reads_keys_ = false;     // an effect said so
  bool is_in_traps_ = false;    // their assignments count as others do
  bool is_user_scope_ = false;  // systemctl --user
  bool is_dry_ = false;         // apt-get -s
  bool is_too_complex_ = false;
};

}  // namespace wick::shell
