#include "grammar/output_format.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "grammar/earley.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/recognizer.h"
#include "grammar/structural_tag.h"

namespace wick::grammar {

namespace {

using Made = Result<std::unique_ptr<Recognizer>>;

template <class T>
Made whole(Result<std::unique_ptr<T>> made) {
  if (!made) return std::move(made).error();
  return std::unique_ptr<Recognizer>(*std::move(made));
}

Made make_object(const std::string& text, const TokenNames& /*names*/) {
  return whole(SchemaRecognizer::parse(text.empty() ? R"({"type":"object"})" : text, {}));
}

Made make_schema(const std::string& text, const TokenNames& /*names*/) {
  return whole(SchemaRecognizer::parse(text, {}));
}

Made make_regex(const std::string& text, const TokenNames& /*names*/) {
  return whole(RegexRecognizer::parse(text));
}

Made make_grammar(const std::string& text, const TokenNames& names) {
  return whole(EarleyRecognizer::parse(text, names));
}

Made make_tags(const std::string& text, const TokenNames& names) {
  return structural_tag(text, names);
}

// `text`: a JSON array of strings.
Made make_choice(const std::string& text, const TokenNames& /*names*/) {
  WICK_TRY(const JsonDocument document, read_document(text));
  const Json& list = document.root;
  std::vector<std::string_view> texts;
  bool is_good = list.is(Json::Kind::kArray) && !list.items.empty();
  for (const Json& item : list.items) {
    is_good = is_good && item.is(Json::Kind::kString);
    texts.push_back(item.text);
  }
  if (!is_good) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_choice",
                 .message = "the choices are no JSON array of at least one string",
                 .hint = R"(["yes","no"])"};
  }
  return whole(RegexRecognizer::choice(texts));
}

struct Kind {
  std::string_view type;
  bool needs_schema;
  Made (*make)(const std::string& text, const TokenNames& names);
};

constexpr Kind kKinds[] = {
    {"json_object", false, make_object}, {"json_schema", true, make_schema},
    {"regex", true, make_regex},         {"choice", true, make_choice},
    {"grammar", true, make_grammar},     {"structural_tag", true, make_tags},
};

}  // namespace

Result<std::unique_ptr<Recognizer>> make_recognizer(const ResponseFormat& format,
                                                    const TokenNames& names) {
  std::string known = "text";
  for (const Kind& kind : kKinds) {
    known += cat(", ", kind.type);
    if (kind.type != format.type) continue;
    if (kind.needs_schema && format.schema.empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "format_without_schema",
                   .message = cat("the response format '", kind.type, "' needs a schema"),
                   .hint = "response_format.schema is the schema, regex, choices or grammar"};
    }
    WICK_TRY(auto made, kind.make(format.schema, names));
    if (made->start() != kDeadState) return made;
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_document",
                 .message = cat("no text fulfills this '", kind.type, "'")};
  }
  return Error{.code = ErrorCode::kUnsupported,
               .id = "response_format_unsupported",
               .message = cat("the response format '", printable(format.type),
                              "' is not known, known are ", known)};
}

}  // namespace wick::grammar
