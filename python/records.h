// Records as Python sees them: read, and made by the library alone.
#pragma once

#include <pybind11/stl.h>

#include <optional>
#include <utility>

#include "errors.h"
#include "wick/fields.h"
#include "wick/model.h"

namespace pywick {

// Of a class whose objects only the library makes; an empty one would hold nothing.
inline PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s: No constructor defined! Its objects come from a wick.Model",
               type->tp_name);
  return nullptr;
}

template <class Class>
Class& made_by_library(Class&& bound) {
  reinterpret_cast<PyTypeObject*>(bound.ptr())->tp_new = refuse_new;
  return bound;
}

// Why the cache had not more of a prompt; get(record) is its CacheMiss.
template <class T, class Get>
void bind_miss(py::class_<T>& bound, const Get& get) {
  const auto id_or_none = [](wick::TokenId id) {
    return id < 0 ? std::nullopt : std::optional(id);
  };
  bound.def_property_readonly("miss", [=](const T& t) { return name(get(t).reason); })
      .def_property_readonly("miss_position", [=](const T& t) { return get(t).position; })
      .def_property_readonly("miss_wanted", [=](const T& t) { return id_or_none(get(t).wanted); })
      .def_property_readonly("miss_cached", [=](const T& t) { return id_or_none(get(t).cached); });
}

inline void bind_records(py::module_& m) {
  using wick::ModelInfo;
  using wick::RequestEstimate;
  using wick::TokenLogprob;
  made_by_library(py::class_<TokenLogprob>(m, "TokenLogprob"))
      .def_readonly("id", &TokenLogprob::id)
      .def_property_readonly("bytes", [](const TokenLogprob& t) { return py::bytes(t.bytes); })
      .def_readonly("logprob", &TokenLogprob::logprob)
      .def_readonly("top_logprobs", &TokenLogprob::top_logprobs)
      .def("__repr__", [](const TokenLogprob& t) {
        return py::str("TokenLogprob({!r}, {:.4f})").format(py::bytes(t.bytes), t.logprob);
      });

  py::class_<RequestEstimate> estimate(m, "RequestEstimate");
  bind_miss(estimate, [](const RequestEstimate& p) { return p.miss; });
#define WICK_READ(field) .def_readonly(#field, &RequestEstimate::field)
  made_by_library(estimate) WICK_ESTIMATE_FIELDS(WICK_READ).def_readonly("ttft_ms",
                                                                         &RequestEstimate::ttft_ms);
#undef WICK_READ

#define WICK_READ(field) .def_readonly(#field, &ModelInfo::field)
#define WICK_READ_MEMORY(field) \
  .def_property_readonly(#field, [](const ModelInfo& info) { return info.memory.field; })
  made_by_library(py::class_<ModelInfo>(m, "ModelInfo")) WICK_INFO_FIELDS(WICK_READ)
      WICK_MEMORY_FIELDS(WICK_READ_MEMORY)
          .def_property_readonly("draft_bytes",
                                 [](const ModelInfo& info) { return info.memory.draft_bytes(); });
#undef WICK_READ
#undef WICK_READ_MEMORY
}

inline void bind_completion(py::module_& m) {
  py::class_<wick::Completion> bound(m, "Completion");
  bind_miss(bound, [](const wick::Completion& c) { return c.usage.miss; });
#define WICK_READ(field) \
  .def_property_readonly(#field, [](const wick::Completion& c) { return c.usage.field; })
  made_by_library(bound) WICK_USAGE_FIELDS(WICK_READ)
#undef WICK_READ
      .def_readonly("text", &wick::Completion::text)
      .def_property_readonly("finish", [](const wick::Completion& c) { return name(c.finish); })
      .def_readonly("reasoning", &wick::Completion::reasoning)
      .def_property_readonly("tool_calls",
                             [](const wick::Completion& c) {
                               py::list calls;
                               for (const wick::ToolCall& call : c.tool_calls) {
                                 py::dict item;
                                 item["id"] = call.id;
                                 item["name"] = call.name;
                                 item["arguments"] = call.arguments;
                                 calls.append(item);
                               }
                               return calls;
                             })
      .def_property_readonly(
          "parameters",
          [](const wick::Completion& c) {
            py::dict all;
            for (const wick::EffectiveParameter& one : c.parameters)
              all[py::str(one.key)] = py::make_tuple(
                  std::visit([](const auto& value) { return py::cast(value); }, one.value),
                  one.origin);
            return all;
          })
      .def_readonly("logprobs", &wick::Completion::logprobs)
      .def_readonly("prompt_logprobs", &wick::Completion::prompt_logprobs)
      .def("__str__", [](const wick::Completion& c) { return c.text; });
}

}  // namespace pywick
