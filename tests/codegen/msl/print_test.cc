// Tests printing whole sources in Metal's language, and the spelling of each node.
#include "codegen/msl/print.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::msl {
namespace {

using ir::at;
using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::kInt32;
using ir::lane;
using ir::local;
using ir::make_int;
using ir::put;
using ir::put_vector;
using ir::shared;
using ir::Stmt;
using ir::texel;
using ir::texture;
using ir::Type;
using ir::vector_at;
using opencl::testing::TestKernel;

std::string msl_source(const TestKernel& kernel, const Stmt& body, const char* target = "metal") {
  return compile::generate(kernel.program(body), ir::parse_target(target, {}))
      .kernels.front()
      .code->bytes;
}

// The lines of the kernel's body, not indented.
std::string body_of(const TestKernel& kernel, const Stmt& body, const char* target = "metal") {
  const std::string source = msl_source(kernel, body, target);
  std::istringstream lines(source.substr(source.find("{\n", source.find("kernel void")) + 2));
  std::string result, line;
  while (std::getline(lines, line)) {
    if (line != "}") result += line.substr(2) + "\n";
  }
  return result;
}
std::string body_of(const Stmt& body, const char* target = "metal") {
  return body_of(TestKernel(), body, target);
}
// The source before the kernel's body, without the lines that all kernels have.
std::string head_of(const TestKernel& kernel, const Stmt& body, const char* target = "metal") {
  const std::string source = msl_source(kernel, body, target);
  const std::string common =
      "#include <metal_stdlib>\n\nusing namespace metal;\n\n#pragma clang fp contract(off)\n\n";
  EXPECT_TRUE(source.starts_with(common)) << source;
  return source.substr(common.size(),
                       source.find("{\n", source.find("kernel void")) - common.size());
}
std::string msl_source(const Stmt& body, const char* target) {
  return msl_source(TestKernel(), body, target);
}

// One kernel with everything that a matrix product through textures needs.
TEST(MslPrint, WholeSourceOfATexturedKernel) {
  TestKernel kernel;
  const Expr bx = kernel.axis("blockIdx.x", 4), tx = kernel.axis("threadIdx.x", 8);
  const ir::Buffer a = texture("A.texture", kFloat32, 16, 16), c = global("C", kFloat32, 128);
  const ir::Buffer acc = local("C.local", kFloat32, 4);
  const Expr k = ir::make_var("k");
  const Expr x = bx * 2 + floordiv(tx, 4);
  ir::Stmts body;
  body.push_back(put_vector(acc, make_int(0), ir::make_const(0, kFloat32.with_lanes(4))));
  body.push_back(
      make_for(k, make_int(16), ir::LoopKind::Serial,
               ir::make_seq({put(acc, make_int(0), at(acc, 0) + lane(texel(a, x, k), 0)),
                             put(acc, make_int(1), at(acc, 1) + lane(texel(a, x, k), 1))})));
  body.push_back(put_vector(c, bx * 32 + tx * 4, vector_at(acc, make_int(0), 4)));
  EXPECT_EQ(msl_source(kernel, make_allocate(acc, ir::make_seq(body))),
            R"(#include <metal_stdlib>

using namespace metal;

#pragma clang fp contract(off)

[[max_total_threads_per_threadgroup(8)]]
kernel void k(
    texture2d<float, access::read> A_texture [[texture(0)]],
    device float* __restrict C [[buffer(0)]],
    uint3 tl_block [[threadgroup_position_in_grid]],
    uint3 tl_thread [[thread_position_in_threadgroup]]) {
  const int blockIdx_x = int(tl_block.x);
  const int threadIdx_x = int(tl_thread.x);
  alignas(16) float C_local[4];
  ((thread float4*)C_local)[0] = float4(0.0f);
  for (int k_1 = 0; k_1 < 16; ++k_1) {
    const float4 A_texture_texel = A_texture.read(uint2(blockIdx_x * 2 + threadIdx_x / 4, k_1));
    C_local[0] = C_local[0] + A_texture_texel.x;
    C_local[1] = C_local[1] + A_texture_texel.y;
  }
  ((device float4*)C)[blockIdx_x * 8 + threadIdx_x] = ((thread float4*)C_local)[0];
}
)");
}

// Buffers and textures are numbered separately; all constants share the next buffer number.
TEST(MslPrint, Parameters) {
  TestKernel kernel;
  kernel.name = "convert";
  kernel.scalars = {ir::make_var("n"), ir::make_var("m", ir::kInt64)};
  const ir::Buffer read = global("r", kFloat32, 4), both = global("b", Type::i(8), 4),
                   write = global("w", Type::u(16), 4);
  const ir::Buffer from = texture("X", Type::i(8), 4, 4), to = texture("Y", Type::f(16), 4, 4),
                   words = texture("Z", Type::u(16), 4, 4), numbers = texture("N", kFloat32, 4, 4);
  const Expr zero = make_int(0);
  const auto as_half = [&](const Expr& e) { return make_cast(Type::f(16).with_lanes(4), e); };
  const Stmt body = ir::make_seq({
      put(both, zero, at(both, 1)),
      put(write, zero, make_cast(Type::u(16), at(read, 0))),
      make_texture_store(to, zero, zero, as_half(texel(from, zero, zero))),
      make_texture_store(to, zero, make_int(1), as_half(texel(words, zero, zero))),
      make_texture_store(to, zero, make_int(2), as_half(texel(numbers, kernel.scalars[0], zero))),
  });
  EXPECT_EQ(head_of(kernel, body),
            R"(constexpr sampler tl_sampler(coord::pixel, address::clamp_to_zero, filter::nearest);

struct tl_constants {
  int n;
  long m;
};

[[max_total_threads_per_threadgroup(1)]]
kernel void convert(
    device char* __restrict b [[buffer(0)]],
    device ushort* __restrict w [[buffer(1)]],
    device const float* __restrict r [[buffer(2)]],
    texture2d<half, access::write> Y [[texture(0)]],
    texture2d<int, access::read> X [[texture(1)]],
    texture2d<uint, access::read> Z [[texture(2)]],
    texture2d<float, access::sample> N [[texture(3)]],
    constant tl_constants& tl_args [[buffer(3)]]) )");
  EXPECT_NE(body_of(kernel, body).find("const int n = tl_args.n;\n"), std::string::npos);
  EXPECT_EQ(body_of(kernel, body).find("tl_args.m"), std::string::npos);
  EXPECT_NE(body_of(kernel, body)
                .find("Y.write(half4(N.sample(tl_sampler, float2(n, 0) + 0.5f)), uint2(0, 2));\n"),
            std::string::npos);
}

TEST(MslPrint, ThreadAxes) {
  TestKernel kernel;
  kernel.axis("blockIdx.y", 2);
  kernel.axis("threadIdx.x", 3);
  kernel.axis("threadIdx.z", 5);
  const ir::Buffer y = global("y", kInt32, 4);
  const Stmt body =
      put(y, make_int(0), kernel.axes[0].var + kernel.axes[1].var + kernel.axes[2].var);
  EXPECT_EQ(body_of(kernel, body),
            "const int blockIdx_y = int(tl_block.y);\n"
            "const int threadIdx_x = int(tl_thread.x);\n"
            "const int threadIdx_z = int(tl_thread.z);\n"
            "y[0] = blockIdx_y + threadIdx_x + threadIdx_z;\n");
  EXPECT_NE(head_of(kernel, body).find("[[max_total_threads_per_threadgroup(15)]]"),
            std::string::npos);
  // Indices that nothing reads are not parameters.
  EXPECT_EQ(head_of(kernel, put(y, kernel.axes[1].var, make_int(1))),
            "[[max_total_threads_per_threadgroup(15)]]\n"
            "kernel void k(\n"
            "    device int* __restrict y [[buffer(0)]],\n"
            "    uint3 tl_thread [[thread_position_in_threadgroup]]) ");
}

// If threads exchange values through device memory, a barrier fences device memory, too.
TEST(MslPrint, BarriersAndSharedArrays) {
  const ir::Buffer y = global("y", kInt32, 64), s = shared("s", kInt32, 64);
  const Stmt body =
      make_allocate(s, ir::make_seq({put(s, make_int(0), make_int(1)), ir::make_barrier(),
                                     put(y, make_int(0), at(s, 0))}));
  EXPECT_EQ(body_of(body),
            "threadgroup int s[64];\n"
            "s[0] = 1;\n"
            "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
            "y[0] = s[0];\n");
  const Stmt exchanged = ir::make_seq(
      {put(y, make_int(0), make_int(1)), ir::make_barrier(), put(y, make_int(1), at(y, 0))});
  EXPECT_EQ(body_of(exchanged),
            "y[0] = 1;\n"
            "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);\n"
            "y[1] = y[0];\n");
  EXPECT_NE(head_of(TestKernel(), exchanged).find("device int* y [[buffer(0)]]"),
            std::string::npos);
}

// A block that is one SIMD-group needs no barrier of the whole threadgroup.
TEST(MslPrint, BarriersOfASimdgroup) {
  TestKernel kernel;
  const ir::Buffer y = global("y", kInt32, 64), s = shared("s", kInt32, 64);
  const Expr tx = kernel.axis("threadIdx.x", 8);
  kernel.axis("threadIdx.y", 4);
  const Stmt body = make_allocate(
      s, ir::make_seq({put(s, tx, make_int(1)), ir::make_barrier(), put(y, tx, at(s, 0))}));
  const auto barrier_of = [&](const char* target) {
    const std::string text = body_of(kernel, body, target);
    const size_t end = text.find("_barrier(mem_flags::mem_threadgroup);");
    return text.substr(0, end).substr(text.rfind('\n', end) + 1);
  };
  EXPECT_EQ(barrier_of("metal -device=m1"), "simdgroup");
  EXPECT_EQ(barrier_of("metal -simd_width=31"), "threadgroup");
  EXPECT_EQ(barrier_of("metal"), "threadgroup");
}

// Packed vectors have the alignment of their elements.
TEST(MslPrint, VectorsThatAreNotAligned) {
  const ir::Buffer x = global("x", kFloat32, 64), y = global("y", kFloat32, 64);
  const Expr i = ir::make_var("i");
  const Stmt body = make_for(i, make_int(4), ir::LoopKind::Serial,
                             ir::make_seq({put_vector(y, i, vector_at(x, i * 2 + 1, 4)),
                                           put_vector(y, i * 4, vector_at(x, make_int(0), 3))}));
  EXPECT_EQ(body_of(body),
            "for (int i = 0; i < 4; ++i) {\n"
            "  *(device packed_float4*)(y + i) = "
            "float4(*(device packed_float4*)(x + (i * 2 + 1)));\n"
            "  *(device packed_float3*)(y + i * 4) = float3(*(device packed_float3*)x);\n"
            "}\n");
}

// Vectors of more than four elements are split.
TEST(MslPrint, WideVectors) {
  const ir::Buffer x = global("x", kInt32, 8), y = global("y", kInt32, 8);
  const std::string text = body_of(put_vector(y, make_int(0), vector_at(x, make_int(0), 8)));
  EXPECT_TRUE(text.starts_with("y[0] = x[0];\ny[1] = x[1];\n")) << text;
}

// Half values are native, unless the target has halves only in memory.
TEST(MslPrint, Half) {
  const Type half = Type::f(16);
  const ir::Buffer x = global("x", half, 8), y = global("y", half, 8);
  const Stmt body = ir::make_seq(
      {put(y, make_int(0), at(x, 0) * at(x, 1)),
       put_vector(y, make_int(4), vector_at(x, make_int(0), 4) + vector_at(x, make_int(1), 4))});
  EXPECT_EQ(body_of(body),
            "y[0] = x[0] * x[1];\n"
            "((device half4*)y)[1] = ((device half4*)x)[0] + "
            "half4(*(device packed_half4*)(x + 1));\n");
  EXPECT_EQ(body_of(body, "metal -float16_arithmetic=0"),
            "y[0] = half(float(x[0]) * float(x[1]));\n"
            "((device half4*)y)[1] = half4(float4(((device half4*)x)[0]) + "
            "float4(*(device packed_half4*)(x + 1)));\n");
}

// A comparison of vectors gives a vector of bools, which select() takes as it is.
TEST(MslPrint, ChoicesBetweenLanes) {
  const ir::Buffer x = global("x", kFloat32, 4), y = global("y", kFloat32, 4);
  const Expr v = ir::make_var("v", kFloat32.with_lanes(4));
  const Expr zero = ir::make_const(0, v->type);
  const Expr positive = make_binary(ir::BinaryOp::Lt, zero, v);
  EXPECT_EQ(body_of(make_let(v, vector_at(x, make_int(0), 4),
                             put_vector(y, make_int(0), make_select(positive, v, zero)))),
            "const float4 v = ((device float4*)x)[0];\n"
            "((device float4*)y)[0] = select(float4(0.0f), v, float4(0.0f) < v);\n");
}

TEST(MslPrint, Functions) {
  const ir::Buffer x = global("x", kFloat32, 8), y = global("y", kFloat32, 8);
  const auto call = [&](ir::Intrinsic function, int lanes = 1) {
    const Expr v = lanes == 1 ? at(x, 0) : vector_at(x, make_int(0), lanes);
    const Expr result = make_call(function, {v});
    return lanes == 1 ? put(y, make_int(0), result) : put_vector(y, make_int(0), result);
  };
  EXPECT_EQ(body_of(call(ir::Intrinsic::Exp)), "y[0] = precise::exp(x[0]);\n");
  EXPECT_EQ(body_of(call(ir::Intrinsic::NativeExp)), "y[0] = fast::exp(x[0]);\n");
  EXPECT_EQ(body_of(call(ir::Intrinsic::Nearbyint)), "y[0] = rint(x[0]);\n");
  EXPECT_EQ(body_of(call(ir::Intrinsic::Erf)), "y[0] = tl_erf(x[0]);\n");
  const std::string source = msl_source(call(ir::Intrinsic::Log1p, 2), "metal");
  EXPECT_NE(source.find("float2 tl_log1p_float2(float2 x) {\n"
                        "  return float2(tl_log1p(x.x), tl_log1p(x.y));\n}\n"),
            std::string::npos);
  EXPECT_NE(source.find("((device float2*)y)[0] = tl_log1p_float2(((device float2*)x)[0]);"),
            std::string::npos);
  const Stmt next = put(y, make_int(0), make_call(ir::Intrinsic::Nextafter, {at(x, 0), at(x, 1)}));
  EXPECT_EQ(body_of(next), "y[0] = tl_nextafter(x[0], x[1]);\n");
  EXPECT_EQ(body_of(next, "metal -device=m3"), "y[0] = nextafter(x[0], x[1]);\n");
}

// precise:: has no functions of halves; functions that are exact anyway do not need precise::.
TEST(MslPrint, FunctionsOfHalves) {
  const ir::Buffer x = global("x", Type::f(16), 8), y = global("y", Type::f(16), 8);
  const auto call = [&](ir::Intrinsic function) {
    return body_of(put(y, make_int(0), make_call(function, {at(x, 0)})));
  };
  EXPECT_EQ(call(ir::Intrinsic::Sqrt), "y[0] = sqrt(x[0]);\n");
  EXPECT_EQ(call(ir::Intrinsic::Exp), "y[0] = half(precise::exp(float(x[0])));\n");
}

// The source states the math mode where the language can.
TEST(MslPrint, MathMode) {
  const Stmt body = put(global("y", kFloat32, 1), make_int(0), ir::make_float(1));
  EXPECT_NE(msl_source(body, "metal -msl=3.2").find("#pragma METAL fp math_mode(safe)\n"),
            std::string::npos);
  EXPECT_EQ(msl_source(body, "metal -msl=3.1").find("math_mode"), std::string::npos);
  const std::string fast = msl_source(body, "metal -msl=3.2 -fast_math=1");
  EXPECT_EQ(fast.find("math_mode"), std::string::npos);
  EXPECT_EQ(fast.find("contract(off)"), std::string::npos);
}

TEST(MslPrint, ReservedWords) {
  const auto name_of = [](const char* name) {
    const std::string text = body_of(put(global(name, kInt32, 4), make_int(0), make_int(1)));
    return text.substr(0, text.find('['));
  };
  for (const char* word :
       {"thread", "device", "half", "float4", "packed_float3", "static_cast", "mix", "kernel",
        "texture2d", "tl_args", "vertex", "simd_sum", "bfloat2", "metal"}) {
    EXPECT_EQ(name_of(word), std::string("v_") + word);
  }
  for (const char* word : {"global", "data", "convert", "x", "textures"}) {
    EXPECT_EQ(name_of(word), word);
  }
}

}  // namespace
}  // namespace texloom::codegen::msl
