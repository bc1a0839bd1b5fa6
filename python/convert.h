// Python's values as the library takes them, and callables as it calls them. With the interpreter's
// lock held; a wrong type is a TypeError, a number out of range a ValueError, both name the option.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "callables.h"
#include "wick/fields.h"
#include "wick/log.h"
#include "wick/model.h"
#include "wick/pool.h"
#include "wick/stream_set.h"

namespace pywick {

// Python's wick.Cancel.
struct Cancel : ZeroedMemory {
  std::unique_ptr<std::stop_source> source = std::make_unique<std::stop_source>();

  std::stop_source& operator*() {
    if (source == nullptr) raise_not_made();
    return *source;
  }
};

// Entries of WakeSets: how an asyncio loop (wick/_async.py) hears of a stream.
struct PyWakes : ZeroedMemory {
  std::unique_ptr<wick::StreamSet> set =
      std::make_unique<wick::StreamSet>(take(wick::StreamSet::create()));

  wick::StreamSet& operator*() {
    if (set == nullptr) raise_not_made();
    return *set;
  }
};

struct PyWake {
  std::shared_ptr<wick::Wake> wake;
};

template <class T>
[[noreturn]] void raise_out_of_range(const std::string& option) {
  throw py::value_error("'" + option + "' is out of range, allowed are " +
                        std::to_string(std::numeric_limits<T>::min()) + " to " +
                        std::to_string(std::numeric_limits<T>::max()));
}

// An object with __index__ or __float__ as the number that it stands for; others as they are. What
// these methods raise is raised on, where a cast of pybind11's would take it for a wrong type.
template <class T>
py::object as_number(const py::handle& value) {
  PyObject* const it = value.ptr();
  const PyNumberMethods* const methods = Py_TYPE(it)->tp_as_number;
  const bool is_number = PyLong_Check(it) != 0 || PyFloat_Check(it) != 0;
  const bool has_float = !is_number && methods != nullptr && methods->nb_float != nullptr;
  const bool has_index = !is_number && methods != nullptr && methods->nb_index != nullptr;
  const bool is_by_float = std::is_floating_point_v<T> && has_float;
  if (!is_by_float && !has_index) return py::reinterpret_borrow<py::object>(value);
  auto made =
      py::reinterpret_steal<py::object>(is_by_float ? PyNumber_Float(it) : PyNumber_Index(it));
  if (!made) throw py::error_already_set();
  return made;
}

template <class T>
T as(const py::handle& given, const std::string& option) {
  constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  const py::object value =
      is_number ? as_number<T>(given) : py::reinterpret_borrow<py::object>(given);
  try {
    return py::cast<T>(value);
  } catch (const py::cast_error&) {
    if constexpr (std::is_integral_v<T>) {
      if (PyLong_Check(value.ptr())) raise_out_of_range<T>(option);
    }
    if (std::is_floating_point_v<T> && PyLong_Check(value.ptr()))
      throw py::value_error("'" + option + "' is out of range");
    throw py::type_error("'" + option + "' has the wrong type: " + Py_TYPE(value.ptr())->tp_name);
  }
}

// Also where Ctrl-C is noticed while an answer is made.
inline wick::TextSink to_sink(const py::object& on_text) {
  return [on_text](std::string_view piece) {
    std::optional<Busy> busy;
    try {
      busy.emplace();
    } catch (const std::runtime_error&) {
      return false;  // the interpreter closes
    }
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (on_text.is_none()) return true;
    return says_yes(on_text(piece));
  };
}

// What json.dumps makes of it: messages and tools come as OpenAI's API takes them.
inline std::string to_json(const py::handle& value) {
  return py::cast<std::string>(py::module_::import("json").attr("dumps")(value));
}

inline py::object from_json(const std::string& json) {
  return py::module_::import("json").attr("loads")(json);
}

// The settings that are called the same, and mean the same, in each language (wick/fields.h): false
// if `key` is none of them.
#define WICK_SET(name)                           \
  if (key == #name) {                            \
    to.name = as<decltype(to.name)>(value, key); \
    return true;                                 \
  }

inline bool set_field(wick::Generation& to, const std::string& key, const py::handle& value) {
  WICK_GENERATION_FIELDS(WICK_SET)
  return false;
}

inline bool set_field(wick::ModelOptions& to, const std::string& key, const py::handle& value) {
  WICK_MODEL_FIELDS(WICK_SET)
  return false;
}

inline bool set_field(wick::EmbedOptions& to, const std::string& key, const py::handle& value) {
  WICK_EMBED_FIELDS(WICK_SET)
  return false;
}

inline bool set_field(wick::PoolOptions& to, const std::string& key, const py::handle& value) {
  WICK_POOL_FIELDS(WICK_SET)
  return false;
}

#undef WICK_SET

// What a request is made of, and its hooks once more, for the collector.
struct Ask {
  wick::Generation generation = {};
  std::vector<std::shared_ptr<Hook>> hooks = {};
};

// The integers of a buffer in one dimension, whatever their width and step; none if it is none.
inline std::optional<std::vector<wick::TokenId>> read_ids(const py::buffer_info& info,
                                                          const std::string& option) {
  if (info.ndim != 1) return std::nullopt;
  std::string_view format = info.format;
  if (format.size() == 2 && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.remove_prefix(1);
  const bool is_signed = format.size() == 1 && std::strchr("bhilqn", format[0]) != nullptr;
  const bool is_unsigned = format.size() == 1 && std::strchr("BHILQN", format[0]) != nullptr;
  if (!is_signed && !is_unsigned) return std::nullopt;
  std::vector<wick::TokenId> ids;
  ids.reserve(static_cast<std::size_t>(info.shape[0]));
  const auto* at = static_cast<const char*>(info.ptr);
  for (py::ssize_t i = 0; i < info.shape[0]; ++i, at += info.strides[0]) {
    std::uint64_t bits = 0;  // little-endian, as all processors that wick runs on
    std::memcpy(&bits, at, static_cast<std::size_t>(info.itemsize));
    const int unused = is_signed ? 64 - 8 * static_cast<int>(info.itemsize) : 0;
    const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
    const auto id = static_cast<wick::TokenId>(value);
    if (value != id || (is_unsigned && value < 0)) raise_out_of_range<wick::TokenId>(option);
    ids.push_back(id);
  }
  return ids;
}

// A sequence of integers, or a buffer of them: an array of numpy's, an array.array.
inline std::vector<wick::TokenId> to_ids(const py::handle& value, const std::string& option) {
  if (PyBytes_Check(value.ptr()) != 0 || PyByteArray_Check(value.ptr()) != 0)
    throw py::type_error("'" + option + "' is text as bytes, which are no token ids: decode it");
  if (PyObject_CheckBuffer(value.ptr()) != 0) {
    if (auto ids = read_ids(py::reinterpret_borrow<py::buffer>(value).request(), option))
      return *std::move(ids);
    throw py::type_error("'" + option + "' is a buffer, but not of integers in one dimension");
  }
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr()) != 0)
    return as<std::vector<wick::TokenId>>(value, option);  // says what it is
  const auto items = py::reinterpret_steal<py::object>(PySequence_Fast(value.ptr(), ""));
  if (!items) throw py::error_already_set();
  std::vector<wick::TokenId> ids;
  // By index, for a list may change while an element says what it is.
  for (py::ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    const auto item = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(items.ptr(), i));
    ids.push_back(as<wick::TokenId>(item, option));
  }
  return ids;
}

// The callables that the model's thread calls: false if `key` is none of them.
inline bool set_callable(Ask& ask, const std::string& key, const py::handle& value,
                         std::uint64_t model) {
  const auto kept = [&](const py::handle& callable) {
    return ask.hooks.emplace_back(to_shared(callable, key));
  };
  if (key == "logits") {
    ask.generation.logits = to_hook(kept(value), model);
  } else if (key == "recognizer") {
    ask.generation.recognizer = to_recognizers(kept(value), model);
  } else if (key == "token_mask" && py::isinstance<PyTextConstraint>(value)) {
    const auto& rule = py::cast<const PyTextConstraint&>(value);
    ask.generation.token_mask = to_text_mask(kept(rule.is_valid_next_token), kept(rule.is_complete),
                                             rule.candidates, model);
  } else if (key == "token_mask") {
    ask.generation.token_mask = to_mask(kept(value), model);
  } else if (key == "predicate") {
    ask.generation.predicate = to_predicate(kept(value), model);
  } else {
    return false;
  }
  return true;
}

inline std::stop_token to_stop(const py::handle& value) {
  if (!py::isinstance<Cancel>(value)) throw py::type_error("'cancel' is not a wick.Cancel");
  return (*py::cast<Cancel&>(value)).get_token();
}

// Of an id, or of each token of a text.
inline void set_bias(wick::Generation& g, const py::handle& value) {
  if (!py::isinstance<py::dict>(value)) throw py::type_error("'logit_bias' is not a dict");
  for (const auto& [token, bias] : py::cast<py::dict>(value)) {
    wick::TokenBias& one = g.logit_bias.emplace_back();
    one.bias = as<double>(bias, "logit_bias");
    if (py::isinstance<py::str>(token)) {
      one.text = as<std::string>(token, "logit_bias");
    } else {
      one.id = as<wick::TokenId>(token, "logit_bias");
    }
  }
}

// `model` is the one that the request is for.
inline Ask to_ask(const py::kwargs& settings, const Origin& origin) {
  Ask ask;
  wick::Generation& g = ask.generation;
  for (const auto& [name, value] : settings) {
    const auto key = py::cast<std::string>(name);
    if (value.is_none() || set_field(g, key, value)) continue;
    if (set_callable(ask, key, value, origin.model)) continue;
    if (key == "stop") {
      g.stop = py::isinstance<py::str>(value) ? std::vector{as<std::string>(value, key)}
                                              : as<std::vector<std::string>>(value, key);
    } else if (key == "adapters") {
      g.adapters = py::isinstance<py::str>(value) ? std::vector{as<std::string>(value, key)}
                                                  : as<std::vector<std::string>>(value, key);
    } else if (key == "stop_token_ids") {
      g.stop_token_ids = to_ids(value, key);
    } else if (key == "logit_bias") {
      set_bias(g, value);
    } else if (key == "seed") {
      g.seed = as<std::uint64_t>(value, key);
    } else if (key == "tools") {
      g.tools = take(wick::tools_from_json(to_json(value)));
    } else if (key == "thinking") {
      g.thinking = as<bool>(value, key);
    } else if (key == "template_variables") {
      g.template_variables = take(wick::variables_from_json(to_json(value)));
    } else if (key == "dry_sequence_breakers") {
      g.dry_sequence_breakers = as<std::vector<std::string>>(value, key);
    } else if (key == "response_format") {
      g.response_format.type = as<std::string>(value, key);
    } else if (key == "response_schema") {
      g.response_format.schema =
          py::isinstance<py::str>(value) ? as<std::string>(value, key) : to_json(value);
    } else if (key == "origins") {
      for (auto& one : as<std::map<std::string, std::string>>(value, key))
        g.origins.emplace_back(one);
    } else if (key == "cancel") {
      g.cancel = to_stop(value);
    } else if (key == "_wake") {
      g.wake = py::cast<PyWake&>(value).wake;
    } else {
      g.more.emplace_back(key, as<double>(value, key));
    }
  }
  return ask;
}

inline wick::Generation to_generation(const py::kwargs& settings, const Origin& origin) {
  return to_ask(settings, origin).generation;
}

// A question, or messages as {"role": …, "content": …}.
inline std::vector<wick::Message> to_messages(const py::object& messages) {
  if (py::isinstance<py::str>(messages))
    return {{.content = as<std::string>(messages, "messages")}};
  return take(wick::messages_from_json(to_json(py::list(messages))));
}

// Tokens to go on from, rather than messages.
inline bool are_ids(const py::object& prompt) {
  return py::isinstance<py::sequence>(prompt) && py::len(prompt) > 0 &&
         PyIndex_Check(py::object(prompt[py::int_(0)]).ptr()) != 0;
}

// A str is text to go on from, a sequence of ints are tokens, all else are messages.
inline wick::Prompt to_prompt(const py::object& prompt) {
  if (py::isinstance<py::str>(prompt)) return as<std::string>(prompt, "prompt");
  if (are_ids(prompt)) return to_ids(prompt, "prompt");
  return to_messages(prompt);
}

// A str, or a path object. A file's name need not be UTF-8.
inline std::string to_path(const py::object& path) {
  auto text = py::cast<std::string>(py::module_::import("os").attr("fsencode")(path));
  if (text.find('\0') != std::string::npos)
    throw py::value_error("embedded null character in a path");
  return text;
}

// While a thread opens a model: what ends that, which the options of a pool cannot say of one
// opening, and what the progress callback raised there, which is the caller's.
struct Opening {
  explicit Opening(std::stop_token until) : stop(std::move(until)) { here = this; }

  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  ~Opening() { here = outer; }

  inline static thread_local Opening* here = nullptr;
  std::stop_token stop;
  std::exception_ptr raised = nullptr;
  Opening* outer = here;
};

// `f` may be none.
inline wick::ProgressSink to_progress(std::shared_ptr<Hook> f) {
  return [f = std::move(f)](const wick::OpenProgress& p) {
    if (Opening::here->stop.stop_requested()) return false;
    if (f == nullptr) return true;
    try {
      const Visit visit(waiting_here());
      return says_yes(visit.call(f->callable, wick::name(p.phase), p.what, p.done, p.total));
    } catch (...) {
      Opening::here->raised = std::current_exception();
      return false;
    }
  };
}

// Messages of the library, on whichever thread has one.
inline void set_log(const py::object& f) {
  wick::LogSink sink;
  if (!f.is_none()) {
    sink = [shared = to_shared(f, "sink")](wick::LogLevel level, std::string_view message) {
      const Visit visit(waiting_here());
      try {
        visit.call(shared->callable, wick::name(level), message);
      } catch (py::error_already_set& e) {
        e.discard_as_unraisable("wick.set_log");
      }
    };
  }
  const py::gil_scoped_release release;
  wick::set_log(std::move(sink));
}

inline void set_option(wick::ModelOptions& o, const std::string& key, const py::handle& value) {
  if (key == "draft_model") {
    o.draft_model = to_path(py::reinterpret_borrow<py::object>(value));
  } else if (key == "adapters") {
    o.adapters = py::isinstance<py::str>(value) ? std::vector{as<std::string>(value, key)}
                                                : as<std::vector<std::string>>(value, key);
  } else if (key == "progress") {
    if (!value.is_none()) o.progress = to_progress(to_shared(value, key));
  } else if (key == "cancel") {
    if (!value.is_none()) o.cancel = to_stop(value);
  } else if (!set_field(o, key, value)) {
    throw py::type_error("'" + key + "' is not an option of a model");
  }
}

inline wick::ModelOptions to_model_options(const py::kwargs& given) {
  wick::ModelOptions options;
  for (const auto& [name, value] : given)
    set_option(options, py::cast<std::string>(name), value);
  return options;
}

// The options of a pool, and those of each of its models.
inline wick::PoolOptions to_pool_options(const py::kwargs& given) {
  wick::PoolOptions options;
  options.model.progress = to_progress(nullptr);
  for (const auto& [name, value] : given) {
    const auto key = py::cast<std::string>(name);
    if (!set_field(options, key, value)) set_option(options.model, key, value);
  }
  return options;
}

inline wick::EmbedOptions to_embed_options(const py::kwargs& given) {
  wick::EmbedOptions options;
  for (const auto& [name, value] : given) {
    const auto key = py::cast<std::string>(name);
    if (value.is_none()) continue;
    if (key == "cancel") {
      options.cancel = to_stop(value);
    } else if (!set_field(options, key, value)) {
      throw py::type_error("'" + key + "' is not an option of embed()");
    }
  }
  return options;
}

}  // namespace pywick
