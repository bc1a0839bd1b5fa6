// Python's callables as the library calls them, on any thread: the logits hook and the caller's
// constraints (wick/constraint.h).
#pragma once

#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "calls.h"
#include "wick/generation.h"

namespace pywick {

// A thread of the library inside Python. It is refused once the interpreter closes.
class Visit {
 public:
  explicit Visit(const ModelIds& waiting) : before_(waiting_models) { waiting_models = &waiting; }

  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  ~Visit() {
    acquire_.reset();
    waiting_models = before_;
  }

  template <class... Args>
  py::object call(const py::object& f, Args&&... args) const {
    return call_back(busy_, [&] { return f(std::forward<Args>(args)...); });
  }

 private:
  const Busy busy_ = {};
  const ModelIds* before_;
  std::optional<py::gil_scoped_acquire> acquire_{std::in_place};
};

// A Python callable that any thread may drop. What it holds is seen and changed with the
// interpreter's lock only; once the collector has cleared its Stream it is empty.
struct Hook {
  explicit Hook(py::object f) : callable(std::move(f)) {}

  py::object callable;
};

// For a Visit that adds no model to those that wait for this thread.
inline const ModelIds& waiting_here() {
  static const ModelIds kNone;
  return waiting_models == nullptr ? kNone : *waiting_models;
}

inline std::shared_ptr<Hook> share(py::object f) {
  return {new Hook(std::move(f)), [](Hook* gone) {
            try {
              const Visit visit(waiting_here());
              delete gone;
            } catch (const std::runtime_error&) {
              gone->callable.release();  // with the interpreter goes all it holds
              delete gone;
            }
          }};
}

// A buffer that numpy reads and writes in place.
inline py::object view_of(const py::object& bytes, const char* format) {
  py::object view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(bytes.ptr()));
  if (!view) throw py::error_already_set();
  return view.attr("cast")(format);
}

inline py::bytearray copy_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The hook gets copies, so that views kept in Python never point at memory that is gone.
inline wick::LogitsHook to_hook(std::shared_ptr<Hook> hook, std::uint64_t model) {
  return [hook = std::move(hook), waiting = waiting_with(model)](
             std::span<float> logits, std::span<const wick::TokenId> history) {
    const Visit visit(waiting);
    // A reference of this call's own: while it runs the collector sees that somebody holds it.
    const py::object f = hook->callable;
    if (!f) throw std::runtime_error("its stream was collected");
    try {
      const py::bytearray copy = copy_of(logits);
      const py::bytes past(reinterpret_cast<const char*>(history.data()), history.size_bytes());
      visit.call(f, view_of(copy, "f"), view_of(past, "i"));
      if (copy.size() != logits.size_bytes())
        throw std::runtime_error("it changed the size of what holds the logits");
      std::memcpy(logits.data(), PyByteArray_AS_STRING(copy.ptr()), logits.size_bytes());
    } catch (py::error_already_set& e) {  // to be told without the interpreter
      throw std::runtime_error(e.what());
    }
  };
}

// What a callback says of going on: None is yes.
inline bool says_yes(const py::object& answer) {
  const int truth = answer.is_none() ? 1 : PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

inline std::shared_ptr<Hook> to_shared(const py::handle& value, const std::string& option) {
  if (PyCallable_Check(value.ptr()) == 0) throw py::type_error("'" + option + "' is not callable");
  return share(py::reinterpret_borrow<py::object>(value));
}

// Calls a hook with what make() gives, and read() takes its answer; both hold the interpreter's
// lock. What Python raises is told without the interpreter.
template <class Make, class Read>
auto ask_hook(const ModelIds& waiting, const Hook& hook, const Make& make, const Read& read) {
  const Visit visit(waiting);
  const py::object f = hook.callable;  // a reference of this call's own, as in to_hook()
  if (!f) throw std::runtime_error("its stream was collected");
  try {
    return std::apply([&](const auto&... with) { return read(visit.call(f, with...)); }, make());
  } catch (py::error_already_set& e) {
    throw std::runtime_error(e.what());
  }
}

inline bool is_true(const py::object& answer) {
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

inline py::bytes to_bytes(std::string_view text) {
  return {text.data(), text.size()};
}

// A recognizer object of Python's. Its methods are looked up once.
class PyRecognizer final : public wick::ByteRecognizer {
 public:
  PyRecognizer(const py::object& made, const ModelIds& waiting)
      : waiting_(waiting),
        push_(share(made.attr("push"))),
        pop_(share(made.attr("pop"))),
        accepting_(share(made.attr("accepting"))),
        forced_(py::hasattr(made, "forced") ? share(made.attr("forced")) : nullptr) {}

  bool push(unsigned char byte) override {
    return ask_hook(
        waiting_, *push_, [&] { return std::make_tuple(py::int_(byte)); }, is_true);
  }

  void pop() override {
    ask_hook(
        waiting_, *pop_, [] { return std::tuple(); }, [](const py::object&) { return true; });
  }

  bool accepting() override {
    return ask_hook(
        waiting_, *accepting_, [] { return std::tuple(); }, is_true);
  }

  std::string forced() override {
    if (forced_ == nullptr) return {};
    return ask_hook(
        waiting_, *forced_, [] { return std::tuple(); },
        [](const py::object& bytes) {
          if (PyBytes_Check(bytes.ptr()) == 0) throw std::runtime_error("forced() gave no bytes");
          return std::string(py::reinterpret_borrow<py::bytes>(bytes));
        });
  }

 private:
  ModelIds waiting_;
  std::shared_ptr<Hook> push_, pop_, accepting_, forced_;
};

inline wick::RecognizerFactory to_recognizers(std::shared_ptr<Hook> hook, std::uint64_t model) {
  return [hook = std::move(hook), waiting = waiting_with(model)] {
    return ask_hook(
        waiting, *hook, [] { return std::tuple(); },
        [&](const py::object& made) -> std::unique_ptr<wick::ByteRecognizer> {
          return std::make_unique<PyRecognizer>(made, waiting);
        });
  };
}

// The mask is a copy, as the logits are in to_hook().
inline wick::TokenMaskHook to_mask(std::shared_ptr<Hook> hook, std::uint64_t model) {
  return [hook = std::move(hook), waiting = waiting_with(model)](const wick::TokenPlace& place,
                                                                 std::span<std::uint64_t> allowed) {
    const Visit visit(waiting);
    const py::object f = hook->callable;
    if (!f) throw std::runtime_error("its stream was collected");
    try {
      const py::bytearray copy(reinterpret_cast<const char*>(allowed.data()), allowed.size_bytes());
      const py::bytes tokens(reinterpret_cast<const char*>(place.tokens.data()),
                             place.tokens.size_bytes());
      visit.call(f, to_bytes(place.text), view_of(tokens, "i"), view_of(copy, "Q"));
      if (copy.size() != allowed.size_bytes())
        throw std::runtime_error("it changed the size of what holds the mask");
      std::memcpy(allowed.data(), PyByteArray_AS_STRING(copy.ptr()), allowed.size_bytes());
    } catch (py::error_already_set& e) {
      throw std::runtime_error(e.what());
    }
  };
}

inline wick::TextPredicate to_predicate(std::shared_ptr<Hook> hook, std::uint64_t model) {
  return [hook = std::move(hook), waiting = waiting_with(model)](std::string_view text) {
    return ask_hook(
        waiting, *hook, [&] { return std::make_tuple(to_bytes(text)); }, is_true);
  };
}

// Python's wick.TextConstraint.
struct PyTextConstraint {
  py::object is_valid_next_token, is_complete;
  int candidates = 64;
};

inline wick::TokenMaskHook to_text_mask(std::shared_ptr<Hook> is_valid,
                                        std::shared_ptr<Hook> is_complete, int candidates,
                                        std::uint64_t model) {
  wick::TextConstraint rule{.is_complete = to_predicate(std::move(is_complete), model),
                            .candidates = candidates};
  rule.is_valid_next_token = [hook = std::move(is_valid), waiting = waiting_with(model)](
                                 std::string_view text, std::string_view token) {
    return ask_hook(
        waiting, *hook, [&] { return std::make_tuple(to_bytes(text), to_bytes(token)); }, is_true);
  };
  return wick::to_token_mask(std::move(rule));
}

}  // namespace pywick
