// Fields of a gap between two texts.
#include "server/errors.h"
#include "server/limits.h"
#include "server/setters.h"

namespace wick::server {

namespace {

Infill& gap_of(ParsedRequest& parsed) {
  return parsed.gap ? *parsed.gap : parsed.gap.emplace();
}

}  // namespace

SetResult set_suffix(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  if (!value.string()->empty()) gap_of(parsed).suffix = *value.string();
  return {};
}

SetResult set_gap_prefix(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  gap_of(parsed).prefix = *value.string();
  return {};
}

SetResult set_gap_begun(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  gap_of(parsed).begun = *value.string();
  return {};
}

// [{"filename": …, "text": …}, …]
SetResult set_gap_files(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const Array& files = *value.array();
  if (files.size() > kMaxInfillFiles)
    return bad_field(field.name, "has ", files.size(), " files, allowed are ", kMaxInfillFiles);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Object* const file = files[i].object();
    const JsonValue* const text = file == nullptr ? nullptr : file->find("text");
    if (text == nullptr || text->string() == nullptr)
      return bad_field(cat(field.name, "[", i, "].text"), "is missing, wanted is a string");
    const JsonValue* const name = file->find("filename");
    const bool has_name = name != nullptr && name->string() != nullptr;
    gap_of(parsed).files.push_back(
        {.name = has_name ? *name->string() : "file", .text = *text->string()});
  }
  return {};
}

}  // namespace wick::server
