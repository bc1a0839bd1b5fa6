// Templates that try to hang the program or to take its memory. What is measured is the work that
// was charged, and the bytes that operator new gave out, at a time and in all: what is copied
// without a charge shows there, and no clock is read.
#include <gtest/gtest.h>
#include <pthread.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/chat_template.h"
#include "support/hot_counters.h"
#include "support/test_data.h"

namespace wick {
namespace {

constexpr long kSlack = 1L << 20;  // the error's text, the allocator's own rounding
// Of operator new in all: for each unit of work that a render may take (137 at most, by center()),
// and of a parse (52 MB at most). Without a charge the loops below come to gigabytes.
constexpr long kBytesPerWork = 256;
constexpr long kParseBytes = 128L << 20;

struct Measured {
  Result<MarkedText> text = Error{};
  RenderUsage usage = {};
  long peak_bytes = 0;   // of operator new
  long given_bytes = 0;  // of operator new, in all
};

Measured measure(const ChatTemplate& tmpl, const Object& context, const RenderLimits& limits = {}) {
  Measured out;
  const long before = test::live_bytes();
  test::reset_peak_bytes();
  const long start = test::given_bytes();
  out.text = tmpl.render(context, {.now_seconds = 0, .limits = limits, .usage = &out.usage});
  out.given_bytes = test::given_bytes() - start;
  out.peak_bytes = test::peak_bytes() - before;
  return out;
}

void expect_within(const Measured& m, const RenderLimits& limits, const std::string& name) {
  // The input adds a little, and one operation may end a little beyond.
  EXPECT_LT(m.usage.work, limits.work * 5 / 4 + (1 << 20)) << name;
  EXPECT_LT(m.peak_bytes, static_cast<long>(limits.bytes) + kSlack) << name;
  EXPECT_LT(m.given_bytes, limits.work * kBytesPerWork) << name;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(HostileTemplate, TheAttacksEndWithinWorkAndMemory) {
  int n = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(test::test_data("chat") / "hostile")) {
    const std::string name = file.path().filename();
    const auto tmpl = ChatTemplate::parse(read_file(file.path()));
    ASSERT_TRUE(tmpl) << name << ": " << to_string(tmpl.error());
    const RenderLimits limits;
    const Measured m = measure(*tmpl, {}, limits);
    expect_within(m, limits, name);
    if (!m.text) {
      EXPECT_EQ(m.text.error().id, "template_limit") << name;
    }
    ++n;
  }
  EXPECT_GE(n, 16);
}

TEST(HostileTemplate, ManyAttributesOfANamespaceAreFoundByHash) {
  std::string source = "{% set n = namespace() %}";
  for (int i = 0; i < 12'000; ++i)
    source += cat("{% set n.a", i, "=1 %}");
  const auto tmpl = ChatTemplate::parse(source);
  ASSERT_TRUE(tmpl) << to_string(tmpl.error());
  const Measured m = measure(*tmpl, {});
  EXPECT_TRUE(m.text);
  EXPECT_LT(m.usage.work, 12'000 * 40);
}

TEST(HostileTemplate, ATextThatGrowsPieceByPieceIsNotCopiedEachTime) {
  const auto tmpl = ChatTemplate::parse(
      "{% set n = namespace(t='') %}{% for i in range(50000) %}{% set n.t = n.t ~ '<b>' ~ x %}"
      "{% endfor %}{{ n.t|length }}");
  ASSERT_TRUE(tmpl);
  Object context;
  context["x"] = "word";
  const Measured m = measure(*tmpl, context);
  ASSERT_TRUE(m.text) << to_string(m.text.error());
  EXPECT_EQ(m.text->text, "350000");
  EXPECT_LT(m.usage.work, 50'000 * 40);
}

// Each row over large and small input, in a loop that never ends by itself.
TEST(HostileTemplate, EveryFilterAndMethodChargesWhatItDoes) {
  const RenderLimits limits = {.work = 128 << 10, .bytes = std::size_t{4} << 20};
  const char* const inputs[] = {
      "'a'*200000", "'é Ж'*9000", "'Σ́'*9000",   "('a b,c'|e)",
      "'<&>'*9000", "'ab'",       "[1,2]*9000", "range(9000)|map('string')|list",
      "{'a':1}",    "7",          "1.5e300",    "dict(range(9000)|map('string')|batch(2))"};
  const char* const arguments[] = {"", "'a'", "'zz','b'", "90000", "2,'a'", "['a','b']"};
  std::set<std::string> calls;
  for (const auto* table : jinja::kFilterTables) {
    for (const auto& row : *table) {
      for (const char* args : arguments)
        calls.insert(cat("s|", row.name, "(", args, ")|string|length"));
    }
  }
  for (const auto& row : jinja::kStringMethods) {
    for (const char* args : arguments)
      calls.insert(cat("s.", row.name, "(", args, ")"));
  }
  for (const auto& row : jinja::kTests)
    calls.insert(cat("[s]|select('", row.name, "',s)|list"));
  for (const char* input : inputs) {
    for (const std::string& call : calls) {
      const std::string source = cat("{% set s = ", input, " %}{% for i in range(99999) %}{% if ",
                                     call, " %}{% endif %}{% endfor %}");
      const auto tmpl = ChatTemplate::parse(source);
      if (!tmpl) continue;
      const Measured m = measure(*tmpl, {}, limits);
      expect_within(m, limits, source);
    }
  }
}

TEST(HostileTemplate, ManyParametersBranchesAndTokensAreRefusedAtParse) {
  std::string params = "{% macro m(", named = "{{ x(", branches = "{% set ", frames, many, inner;
  for (int i = 0; i < 20'000; ++i) {
    params += cat("a", i, ",");
    named += cat("a", i, "=1,");
    branches += cat("a", i, ",");
  }
  branches += "z = x %}";
  for (int i = 0; i < 60; ++i)
    branches += "{% if a %}{% else %}";
  for (int i = 0; i < 60; ++i)
    branches += "{% endif %}";
  for (int i = 0; i < 190; ++i)
    frames += "{% for i in x %}";
  for (int i = 0; i < 25'000; ++i)
    frames += cat("{{a", i, "}}");
  for (int i = 0; i < 190; ++i)
    frames += "{% endfor %}";
  for (int i = 0; i < 60'000; ++i)
    many += "{{1}}";
  for (int i = 0; i < 190; ++i)
    inner += "{% if a %}";
  inner += "{% set (";
  for (int i = 0; i < 18'000; ++i)
    inner += cat("a", i, ",");
  inner += "z) = x %}";
  for (int i = 0; i < 190; ++i)
    inner += "{% else %}x{% endif %}";
  for (const std::string& source :
       {params + "z) %}{% endmacro %}", named + "z=1) }}", branches, frames, many, inner}) {
    const long before = test::live_bytes();
    test::reset_peak_bytes();
    const long start = test::given_bytes();
    EXPECT_FALSE(ChatTemplate::parse(source)) << source.substr(0, 60);
    EXPECT_LT(test::given_bytes() - start, kParseBytes) << source.substr(0, 60);
    EXPECT_LT(test::peak_bytes() - before, 96L << 20) << source.substr(0, 60);
  }
}

TEST(HostileTemplate, AStopEndsARenderAtOnce) {
  const auto tmpl = ChatTemplate::parse(
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
  ASSERT_TRUE(tmpl);
  std::stop_source stop;
  stop.request_stop();
  RenderUsage usage;
  const auto text = tmpl->render({}, {.stop = stop.get_token(), .usage = &usage});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kCancelled);
  EXPECT_LT(usage.work, 200'000);
  // One that comes while it runs ends it, too, long before its limit would.
  std::stop_source later;
  std::thread other([&later] { later.request_stop(); });
  const auto cut =
      tmpl->render({}, {.limits = {.work = std::int64_t{1} << 40}, .stop = later.get_token()});
  other.join();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().id, "cancelled");
}

TEST(HostileTemplate, AMessageOfItsOwnIsCutButStaysAsItIs) {
  const auto tmpl = ChatTemplate::parse("{{ raise_exception('\\x1b[31m\\n' ~ 'é'*99999) }}");
  ASSERT_TRUE(tmpl);
  const auto text = tmpl->render({});
  ASSERT_FALSE(text);
  EXPECT_TRUE(text.error().message.starts_with("\x1b[31m\n\xC3\xA9"));  // the program escapes it
  EXPECT_LE(text.error().message.size(), 4000U);
  EXPECT_EQ(complete_utf8(text.error().message), text.error().message.size());
}

// A host's thread may have less than the 8 MB of a program's first one.
void run_on_stack(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread = {};
  const auto run = [](void* what) -> void* {
    (*static_cast<std::function<void()>*>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string times(int n, std::string_view text) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += text;
  return out;
}

TEST(HostileTemplate, ASmallStackIsALimitOfDepth) {
  const std::string deep_list = times(100, "[") + times(100, "]");
  const std::string templates[] = {
      "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
      "{% macro f(n) %}{% for i in [n] %}{{ f(i + 1)|upper|tojson }}{% endfor %}{% endmacro %}"
      "{{ f(0) }}",
      "{% for i in [1] recursive %}{{ loop([i]) }}{% endfor %}",
      cat("{{ ", times(190, "("), "1", times(190, ")"), " }}"),
      cat(times(190, "{% for a in [1] %}"), "x", times(190, "{% endfor %}")),
      cat("{{ ", deep_list, "|tojson }}{{ ", deep_list, "|string }}{{ ", deep_list,
          " == ", deep_list, " }}")};
  for (const std::size_t bytes : {std::size_t{128} << 10, std::size_t{256} << 10}) {
    for (const std::string& text : templates) {
      run_on_stack(bytes, [&text] {
        const auto tmpl = ChatTemplate::parse(text);
        if (tmpl) static_cast<void>(tmpl->render({}));
      });
    }
  }
  run_on_stack(std::size_t{128} << 10, [&templates] {
    const auto tmpl = ChatTemplate::parse(templates[0]);
    ASSERT_TRUE(tmpl);
    const auto shown = tmpl->render({});
    ASSERT_FALSE(shown);
    EXPECT_NE(shown.error().message.find("stack"), std::string::npos) << shown.error().message;
  });
}

TEST(HostileTemplate, ALongConversationMayTakeMore) {
  const auto tmpl =
      ChatTemplate::parse("{% for m in messages %}{{ m.content|trim|upper }}{% endfor %}");
  ASSERT_TRUE(tmpl);
  Array messages;
  for (int i = 0; i < 40; ++i) {
    Object message;
    message["content"] = std::string(1 << 20, 'x');
    messages.emplace_back(std::move(message));
  }
  Object context;
  context["messages"] = std::move(messages);
  const auto text = tmpl->render(context);
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_EQ(text->text.size(), std::size_t{40} << 20);
}

}  // namespace
}  // namespace wick
