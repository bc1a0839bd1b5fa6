// Converts the files beside safetensors to GGUF's keys, once: config.json and
// generation_config.json of transformers 4 and 5, with transformers' defaults for absent fields.
// The table of keys is in docs/formats/safetensors.md. Internal to this module; others read
// ModelFile::metadata(). Any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/hf_family.h"
#include "format/metadata.h"

namespace wick {

struct HfTexts {            // contents of the files; nullopt: there is no such file
  std::string folder = {};  // for messages
  std::string_view config = {};
  std::optional<std::string_view> generation_config = {};
  std::optional<std::string_view> tokenizer = {};         // tokenizer.json, handed over as it is
  std::optional<std::string_view> tokenizer_config = {};  // handed over, and read for its template
  std::optional<std::string_view> chat_template = {};     // chat_template.jinja
  // additional_chat_templates/NAME.jinja. If one of these or chat_template.jinja exists, templates
  // in the JSON files are ignored.
  std::vector<std::pair<std::string, std::string_view>> named_templates = {};
  std::optional<std::string_view> chat_template_json = {};  // {"chat_template": "…"}, comes last
  std::optional<std::string_view> pooling = {};  // 1_Pooling/config.json (sentence-transformers)
  // Other files of tokenizers, handed over as they are: key and contents.
  std::vector<std::pair<std::string_view, std::string_view>> tokenizers = {};
  std::span<const HfFamily> families = {};  // a model_type outside them is its own name in GGUF
};

// The texts must outlive the result, which views some of them.
Result<Metadata> hf_metadata(const HfTexts& texts);

// Converts only the chat templates.
Result<void> hf_chat_templates(const HfTexts& texts, Metadata& out);

}  // namespace wick
