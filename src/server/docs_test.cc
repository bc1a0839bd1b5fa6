// docs/api.md says what the tables say.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "server/fields.h"
#include "server/server_fixture_test.h"
#include "support/test_data.h"

namespace wick::server {
namespace {

std::string docs() {
  std::ifstream file(wick::test::test_data("../../docs/api.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What stands between <!-- NAME --> and <!-- end -->.
std::string section(std::string_view name) {
  const std::string text = docs(), mark = cat("<!-- ", name, " -->\n");
  const std::size_t begin = text.find(mark);
  if (begin == std::string::npos) return "docs/api.md has no " + mark;
  const std::size_t from = begin + mark.size();
  return text.substr(from, text.find("<!-- end -->", from) - from);
}

std::string apis_of(const Field& field) {
  constexpr std::pair<Api, std::string_view> kNames[] = {{kChat, "chat"},
                                                         {kCompletions, "completions"},
                                                         {kEmbeddings, "embeddings"},
                                                         {kRerank, "rerank"},
                                                         {kResponses, "responses"},
                                                         {kMessages, "messages"},
                                                         {kOllamaChat, "api/chat"},
                                                         {kOllamaGenerate, "api/generate"},
                                                         {kOllamaOptions, "options"},
                                                         {kTokens, "tokens"},
                                                         {kOllamaShow, "api/show"},
                                                         {kModels, "models"},
                                                         {kOllamaFiles, "api/pull and delete"},
                                                         {kOllamaCopy, "api/copy"},
                                                         {kInfill, "infill"},
                                                         {kKeys, "keys"}};
  const bool is_general = (field.apis & kGenerating) == kGenerating;
  std::string out = is_general ? "all that generate" : "";
  for (const auto& [api, name] : kNames) {
    if (is_general && (kGenerating & api) != 0) continue;
    if ((field.apis & api) != 0) out += cat(out.empty() ? "" : ", ", name);
  }
  return out;
}

TEST(ServerDocs, TheTableOfFieldsIsThatOfTheCode) {
  std::string table = "| field | in | type | meaning |\n|---|---|---|---|\n";
  for (const Field& field : fields()) {
    const std::string range = range_of(field);
    const bool has_range = !range.empty() && field.kind != FieldKind::kAny;
    table += cat("| `", field.name, "` | ", apis_of(field), " | ", name(field.kind),
                 has_range ? cat(", ", range) : "", " | ",
                 field.key.empty() ? field.help
                                   : cat(field.help, " `generation.", field.key, "`"),
                 " |\n");
  }
  EXPECT_EQ(section("fields"), table) << "copy this table into docs/api.md:\n" << table;
}

TEST(ServerDocs, TheTableOfRoutesIsThatOfTheCode) {
  test::Server server(test::always({}));
  std::string table = "| route | access | |\n|---|---|---|\n";
  for (const RouteInfo& route : route_infos()) {
    constexpr std::string_view kAccess[] = {"open", "infer", "admin"};
    table += cat("| `", route.verb, " ", route.path, "` | ",
                 kAccess[static_cast<std::size_t>(route.access)], " | ", route.help, " |\n");
  }
  EXPECT_EQ(section("routes"), table) << "copy this table into docs/api.md:\n" << table;
  EXPECT_EQ(server.routes.size(), route_infos().size());
}

}  // namespace
}  // namespace wick::server
