// The Python module wick._wick over include/wick. Whatever waits releases the interpreter's lock;
// what calls back into Python takes it. Errors of the library are raised as wick.Error.
#include <pybind11/functional.h>
#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "wick/model.h"

namespace py = pybind11;

namespace {

const py::object& error_class() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> stored;
  return stored
      .call_once_and_store_result([] { return py::module_::import("wick._error").attr("Error"); })
      .get_stored();
}

py::object to_python(const wick::Error& error) {
  py::object raised = error_class()(wick::to_string(error));
  raised.attr("code") = wick::name(error.code);
  raised.attr("id") = error.id;
  raised.attr("message") = error.message;
  raised.attr("hint") = error.hint;
  raised.attr("cause") = error.cause == nullptr ? py::none() : to_python(*error.cause);
  return raised;
}

[[noreturn]] void raise(const wick::Error& error) {
  PyErr_SetObject(error_class().ptr(), to_python(error).ptr());
  throw py::error_already_set();
}

template <class T>
T take(wick::Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

inline void take(wick::Result<void> result) {
  if (!result) raise(result.error());
}

// Runs `body` without the interpreter's lock and takes its result.
template <class Body>
auto unlocked(const Body& body) {
  auto result = [&] {
    const py::gil_scoped_release release;
    return body();
  }();
  return take(std::move(result));
}

// Holds something whose end may wait for another thread, which may itself want the interpreter.
template <class T>
class Held {
 public:
  explicit Held(T value) : value_(std::move(value)) {}

  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  ~Held() {
    const py::gil_scoped_release release;
    value_.reset();
  }

  T& operator*() { return *value_; }

  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
};

using PyModel = Held<wick::Model>;
using PySession = Held<wick::Session>;
using PyStream = Held<wick::Stream>;

// A model's thread inside the interpreter. None may be there, or come, once the interpreter closes:
// it would be ended on the spot.
class Visit {
 public:
  Visit() {
    ++inside_;
    if (is_closed_) {
      --inside_;
      throw std::runtime_error("the interpreter is closing");
    }
  }

  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  ~Visit() { --inside_; }

  static void refuse_and_wait() {
    const py::gil_scoped_release release;
    is_closed_ = true;
    while (inside_ > 0)
      std::this_thread::yield();
  }

 private:
  inline static std::atomic<int> inside_ = 0;
  inline static std::atomic<bool> is_closed_ = false;
};

// A Python callable that any thread may drop.
std::shared_ptr<py::function> share(py::function f) {
  return {new py::function(std::move(f)), [](py::function* gone) {
            try {
              const Visit visit;
              const py::gil_scoped_acquire acquire;
              delete gone;
            } catch (const std::runtime_error&) {
              gone->release();  // with the interpreter goes all it holds
              delete gone;
            }
          }};
}

// The hook gets copies, so that views kept in Python never point at memory that is gone.
wick::LogitsHook to_hook(py::function f) {
  return
      [f = share(std::move(f))](std::span<float> logits, std::span<const wick::TokenId> history) {
        const Visit visit;
        const py::gil_scoped_acquire acquire;
        try {
          py::bytearray copy(reinterpret_cast<const char*>(logits.data()), logits.size_bytes());
          const py::bytes past(reinterpret_cast<const char*>(history.data()), history.size_bytes());
          const py::object view = py::module_::import("builtins").attr("memoryview");
          (*f)(view(copy).attr("cast")("f"), view(past).attr("cast")("i"));
          std::memcpy(logits.data(), PyByteArray_AS_STRING(copy.ptr()), logits.size_bytes());
        } catch (py::error_already_set& e) {  // to be told without the interpreter
          throw std::runtime_error(e.what());
        }
      };
}

wick::Generation to_generation(const py::kwargs& settings) {
  wick::Generation g;
  for (const auto& [name, value] : settings) {
    if (value.is_none()) continue;
    const auto key = py::cast<std::string>(name);
    if (key == "max_tokens") {
      g.max_tokens = py::cast<int>(value);
    } else if (key == "stop") {
      g.stops = py::isinstance<py::str>(value) ? std::vector{py::cast<std::string>(value)}
                                               : py::cast<std::vector<std::string>>(value);
    } else if (key == "stop_ids") {
      g.stop_ids = py::cast<std::vector<wick::TokenId>>(value);
    } else if (key == "samplers") {
      g.samplers = py::cast<std::string>(value);
    } else if (key == "logit_bias") {
      for (const auto& [id, bias] : py::cast<py::dict>(value))
        g.logit_bias.emplace_back(py::cast<wick::TokenId>(id), py::cast<double>(bias));
    } else if (key == "logits") {
      g.logits = to_hook(py::cast<py::function>(value));
    } else if (key == "logprobs") {
      g.logprobs = py::cast<bool>(value);
    } else if (key == "prompt_logprobs") {
      g.prompt_logprobs = py::cast<bool>(value);
    } else if (key == "top_logprobs") {
      g.top_logprobs = py::cast<int>(value);
    } else if (key == "cancel") {
      g.cancel = py::cast<std::stop_source&>(value).get_token();
    } else if (key == "time_limit_ms") {
      g.time_limit_ms = py::cast<int>(value);
    } else if (key == "priority") {
      g.priority = py::cast<int>(value);
    } else if (key == "tenant") {
      g.tenant = py::cast<std::uint64_t>(value);
    } else {
      g.more.emplace_back(key, py::cast<double>(value));
    }
  }
  return g;
}

// A question, or messages as {"role": …, "content": …}.
std::vector<wick::Message> to_messages(const py::object& messages) {
  if (py::isinstance<py::str>(messages)) return {{.content = py::cast<std::string>(messages)}};
  std::vector<wick::Message> list;
  for (const auto& item : messages) {
    const auto message = py::cast<py::dict>(item);
    list.push_back({.role = py::cast<std::string>(message["role"]),
                    .content = py::cast<std::string>(message["content"])});
  }
  return list;
}

// Also where Ctrl-C is noticed while an answer is made.
wick::TextSink to_sink(const py::object& on_text) {
  return [on_text](std::string_view piece) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (on_text.is_none()) return true;
    const py::object answer = on_text(piece);
    return answer.is_none() || py::cast<bool>(answer);
  };
}

wick::ModelOptions to_options(const py::kwargs& given) {
  wick::ModelOptions o;
  for (const auto& [name, value] : given) {
    const auto key = py::cast<std::string>(name);
    if (key == "threads") {
      o.threads = py::cast<int>(value);
    } else if (key == "context") {
      o.context = py::cast<int>(value);
    } else if (key == "max_concurrent") {
      o.max_concurrent = py::cast<int>(value);
    } else if (key == "cache_limit_bytes") {
      o.cache_limit_bytes = py::cast<std::uint64_t>(value);
    } else if (key == "cache_type") {
      o.cache_type = py::cast<std::string>(value);
    } else if (key == "chat_template") {
      o.chat_template = py::cast<std::string>(value);
    } else if (key == "may_download") {
      o.may_download = py::cast<bool>(value);
    } else {
      throw py::type_error("'" + key + "' is not an option of a model");
    }
  }
  return o;
}

// A str, or a path object.
std::string to_path(const py::object& path) {
  return py::cast<std::string>(py::module_::import("os").attr("fspath")(path));
}

std::unique_ptr<PyModel> open_model(const py::object& path, const py::kwargs& given) {
  const auto name = to_path(path);
  const wick::ModelOptions options = to_options(given);
  return std::make_unique<PyModel>(unlocked([&] { return wick::Model::open(name, options); }));
}

std::unique_ptr<PyStream> begin_stream(PyModel& model, const py::object& prompt,
                                       const py::kwargs& settings) {
  const wick::Generation g = to_generation(settings);
  if (py::isinstance<py::str>(prompt)) {
    const auto text = py::cast<std::string>(prompt);
    return std::make_unique<PyStream>(unlocked([&] { return model->stream(text, g); }));
  }
  const auto messages = to_messages(prompt);
  return std::make_unique<PyStream>(unlocked([&] { return model->stream(messages, g); }));
}

// As with stream(): a str is text to go on from, all else are messages.
wick::RequestPlan plan(PyModel& model, const py::object& prompt, const py::kwargs& settings) {
  const wick::Generation g = to_generation(settings);
  if (py::isinstance<py::str>(prompt)) {
    const auto text = py::cast<std::string>(prompt);
    return unlocked([&] { return model->plan(text, g); });
  }
  const auto messages = to_messages(prompt);
  return unlocked([&] { return model->plan(messages, g); });
}

std::string next_piece(PyStream& stream) {
  std::optional<std::string_view> piece;
  {
    const py::gil_scoped_release release;
    piece = stream->next();
  }
  if (piece) return std::string(*piece);
  static_cast<void>(take(stream->finish()));  // over: raises if it failed
  throw py::stop_iteration();
}

// Records that only the library makes.
void bind_records(py::module_& m) {
  using wick::RequestPlan;
  using wick::ScoredToken;
  py::class_<ScoredToken>(m, "ScoredToken")
      .def_readonly("id", &ScoredToken::id)
      .def_property_readonly("bytes", [](const ScoredToken& t) { return py::bytes(t.bytes); })
      .def_readonly("logprob", &ScoredToken::logprob)
      .def_readonly("likeliest", &ScoredToken::likeliest)
      .def("__repr__", [](const ScoredToken& t) {
        return py::str("ScoredToken({!r}, {:.4f})").format(py::bytes(t.bytes), t.logprob);
      });

  const auto id_or_none = [](wick::TokenId id) {
    return id < 0 ? std::nullopt : std::optional(id);
  };
  py::class_<RequestPlan>(m, "RequestPlan")
      .def_readonly("prompt_tokens", &RequestPlan::prompt_tokens)
      .def_readonly("max_tokens", &RequestPlan::max_tokens)
      .def_readonly("cached_tokens", &RequestPlan::cached_tokens)
      .def_property_readonly("miss", [](const RequestPlan& p) { return name(p.miss.reason); })
      .def_property_readonly("miss_position", [](const RequestPlan& p) { return p.miss.position; })
      .def_property_readonly("miss_wanted",
                             [=](const RequestPlan& p) { return id_or_none(p.miss.wanted); })
      .def_property_readonly("miss_cached",
                             [=](const RequestPlan& p) { return id_or_none(p.miss.cached); })
      .def_readonly("blocks", &RequestPlan::blocks)
      .def_readonly("free_blocks", &RequestPlan::free_blocks)
      .def_readonly("cache_bytes", &RequestPlan::cache_bytes)
      .def_readonly("requests_before", &RequestPlan::requests_before)
      .def_readonly("ttft_ms", &RequestPlan::ttft_ms);
}

void bind_answers(py::module_& m) {
  py::class_<std::stop_source>(m, "Cancel")
      .def(py::init<>())
      .def("request", [](std::stop_source& source) { source.request_stop(); });

  py::class_<wick::Completion>(m, "Completion")
      .def_readonly("text", &wick::Completion::text)
      .def_property_readonly("finish", [](const wick::Completion& c) { return name(c.finish); })
      .def_property_readonly("prompt_tokens",
                             [](const wick::Completion& c) { return c.usage.prompt_tokens; })
      .def_property_readonly("cached_tokens",
                             [](const wick::Completion& c) { return c.usage.cached_tokens; })
      .def_property_readonly("generated_tokens",
                             [](const wick::Completion& c) { return c.usage.generated_tokens; })
      .def_property_readonly("queue_ms", [](const wick::Completion& c) { return c.usage.queue_ms; })
      .def_property_readonly("prompt_ms",
                             [](const wick::Completion& c) { return c.usage.prompt_ms; })
      .def_property_readonly("generate_ms",
                             [](const wick::Completion& c) { return c.usage.generate_ms; })
      .def_property_readonly("parameters",
                             [](const wick::Completion& c) {
                               py::dict all;
                               for (const wick::EffectiveParameter& one : c.parameters)
                                 all[py::str(one.key)] = py::make_tuple(one.value, one.origin);
                               return all;
                             })
      .def_readonly("logprobs", &wick::Completion::logprobs)
      .def_readonly("prompt_logprobs", &wick::Completion::prompt_logprobs)
      .def("__str__", [](const wick::Completion& c) { return c.text; });

  py::class_<PyStream>(m, "Stream")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", next_piece)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](PyStream& s, const py::args&) { s->cancel(); })
      .def("finish", [](PyStream& s) { return unlocked([&] { return s->finish(); }); })
      .def("cancel", [](PyStream& s) { s->cancel(); })
      .def_property_readonly("text", [](PyStream& s) { return std::string(s->text()); })
      .def_property_readonly("scores", [](PyStream& s) {
        const auto scores = s->scores();
        return std::vector<wick::ScoredToken>(scores.begin(), scores.end());
      });
}

void bind_session(py::module_& m) {
  py::class_<PySession>(m, "Session")
      .def(
          "say",
          [](PySession& s, const std::string& text, const py::object& on_text,
             const py::kwargs& settings) {
            const auto g = to_generation(settings);
            const auto sink = to_sink(on_text);
            return unlocked([&] { return s->say(text, g, sink); });
          },
          py::arg("text"), py::arg("on_text") = py::none())
      .def("stream",
           [](PySession& s, const std::string& text, const py::kwargs& settings) {
             const auto g = to_generation(settings);
             return std::make_unique<PyStream>(unlocked([&] { return s->stream(text, g); }));
           })
      .def("plan",
           [](PySession& s, const std::string& text, const py::kwargs& settings) {
             const auto g = to_generation(settings);
             return unlocked([&] { return s->plan(text, g); });
           })
      .def_property_readonly("messages",
                             [](PySession& s) {
                               py::list list;
                               for (const wick::Message& message : s->messages()) {
                                 py::dict item;
                                 item["role"] = message.role;
                                 item["content"] = message.content;
                                 list.append(item);
                               }
                               return list;
                             })
      .def("save",
           [](PySession& s, const py::object& path) {
             const auto name = to_path(path);
             unlocked([&] { return s->save(name); });
           })
      .def("undo", [](PySession& s) { return s->undo(); })
      .def("reset", [](PySession& s) { s->reset(); });
}

void bind_model(py::module_& m) {
  py::class_<PyModel>(m, "Model")
      .def(py::init(&open_model), py::arg("path_or_name"))
      .def(
          "complete",
          [](PyModel& model, const std::string& prompt, const py::object& on_text,
             const py::kwargs& settings) {
            const auto g = to_generation(settings);
            const auto sink = to_sink(on_text);
            return unlocked([&] { return model->complete(prompt, g, sink); });
          },
          py::arg("prompt"), py::arg("on_text") = py::none())
      .def(
          "chat",
          [](PyModel& model, const py::object& messages, const py::object& on_text,
             const py::kwargs& settings) {
            const auto list = to_messages(messages);
            const auto g = to_generation(settings);
            const auto sink = to_sink(on_text);
            return unlocked([&] { return model->chat(list, g, sink); });
          },
          py::arg("messages"), py::arg("on_text") = py::none())
      .def("stream", begin_stream, py::arg("prompt"))
      .def("plan", plan, py::arg("prompt"))
      .def(
          "session",
          [](PyModel& model, const std::string& system) {
            return std::make_unique<PySession>(model->session(system));
          },
          py::arg("system") = "")
      .def(
          "load_session",
          [](PyModel& model, const py::object& path) {
            const auto name = to_path(path);
            return std::make_unique<PySession>(unlocked([&] { return model->load_session(name); }));
          })
      .def(
          "embed",
          [](PyModel& model, const std::vector<std::string>& texts, const std::string& pooling,
             bool normalise) {
            std::vector<std::vector<float>> out;
            const auto embed = [&] {
              return model->embed(texts, {.pooling = pooling, .normalise = normalise});
            };
            for (auto& one : unlocked(embed))
              out.push_back(std::move(one.values));
            return out;
          },
          py::arg("texts"), py::kw_only(), py::arg("pooling") = "", py::arg("normalise") = true)
      .def(
          "close_tenant",
          [](PyModel& model, std::uint64_t tenant, bool wipes) {
            const py::gil_scoped_release release;
            return model->close_tenant(tenant, wipes);
          },
          py::arg("tenant"), py::arg("wipes") = false)
      .def("tokenize", [](PyModel& model, std::string_view text) { return model->tokenize(text); })
      .def("detokenize", [](PyModel& model, const std::vector<wick::TokenId>& ids) {
        return take(model->detokenize(ids));
      });
  const auto fact = [&m](const char* name, auto member) {
    py::object(m.attr("Model")).attr(name) =
        py::module_::import("builtins").attr("property")(py::cpp_function([member](PyModel& model) {
          return model->describe().*member;
        }));
  };
  fact("name", &wick::ModelDescription::name);
  fact("architecture", &wick::ModelDescription::architecture);
  fact("context", &wick::ModelDescription::context);
  fact("vocabulary", &wick::ModelDescription::vocabulary);
  fact("weight_bytes", &wick::ModelDescription::weight_bytes);
  fact("cache_bytes", &wick::ModelDescription::cache_bytes);
  fact("scratch_bytes", &wick::ModelDescription::scratch_bytes);
}

}  // namespace

PYBIND11_MODULE(_wick, m) {
  m.doc() = "Language models on one's own machine.";
  m.attr("__version__") = wick::version();
  py::module_::import("atexit").attr("register")(py::cpp_function(&Visit::refuse_and_wait));
  bind_records(m);
  bind_answers(m);
  bind_session(m);
  bind_model(m);
}
