// Small te programs: tensors, computes and schedules; each directive has its own line.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "schedule/operation/operators.h"
#include "schedule/schedule.h"
#include "schedule/text/parse.h"
#include "schedule/text/print.h"

namespace texloom::schedule::testing {

// A line of the user's script.
inline SourceLocation line(int number) { return SourceLocation::make("te.py", number); }

inline ir::Tensor placeholder(std::string name, const std::vector<int64_t>& shape,
                              ir::Type type = ir::kFloat32) {
  ir::Exprs extents;
  for (const int64_t extent : shape) extents.push_back(ir::make_int(extent));
  return output_of(make_placeholder(std::move(name), type, std::move(extents), line(1)));
}

inline ir::IterVar data_axis(std::string name, int64_t extent) {
  return make_iter_var(ir::make_var(std::move(name)), ir::make_int(0), ir::make_int(extent),
                       ir::IterKind::Data, line(2));
}

// Runs from min to min + extent - 1.
inline ir::IterVar reduce_axis(std::string name, int64_t extent, int64_t min = 0) {
  return make_iter_var(ir::make_var(std::move(name)), ir::make_int(min), ir::make_int(extent),
                       ir::IterKind::Reduction, line(3));
}

// `body` gets the variables of the axes, which are named i, j, k and l.
template <class F>
ir::Tensor compute(std::string name, const std::vector<int64_t>& shape, F body) {
  std::vector<ir::IterVar> axes;
  ir::Exprs vars;
  for (const int64_t extent : shape) {
    axes.push_back(data_axis(std::string(1, static_cast<char>('i' + axes.size())), extent));
    vars.push_back(axes.back()->var);
  }
  return output_of(make_compute(std::move(name), "", axes, body(vars), line(4)));
}

inline ir::Expr at(const ir::Tensor& tensor, ir::Exprs indices) {
  return read(tensor, std::move(indices), line(4));
}

inline ir::Expr sum(ir::Expr source, std::vector<ir::IterVar> axes, ir::Expr where = nullptr) {
  return reduce(Reduction::Sum, std::move(source), {std::move(axes), std::move(where)}, line(4));
}

// Returns the simplest compute: the tensor plus one.
inline ir::Tensor plus_one(const ir::Tensor& tensor, std::string name) {
  std::vector<int64_t> shape;
  for (const ir::Expr& extent : tensor->shape) shape.push_back(*ir::int_value(extent));
  return compute(std::move(name), shape, [&](const ir::Exprs& i) {
    return at(tensor, i) + ir::make_const(1, tensor->type);
  });
}

// Checks that parsing the text of a schedule gives a schedule with the same text.
inline void expect_round_trip(const Schedule& s) {
  const auto text_of = [](const Schedule& schedule) {
    SchedulePrinter printer(schedule, {.locations = true});
    return printer.head() + printer.operations();
  };
  try {
    const std::string text = text_of(s);
    ir::TextReader reader(text, "again.tl");
    ScheduleParser parser(reader);
    parser.head();
    EXPECT_EQ(text_of(parser.operations()), text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

// A schedule whose directives take tensors; the last parameter of each is the line of the call. The
// destructor checks that the schedule round-trips through text.
struct Te {
  Schedule s;

  explicit Te(const std::vector<ir::Tensor>& outputs) : s(Schedule::create(ops(outputs))) {}
  Te(const Te&) = default;
  Te& operator=(const Te&) = default;
  ~Te() { expect_round_trip(s); }

  static std::vector<Op> ops(const std::vector<ir::Tensor>& tensors) {
    std::vector<Op> list;
    for (const ir::Tensor& t : tensors) list.push_back(operation_of(t));
    return list;
  }
  StageId id(const ir::Tensor& t) const { return *s.find(operation_of(t)); }
  const Stage& stage(const ir::Tensor& t) const { return s.stage(id(t)); }
  ir::IterVar axis(const ir::Tensor& t, size_t n) const { return stage(t).op->axes[n]; }
  ir::IterVar reduction(const ir::Tensor& t, size_t n = 0) const {
    return stage(t).op->reduce_axes[n];
  }

  Schedule::Pair split(const ir::Tensor& t, const ir::IterVar& axis, int64_t factor, int at = 11) {
    return s.split(id(t), axis, factor, {}, line(at));
  }
  Schedule::Pair split_nparts(const ir::Tensor& t, const ir::IterVar& axis, int64_t nparts,
                              int at = 12) {
    return s.split(id(t), axis, {}, nparts, line(at));
  }
  ir::IterVar fuse(const ir::Tensor& t, const std::vector<ir::IterVar>& axes, int at = 13) {
    return s.fuse(id(t), axes, line(at));
  }
  void reorder(const ir::Tensor& t, const std::vector<ir::IterVar>& axes, int at = 14) {
    s.reorder(id(t), axes, line(at));
  }
  std::optional<Diagnostic> bind(const ir::Tensor& t, const ir::IterVar& axis, std::string_view tag,
                                 int at = 15) {
    return s.bind(id(t), axis, make_thread_axis(*ir::parse_thread_tag(tag)), line(at));
  }
  void vectorize(const ir::Tensor& t, const ir::IterVar& axis, int at = 16) {
    s.annotate(id(t), axis, ir::LoopKind::Vectorized, line(at));
  }
  void unroll(const ir::Tensor& t, const ir::IterVar& axis, int at = 17) {
    s.annotate(id(t), axis, ir::LoopKind::Unrolled, line(at));
  }
  void compute_at(const ir::Tensor& t, const ir::Tensor& host, const ir::IterVar& axis,
                  int at = 18) {
    s.compute_at(id(t), id(host), axis, line(at));
  }
  void compute_inline(const ir::Tensor& t, int at = 19) { s.compute_inline(id(t), line(at)); }
  void compute_root(const ir::Tensor& t, int at = 20) { s.compute_root(id(t), line(at)); }
  void set_scope(const ir::Tensor& t, std::string_view scope, int at = 21) {
    s.set_scope(id(t), scope, line(at));
  }
  ir::Tensor cache_read(const ir::Tensor& t, std::string_view scope,
                        const std::vector<ir::Tensor>& readers, int at = 22) {
    return s.cache_read(t, scope, ops(readers), line(at));
  }
  ir::Tensor cache_write(const ir::Tensor& t, std::string_view scope, int at = 23) {
    return s.cache_write(t, scope, line(at));
  }
};

inline std::string place(const SourceLocation& location) {
  return location.known() ? fmt::format("{}:{}", *location.file, location.line) : "nowhere";
}

// Returns "TL2004 te.py:11: message" for each diagnostic, one per line; empty if there is none.
template <class F>
std::string faults(F&& run) {
  try {
    std::forward<F>(run)();
  } catch (const UserError& error) {
    std::string text;
    for (const Diagnostic& d : error.diagnostics()) {
      text += fmt::format("{}{} {}: {}", text.empty() ? "" : "\n", code_text(d.code),
                          place(d.location), d.message);
    }
    return text;
  }
  return {};
}

inline std::string names(const std::vector<ir::IterVar>& axes) {
  std::string text;
  for (const ir::IterVar& axis : axes) text += (text.empty() ? "" : ", ") + axis->name();
  return text;
}
inline std::string names(const Schedule& s, const std::vector<StageId>& stages) {
  std::string text;
  for (const StageId id : stages) text += (text.empty() ? "" : ", ") + s.stage(id).name();
  return text;
}

}  // namespace texloom::schedule::testing
