// The Python module wick._wick over include/wick: names and signatures. calls.h says how a call
// waits, convert.h what Python's values become.
#include <pybind11/pybind11.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convert.h"
#include "wick/model.h"

using namespace pywick;

namespace {

using PyModel = Held<wick::Model>;
using PySession = Held<wick::Session>;

// Its hook is a reference that Python's collector must see: what owns the stream may be the hook.
struct PyStream : Held<wick::Stream> {
  PyStream(wick::Stream stream, Origin from, std::shared_ptr<Hook> with)
      : Held(std::move(stream), std::move(from)), hook(std::move(with)) {}

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
    if (const PyStream* const s = of(self); s != nullptr && s->hook != nullptr)
      Py_VISIT(s->hook->callable.ptr());
    return 0;
  }

  // The engine may be about to call the hook: it finds none, and the request is cancelled.
  static int clear(PyObject* self) {
    PyStream* const s = of(self);
    if (s == nullptr || s->hook == nullptr) return 0;
    s->cancel();
    const py::object gone = std::move(s->hook->callable);
    return 0;
  }

  static void be_collected(PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = traverse;
    type->ht_type.tp_clear = clear;
  }

  std::shared_ptr<Hook> hook;
};

// Of a class whose objects only the library makes; an empty one would hold nothing.
PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s: No constructor defined! Its objects come from a wick.Model",
               type->tp_name);
  return nullptr;
}

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

template <class Class>
Class& made_by_library(Class&& bound) {
  reinterpret_cast<PyTypeObject*>(bound.ptr())->tp_new = refuse_new;
  return bound;
}

std::unique_ptr<PyModel> open_model(const py::object& path, const py::kwargs& given) {
  const auto name = to_path(path);
  const std::unique_ptr<Opening> opening = to_opening(given);
  wick::ModelOptions& options = opening->options;
  std::stop_source source;
  const std::function<void()> stop = [source]() mutable { source.request_stop(); };
  const std::stop_callback by_caller(options.cancel, stop);
  options.cancel = source.get_token();
  const Origin origin = Origin::of_new_model();
  auto model = run(
      origin, stop, [&](const wick::TextSink&) { return wick::Model::open(name, options); }, {});
  if (opening->raised) std::rethrow_exception(opening->raised);
  return std::make_unique<PyModel>(take(std::move(model)), origin);
}

// ask(g, sink) as a call that a Cancel, Ctrl-C and the interpreter's end stop.
template <class Ask>
wick::Completion answer(const Origin& origin, wick::Generation g, const py::object& on_text,
                        const Ask& ask) {
  std::stop_source source;
  const std::function<void()> stop = [source]() mutable { source.request_stop(); };
  const std::stop_callback by_caller(g.cancel, stop);
  g.cancel = source.get_token();
  return take(run(
      origin, stop, [&](const wick::TextSink& sink) { return ask(g, sink); }, to_sink(on_text)));
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
  return std::make_unique<PyStream>(std::move(stream), model.origin().with_lock(), ask.hook);
}

wick::RequestPlan plan(PyModel& model, const py::object& prompt, const py::kwargs& settings) {
  const wick::Generation g = to_generation(settings, model.origin());
  const wick::Prompt given = to_prompt(prompt);
  return take(run(model.origin(), [&] {
    return std::visit([&](const auto& one) { return model->plan(one, g); }, given);
  }));
}

py::list embed(PyModel& model, const std::vector<std::string>& texts,
                                      const std::string& pooling, bool normalise) {
  std::stop_source source;
  const wick::EmbedOptions options = {
      .pooling = pooling, .normalise = normalise, .cancel = source.get_token()};
  const auto vectors = take(run(
      model.origin(), [source]() mutable { source.request_stop(); },
      [&](const wick::TextSink&) { return model->embed(texts, options); }, {}));
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
  if (const auto* const scores = std::get_if<wick::ScoresEvent>(&*event))
    return tuple("scores", py::cast(scores->tokens));
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
      .def("add", [](PyWakes& wakes, std::uint64_t key) { return PyWake{(*wakes).add(key)}; })
      .def("take", [](PyWakes& wakes) {
        std::vector<std::uint64_t> keys;
        (*wakes).take([&](std::uint64_t key) { keys.push_back(key); });
        return keys;
      });
}

// Records that only the library makes.
void bind_records(py::module_& m) {
  using wick::RequestPlan;
  using wick::ScoredToken;
  made_by_library(py::class_<ScoredToken>(m, "ScoredToken"))
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
  made_by_library(py::class_<RequestPlan>(m, "RequestPlan"))
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
  py::class_<Cancel>(m, "Cancel").def(py::init<>()).def("request", [](Cancel& cancel) {
    (*cancel).request_stop();
  });

  made_by_library(py::class_<wick::Completion>(m, "Completion"))
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
      .def_property_readonly("prompt_tokens",
                             [](const wick::Completion& c) { return c.usage.prompt_tokens; })
      .def_property_readonly("cached_tokens",
                             [](const wick::Completion& c) { return c.usage.cached_tokens; })
      .def_property_readonly("generated_tokens",
                             [](const wick::Completion& c) { return c.usage.generated_tokens; })
      .def_property_readonly("draft_tokens",
                             [](const wick::Completion& c) { return c.usage.draft_tokens; })
      .def_property_readonly("accepted_tokens",
                             [](const wick::Completion& c) { return c.usage.accepted_tokens; })
      .def_property_readonly("queue_ms", [](const wick::Completion& c) { return c.usage.queue_ms; })
      .def_property_readonly("prompt_ms",
                             [](const wick::Completion& c) { return c.usage.prompt_ms; })
      .def_property_readonly("generate_ms",
                             [](const wick::Completion& c) { return c.usage.generate_ms; })
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

void bind_stream(py::module_& m) {
  made_by_library(
      py::class_<PyStream>(m, "Stream", py::custom_type_setup(PyStream::be_collected)))
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
      .def_property_readonly("scores", [](PyStream& s) {
        const Turn turn(s.origin());
        const auto scores = s->scores();
        return std::vector<wick::ScoredToken>(scores.begin(), scores.end());
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
  return std::make_unique<PyStream>(std::move(made), session.origin(), ask.hook);
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
             return stream_of(session, settings, [&](const wick::Generation& g) {
               return session->stream(text, g);
             });
           })
      .def("plan",
           [](PySession& session, const std::string& text, const py::kwargs& settings) {
             const auto g = to_generation(settings, session.origin());
             return take(with(session, [&](wick::Session& s) { return s.plan(text, g); }));
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

void bind_facts(py::class_<PyModel>& model) {
  const auto fact = [&model](const char* name, auto get) {
    model.def_property_readonly(name, [get](PyModel& m) { return get(m->describe()); });
  };
  using Info = const wick::ModelInfo&;
  fact("name", [](Info info) { return info.name; });
  fact("architecture", [](Info info) { return info.architecture; });
  fact("context", [](Info info) { return info.context; });
  fact("vocabulary", [](Info info) { return info.vocabulary; });
  fact("weight_bytes", [](Info info) { return info.memory.weight_bytes; });
  fact("cache_bytes", [](Info info) { return info.memory.cache_bytes; });
  fact("scratch_bytes", [](Info info) { return info.memory.scratch_bytes; });
}

void bind_model(py::module_& m) {
  py::class_<PyModel> bound(m, "Model");
  bind_async(bound, {"complete_async", "chat_async", "stream_async"});
  bound.def(py::init(&open_model), py::arg("path_or_name"))
      .def("complete", complete, py::arg("prompt"), py::arg("on_text") = py::none())
      .def("chat", chat, py::arg("messages"), py::arg("on_text") = py::none())
      .def("stream", begin_stream, py::arg("prompt"))
      .def("plan", plan, py::arg("prompt"))
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
      .def("embed", embed, py::arg("texts"), py::kw_only(), py::arg("pooling") = "",
           py::arg("normalise") = true)
      .def(
          "close_tenant",
          [](PyModel& model, std::uint64_t tenant, bool wipes) {
            return take(run(model.origin(), [&] { return model->close_tenant(tenant, wipes); }));
          },
          py::arg("tenant"), py::arg("wipes") = false)
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
  bind_facts(bound);
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
  open_gate();
  py::module_::import("atexit").attr("register")(py::cpp_function(&close_gate));
  guard_base_class();
  bind_records(m);
  bind_answers(m);
  bind_wakes(m);
  bind_stream(m);
  bind_session(m);
  bind_model(m);
}
#undef PyInit__wick

extern "C" PYBIND11_EXPORT PyObject* PyInit__wick() {
  if (is_main_interpreter()) return begin_in_main_interpreter();
  PyErr_SetString(PyExc_ImportError, kNotHere);
  return nullptr;
}
