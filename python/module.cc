// The Python module wick._wick over include/wick: names and signatures. calls.h says how a call
// waits, convert.h what Python's values become.
#include <pybind11/pybind11.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convert.h"
#include "records.h"
#include "wick/architecture.h"
#include "wick/model.h"

using namespace pywick;

namespace {

using PyModel = Held<wick::Model>;
using PySession = Held<wick::Session>;

// For who waits in a hook, the models of one name are one, whatever the pool has done meanwhile.
struct PyPool : Held<wick::ModelPool> {
  explicit PyPool(const wick::PoolOptions& options)
      : Held(wick::ModelPool(options), Origin::of_new_model()) {}

  std::map<std::string, std::uint64_t> ids;
};

// Its hooks are references that Python's collector must see: a hook may own the stream.
struct PyStream : Held<wick::Stream> {
  PyStream(wick::Stream stream, Origin from, std::vector<std::shared_ptr<Hook>> with)
      : Held(std::move(stream), std::move(from)), hooks(std::move(with)) {}

  // Not in a child of fork(): the request is the parent's, and its locks may be lost threads'.
  void cancel() {
    if (origin().process == getpid()) (*this)->cancel();
  }

  // Null while it is being made.
  static PyStream* of(PyObject* self) {
    const auto held = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
    return held.holder_constructed() ? held.value_ptr<PyStream>() : nullptr;
  }

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    const PyStream* const s = of(self);
    if (s == nullptr) return 0;
    for (const std::shared_ptr<Hook>& hook : s->hooks)
      Py_VISIT(hook->callable.ptr());
    return 0;
  }

  // The engine may be about to call a hook: it finds none, and the request is cancelled.
  static int clear(PyObject* self) {
    PyStream* const s = of(self);
    if (s == nullptr || s->hooks.empty()) return 0;
    s->cancel();
    std::vector<py::object> gone;
    for (const std::shared_ptr<Hook>& hook : s->hooks)
      gone.push_back(std::move(hook->callable));
    return 0;
  }

  static void be_collected(PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = traverse;
    type->ht_type.tp_clear = clear;
  }

  std::vector<std::shared_ptr<Hook>> hooks;
};

// Of pybind11's base class, which copyreg calls for protocols 0 and 1 of pickle: pybind11 makes its
// objects by an exception that no C function below lets through. The base is this module's alone
// (cmake/library.cmake), so that no other module's classes are touched.
PyObject* new_of_known_class(PyTypeObject* type, PyObject*, PyObject*) {
  if (!py::detail::all_type_info(type).empty()) return py::detail::make_new_instance(type);
  PyErr_Format(PyExc_TypeError, "%s has no objects of its own; those of wick cannot be pickled",
               type->tp_name);
  return nullptr;
}

void guard_base_class() {
  auto* const base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  base->tp_new = new_of_known_class;
}

// What load() gives, which Ctrl-C, `cancel` and the progress callback may end.
template <class Load>
wick::Model opened(const Origin& origin, std::stop_token cancel, const Load& load) {
  std::exception_ptr raised;
  auto model = run(origin, cancel, [&](const wick::TextSink&) {
    Opening opening(cancel);
    auto result = load(cancel);
    raised = opening.raised;
    return result;
  });
  if (raised) std::rethrow_exception(raised);
  return take(std::move(model));
}

std::unique_ptr<PyModel> open_model(const py::object& path, const py::kwargs& given) {
  const auto name = to_path(path);
  wick::ModelOptions options = to_model_options(given);
  const Origin origin = Origin::of_new_model();
  auto model = opened(origin, options.cancel, [&](const std::stop_token& cancel) {
    options.cancel = cancel;
    return wick::Model::open(name, options);
  });
  return std::make_unique<PyModel>(std::move(model), origin);
}

// Where it could wait for itself it is refused.
wick::ModelPool& idle(PyPool& pool) {
  if (Opening::here != nullptr || !waiting_here().empty()) {
    raise({.id = "called_in_hook",
           .message = "a logits hook and a progress callback cannot ask a pool of models",
           .hint = "get the model before, outside of the callback"});
  }
  return *pool;
}

template <class Load>
std::unique_ptr<PyModel> model_of(PyPool& pool, const std::string& name, const Load& load) {
  wick::Model model =
      opened(pool.origin(), {}, [&, &p = idle(pool)](const std::stop_token&) { return load(p); });
  Origin origin = pool.origin();
  const auto [at, is_new] = pool.ids.try_emplace(name, 0);
  if (is_new) at->second = Origin::of_new_model().model;
  origin.model = at->second;
  return std::make_unique<PyModel>(std::move(model), origin);
}

// ask(g, sink) as a call that a Cancel, Ctrl-C and the interpreter's end stop.
template <class Ask>
wick::Completion answer(const Origin& origin, wick::Generation g, const py::object& on_text,
                        const Ask& ask) {
  return take(run(
      origin, g.cancel, [&](const wick::TextSink& sink) { return ask(g, sink); },
      to_sink(on_text)));
}

wick::Completion complete(PyModel& model, const py::object& prompt, const py::object& on_text,
                          const py::kwargs& settings) {
  const Origin& origin = model.origin();
  const auto g = to_generation(settings, origin);
  if (py::isinstance<py::str>(prompt)) {
    const auto text = as<std::string>(prompt, "prompt");
    return answer(origin, g, on_text,
                  [&](const auto&... with) { return model->complete(text, with...); });
  }
  if (!are_ids(prompt)) throw py::type_error("'prompt' is neither a str nor a sequence of ints");
  const auto ids = to_ids(prompt, "prompt");
  return answer(origin, g, on_text,
                [&](const auto&... with) { return model->complete(ids, with...); });
}

wick::Completion chat(PyModel& model, const py::object& messages, const py::object& on_text,
                      const py::kwargs& settings) {
  const auto list = to_messages(messages);
  return answer(model.origin(), to_generation(settings, model.origin()), on_text,
                [&](const auto&... with) { return model->chat(list, with...); });
}

// A request of an asyncio loop is queued by the loop's own thread.
template <class Body>
wick::Stream begin(const Ask& ask, const Origin& origin, const Body& body) {
  return take(ask.generation.wake != nullptr ? run_here(origin, body) : run(origin, body));
}

std::unique_ptr<PyStream> begin_stream(PyModel& model, const py::object& prompt,
                                       const py::kwargs& settings) {
  const Ask ask = to_ask(settings, model.origin());
  const wick::Prompt given = to_prompt(prompt);
  wick::Stream stream = begin(ask, model.origin(), [&] {
    return std::visit([&](const auto& one) { return model->stream(one, ask.generation); }, given);
  });
  return std::make_unique<PyStream>(std::move(stream), model.origin().with_lock(), ask.hooks);
}

wick::RequestEstimate estimate(PyModel& model, const py::object& prompt,
                               const py::kwargs& settings) {
  const wick::Generation g = to_generation(settings, model.origin());
  const wick::Prompt given = to_prompt(prompt);
  return take(run(model.origin(), [&] {
    return std::visit([&](const auto& one) { return model->estimate(one, g); }, given);
  }));
}

py::list embed(PyModel& model, const std::vector<std::string>& texts, const py::kwargs& given) {
  wick::EmbedOptions options = to_embed_options(given);
  const auto vectors = take(run(model.origin(), options.cancel, [&](const wick::TextSink&) {
    return model->embed(texts, options);
  }));
  py::list out;
  for (const wick::Embedding& one : vectors)
    out.append(view_of(copy_of(one.values), "f"));
  return out;
}

// body(stream), which waits for what comes. The stream is the calling thread's alone meanwhile.
template <class Body>
auto pull(PyStream& stream, const Body& body) {
  const Turn turn(stream.origin());
  if (stream->is_over()) return body(*stream);
  return run(
      stream.origin(), [&stream] { stream.cancel(); },
      [&](const wick::TextSink&) { return body(*stream); }, {});
}

// body(stream), which takes what is there.
template <class Body>
auto poll(PyStream& stream, const Body& body) {
  refuse_what_would_hang(stream.origin());
  const Turn turn(stream.origin());
  return body(*stream);
}

// (kind, payload), as wick/event.h has them; None for none.
py::object to_python(const std::optional<wick::Event>& event) {
  if (!event) return py::none();
  const auto tuple = [](const char* kind, py::object payload) -> py::object {
    return py::make_tuple(kind, std::move(payload));
  };
  if (const auto* const text = std::get_if<wick::TextEvent>(&*event))
    return tuple("text", py::str(text->text));
  if (const auto* const thought = std::get_if<wick::ReasoningEvent>(&*event))
    return tuple("reasoning", py::str(thought->text));
  if (const auto* const call = std::get_if<wick::ToolCallEvent>(&*event))
    return tuple("tool_call", py::make_tuple(call->index, call->id, call->name));
  if (const auto* const more = std::get_if<wick::ArgumentsEvent>(&*event))
    return tuple("arguments", py::make_tuple(more->index, more->text));
  if (const auto* const logprobs = std::get_if<wick::LogprobsEvent>(&*event))
    return tuple("logprobs", py::cast(logprobs->tokens));
  if (const auto* const used = std::get_if<wick::UsageEvent>(&*event))
    return tuple("usage", py::make_tuple(used->usage.prompt_tokens, used->usage.generated_tokens));
  return tuple("done", py::str(std::string(name(std::get<wick::DoneEvent>(*event).finish))));
}

py::object next_event(PyStream& stream) {
  return to_python(pull(stream, [](wick::Stream& s) { return s.next_event(); }));
}

py::object poll_event(PyStream& stream) {
  return to_python(poll(stream, [](wick::Stream& s) { return s.poll_event(); }));
}

std::optional<std::string> poll_piece(PyStream& stream) {
  return poll(stream, [](wick::Stream& s) {
    const auto piece = s.poll();
    return piece ? std::optional(std::string(*piece)) : std::nullopt;
  });
}

std::string next_piece(PyStream& stream) {
  const Turn turn(stream.origin());
  const auto piece = pull(stream, [](wick::Stream& s) { return s.next(); });
  if (piece) return std::string(*piece);
  static_cast<void>(take(stream->finish()));  // over: raises if it failed
  throw py::stop_iteration();
}

// Functions of wick/_async.py as methods.
template <class Class>
void bind_async(Class& bound, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    bound.def(name, [name](const py::object& self, const py::args& args, const py::kwargs& more) {
      return py::module_::import("wick._async").attr(name)(self, *args, **more);
    });
  }
}

void bind_wakes(py::module_& m) {
  made_by_library(py::class_<PyWake>(m, "_Wake"));
  py::class_<PyWakes>(m, "_Wakes")
      .def(py::init<>())
      .def_property_readonly("fd", [](PyWakes& wakes) { return (*wakes).fd(); })
      .def("add", [](PyWakes& wakes, std::uint64_t key) { return PyWake{take((*wakes).add(key))}; })
      .def("take", [](PyWakes& wakes) {
        std::vector<std::uint64_t> keys;
        (*wakes).take([&](std::uint64_t key) { keys.push_back(key); });
        return keys;
      });
}

void bind_stream(py::module_& m) {
  py::class_<Cancel>(m, "Cancel").def(py::init<>()).def("request", [](Cancel& cancel) {
    (*cancel).request_stop();
  });

  py::class_<PyTextConstraint>(m, "TextConstraint")
      .def(py::init([](py::object is_valid, py::object is_complete, int candidates) {
             return PyTextConstraint{std::move(is_valid), std::move(is_complete), candidates};
           }),
           py::arg("is_valid_next_token"), py::arg("is_complete"), py::arg("candidates") = 64);
  made_by_library(py::class_<PyStream>(m, "Stream", py::custom_type_setup(PyStream::be_collected)))
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", next_piece)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](PyStream& s, const py::args&) { s.cancel(); })
      .def("next_event", next_event)
      .def("_poll", poll_piece)
      .def("_poll_event", poll_event)
      .def_property_readonly("_is_over",
                             [](PyStream& s) {
                               const Turn turn(s.origin());
                               return s->is_over();
                             })
      .def("finish",
           [](PyStream& stream) {
             return take(pull(stream, [](wick::Stream& s) { return s.finish(); }));
           })
      .def("cancel", &PyStream::cancel)
      .def_property_readonly("text",
                             [](PyStream& s) {
                               const Turn turn(s.origin());
                               return std::string(s->text());
                             })
      .def_property_readonly("logprobs", [](PyStream& s) {
        const Turn turn(s.origin());
        const auto logprobs = s->logprobs();
        return std::vector<wick::TokenLogprob>(logprobs.begin(), logprobs.end());
      });
}

// body(session). The session is the calling thread's alone meanwhile.
template <class Body>
auto with(PySession& session, const Body& body) {
  const Turn turn(session.origin());
  return run(session.origin(), [&] { return body(*session); });
}

// The stream that ask(generation) begins.
template <class Begin>
std::unique_ptr<PyStream> stream_of(PySession& session, const py::kwargs& settings,
                                    const Begin& ask_for) {
  const Ask ask = to_ask(settings, session.origin());
  const Turn turn(session.origin());
  wick::Stream made = begin(ask, session.origin(), [&] { return ask_for(ask.generation); });
  return std::make_unique<PyStream>(std::move(made), session.origin(), ask.hooks);
}

wick::Completion say(PySession& session, const std::string& text, const py::object& on_text,
                     const py::kwargs& settings) {
  const auto g = to_generation(settings, session.origin());
  const Turn turn(session.origin());
  return answer(session.origin(), g, on_text,
                [&](const auto&... with) { return session->say(text, with...); });
}

void bind_session(py::module_& m) {
  py::class_<PySession> bound(m, "Session");
  bind_async(bound, {"say_async", "stream_async", "send_async"});
  made_by_library(bound)
      .def("say", say, py::arg("text"), py::arg("on_text") = py::none())
      .def("stream",
           [](PySession& session, const std::string& text, const py::kwargs& settings) {
             return stream_of(session, settings,
                              [&](const wick::Generation& g) { return session->stream(text, g); });
           })
      .def("estimate",
           [](PySession& session, const std::string& text, const py::kwargs& settings) {
             const auto g = to_generation(settings, session.origin());
             return take(with(session, [&](wick::Session& s) { return s.estimate(text, g); }));
           })
      .def_property_readonly("messages",
                             [](PySession& s) {
                               const Turn turn(s.origin());
                               return from_json(wick::messages_to_json(s->messages()));
                             })
      .def("send",
           [](PySession& session, const py::dict& message, const py::kwargs& settings) {
             const auto list = to_messages(py::make_tuple(message));
             return stream_of(session, settings, [&](const wick::Generation& g) {
               return session->send(list.front(), g);
             });
           })
      .def("save",
           [](PySession& session, const py::object& path) {
             const auto name = to_path(path);
             take(with(session, [&](wick::Session& s) { return s.save(name); }));
           })
      .def("undo",
           [](PySession& session) {
             return with(session, [](wick::Session& s) { return s.undo(); });
           })
      .def("reset", [](PySession& session) {
        with(session, [](wick::Session& s) {
          s.reset();
          return true;
        });
      });
}

void bind_model(py::module_& m) {
  py::class_<PyModel> bound(m, "Model");
  bind_async(bound, {"complete_async", "chat_async", "stream_async"});
  bound.def(py::init(&open_model), py::arg("path_or_name"))
      .def("complete", complete, py::arg("prompt"), py::arg("on_text") = py::none())
      .def("chat", chat, py::arg("messages"), py::arg("on_text") = py::none())
      .def("stream", begin_stream, py::arg("prompt"))
      .def("estimate", estimate, py::arg("prompt"))
      .def(
          "session",
          [](PyModel& model, const std::string& system) {
            return std::make_unique<PySession>(model->session(system), model.origin().with_lock());
          },
          py::arg("system") = "")
      .def("load_session",
           [](PyModel& model, const py::object& path) {
             const auto name = to_path(path);
             auto loaded = take(run(model.origin(), [&] { return model->load_session(name); }));
             return std::make_unique<PySession>(std::move(loaded), model.origin().with_lock());
           })
      .def("embed", embed, py::arg("texts"))
      .def("describe", [](PyModel& model) { return model->describe(); })
      .def(
          "close_tenant",
          [](PyModel& model, std::uint64_t tenant, bool wipe) {
            return take(run(model.origin(), [&] { return model->close_tenant(tenant, wipe); }));
          },
          py::arg("tenant"), py::arg("wipe") = false)
      .def("tokenize",
           [](PyModel& model, std::string_view text) { return take(model->tokenize(text)); })
      .def("apply_template",
           [](PyModel& model, const py::object& messages, const py::kwargs& settings) {
             const auto list = to_messages(messages);
             const auto g = to_generation(settings, model.origin());
             const auto apply = [&] { return model->apply_template(list, g); };
             // In a hook, too: no model is asked.
             return take(waiting_models == nullptr ? run(model.origin(), apply) : apply());
           })
      .def("detokenize", [](PyModel& model, const py::object& ids) {
        return take(model->detokenize(to_ids(ids, "ids")));
      });
  for (const char* const fact : {"name", "architecture", "context", "vocabulary", "weight_bytes",
                                 "cache_bytes", "scratch_bytes"}) {
    bound.def_property_readonly(fact, [fact](const py::object& self) -> py::object {
      return self.attr("describe")().attr(fact);
    });
  }
}

void bind_pool(py::module_& m) {
  py::class_<PyPool>(m, "ModelPool")
      .def(py::init(
          [](const py::kwargs& given) { return std::make_unique<PyPool>(to_pool_options(given)); }))
      .def(
          "get",
          [](PyPool& pool, const py::object& path) {
            const auto name = to_path(path);
            return model_of(pool, name, [&](wick::ModelPool& p) { return p.get(name); });
          },
          py::arg("path_or_name"))
      .def(
          "replace",
          [](PyPool& pool, const py::object& of, const py::object& by) {
            const auto name = to_path(of), source = to_path(by);
            return model_of(pool, name,
                            [&](wick::ModelPool& p) { return p.replace(name, source); });
          },
          py::arg("name"), py::arg("source"))
      .def(
          "unload",
          [](PyPool& pool, const py::object& of) {
            const auto name = to_path(of);
            return run(pool.origin(), [&, &p = idle(pool)] { return p.unload(name); });
          },
          py::arg("name"))
      .def(
          "pin",
          [](PyPool& pool, const py::object& of, bool is_pinned) {
            const auto name = to_path(of);
            return run_here(pool.origin(), [&, &p = idle(pool)] { return p.pin(name, is_pinned); });
          },
          py::arg("name"), py::arg("is_pinned"))
      .def("list", [](PyPool& pool) {
        return run_here(pool.origin(), [&p = idle(pool)] { return p.list(); });
      });
}

constexpr const char* kNotHere =
    "wick runs in the main interpreter only, this is a subinterpreter: its models call Python from "
    "threads of their own";

bool is_main_interpreter() {
  return PyInterpreterState_Get() == PyInterpreterState_Main();
}

}  // namespace

// pybind11's own beginning, which hangs in a subinterpreter of Python 3.11, comes behind ours.
// Python 3.13 may run that in the main interpreter, and the module's body in the other one.
#define PyInit__wick begin_in_main_interpreter

PYBIND11_MODULE(_wick, m) {
  if (!is_main_interpreter()) throw py::import_error(kNotHere);
  m.doc() = "Language models on one's own machine.";
  m.attr("__version__") = wick::version();
  m.def("set_log", set_log, py::arg("sink"));
  m.def(
      "add_architecture", [](const std::string& json) { take(wick::add_architecture(json)); },
      py::arg("json"));
  open_gate();
  py::module_::import("atexit").attr("register")(py::cpp_function(&close_gate));
  guard_base_class();
  bind_records(m);
  bind_completion(m);
  bind_wakes(m);
  bind_stream(m);
  bind_session(m);
  bind_model(m);
  bind_pool(m);
}

#undef PyInit__wick

extern "C" PYBIND11_EXPORT PyObject* PyInit__wick() {
  if (is_main_interpreter()) return begin_in_main_interpreter();
  PyErr_SetString(PyExc_ImportError, kNotHere);
  return nullptr;
}
