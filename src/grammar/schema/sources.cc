#include "grammar/schema/sources.h"

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/formats.h"

namespace wick::grammar {
namespace {

// Where schemas stand within a schema; `$id` and anchors count there alone, not in enum or const.
constexpr std::array<std::string_view, 12> kOne = {"additionalItems",
                                                   "additionalProperties",
                                                   "contains",
                                                   "contentSchema",
                                                   "else",
                                                   "if",
                                                   "items",
                                                   "not",
                                                   "propertyNames",
                                                   "then",
                                                   "unevaluatedItems",
                                                   "unevaluatedProperties"};
constexpr std::array<std::string_view, 5> kList = {"allOf", "anyOf", "items", "oneOf",
                                                   "prefixItems"};
constexpr std::array<std::string_view, 6> kNamed = {
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"};

constexpr std::uint64_t kWithin = marks_of(kOne) | marks_of(kList) | marks_of(kNamed);
// Keywords that name a schema.
constexpr std::uint64_t kNaming =
    marks_of({"$id", "id", "$ref", "$anchor", "$dynamicAnchor"});

struct Dialect {
  std::string_view path;
  Draft draft;
};

constexpr char kNotDefined[] = "Define it in the schema, or correct the reference.";
constexpr char kNotFetched[] =
    "Nothing is downloaded: put the document's schemas into $defs, or give a folder with "
    "--registry "
    "of wick grammar.";

constexpr Dialect kDialects[] = {
    {"/draft-04/schema", Draft::k4},           {"/draft-06/schema", Draft::k6},
    {"/draft-07/schema", Draft::k7},           {"/draft/2019-09/schema", Draft::k2019},
    {"/draft/2020-12/schema", Draft::k2020},
};

template <std::size_t N>
bool has(const std::array<std::string_view, N>& names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

const std::string_view* text_at(const Json& schema, std::string_view key) {
  const Json* const found = schema.find(key);
  return found != nullptr && found->is(Json::Kind::kString) ? &found->text : nullptr;
}

// Of a reference that leads to nothing: the compiler says where it stands, and what to.
Error bad_reference(const char* why, const char* hint) {
  return {ErrorCode::kNotFound, "schema_reference", why, hint};
}

std::string unescaped(std::string_view part) {
  std::string plain;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto digit = [&](std::size_t at) { return at < part.size() ? hex_value(part[at]) : -1; };
    if (part[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      plain += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      plain += part[i];
    }
  }
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '~' && i + 1 < plain.size() && (plain[i + 1] == '0' || plain[i + 1] == '1')) {
      out += plain[++i] == '0' ? '~' : '/';
    } else {
      out += plain[i];
    }
  }
  return out;
}

// The same; the text goes to `buffer` if it is not `part` itself.
std::string_view unescaped(std::string_view part, std::string& buffer) {
  constexpr auto kNone = std::string_view::npos;
  if (part.find('%') == kNone && part.find('~') == kNone) return part;
  buffer = unescaped(part);
  return buffer;
}

// The JSON pointer (RFC 6901) of `node` within `from`; nothing where it is not there.
std::optional<std::string> pointer_within(const Json& from, const Json& node) {
  if (&from == &node) return "";
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    const auto rest = pointer_within(from.items[i], node);
    if (!rest) continue;
    if (from.keys.empty()) return cat("/", i, *rest);
    std::string key;
    for (const char c : from.keys[i])
      key += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return cat("/", key, *rest);
  }
  return std::nullopt;
}

std::string without_empty_fragment(std::string_view address) {
  if (address.ends_with('#')) address.remove_suffix(1);
  return std::string(address);
}

// What published schemas write for the address of a draft's meta-schema: http and https, and
// Skaffold's 70 have "json-schema-org". "/schema" names no draft: `otherwise`.
std::optional<Draft> draft_at(std::string_view address, Draft otherwise) {
  if (address.ends_with('#')) address.remove_suffix(1);
  if (!address.starts_with("http://") && !address.starts_with("https://")) return std::nullopt;
  address.remove_prefix(address.find("://") + 3);
  const std::size_t slash = std::min(address.find('/'), address.size());
  const std::string_view host = address.substr(0, slash), path = address.substr(slash);
  if (host != "json-schema.org" && host != "json-schema-org") return std::nullopt;
  if (path == "/schema") return otherwise;
  for (const Dialect& known : kDialects)
    if (known.path == path) return known.draft;
  return std::nullopt;
}

}  // namespace

std::optional<Draft> draft_named(std::string_view name) {
  constexpr std::pair<std::string_view, Draft> kNames[] = {{"4", Draft::k4},
                                                           {"6", Draft::k6},
                                                           {"7", Draft::k7},
                                                           {"2019-09", Draft::k2019},
                                                           {"2020-12", Draft::k2020}};
  for (const auto& [known, draft] : kNames) {
    if (known == name) return draft;
  }
  return std::nullopt;
}

Result<Place> SchemaSources::add_root(JsonDocument document) {
  return add_document(std::move(document), "", draft_.value_or(Draft::k2020), true);
}

Result<Place> SchemaSources::add_document(JsonDocument document, const std::string& address,
                                          Draft draft, bool is_root) {
  if (documents_.size() >= kMaxSchemaDocuments) {
    return Error{ErrorCode::kUnsupported,
                 "schema_size",
                 cat("the schema refers to more than ", kMaxSchemaDocuments, " documents"),
                 {}};
  }
  documents_.push_back(std::move(document));
  const Json& root = documents_.back().root;
  WICK_TRY(const ResourceId id, add_resource(root, address, draft));
  if (!is_root) by_address_[address] = id;
  WICK_DO(index(root, id, 0));
  return Place{&root, id};
}

Result<ResourceId> SchemaSources::add_resource(const Json& root, std::string base, Draft draft) {
  const auto id = static_cast<ResourceId>(resources_.size());
  Resource& made = resources_.emplace_back();
  made.base = std::move(base);
  made.draft = draft;
  made.root = &root;
  roots_[&root] = id;
  if (const std::string_view* const dialect = text_at(root, "$schema")) {
    if (const auto known = draft_at(*dialect, draft)) {
      made.draft = *known;
      made.has_draft = true;
    } else {
      WICK_DO(apply_vocabulary(made, without_empty_fragment(*dialect)));
    }
  }
  const Json* const recursive = root.find("$recursiveAnchor");
  made.is_recursive_anchor = recursive != nullptr && recursive->is(Json::Kind::kTrue);
  return id;
}

// A meta-schema of the caller's: its own $schema says the draft, $vocabulary what of it is used.
Result<void> SchemaSources::apply_vocabulary(Resource& resource, const std::string& address) {
  const std::optional<std::string> text = fetch_ ? fetch_(address) : std::nullopt;
  if (!text) {
    return Error{ErrorCode::kUnsupported,
                 "schema_keyword",
                 cat("the keyword '$schema' names '", printable(address, 200),
                     "', which is no draft from 4 to 2020-12 and not in the registry"),
                 {}};
  }
  WICK_TRY(const JsonDocument meta_document, read_document(*text));
  const Json& meta = meta_document.root;
  const std::string_view* const its = text_at(meta, "$schema");
  if (its != nullptr) resource.draft = draft_at(*its, resource.draft).value_or(resource.draft);
  resource.has_draft = true;
  const Json* const vocabulary = meta.find("$vocabulary");
  if (vocabulary == nullptr) return {};
  const auto uses = [&](std::string_view part) {
    return std::any_of(vocabulary->keys.begin(), vocabulary->keys.end(), [&](const auto& key) {
      return key.find(cat("/vocab/", part)) != std::string::npos;
    });
  };
  resource.has_validation = uses("validation");
  resource.has_applicators = uses("applicator");
  resource.has_format = uses("format");
  resource.has_unevaluated = uses(resource.draft == Draft::k2019 ? "applicator" : "unevaluated");
  return {};
}

void SchemaSources::add_anchors(const Json& schema, ResourceId within) {
  Resource& its = resources_[within];
  if (const std::string_view* const name = text_at(schema, "$anchor"))
    its.anchors.insert_or_assign(std::string(*name), &schema);
  if (const std::string_view* const name = text_at(schema, "$dynamicAnchor")) {
    its.anchors.insert_or_assign(std::string(*name), &schema);
    its.dynamic_anchors.insert_or_assign(std::string(*name), &schema);
  }
}

Result<void> SchemaSources::index(const Json& schema, ResourceId within, int depth) {
  if (!schema.is(Json::Kind::kObject)) return {};
  add_format(schema);
  return schema.may_have(kNaming | kWithin) ? index_object(schema, within, depth) : Result<void>();
}

void SchemaSources::add_format(const Json& schema) {
  const std::string_view* const format = text_at(schema, "format");
  if (format == nullptr || formats_.find(*format) != formats_.end()) return;
  if (is_known_format(*format)) formats_.emplace(*format);
}

Result<void> SchemaSources::index_object(const Json& schema, ResourceId within, int depth) {
  const Draft draft = resources_[within].draft;
  const bool is_old = draft <= Draft::k7;
  const std::string_view* id = text_at(schema, draft == Draft::k4 ? "id" : "$id");
  if (is_old && text_at(schema, "$ref") != nullptr) id = nullptr;  // its siblings do not count
  if (id != nullptr) {
    std::string fragment;
    std::string base = resolve_address(resources_[within].base, *id, fragment);
    const bool is_anchor = is_old && id->starts_with('#');
    if (is_anchor) {
      resources_[within].anchors[fragment] = &schema;
    } else if (resources_[within].root == &schema) {
      resources_[within].base = base;
      by_address_.try_emplace(std::move(base), within);
      if (!fragment.empty()) resources_[within].anchors[fragment] = &schema;
    } else {
      const Resource outer = resources_[within];
      WICK_TRY(const ResourceId made, add_resource(schema, base, draft));
      Resource& its = resources_[made];
      if (!its.has_draft) {
        its.has_validation = outer.has_validation;
        its.has_applicators = outer.has_applicators;
        its.has_format = outer.has_format;
        its.has_unevaluated = outer.has_unevaluated;
      }
      within = made;
      by_address_.try_emplace(std::move(base), within);
      if (!fragment.empty()) its.anchors[fragment] = &schema;
    }
  }
  add_anchors(schema, within);
  return index_parts(schema, within, depth);
}

Result<void> SchemaSources::index_parts(const Json& schema, ResourceId within, int depth) {
  if (!schema.may_have(kWithin)) return {};
  for (std::size_t i = 0; i < schema.keys.size(); ++i) {
    const Json& value = schema.items[i];
    const bool is_object = value.is(Json::Kind::kObject);
    if (!is_object && !value.is(Json::Kind::kArray)) continue;
    const std::string_view key = schema.keys[i];
    if ((Json::mark(key) & kWithin) == 0) continue;
    if (is_object && has(kOne, key)) WICK_DO(index(value, within, depth + 1));
    const bool holds_many =
        is_object ? has(kNamed, key) : has(kList, key);
    if (!holds_many) continue;
    for (const Json& part : value.items)
      WICK_DO(index(part, within, depth + 1));
  }
  return {};
}

std::string SchemaSources::place_of(const Json& node) const {
  for (const JsonDocument& document : documents_) {
    const auto pointer = pointer_within(document.root, node);
    if (!pointer) continue;
    const bool is_first = &document == &documents_.front();
    const std::string& base = resources_[roots_.at(&document.root)].base;
    return cat(printable(cat(is_first ? "" : base, "#", *pointer), 400));
  }
  return "#";
}

ResourceId SchemaSources::resource_at(const Json* node, ResourceId within) const {
  if (resources_.size() == 1) return within;
  const auto found = roots_.find(node);
  return found == roots_.end() ? within : found->second;
}

Result<std::optional<ResourceId>> SchemaSources::document(const std::string& address, Draft draft) {
  if (const auto known = by_address_.find(address); known != by_address_.end())
    return std::optional(known->second);
  std::optional<std::string> text = fetch_ ? fetch_(address) : std::nullopt;
  if (!text) {
    const auto meta = meta_schema(address);
    if (!meta) return std::optional<ResourceId>();
    text = std::string(*meta);
  }
  WICK_TRY(JsonDocument read, read_document(*text));
  auto place = add_document(std::move(read), address, draft, false);
  if (!place) return wrap(std::move(place).error(), cat("read '", printable(address, 200), "'"));
  return std::optional(place->resource);
}

Result<Place> SchemaSources::find(ResourceId from, std::string_view reference) {
  std::optional<ResourceId> target = from;
  std::string resolved, buffer;
  if (!reference.starts_with('#')) {
    const std::string address = resolve_address(resources_[from].base, reference, resolved);
    if (address != resources_[from].base) {
      WICK_TRY(target, document(address, resources_[from].draft));
      if (!target) return bad_reference("and this document is not known", kNotFetched);
    }
  }
  const std::string_view fragment = reference.starts_with('#') ? reference.substr(1) : resolved;
  if (fragment.empty()) return Place{resources_[*target].root, *target};
  if (fragment.starts_with('/')) return at_pointer(*target, fragment);
  const auto& anchors = resources_[*target].anchors;
  const auto found = anchors.find(unescaped(fragment, buffer));
  if (found == anchors.end()) return bad_reference("and no schema has this anchor", kNotDefined);
  return Place{found->second, *target};
}

const Json* SchemaSources::member(const Json& object, std::string_view name) {
  constexpr std::size_t kFewMembers = 16;
  if (object.keys.size() <= kFewMembers) return object.find(name);
  const auto [known, is_new] = members_.try_emplace(&object);
  for (std::size_t i = 0; is_new && i < object.keys.size(); ++i)
    known->second.insert_or_assign(object.keys[i], &object.items[i]);
  const auto found = known->second.find(name);
  return found == known->second.end() ? nullptr : found->second;
}

Result<Place> SchemaSources::at_pointer(ResourceId from, std::string_view pointer) {
  Place place{resources_[from].root, from};
  std::string buffer;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    const std::string_view part = unescaped(pointer.substr(at, end - at), buffer);
    at = end + 1;
    const Json* next = nullptr;
    if (place.node->is(Json::Kind::kObject)) {
      next = member(*place.node, part);
    } else if (place.node->is(Json::Kind::kArray) && !part.empty() && part.size() < 9 &&
               part.find_first_not_of("0123456789") == std::string::npos) {
      const std::size_t i = std::stoul(std::string(part));
      if (i < place.node->items.size()) next = &place.node->items[i];
    }
    if (next == nullptr) return bad_reference("and nothing is there", kNotDefined);
    place = {next, resource_at(next, place.resource)};
  }
  return place;
}

}  // namespace wick::grammar
