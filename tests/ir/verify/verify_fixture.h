// Shared by the tests of the verifier: valid buffers, variables and kernels, and the texts of the
// violations.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/verify/verify.h"
#include "tests/ir/samples.h"

namespace texloom::ir {

inline const Type kFloat4 = kFloat32.with_lanes(4);

// Each violation as "rule | node | problem".
inline std::vector<std::string> faults(const Program& program) {
  std::vector<std::string> texts;
  for (const Violation& v : find_violations(program)) {
    texts.push_back(std::string(to_string(v.rule)) + " | " + v.node + " | " + v.problem);
  }
  return texts;
}

inline Expr operator<(const Expr& a, int64_t b) { return a < make_int(b, a->type); }

// Fixture with buffers, variables and small programs over them.
class VerifyTest : public testing::Test {
 protected:
  Expr i = make_var("i"), j = make_var("j"), x = make_var("x", kFloat32);
  Expr bx = make_var("bx"), tx = make_var("tx");
  Buffer a = make_buffer("A", kFloat32, {8, 16}, MemoryScope::Global);
  Buffer b = make_buffer("B", kFloat32, {8, 16}, MemoryScope::Global);
  Buffer shared = make_buffer("S", kFloat32, {16}, MemoryScope::Shared);
  Buffer local = make_buffer("L", kFloat32, {4}, MemoryScope::Local);
  Buffer t = make_texture("T", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));
  Buffer u = make_texture("U", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));

  Program loops(Stmt body) {
    return {"p", ProgramStage::Loops, {}, {a, b, t}, std::move(body), {}};
  }
  Program flattened(Stmt body) {
    return {"p", ProgramStage::Flattened, {}, {a, b, t, u}, std::move(body), {}};
  }

  // A kernel over 8 blocks of 16 threads.
  Kernel kernel(std::string name, std::vector<KernelParam> params, Stmt body) {
    Kernel k;
    k.name = std::move(name);
    k.params = std::move(params);
    k.axes = {{{true, 0}, bx, make_int(8)}, {{false, 0}, tx, make_int(16)}};
    k.grid[0] = make_int(8);
    k.block = {16, 1, 1};
    k.body = std::move(body);
    k.location = SourceLocation::make("kernel.py", 9);
    return k;
  }
  Program kernels(Stmt plan, std::vector<Kernel> list) {
    return {"p", ProgramStage::Kernels, {}, {a, b, t}, std::move(plan), std::move(list)};
  }
  // A program of one kernel with this body that reads A and writes B.
  Program one_kernel(Stmt body) {
    return kernels(
        make_launch(0),
        {kernel("k", {{a, Access::Read, nullptr}, {b, Access::Write, nullptr}}, std::move(body))});
  }
  Expr offset() { return bx * 16 + tx; }
  Stmt copy() { return make_store(b, {offset()}, make_load(a, {offset()})); }

  Stmt thread(const Expr& var, int64_t extent, ThreadTag tag, Stmt body) {
    return make_thread_for(var, make_int(extent), tag, std::move(body));
  }
  // A nest whose outermost loop is a thread loop over `var`.
  Stmt nest(const Expr& var, int64_t extent, ThreadTag tag, Stmt body) {
    return make_nest(b, thread(var, extent, tag, std::move(body)));
  }
  Stmt serial(const Expr& var, int64_t extent, Stmt body) {
    return make_for(var, make_int(extent), LoopKind::Serial, std::move(body));
  }
  Stmt zero(const Buffer& buffer, Exprs indices) {
    return make_store(buffer, std::move(indices), make_float(0));
  }
};

inline constexpr ThreadTag kBlockX{true, 0}, kThreadX{false, 0}, kThreadY{false, 1};

}  // namespace texloom::ir
