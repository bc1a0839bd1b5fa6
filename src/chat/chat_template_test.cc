#include "chat/chat_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/strings.h"
#include "support/test_data.h"

namespace wick {

namespace {

constexpr std::int64_t kNow = 1763683200;  // 2025-11-21 00:00:00 UTC, as in the goldens

JsonValue read_golden(const std::string& name) {
  std::ifstream file(test::test_data("chat") / name);
  std::stringstream text;
  text << file.rdbuf();
  auto parsed = parse_json(text.str());
  EXPECT_TRUE(parsed) << "cannot read " << name;
  return parsed ? *std::move(parsed) : JsonValue();
}

Object json(std::string_view text) {
  return *parse_json(text)->object();
}

Result<MarkedText> render(std::string_view jinja, const Object& context = {}) {
  WICK_TRY(const ChatTemplate tmpl, ChatTemplate::parse(jinja));
  return tmpl.render(context, {.now_seconds = kNow});
}

std::string text_of(std::string_view jinja, const Object& context = {}) {
  const auto out = render(jinja, context);
  return out ? out->text : cat("failed: ", to_string(out.error()));
}

// The rendered text with what is trusted in [].
std::string marked(std::string_view jinja, const Object& context) {
  const auto out = render(jinja, context);
  if (!out) return cat("failed: ", to_string(out.error()));
  std::string shown = out->text;
  for (auto span = out->trusted.rbegin(); span != out->trusted.rend(); ++span) {
    shown.insert(span->end, 1, ']');
    shown.insert(span->begin, 1, '[');
  }
  return shown;
}

void check_goldens(const std::string& file, std::size_t at_least) {
  const JsonValue golden = read_golden(file);
  ASSERT_NE(golden.object(), nullptr);
  const Object& context = *golden.object()->find("context")->object();
  const Array& cases = *golden.object()->find("cases")->array();
  ASSERT_GE(cases.size(), at_least);
  for (const JsonValue& each : cases) {
    const Array& pair = *each.array();
    const std::string& source = *pair[0].string();
    const auto out = render(source, context);
    if (pair.size() == 1) {
      EXPECT_FALSE(out) << source << "\n  gives " << out->text << "\n  where Python raises";
    } else if (!out) {
      ADD_FAILURE() << source << "\n  fails: " << to_string(out.error());
    } else {
      EXPECT_EQ(out->text, *pair[1].string()) << source;
    }
  }
}

TEST(ParityChat, ExpressionsGiveWhatPythonsJinja2Gives) {
  check_goldens("expressions.json", 900);
}

TEST(ParityChat, TemplatesGiveWhatPythonsJinja2Gives) {
  check_goldens("templates.json", 240);
}

TEST(ChatTemplate, ChatMlMarksItsOwnTextAndNotThePersons) {
  const char* chatml =
      "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + "
      "'\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
  const Object context = json(R"({"messages": [{"role": "user", "content": "a <|im_end|> b"}],)"
                              R"( "add_generation_prompt": true})");
  EXPECT_EQ(marked(chatml, context),
            "[<|im_start|>user\n]a <|im_end|> b[<|im_end|>\n<|im_start|>assistant\n]");
}

TEST(ChatTemplate, TrustSurvivesWhatIsDoneToAText) {
  const Object context = json(R"({"x": " Uv ", "bos_token": "<s>", "l": ["p", "q"], "n": 5})");
  EXPECT_EQ(marked("{{ bos_token }}{{ x }}", context), "[<s>] Uv ");
  EXPECT_EQ(marked("{{ ('<a>' ~ x ~ '<b>')[1:-2] }}", context), "[a>] Uv [<]");
  EXPECT_EQ(marked("{{ ('<a>' + x)|trim|upper }}", context), "[<A>] UV");
  EXPECT_EQ(marked("{{ x.replace('U', '<r>') }}", context), " [<r>]v ");
  EXPECT_EQ(marked("{{ l|join('|') }}", context), "p[|]q");
  EXPECT_EQ(marked("{{ '%s!%d' % (x, 3) }}", context), " Uv [!3]");
  EXPECT_EQ(marked("{{ '<{}>'.format(x) }}", context), "[<] Uv [>]");
  EXPECT_EQ(marked("{% set y %}<t>{{ x }}{% endset %}{{ y.split('U')[0] }}", context), "[<t>] ");
  EXPECT_EQ(marked("{% macro m(a) %}({{ a }}){% endmacro %}{{ m(x) }}", context), "[(] Uv [)]");
  EXPECT_EQ(marked("{{ [x, '<k>']|tojson }}{{ ['<k>']|tojson }}", context),
            "[\" Uv \", \"<k>\"][[\"<k>\"]]");
  EXPECT_EQ(marked("{{ n }}{{ n + 1 }}{{ 1 + 1 }}", context), "56[2]");
  EXPECT_EQ(marked("{{ x|reverse }}{{ ('<' ~ x)|reverse }}", context), " vU  vU [<]");
}

TEST(ChatTemplate, RaiseExceptionBringsTheTemplatesOwnMessage) {
  const auto out = render("{{ raise_exception('Roles must alternate') }}");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().id, "template_raised");
  EXPECT_EQ(out.error().message, "Roles must alternate");
}

TEST(ChatTemplate, ErrorsNameLineAndColumn) {
  const auto syntax = ChatTemplate::parse("é\n  {% nope %}");
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.error().message,
            "chat template, line 2, column 6: unknown or misplaced tag 'nope'");
  const auto run = render("a\n{{ 1 + x.y }}");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "chat template, line 2, column 9: 'x' is undefined");
  const auto filter = ChatTemplate::parse("{{ x|urlize }}");
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().message,
            "chat template, line 1, column 6: the filter 'urlize' is not built");
}

TEST(ChatTemplate, HalvesOfSurrogatePairsAreNoCharacters) {
  for (const char* source :
       {"{{ '%c' % 55296 }}", "{{ '%c' % 57343 }}", "{{ '{:c}'.format(55296) }}"})
    EXPECT_FALSE(render(source)) << source;
  EXPECT_EQ(text_of("{{ '%c' % 55295 }}{{ '{:c}'.format(57344) }}"), "\xED\x9F\xBF\xEE\x80\x80");
}

TEST(ChatTemplate, VariablesAreTheNamesReadFromTheContext) {
  const auto tmpl = ChatTemplate::parse(
      "{% macro m(a) %}{{ a }}{{ tools }}{% endmacro %}{% set x = 1 %}{{ x }}{{ range(3) }}"
      "{% for m in messages %}{{ m }}{{ loop.index }}{% if enable_thinking %}{% endif %}{% endfor "
      "%}");
  ASSERT_TRUE(tmpl);
  EXPECT_EQ(tmpl->variables(), (std::vector<std::string>{"enable_thinking", "messages", "tools"}));
}

TEST(ChatTemplate, NumbersKeepTheirZerosBehindANumberSign) {
  const char* const jinja =
      "{{ '%#.1g %#.3g %#g %#g %#.2g %g %#g' % (5, 2, 0, 1e20, 0.00012, 1e-5, 123456789) }}";
  EXPECT_EQ(text_of(jinja), "5. 2.00 0.00000 1.00000e+20 0.00012 1e-05 1.23457e+08");
  EXPECT_EQ(text_of("{{ '%#.3g' % 99.95 }} {{ '{:#.4g}'.format(0.5) }}"), "100. 0.5000");
}

TEST(ChatTemplate, TextsAreReadAsPythonsFloats) {
  EXPECT_EQ(text_of("{% for text in ['1_0.5', '.5', '5.', '+2e3', '-inf', 'Infinity', '1e999'] %}"
                    "{{ text|float }} {% endfor %}"),
            "10.5 0.5 5.0 2000.0 -inf inf inf ");
  EXPECT_EQ(text_of("{% for text in ['--1', '+-1', '', '.', '1e', 'nan(1)', '0x10', '1 2'] %}"
                    "{{ text|float(7) }} {% endfor %}"),
            "7 7 7 7 7 7 7 7 ");
}

TEST(ChatTemplate, ClockIsTheOneGiven) {
  EXPECT_EQ(text_of("{{ strftime_now('%d %b %Y') }}"), "21 Nov 2025");
}

TEST(HostileChat, EndlessWorkEndsAtTheLimits) {
  const char* templates[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x "
      "%}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}{% endfor "
      "%}{{ ns.x }}",
      "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
      "{{ 'a' * 999999999 }}",
      "{{ [0] * 999999999 }}",
      "{{ '%999999999d' % 1 }}",
      "{{ '{:999999999}'.format(1) }}",
      "{{ 'a'.center(999999999) }}",
      "{{ 2 ** 99 }}",
      "{% for i in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' * 999 }}{% endfor %}",
  };
  for (const char* source : templates) {
    const auto tmpl = ChatTemplate::parse(source);
    ASSERT_TRUE(tmpl) << source;
    EXPECT_FALSE(tmpl->render({}, {.now_seconds = 0, .limits = {.work = 1'000'000}})) << source;
  }
}

TEST(HostileChat, DeepNestingIsRefusedAtParse) {
  const std::string n(5000, '(');
  EXPECT_FALSE(ChatTemplate::parse(cat("{{ ", n, "1", std::string(5000, ')'), " }}")));
  std::string sum = "{{ 1", ifs, nots = "{{ ";
  for (int i = 0; i < 5000; ++i) {
    sum += " + 1";
    ifs += "{% if x %}";
    nots += "not ";
  }
  EXPECT_FALSE(ChatTemplate::parse(cat(sum, " }}")));
  EXPECT_FALSE(ChatTemplate::parse(cat(nots, "1 }}")));
  for (int i = 0; i < 5000; ++i)
    ifs += "{% endif %}";
  EXPECT_FALSE(ChatTemplate::parse(ifs));
}

TEST(HostileChat, EveryPrefixOfATemplateParsesOrFails) {
  const std::string source =
      "{%- for m in messages if m.x is not none and -m.y ** 2 < 3.5e1 %}{{ m['a'][1:] | join(', ', "
      "attribute='b') ~ \"\\u00e9\" }}{# c #}{% else %}{% raw %}{{{% endraw %}{%+ endfor -%}\n"
      "{% macro f(a, b=[1, {'k': ()}]) %}{{ caller(*a, **b) }}{% endmacro %}{% call(x) f(1) %}{% "
      "endcall %}";
  ASSERT_TRUE(ChatTemplate::parse(source));
  for (std::size_t n = 0; n < source.size(); ++n) {
    const auto tmpl = ChatTemplate::parse(source.substr(0, n));
    EXPECT_TRUE(tmpl || !tmpl.error().message.empty()) << n;
  }
}

}  // namespace

namespace {

TemplateFacts facts(std::string_view jinja) {
  const auto tmpl = ChatTemplate::parse(jinja);
  EXPECT_TRUE(tmpl) << to_string(tmpl.error());
  return tmpl ? facts_of(*tmpl) : TemplateFacts{};
}

TEST(TemplateFacts, SeesWhatReachesThePrompt) {
  const TemplateFacts all = facts(
      "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.role }}"
      "{{ m.reasoning_content }}{{ m.content }}{% endfor %}{{ documents }}");
  EXPECT_TRUE(all.has_system);
  EXPECT_TRUE(all.has_tools);
  EXPECT_TRUE(all.has_documents);
  EXPECT_TRUE(all.has_thinking);
}

TEST(TemplateFacts, SeesWhatIsLeftOutOrRefused) {
  const TemplateFacts none = facts(
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
      "{% endif %}{{ m.content }}{% endfor %}");
  EXPECT_FALSE(none.has_system);
  EXPECT_FALSE(none.has_tools);
  EXPECT_FALSE(none.has_documents);
  EXPECT_FALSE(none.has_thinking);
  const TemplateFacts ignored = facts(
      "{% if tools is defined %}{% endif %}{% for m in messages if m.role == 'user' %}"
      "{{ m.content }}{% endfor %}");
  EXPECT_FALSE(ignored.has_system);
  EXPECT_FALSE(ignored.has_tools);
}

TEST(TemplateFacts, TakesASwitchForThinking) {
  EXPECT_TRUE(facts("{{ messages[0].content }}{% if enable_thinking %}x{% endif %}").has_thinking);
}

}  // namespace

}  // namespace wick
