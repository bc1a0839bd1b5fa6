#include "grammar/structural_tag.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "grammar/composed.h"
#include "grammar/earley.h"
#include "grammar/limits.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/recognizer.h"

namespace wick::grammar {

namespace {

using Part = Composition::Part;

class Reader {
 public:
  Reader(JsonDocument json, const TokenNames& names) : names_(names), read_(std::move(json)) {}

  Result<std::unique_ptr<Recognizer>> read() {
    const Json& json = read_.root;
    const Json* const format = json.find("format");
    WICK_TRY(const Part whole, json.find("structures") != nullptr ? older(json)
                               : format != nullptr                ? part(*format, "format", {})
                                                                  : part(json, "", {}));
    WICK_TRY(Program program, std::move(c_).compile(whole));
    std::unique_ptr<Recognizer> made = std::make_unique<ComposedRecognizer>(std::move(program));
    if (made->start() == kFailedState) return made->failure();
    return made;
  }

 private:
  using Ends = std::vector<std::string>;  // texts that end free text

  static Error bad(std::string_view path, std::string_view what) {
    return {.code = ErrorCode::kInvalid,
            .id = "bad_structural_tag",
            .message = cat("the structural tag's ", path.empty() ? "document" : path, " ", what)};
  }

  static Result<std::string> text_at(const Json& json, std::string_view path,
                                     std::string_view key) {
    const Json* const found = json.find(key);
    if (found == nullptr || !found->is(Json::Kind::kString))
      return bad(cat(path, ".", key), "is no string");
    return std::string(found->text);
  }

  static bool is_true(const Json& json, std::string_view key) {
    const Json* const found = json.find(key);
    return found != nullptr && found->is(Json::Kind::kTrue);
  }

  static Result<std::uint32_t> count_at(const Json& json, std::string_view path,
                                        std::string_view key, std::uint32_t absent) {
    const Json* const found = json.find(key);
    if (found == nullptr || found->is(Json::Kind::kNull)) return absent;
    const bool is_count = found->is(Json::Kind::kNumber) && found->text.size() <= 7 &&
                          std::all_of(found->text.begin(), found->text.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
    if (is_count) return static_cast<std::uint32_t>(std::stoul(std::string(found->text)));
    if (found->text == "-1") return absent;
    return bad(cat(path, ".", key), "is no count below 10,000,000");
  }

  Result<std::vector<Part>> parts_at(const Json& json, std::string_view path, std::string_view key,
                                     const Ends& ends) {
    const Json* const list = json.find(key);
    if (list == nullptr || !list->is(Json::Kind::kArray) || list->items.empty())
      return bad(cat(path, ".", key), "is no array with elements");
    std::vector<Part> out;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      WICK_TRY(const Part one, part(list->items[i], cat(path, ".", key, "[", i, "]"), ends));
      out.push_back(one);
    }
    return out;
  }

  Result<std::vector<std::string>> texts_at(const Json& json, std::string_view path,
                                            std::string_view key) {
    const Json* const list = json.find(key);
    std::vector<std::string> out;
    if (list == nullptr) return out;
    std::size_t n_bytes = 0;
    for (const Json& one : list->items) {
      n_bytes += one.text.size();
      if (!one.is(Json::Kind::kString) || one.text.empty() || one.text.size() > kMaxTriggerBytes)
        return bad(cat(path, ".", key),
                   cat("is no array of texts of 1 to ", kMaxTriggerBytes, " bytes"));
      out.emplace_back(one.text);
    }
    if (n_bytes > 16 * kMaxTriggerBytes || !list->is(Json::Kind::kArray))
      return bad(cat(path, ".", key), "is no array, or too large");
    return out;
  }

  template <class Made>
  Result<Part> document(Made made) {
    if (!made) return std::move(made).error();
    return c_.document(*std::move(made));
  }

  Result<Part> content_at(const Json& json, const std::string& path, const Ends& ends) {
    if (is_older_) return schema(json, path, "schema");
    const Json* const content = json.find("content");
    if (content == nullptr) return bad(cat(path, ".content"), "is missing");
    return part(*content, cat(path, ".content"), ends);
  }

  // `ends`: what may follow; free text in the part does not hold it.
  Result<Part> part(const Json& json, const std::string& path, const Ends& ends) {
    if (++n_parts_ > kMaxGrammarNodes / 10) return bad(path, "has too many parts");
    WICK_TRY(const std::string type, text_at(json, path, "type"));
    if (type == "const_string") {
      WICK_TRY(std::string value, text_at(json, path, "value"));
      return c_.text(std::move(value));
    }
    if (type == "any_text") return any_text(json, path, ends);
    if (type == "json_schema") return schema(json, path, "json_schema");
    if (type == "regex") {
      WICK_TRY(const std::string pattern, text_at(json, path, "pattern"));
      return document(RegexRecognizer::parse(pattern));
    }
    if (type == "grammar") {
      WICK_TRY(const std::string grammar, text_at(json, path, "grammar"));
      return document(EarleyRecognizer::parse(grammar, names_));
    }
    if (type == "sequence") {
      WICK_TRY(auto parts, parts_at(json, path, "elements", ends));
      return c_.sequence(std::move(parts));
    }
    if (type == "or") {
      WICK_TRY(auto parts, parts_at(json, path, "elements", ends));
      return c_.any_of(std::move(parts));
    }
    if (type == "optional" || type == "plus" || type == "star" || type == "repeat")
      return repeat(json, path, type, ends);
    if (type == "tag") return tag(json, path, {});
    if (type == "triggered_tags") return triggered(json, path, ends);
    if (type == "tags_with_separator") return separated(json, path, ends);
    if (type == "token") return token(json, path);
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "bad_structural_tag",
                 .message = cat("the structural tag's ", path, ".type '", printable(type, 40),
                                "' is not supported")};
  }

  Result<Part> any_text(const Json& json, const std::string& path, const Ends& ends) {
    WICK_TRY(Ends excluded, texts_at(json, path, "excludes"));
    WICK_TRY(const std::uint32_t most, count_at(json, path, "max_bytes", Program::kAnyLength));
    excluded.insert(excluded.end(), ends.begin(), ends.end());
    return c_.free_text({.triggers = std::move(excluded), .max_bytes = most});
  }

  Result<Part> schema(const Json& json, const std::string& path, std::string_view key) {
    const Json* const schema = json.find(key);
    if (schema == nullptr || !(schema->is(Json::Kind::kObject) || schema->is_boolean()))
      return bad(cat(path, ".", key), "is no schema");
    return document(SchemaRecognizer::make(read_.part(*schema), {}, {}));
  }

  Result<Part> repeat(const Json& json, const std::string& path, const std::string& type,
                      const Ends& ends) {
    WICK_TRY(const Part one, content_at(json, path, ends));
    if (type == "optional") return c_.optional(one);
    if (type != "repeat") return c_.repeat(one, type == "plus" ? 1 : 0, Composition::kMany);
    WICK_TRY(const std::uint32_t min, count_at(json, path, "min", 0));
    WICK_TRY(const std::uint32_t max, count_at(json, path, "max", Composition::kMany));
    if (max < min) return bad(path, "has bounds in the wrong order");
    return c_.repeat(one, min, max);
  }

  // Behind `trigger`, which is a beginning of the tag's own.
  Result<Part> tag(const Json& json, const std::string& path, std::string_view trigger) {
    WICK_TRY(const std::string begin, text_at(json, path, "begin"));
    Ends ends;
    const Json* const end = json.find("end");
    if (end != nullptr && end->is(Json::Kind::kString)) {
      ends.emplace_back(end->text);
    } else if (end != nullptr) {
      WICK_TRY(ends, texts_at(json, path, "end"));
    }
    if (ends.empty()) return bad(cat(path, ".end"), "is missing");
    Ends inner;
    for (const std::string& one : ends)
      if (!one.empty() && one.size() <= kMaxTriggerBytes) inner.push_back(one);
    WICK_TRY(const Part content, content_at(json, path, inner));
    std::vector<Part> behind;
    for (std::string& one : ends)
      behind.push_back(c_.text(std::move(one)));
    return c_.sequence(
        {c_.text(begin.substr(trigger.size())), content, c_.any_of(std::move(behind))});
  }

  Result<Part> triggered(const Json& json, const std::string& path, const Ends& ends) {
    WICK_TRY(const std::vector<std::string> triggers, texts_at(json, path, "triggers"));
    WICK_TRY(const std::vector<std::string> excluded, texts_at(json, path, "excludes"));
    const Json* const tags = json.find(is_older_ ? "structures" : "tags");
    if (triggers.empty() || tags == nullptr || !tags->is(Json::Kind::kArray))
      return bad(path, "has no triggers or no tags");
    Composition::Free free{.triggers = triggers};
    free.triggers.insert(free.triggers.end(), excluded.begin(), excluded.end());
    free.triggers.insert(free.triggers.end(), ends.begin(), ends.end());
    std::vector<Part> calls;
    for (std::uint32_t t = 0; t < triggers.size(); ++t) {
      std::vector<Part> fitting;
      for (std::size_t i = 0; i < tags->items.size(); ++i) {
        const Json* const begin = tags->items[i].find("begin");
        if (begin == nullptr || !begin->text.starts_with(triggers[t])) continue;
        WICK_TRY(const Part one, tag(tags->items[i], cat(path, ".tags[", i, "]"), triggers[t]));
        fitting.push_back(one);
      }
      if (fitting.empty()) continue;
      calls.push_back(c_.sequence({c_.until(free, t), c_.any_of(std::move(fitting))}));
    }
    if (calls.empty()) return bad(path, "has no tag that begins with a trigger");
    const Part call = c_.any_of(std::move(calls));
    const std::uint32_t min = is_true(json, "at_least_one") ? 1 : 0;
    if (is_true(json, "stop_after_first")) {
      if (min == 1) return call;
      return c_.any_of({call, c_.free_text(std::move(free))});
    }
    return c_.sequence({c_.repeat(call, min, Composition::kMany), c_.free_text(std::move(free))});
  }

  Result<Part> separated(const Json& json, const std::string& path, const Ends& ends) {
    WICK_TRY(std::vector<Part> tags, parts_at(json, path, "tags", ends));
    WICK_TRY(std::string separator, text_at(json, path, "separator"));
    const Part one = c_.any_of(std::move(tags));
    const std::uint32_t min = is_true(json, "at_least_one") ? 1 : 0;
    if (is_true(json, "stop_after_first")) return min == 1 ? one : c_.optional(one);
    return c_.list(one, c_.text(std::move(separator)), min);
  }

  Result<Part> token(const Json& json, const std::string& path) {
    const Json* const value = json.find("token");
    if (value != nullptr && value->is(Json::Kind::kNumber)) {
      WICK_TRY(const std::uint32_t id, count_at(json, path, "token", 0));
      return c_.text(special_token(static_cast<TokenId>(id)));
    }
    WICK_TRY(const std::string name, text_at(json, path, "token"));
    if (!names_) return c_.text(name);
    const auto id = names_(name);
    if (!id) return bad(cat(path, ".token"), "is no token of this model");
    return c_.text(special_token(*id));
  }

  // {"structures": [{"begin", "schema", "end"}], "triggers": […]}
  Result<Part> older(const Json& json) {
    for (const Json& one : json.find("structures")->items) {
      if (one.find("schema") == nullptr)
        return bad("structures", "has an element without a schema");
    }
    is_older_ = true;
    return triggered(json, "structures", {});
  }

  const TokenNames& names_;
  JsonDocument read_;
  bool is_older_ = false;
  Composition c_ = {};
  std::size_t n_parts_ = 0;
};

}  // namespace

Result<std::unique_ptr<Recognizer>> structural_tag(std::string_view json, const TokenNames& names) {
  WICK_TRY(JsonDocument read, read_document(json));
  return Reader(std::move(read), names).read();
}

}  // namespace wick::grammar
