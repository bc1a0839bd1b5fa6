// Errors of the library as Python sees them: wick.Error, raised with the interpreter's lock held.
#pragma once

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "wick/result.h"

namespace pywick {

namespace py = pybind11;

inline const py::object& error_class() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> stored;
  return stored
      .call_once_and_store_result([] { return py::module_::import("wick._error").attr("Error"); })
      .get_stored();
}

inline py::object to_python(const wick::Error& error) {
  py::object raised = error_class()(wick::to_string(error));
  raised.attr("code") = wick::name(error.code);
  raised.attr("id") = error.id;
  raised.attr("message") = error.message;
  raised.attr("hint") = error.hint;
  raised.attr("partial_text") = error.partial_text;
  raised.attr("retry_after_s") = error.retry_after_s;
  raised.attr("offset") = error.offset;
  raised.attr("cause") = error.cause == nullptr ? py::none() : to_python(*error.cause);
  return raised;
}

[[noreturn]] inline void raise(const wick::Error& error) {
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

}  // namespace pywick
