// Fixture that builds and interprets programs of one kernel, or of none.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/interpret.h"
#include "tests/ir/accesses.h"

namespace texloom::ir::testing {

using Texts = std::vector<std::string>;

inline SourceLocation line(int number) { return SourceLocation::make("k.py", number); }

// Runs statements as a kernel called "k", or as a program of an earlier stage. `values` initializes
// the first elements of a parameter; its other elements count as never written.
class InterpretTest : public ::testing::Test {
 protected:
  Expr bx = make_var("bx"), tx = make_var("tx"), i = make_var("i");
  int64_t blocks = 1, threads = 1;
  ProgramStage stage = ProgramStage::Kernels;
  size_t max_reports = 50;

  // Adds a parameter in its own global memory.
  Buffer param(const std::string& name, Type type, int64_t elements,
               const std::vector<double>& values = {}) {
    return param(global(name, type, elements), values);
  }
  Buffer param(const Buffer& buffer, const std::vector<double>& values = {}) {
    memories_.push_back(memory_for(*buffer));
    return param_in(memories_.back(), buffer, 0, 0, values);
  }
  // Adds a parameter at (x, y) of an existing memory, which other tensors may share.
  Buffer param_in(Memory& memory, const Buffer& buffer, int64_t x, int64_t y,
                  const std::vector<double>& values = {}) {
    arguments_.push_back({&memory, x, y});
    params_.push_back(buffer);
    std::vector<int64_t> index(buffer->shape.size(), 0);
    for (const double value : values) {
      const int64_t element = element_at(arguments_.back(), buffer->layout.at(index));
      memory.set(element, buffer->type.is_float() ? scalar_of(value) : scalar_of(int64_t(value)));
      for (size_t axis = index.size(); axis-- > 0 && ++index[axis] == buffer->shape[axis];) {
        index[axis] = 0;
      }
    }
    return buffer;
  }
  Memory& image(Type type, int64_t width, int64_t height) {
    memories_.push_back(Memory::image(type, width, height));
    return memories_.back();
  }

  // Runs `body` and returns the texts of the reports.
  Texts run(const Stmt& body) {
    Program program{"p", stage, {}, params_, body, {}};
    if (stage >= ProgramStage::Kernels) {
      Kernel kernel;
      kernel.name = "k";
      for (const Buffer& buffer : params_) kernel.params.push_back({buffer, Access::Read, nullptr});
      for (const Buffer& buffer : params_) {
        if (buffer->origin.is_zero()) continue;
        kernel.params.push_back({nullptr, Access::Read, buffer->origin.x});
        kernel.params.push_back({nullptr, Access::Read, buffer->origin.y});
      }
      kernel.axes = {{{true, 0}, bx, make_int(blocks)}, {{false, 0}, tx, make_int(threads)}};
      kernel.grid[0] = make_int(blocks);
      kernel.block = {threads, 1, 1};
      kernel.body = body;
      program.kernels = {kernel};
      program.body = make_launch(0);
    }
    return run(program);
  }
  Texts run(const Program& program) {
    Texts texts;
    for (const Report& r : interpret(program, arguments_, {.max_reports = max_reports})) {
      texts.push_back(to_string(r));
    }
    return texts;
  }

  // All elements of a parameter, each of which must be defined.
  std::vector<double> values(const Buffer& buffer) const {
    for (size_t n = 0; n < params_.size(); ++n) {
      if (params_[n].same_as(buffer)) return contents(*buffer, arguments_[n]);
    }
    return {};
  }

  std::deque<Memory> memories_;
  std::vector<Buffer> params_;
  std::vector<Placement> arguments_;
};

// Stores and loads with a line of the user's program.
inline Stmt put_at(int number, const Buffer& buffer, const Expr& index, const Expr& value) {
  return make_store(buffer, {index}, value, line(number));
}
inline Stmt put_texel(int number, const Buffer& texture, const Expr& x, const Expr& y,
                      const Expr& value) {
  return make_texture_store(texture, x, y, value, line(number));
}
inline Expr read_at(int number, const Buffer& buffer, const Expr& index) {
  return make_load(buffer, {index}, line(number));
}
inline Expr read_texel(int number, const Buffer& texture, const Expr& x, const Expr& y) {
  return make_texture_load(texture, x, y, line(number));
}
inline Stmt loop(const Expr& var, int64_t extent, const Stmt& body) {
  return make_for(var, make_int(extent), LoopKind::Serial, body);
}
inline Expr four(double value) { return make_const(value, kFloat32.with_lanes(4)); }

}  // namespace texloom::ir::testing
