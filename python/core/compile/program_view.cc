// Describes a program for pictures: its buffers, its loop nests, and the bytes that its kernels
// move.

#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "core/compile/program.h"
#include "ir/accesses.h"
#include "ir/text/print_names.h"
#include "ir/visit.h"
#include "lower/analysis/memory_traffic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

struct PyPlacedBuffer {
  Buffer node;

  bool operator==(const PyPlacedBuffer& other) const { return node.same_as(other.node); }
};

// (text, number of values) of each digit of a mixed-radix row, column or lane index.
py::list digits(const LayoutParts& parts, const Shape& shape) {
  const std::vector<std::string> names = axis_names(shape.size());
  py::list rows;
  for (const LayoutPart& part : parts) {
    const std::string& name = names.at(static_cast<size_t>(part.axis));
    rows.append(py::make_tuple(to_string(open_ended(part, shape), name), part.extent));
  }
  return rows;
}

py::object index_at(const PyPlacedBuffer& b, int64_t row, int64_t column, int64_t lane) {
  const auto index = b.node->layout.index_at({row, column, lane});
  return index ? py::object(py::tuple(py::cast(*index))) : py::none();
}

std::string scope_of(const BufferNode& buffer) {
  return buffer.is_texture() ? "texture" : std::string(to_string(buffer.memory));
}

std::vector<PyPlacedBuffer> read_by(const Stmt& s) {
  std::vector<PyPlacedBuffer> found;
  const auto add = [&](const Buffer& buffer) {
    const PyPlacedBuffer placed{buffer};
    if (std::find(found.begin(), found.end(), placed) == found.end()) found.push_back(placed);
  };
  for_each_child(
      s,
      [&](const Expr& e) {
        for_each_access(e, [&](const BufferAccess& n) {
          if (n.reads()) add(n.buffer);
        });
      },
      [](const Stmt&) {});
  return found;
}

std::string name_of(const Expr& var) { return as<Var>(var)->name; }

// The keyword of the loop in the text form; for a thread axis only its tag.
std::string word_of(const For& loop) {
  if (loop.loop == LoopKind::Thread) return to_string(loop.tag);
  return std::string(loop_word(loop.loop));
}

void append(py::list& rows, const Stmt& s);

py::list statements(const Stmt& s) {
  py::list rows;
  append(rows, s);
  return rows;
}

py::dict row(const char* kind) {
  py::dict d;
  d["kind"] = kind;
  return d;
}

py::dict block(const char* kind, const Stmt& body) {
  py::dict d = row(kind);
  d["body"] = statements(body);
  return d;
}

py::dict loop(const For& n) {
  py::dict d = block("loop", n.body);
  d["loop"] = word_of(n);
  d["name"] = name_of(n.var);
  d["extent"] = to_string(n.extent);
  return d;
}

py::dict store(const Stmt& s, const Buffer& buffer) {
  py::dict d = row("store");
  d["buffer"] = PyPlacedBuffer{buffer};
  d["reads"] = read_by(s);
  d["text"] = to_string(s);
  return d;
}

py::dict allocation(const Buffer& buffer) {
  py::dict d = row("allocate");
  d["buffer"] = PyPlacedBuffer{buffer};
  return d;
}

// Appends the rows of a statement. The row of a statement that declares or binds a name is followed
// by the rows of its body at the same level, as in the text form.
void append(py::list& rows, const Stmt& s) {
  visit(
      s, [&](const For& n) { rows.append(loop(n)); },
      [&](const If& n) {
        py::dict d = block("guard", n.then);
        d["condition"] = to_string(n.condition);
        rows.append(d);
      },
      [&](const While& n) {
        py::dict d = block("while", n.body);
        d["condition"] = to_string(n.condition);
        rows.append(d);
      },
      [&](const Nest& n) { rows.append(block("nest", n.body)); },
      [&](const Pipelined& n) {
        py::dict d = block("pipelined", n.body);
        d["buffer"] = PyPlacedBuffer{n.buffer};
        d["stages"] = n.stages;
        rows.append(d);
      },
      [&](const AsyncCopies& n) { append(rows, n.body); },
      [&](const Allocate& n) {
        rows.append(allocation(n.buffer));
        append(rows, n.body);
      },
      [&](const Store& n) { rows.append(store(s, n.buffer)); },
      [&](const TextureStore& n) { rows.append(store(s, n.texture)); },
      [&](const Evaluate& n) {
        walk(n.call, [&](const Pointer& p) {
          if (writes(p.access)) rows.append(store(s, p.buffer));
        });
      },
      [&](const Barrier&) { rows.append(row("barrier")); },
      [&](const Launch&) { rows.append(row("launch")); },
      [&](const auto&) {
        for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { append(rows, child); });
      });
}

py::object bounded(const lower::Count& count) {
  return count.bounded() ? py::object(py::int_(count.value)) : py::none();
}

py::dict movement(const lower::Movement& m) {
  py::dict d;
  d["accesses"] = bounded(m.accesses);
  d["bytes"] = bounded(m.bytes);
  d["exact"] = m.accesses.exact;
  return d;
}

// (buffer, bytes read, bytes written) of each buffer.
py::list traffic(const Kernel& kernel) {
  py::list rows;
  for (const lower::Traffic& t : lower::traffic_of(kernel)) {
    rows.append(py::make_tuple(PyPlacedBuffer{t.buffer}, movement(t.read), movement(t.written)));
  }
  return rows;
}

bool has_constant_grid(const Kernel& kernel) {
  return std::all_of(kernel.grid.begin(), kernel.grid.end(),
                     [](const Expr& extent) { return int_value(extent) != nullptr; });
}

py::list program_kernels(const PyProgram& program) {
  const std::vector<Kernel>& all = program.state->program.kernels;
  if (!program.state->program.symbols.empty() ||
      !std::all_of(all.begin(), all.end(), has_constant_grid)) {
    throw py::value_error(fmt::format(
        "'{}' has extents that are known only at the call, or a loop in its launch plan; pictures "
        "and counts need constant extents",
        program.state->program.name));
  }
  py::list rows;
  for (const Kernel& kernel : all) {
    py::dict d;
    d["name"] = kernel.name;
    std::array<int64_t, 3> grid{};
    for (size_t i = 0; i < grid.size(); ++i) grid[i] = *int_value(kernel.grid[i]);
    d["grid"] = py::tuple(py::cast(grid));
    d["block"] = py::tuple(py::cast(kernel.block));
    std::vector<PyPlacedBuffer> params;
    for (const KernelParam& p : kernel.params) {
      if (p.buffer) params.push_back({p.buffer});
    }
    d["params"] = params;
    py::list axes;
    for (const ThreadAxis& axis : kernel.axes) {
      axes.append(py::make_tuple(to_string(axis.tag), name_of(axis.var), *int_value(axis.extent)));
    }
    d["axes"] = axes;
    d["body"] = statements(kernel.body);
    d["traffic"] = traffic(kernel);
    rows.append(d);
  }
  return rows;
}

}  // namespace

void bind_program_view(py::module_& m) {
  py::class_<PyPlacedBuffer>(m, "PlacedBuffer", "A buffer or texture of a program.")
      .def_property_readonly("name", [](const PyPlacedBuffer& b) { return b.node->name; })
      .def_property_readonly("dtype",
                             [](const PyPlacedBuffer& b) { return to_string(b.node->type); })
      .def_property_readonly("element_bytes",
                             [](const PyPlacedBuffer& b) { return b.node->type.bytes(); })
      .def_property_readonly(
          "shape", [](const PyPlacedBuffer& b) { return py::tuple(py::cast(b.node->shape)); })
      .def_property_readonly("scope", [](const PyPlacedBuffer& b) { return scope_of(*b.node); })
      .def_property_readonly(
          "row_digits",
          [](const PyPlacedBuffer& b) { return digits(b.node->layout.rows, b.node->layout.shape); })
      .def_property_readonly(
          "column_digits",
          [](const PyPlacedBuffer& b) { return digits(b.node->layout.cols, b.node->layout.shape); })
      .def_property_readonly("lane_digits",
                             [](const PyPlacedBuffer& b) {
                               return digits(b.node->layout.lanes, b.node->layout.shape);
                             })
      .def_property_readonly("rows",
                             [](const PyPlacedBuffer& b) { return b.node->layout.row_count(); })
      .def_property_readonly("columns",
                             [](const PyPlacedBuffer& b) { return b.node->layout.col_count(); })
      .def_property_readonly("lanes",
                             [](const PyPlacedBuffer& b) { return b.node->layout.lane_count(); })
      .def("index_at", index_at, py::arg("row"), py::arg("column"), py::arg("lane"),
           "The logical index of the element there; None for padding.")
      .def("__eq__", [](const PyPlacedBuffer& a, const PyPlacedBuffer& b) { return a == b; })
      .def("__hash__", [](const PyPlacedBuffer& b) {
        return py::hash(py::int_(reinterpret_cast<uintptr_t>(b.node.get())));
      });
  py::reinterpret_borrow<py::class_<PyProgram>>(m.attr("Program"))
      .def_property_readonly("_kernels", program_kernels)
      .def_property_readonly("_body", [](const PyProgram& p) {
        const Program& program = p.state->program;
        py::list rows;
        for (const Buffer& temporary : program.temporaries) rows.append(allocation(temporary));
        if (program.body) append(rows, program.body);
        return rows;
      });
}

}  // namespace texloom::python
