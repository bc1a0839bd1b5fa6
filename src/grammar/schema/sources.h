// The documents of a schema: the schema itself, the meta-schemas that are built in, and what the
// caller's registry gives. Finds schemas by reference: base addresses ($id), anchors, JSON
// pointers.
//
// Owned by a compiled schema while it is compiled. One thread. Nothing is fetched from a network.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/schema/document.h"

namespace wick::grammar {

enum class Draft : std::uint8_t { k4, k6, k7, k2019, k2020 };

std::optional<Draft> draft_named(std::string_view name);  // "4", "6", "7", "2019-09", "2020-12"

// The text of the document at an address; nothing where there is none.
using FetchDocument = std::function<std::optional<std::string>(const std::string& address)>;

// A schema with an address of its own: a document, or a part of one that has $id.
struct Resource {
  std::string base = {};
  Draft draft = Draft::k2020;
  bool has_draft = false;                                                 // $schema says it
  bool has_validation = true, has_format = true, has_unevaluated = true;  // vocabularies
  bool has_applicators = true;
  bool is_recursive_anchor = false;
  const Json* root = nullptr;
  std::map<std::string, const Json*, std::less<>> anchors = {};
  std::map<std::string, const Json*, std::less<>> dynamic_anchors = {};
};

using ResourceId = std::uint32_t;

struct Place {
  const Json* node = nullptr;
  ResourceId resource = 0;
};

class SchemaSources {
 public:
  SchemaSources(FetchDocument fetch, std::optional<Draft> draft)
      : fetch_(std::move(fetch)), draft_(draft) {}

  // The schema itself; once.
  Result<Place> add_root(JsonDocument document);

  // The formats that the schemas name and that are known.
  const std::set<std::string, std::less<>>& formats() const noexcept { return formats_; }

  // The target of `reference`, as written in resource `from`.
  Result<Place> find(ResourceId from, std::string_view reference);

  const Resource& resource(ResourceId id) const noexcept { return resources_[id]; }

  // The place of `node` for messages: "#/properties/a", with its document's address in front if
  // that is not the schema itself. No control characters, at most 400 bytes. Searches all
  // documents.
  std::string place_of(const Json& node) const;

  // The resource that `node` is the root of; else `within`.
  ResourceId resource_at(const Json* node, ResourceId within) const;

 private:
  Result<Place> add_document(JsonDocument document, const std::string& address, Draft draft,
                             bool is_root);
  Result<ResourceId> add_resource(const Json& root, std::string base, Draft draft);
  Result<void> index(const Json& schema, ResourceId within, int depth);
  Result<void> index_object(const Json& schema, ResourceId within, int depth);
  Result<void> index_parts(const Json& schema, ResourceId within, int depth);
  Result<void> apply_vocabulary(Resource& resource, const std::string& address);
  void add_format(const Json& schema);
  void add_anchors(const Json& schema, ResourceId within);
  Result<std::optional<ResourceId>> document(const std::string& address, Draft draft);
  const Json* member(const Json& object, std::string_view name);
  Result<Place> at_pointer(ResourceId from, std::string_view pointer);

  FetchDocument fetch_;
  std::optional<Draft> draft_;
  std::deque<JsonDocument> documents_ = {};
  std::deque<Resource> resources_ = {};
  std::set<std::string, std::less<>> formats_ = {};
  std::unordered_map<const Json*, ResourceId> roots_ = {};
  std::map<std::string, ResourceId, std::less<>> by_address_ = {};
  // The members of large objects that pointers lead through.
  std::unordered_map<const Json*, std::unordered_map<std::string_view, const Json*>> members_ = {};
};

// `reference` against `base` (RFC 3986, §5); without its fragment, which goes to `fragment`.
std::string resolve_address(std::string_view base, std::string_view reference,
                            std::string& fragment);

// The built-in meta-schema at `address`, if it is one.
std::optional<std::string_view> meta_schema(std::string_view address);

}  // namespace wick::grammar
