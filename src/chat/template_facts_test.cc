#include "chat/template_facts.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace wick {
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
