// A person's text never becomes the template's own: every filter, test, function, method, operator
// and format code is run over untrusted input, as what it works on and as each of its arguments.
// The tables are walked, so a new row is covered by existing.
//
// How a leak shows: each expression is rendered twice, for two persons whose texts have the same
// length and order but no character in common; what is trusted must not depend on who asked. Their
// number, 719, must not stand in what is trusted at all.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/chat_template.h"

namespace wick {
namespace {

using jinja::Builtin;
using Texts = std::vector<std::string>;

// Variables: x a text, n an integer, f a float, l a list of texts, d a dict and m its like in
// words, u a dict whose key is a text of the person.
Object person(std::string_view text) {
  Object context, dict, mapping;
  context["x"] = text;
  context["n"] = 719;
  context["f"] = 719.5;
  context["l"] = Array{text, cat(text, text)};
  dict["q"] = text;
  dict["n"] = 719;
  context["d"] = dict;
  mapping[text] = text;
  context["u"] = mapping;
  return context;
}

// Both sort before letters, and what escaping makes of them is of one length.
const Object& first_person() {
  static const Object made = person("'|im_DHK|'\xC3\x9F 5\n");
  return made;
}

const Object& second_person() {
  static const Object made = person("&#jg_BWY#&\xC3\xA4 3\n");
  return made;
}

std::string trusted_part(const MarkedText& text) {
  std::string out;
  for (const Span& span : text.trusted)
    out += text.text.substr(span.begin, span.end - span.begin);
  return out;
}

// Whether it renders. An expression that is an error is none that leaks.
bool check(const std::string& source) {
  const auto tmpl = ChatTemplate::parse(source);
  if (!tmpl) return false;
  const RenderOptions options{.now_seconds = 0, .limits = {.work = 1'000'000}};
  const auto one = tmpl->render(first_person(), options);
  const auto other = tmpl->render(second_person(), options);
  if (!one || !other) return false;
  const std::string trusted = trusted_part(*one);
  const bool leaks = trusted != trusted_part(*other) || trusted.find("719") != std::string::npos;
  EXPECT_FALSE(leaks) << source << "\n  trusts " << printable(trusted, 300) << "\n  of "
                      << printable(one->text, 300);
  return true;
}

// The value, what it is made of, and what that is made of.
bool check_value(const std::string& expression) {
  return check(cat("{% set r = ", expression,
                   " %}{{ r }}{% if r is iterable and r is not string %}{% for k in r %}<{{ k "
                   "}}>{% if k is iterable "
                   "and k is not string %}{{ k|list }}{% endif %}{% endfor %}{% endif %}"));
}

std::size_t n_words(std::string_view text) {
  std::size_t n = text.empty() ? 0 : 1;
  for (const char c : text)
    n += c == ' ' ? 1 : 0;
  return n;
}

const Texts& untrusted() {
  static const Texts values = {"x",        "n",        "f",     "l",      "d",
                               "u",        "[x, n]",   "[n]",   "{x: x}", "(x, x)",
                               "[[x, n]]", "{n: 'q'}", "[[x]]", "[d, d]"};
  return values;
}

const Texts& harmless() {
  static const Texts values = {"'q'",  "2",     "true", "['q', 'z']",          "{'q': 'z'}",
                               "none", "'q{}'", "'%s'", "[{'q': 1}, {'q': 2}]"};
  return values;
}

// Calls a row with each of its arguments untrusted in turn, over what it may stand behind; how many
// of them rendered. `call` puts receiver and arguments together.
template <class Call>
int check_row(const Builtin& row, const Texts& receivers, const Call& call) {
  int rendered = 0;
  const bool is_open = row.call_open != nullptr;
  const std::size_t n = is_open ? 3 : n_words(row.params);
  const auto attempt = [&](const std::string& receiver, const std::string& arguments) {
    rendered += check_value(call(receiver, arguments)) ? 1 : 0;
  };
  for (const std::string& receiver : receivers) {
    attempt(receiver, "");
    for (std::size_t at = 0; at < n; ++at) {
      for (const std::string& value : untrusted()) {
        for (const char* filler : {"'q'", "2", "['q', 'z']"}) {
          std::string arguments;
          for (std::size_t i = 0; i < at; ++i)
            arguments += cat(filler, ", ");
          attempt(receiver, arguments + value);
          const bool is_more = static_cast<int>(at) + 1 < row.n_required;
          if (is_more) attempt(receiver, cat(arguments, value, ", ", filler));
          if (at == 0 && !is_more) break;  // no filler was needed
        }
      }
    }
    if (is_open) {
      for (const char* arguments : {"**u", "**d", "q=x", "q=n", "*l", "x, **u", "'q', q=x"})
        attempt(receiver, arguments);
    }
    for (const std::string& filler : harmless()) {  // the receiver alone is untrusted
      std::string arguments;
      for (int i = 0; i < std::max(row.n_required, 1); ++i)
        arguments += (i > 0 ? ", " : "") + filler;
      attempt(receiver, arguments);
    }
    // By name, past what stands before.
    std::string_view rest = row.params;
    while (!row.positional_only && !rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      for (const std::string& value : untrusted())
        attempt(receiver, cat(rest.substr(0, end), "=", value));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return rendered;
}

Texts receivers() {
  Texts all = untrusted();
  all.insert(all.end(), harmless().begin(), harmless().end());
  return all;
}

TEST(Trust, NoFilterMakesAPersonsTextTheTemplatesOwn) {
  for (const auto* table : jinja::kFilterTables) {
    for (const Builtin& row : *table) {
      EXPECT_GT(check_row(row, receivers(),
                          [&](const std::string& on, const std::string& args) {
                            return cat(on, "|", row.name, "(", args, ")");
                          }),
                0)
          << row.name << " never rendered";
    }
  }
}

TEST(Trust, NoTestMakesAPersonsTextTheTemplatesOwn) {
  for (const Builtin& row : jinja::kTests) {
    EXPECT_GT(check_row(row, receivers(),
                        [&](const std::string& on, const std::string& args) {
                          // Some tests have names that are none: == and its kin.
                          return cat("[", on, "]|select('", row.name, "'", args.empty() ? "" : ", ",
                                     args, ")");
                        }),
              0)
        << row.name << " never rendered";
  }
}

TEST(Trust, NoFunctionMakesAPersonsTextTheTemplatesOwn) {
  for (const Builtin& row : jinja::kGlobals) {
    const int rendered = check_row(row, {""}, [&](const std::string&, const std::string& args) {
      const bool is_state = row.name == "cycler";
      return cat(row.name, "(", args, is_state ? ").next()" : ")");
    });
    if (row.name != "raise_exception") {
      EXPECT_GT(rendered, 0) << row.name << " never rendered";
    }
  }
  EXPECT_TRUE(check("{% set j = joiner(x) %}{{ j() }}{{ j() }}"));
  EXPECT_TRUE(check("{% set c = cycler(x, n) %}{{ c.current }}{{ c.next() }}{{ c.next() }}"));
  for (const char* range : {"range(n, n + 3)", "range(n, n + 3)[1]", "range(n, n + 3)[1:]",
                            "range(n, n + 9, 2)|last", "range(n, n + 2).start"}) {
    EXPECT_TRUE(check_value(range)) << range;
  }
  EXPECT_TRUE(check_value("namespace(**u)"));
  EXPECT_TRUE(check_value("namespace(u)"));
  EXPECT_TRUE(check("{% set s = namespace(u, q=x) %}{% set s.z = n %}{{ s }}{{ s.q }}{{ s.z }}"));
}

TEST(Trust, NoMethodMakesAPersonsTextTheTemplatesOwn) {
  const auto check_methods = [](std::span<const Builtin> rows, const Texts& objects) {
    for (const Builtin& row : rows) {
      EXPECT_GT(check_row(row, objects,
                          [&](const std::string& on, const std::string& args) {
                            return cat("(", on, ").", row.name, "(", args, ")");
                          }),
                0)
          << row.name << " never rendered";
    }
  };
  check_methods(jinja::kStringMethods,
                {"x", "'q'", "(x ~ 'q')", "'q{}z{}'", "'{q} {n:>9}'", "x|e", "('q{}'|e)", "'q z'"});
  check_methods(jinja::kDictMethods, {"d", "u", "{'q': 'z'}", "{x: n}"});
  check_methods(jinja::kListMethods, {"l", "['q']", "[x, n]", "(x, 'q')"});
  check_methods(jinja::kRangeMethods, {"range(n, n + 3)"});
  check_methods(jinja::kNumberMethods, {"n", "f"});
  for (const char* name : {"real", "imag", "numerator", "denominator"})
    EXPECT_TRUE(check_value(cat("n.", name))) << name;
}

TEST(Trust, NoOperatorMakesAPersonsTextTheTemplatesOwn) {
  for (const char* op : {"+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or"}) {
    int rendered = 0;
    for (const std::string& left : receivers()) {
      for (const std::string& right : receivers()) {
        if (left == "n" && op == std::string("*") && right[0] == '\'') continue;  // 'q' many times
        rendered += check_value(cat("(", left, ") ", op, " (", right, ")")) ? 1 : 0;
      }
    }
    EXPECT_GT(rendered, 0) << op;
  }
  for (const char* source : {"-n",
                             "+n",
                             "-f",
                             "x[0]",
                             "x[-1]",
                             "x[1:3]",
                             "x[::-1]",
                             "x[::2]",
                             "l[0]",
                             "l[::-1]",
                             "d.q",
                             "d['q']",
                             "d.n",
                             "u[x]",
                             "x if true else 'q'",
                             "[x, n]",
                             "(x,)",
                             "{x: n}",
                             "x ~ n",
                             "l ~ d",
                             "('q' ~ x ~ 'z')[1:-1]",
                             "('q' ~ x)[::-1]",
                             "d.items()",
                             "u.keys()",
                             "u.values()"}) {
    EXPECT_TRUE(check_value(source)) << source;
  }
}

TEST(Trust, NoFormatMakesAPersonsTextTheTemplatesOwn) {
  for (const char code : std::string_view("sracdiuxXoeEfFgG")) {
    for (const char* flags : {"", "9", "-9", "09", "+", " ", "#", ".2", "+012.3"}) {
      int rendered = 0;
      for (const char* value : {"x", "n", "f", "l", "x[0]", "u", "'q'", "65"})
        rendered += check(cat("{{ '%", flags, code, "' % (", value, ",) }}")) ? 1 : 0;
      EXPECT_GT(rendered, 0) << flags << code;
    }
  }
  for (const char* type :
       {"", "s", "d", "x", "X", "o", "b", "n", "c", "e", "E", "f", "F", "g", "G", "%"}) {
    for (const char* before : {"", "9", "<9", "^9", "=9", "q>9", "09", "+", ",", "_", "#", ".2"}) {
      int rendered = 0;
      for (const char* value : {"x", "n", "f", "'q'", "7", "7.5"})
        rendered += check(cat("{{ '{:", before, type, "}'.format(", value, ") }}")) ? 1 : 0;
      EXPECT_TRUE(rendered > 0 || *before != '\0') << before << type;
    }
  }
  for (const char* source :
       {"'{!r}'.format(x)", "'{!s}'.format(x)", "'{!a}'.format(x)", "'{0[0]}'.format(x)",
        "'{q}'.format(**d)", "'%(q)s' % d", "'%*d' % (12, n)", "'{:{}}'.format('q', x[0] ~ '>9')",
        "'{:{}}'.format(7, x[0] ~ '>9')", "'{:{q}>9}'.format('z', q=x[0])",
        "'{:{q}>9}'.format(7, q=x[0])", "(x ~ '%5s%d') % ('q', 7)", "(x ~ '{:>5}').format('q')",
        "x.format()", "'{!r:>40}'.format(l)", "('%s'|e) % x", "('{}'|e).format(x)",
        "'%s'|format(x)", "'%(q)s'|format(q=x)"}) {
    check_value(source);
  }
}

TEST(Trust, NoStatementMakesAPersonsTextTheTemplatesOwn) {
  for (const char* source :
       {"{% set y %}<t>{{ x }}{% endset %}{{ y }}", "{% set y | upper %}{{ x }}{% endset %}{{ y }}",
        "{% filter upper %}{{ x }}{% endfilter %}", "{% with y = x %}{{ y }}{% endwith %}",
        "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(x, n, **u) }}",
        "{% macro m() %}{{ kwargs }}{% for k in kwargs %}{{ k }}{% endfor %}{% endmacro %}"
        "{{ m(**u) }}{{ m(q=x) }}{{ m(**{x: n}) }}",
        "{% macro m(a) %}{{ caller(a) }}{% endmacro %}{% call(y) m(x) %}{{ y }}{% endcall %}",
        "{% for i in l %}{{ i }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle(x, n) }}"
        "{{ loop.changed(i) }}{% endfor %}",
        "{% for i in [x, [x, [x]]] recursive %}{{ loop(i) if i is not string else i }}{% endfor %}",
        "{% for k, v in u.items() %}{{ k }}={{ v }}{% endfor %}{% for k in u %}{{ k }}{% endfor %}",
        "{% set s = namespace(q=x) %}{% set s.z = s.q ~ n %}{{ s.z }}{{ s }}"}) {
    EXPECT_TRUE(check(source)) << source;
  }
}

}  // namespace
}  // namespace wick
