// Converts diagnostics to Python exceptions and warnings, and finds the user's line for them.

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <string_view>

#include "core/handles.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

// The variables of the module whose code a frame runs.
py::object globals_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  PyObject* const globals = PyFrame_GetGlobals(frame);
#else
  PyObject* const globals = PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals");
#endif
  if (globals == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(globals);
}

// The characters of a Python string, which live as long as the string.
std::string_view text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(string, &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

// Whether a frame runs code of this package, of NumPy, or of Python's import system while it
// imports this package. Other frames run the user's code.
bool is_ours(PyFrameObject* frame) {
  // Each expression and each directive calls this function for all frames of this package, twenty
  // in a converter of ONNX nodes, so it copies no text.
  static PyObject* const module_name = PyUnicode_InternFromString("__name__");
  const py::object globals = globals_of(frame);
  PyObject* const name = PyDict_GetItemWithError(globals.ptr(), module_name);  // borrowed
  if (name == nullptr || !PyUnicode_Check(name)) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return false;
  }
  const std::string_view module = text_of(name);
  const std::string_view package = module.substr(0, module.find('.'));
  return package == "texloom" || package == "importlib" || package == "numpy";
}

SourceLocation location_of(PyFrameObject* frame) {
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const py::object file = code.attr("co_filename");
  return SourceLocation::make(text_of(file.ptr()), PyFrame_GetLineNumber(frame));
}

// Converts diagnostics to a Python list of named tuples.
py::list as_list(const std::vector<Diagnostic>& diagnostics) {
  const py::object row = py::module_::import("texloom.errors").attr("Diagnostic");
  py::list list;
  for (const Diagnostic& d : diagnostics) {
    list.append(row(d.severity == Severity::Error ? "error" : "warning", code_text(d.code),
                    d.message, d.help, d.location.known() ? py::cast(*d.location.file) : py::none(),
                    d.location.known() ? py::cast(d.location.line) : py::none(), d.notes,
                    render(d)));
  }
  return list;
}

void raise(const UserError& error) {
  const Code code = error.diagnostics().front().code;
  const py::object type =
      py::module_::import("texloom.errors").attr("exception_type")(code_text(code));
  const py::object value = type(error.what(), as_list(error.diagnostics()));
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

SourceLocation user_location() {
  auto* frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  Py_INCREF(frame);
  while (frame != nullptr && is_ours(frame)) {
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  if (frame == nullptr) return location_of(PyEval_GetFrame());
  const SourceLocation found = location_of(frame);
  Py_DECREF(frame);
  return found;
}

std::string kind_text(const py::handle& value) {
  if (value.is_none()) return "None";
  if (py::isinstance<py::array>(value)) return "a NumPy array";
  const auto name = py::str(py::type::of(value).attr("__name__")).cast<std::string>();
  // "uint8" is pronounced with an initial consonant, and "NDArray" with an initial vowel.
  const bool vowel = std::string_view("AEIOaeio").find(name.front()) != std::string_view::npos ||
                     name.starts_with("ND");
  return fmt::format("{} {}", vowel ? "an" : "a", name);
}

void warn(const Diagnostic& d) {
  const py::object category = py::module_::import("texloom.errors").attr("TexloomWarning");
  const std::string file = d.location.known() ? *d.location.file : "?";
  // Python prints the file and the line number, and the line's text if it can read the file.
  const py::object text = py::module_::import("linecache").attr("getline")(file, d.location.line);
  py::module_::import("warnings")
      .attr("warn_explicit")(py::len(text) > 0 ? render_without_location(d) : render(d), category,
                             file, d.location.line);
}

namespace {

// Raises a diagnostic at the user's line, for checks that are written in Python.
void refuse(const std::string& name, const std::string& message, const std::string& help) {
  for (const CodeInfo& row : all_codes()) {
    if (row.name == name) fail(user_location(), row.code, help, "{}", message);
  }
  TL_UNREACHABLE("no diagnostic has the name " + name);
}

// Like refuse(), but only warns.
void warn_of(const std::string& name, const std::string& message, const std::string& help) {
  for (const CodeInfo& row : all_codes()) {
    if (row.name != name) continue;
    warn({Severity::Warning, row.code, user_location(), message, help, {}});
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  // pybind11 prescribes this signature.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const UserError& error) {
      try {
        raise(error);
      } catch (py::error_already_set& failed) {
        failed.restore();
      }
    } catch (const py::cast_error& error) {
      PyErr_SetString(PyExc_TypeError, error.what());
    } catch (const InternalError& error) {
      const py::object type = py::module_::import("texloom.errors").attr("InternalError");
      PyErr_SetString(type.ptr(), error.what());
    }
  });
  m.def("kind_text", kind_text);
  m.def("refuse", refuse);
  m.def("warn", warn_of);
  m.def(
      "error_codes",
      [] {
        py::list rows;
        for (const CodeInfo& row : all_codes()) {
          rows.append(py::make_tuple(code_text(row.code), row.name, row.summary));
        }
        return rows;
      },
      "Every diagnostic code: (code, name, summary).");
}

}  // namespace texloom::python
