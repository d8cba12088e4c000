// One expression and one statement of each kind, with their texts.
#pragma once

#include <string>
#include <vector>

#include "ir/equal.h"
#include "ir/program.h"
#include "ir/visit.h"

namespace texloom::ir {

inline const SourceLocation kHere = SourceLocation::make("here.py", 1);

// The leaves that all samples of one set share.
struct Leaves {
  Expr i = make_var("i"), j = make_var("j"), n = make_var("n");
  Expr p = make_var("p", kBool), q = make_var("q", kBool);
  Expr x = make_var("x", kFloat32), y = make_var("y", kFloat32), z = make_var("z", kFloat32);
  Expr v = make_var("v", kFloat32.with_lanes(4));
  Buffer a = make_buffer("A", kFloat32, {8, 16}, MemoryScope::Global);
  Buffer t = make_texture("T", kFloat32, texture_layout({8, 16, 4}, TextureRule::Activation));
  Tensor tensor = make_tensor("B", {make_int(8), make_int(16)});
  IterVar axis = make_iter_var(make_var("k"), make_int(0), make_int(8), IterKind::Reduction);
  Reducer sum = make_sum(), pair = make_pair();

  static Tensor make_tensor(std::string name, Exprs shape) {
    auto* node = new TensorNode;
    node->name = std::move(name);
    node->type = kFloat32;
    node->shape = std::move(shape);
    return Tensor(node);
  }
  static Reducer make_sum() {
    const Expr lhs = make_var("lhs", kFloat32), rhs = make_var("rhs", kFloat32);
    return {{lhs}, {rhs}, {lhs + rhs}, {make_float(0)}, "sum"};
  }
  // Counts and sums, as a reducer with two results.
  static Reducer make_pair() {
    const Expr n = make_var("n"), m = make_var("m");
    const Reducer sum = make_sum();
    return {{n, sum.lhs[0]},
            {m, sum.rhs[0]},
            {n + m, sum.results[0]},
            {make_int(0), make_float(0)},
            "pair"};
  }
};

struct ExprSample {
  Expr e;
  std::string text;
};

inline std::vector<ExprSample> expr_samples(const Leaves& l) {
  return {
      {make_int(7), "7"},
      {make_float(1.5), "1.5"},
      {l.i, "i"},
      {make_binary(BinaryOp::Sub, l.i, l.j), "i - j"},
      {make_not(l.p), "!p"},
      {make_select(l.p, l.x, l.y), "select(p, x, y)"},
      {make_cast(kFloat32, l.i), "float32(i)"},
      {make_call(Intrinsic::Power, {l.x, l.y}), "power(x, y)"},
      {make_fma(l.x, l.y, l.z), "fma(x, y, z)"},
      {make_ramp(l.i, l.j, 4), "ramp(i, j, 4)"},
      {make_broadcast(l.x, 4), "x4(x)"},
      {make_lane(l.v, l.i), "v.lane[i]"},
      {make_pack({l.x, l.y, l.z}), "pack(x, y, z)"},
      {make_tensor_read(l.tensor, {l.i, l.j}), "B[i, j]"},
      {make_reduce(l.sum, {l.x}, {l.axis}, l.p), "reduce(sum, [k < 8], x, where=p)"},
      {make_reduce(l.sum, {l.x}, {l.axis}, nullptr, {l.y}), "reduce(sum, [k < 8], x, init=y)"},
      {make_reduce(l.pair, {l.i, l.x}, {l.axis}, l.p, {l.j, l.y}),
       "reduce(pair, [k < 8], tuple(i, x), where=p, init=tuple(j, y))"},
      {make_tuple({l.i, l.x}), "tuple(i, x)"},
      {make_load(l.a, {l.i, l.j}), "A[i, j]"},
      {make_texture_load(l.t, l.i, l.j), "texture2d.load(T, x=i, y=j: float32x4)"},
      {make_foreign_call(kFloat32, "f", true, {l.x, l.i}), "call_pure_extern(f, x, i: float32)"},
      {make_pointer(Access::Read, l.a, {l.i, l.j}, {l.n, make_int(4)}, l.i),
       "access_ptr(read, A[i, j], extents=(n, 4), offset=i)"},
  };
}

// A Launch prints only as part of a program and is not among the samples.
struct StmtSample {
  Stmt s;
  std::string text;
};

inline std::vector<StmtSample> stmt_samples(const Leaves& l) {
  const Stmt store = make_store(l.a, {l.i, l.j}, l.x);
  const Stmt other = make_store(l.a, {l.j, l.i}, l.y);
  const Expr loop = make_var("k"), bound = make_var("b", kFloat32), given = make_var("s", kFloat32);
  const Buffer counters = make_counters("N", make_int(8));
  const Buffer flag = make_buffer("F", kInt32, {1}, MemoryScope::Shared);
  return {
      {store, "A[i, j] = x\n"},
      {make_texture_store(l.t, l.i, l.j, l.v), "texture2d.store(T, x=i, y=j, v: float32x4)\n"},
      {make_for(loop, l.n, LoopKind::Serial, store), "for k < n {\n  A[i, j] = x\n}\n"},
      {make_if(l.p, store), "if p {\n  A[i, j] = x\n}\n"},
      {make_while(l.p, store), "while p {\n  A[i, j] = x\n}\n"},
      {make_seq({store, other}), "A[i, j] = x\nA[j, i] = y\n"},
      {make_let(bound, l.z, store), "let b: float32 = z\nA[i, j] = x\n"},
      {make_allocate(l.a, store), "buffer.alloca A: global float32[8, 16]\nA[i, j] = x\n"},
      {make_nest(l.a, store), "nest A {\n  A[i, j] = x\n}\n"},
      {make_pipelined(l.a, 2, false, store), "pipelined A stages=2 {\n  A[i, j] = x\n}\n"},
      {make_pipelined(l.a, 4, true, store), "pipelined A stages=4 async {\n  A[i, j] = x\n}\n"},
      {make_async_copies(make_store(flag, {l.i}, l.n)), "async_copies {\n  F[i] = n\n}\n"},
      {make_await_copies(2), "await_copies pending=2\n"},
      {make_free(l.a), "buffer.free A\n"},
      {make_barrier(), "barrier\n"},
      {make_shuffle(given, l.z, l.n, 32, store),
       "shuffle s: float32 = z by n of 32\nA[i, j] = x\n"},
      {make_evaluate(make_foreign_call(
           kInt32, "g", false,
           {make_pointer(Access::ReadWrite, l.a, {l.i, l.j}, {l.n, l.n}, make_int(0))})),
       "evaluate call_extern(g, access_ptr(read_write, A[i, j], extents=(n, n)): int32)\n"},
      {make_prefetch(l.a, {l.i, l.j}), "prefetch A[i, j]\n"},
      {make_last_block(counters, l.n, l.n, flag, store),
       "last_block N[n] of n flag=F {\n  A[i, j] = x\n}\n"},
      {make_fragment_step(
           FragmentOp::Fill,
           {make_pointer(Access::Write, l.a, {l.i, l.j}, {l.n, l.n}, make_int(0)), l.z}),
       "fragment.fill(access_ptr(write, A[i, j], extents=(n, n)), z)\n"},
  };
}

}  // namespace texloom::ir
