// Tests errors at compilation: each misuse with the line and a part of the message.
#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

struct Misuse {
  const char* what;
  const char* source;  // follows two lines of prologue
  int line;            // of the source, from 1
  const char* message;
  int version = 320;
};

const std::vector<Misuse> kMisuses = {
    // Address spaces.
    {"a constant pointer does not become a device pointer",
     "kernel void k(constant float* a [[buffer(0)]]) {\ndevice const float* b = a; }", 2,
     "cannot initialize a variable of type 'const device float *'"},
    {"a device pointer does not become a constant pointer",
     "kernel void k(device float* a [[buffer(0)]]) {\nconstant float* b = a; }", 2,
     "cannot initialize"},
    {"a threadgroup pointer does not become a device pointer",
     "kernel void k(threadgroup float* a [[threadgroup(0)]]) {\ndevice float* b = a; }", 2,
     "cannot initialize"},
    {"a threadgroup pointer does not become a constant pointer",
     "kernel void k(threadgroup float* a [[threadgroup(0)]]) {\nconstant float* b = a; }", 2,
     "cannot initialize"},
    {"a device pointer does not become a thread pointer",
     "kernel void k(device float* a [[buffer(0)]]) {\nthread float* b = a; }", 2,
     "cannot initialize"},
    {"a local variable is not in device memory", "void f() { float x;\ndevice float* p = &x; }", 2,
     "cannot initialize"},
    {"a cast does not change the space",
     "kernel void k(constant float* a [[buffer(0)]]) {\nthreadgroup float* b = (threadgroup "
     "float*)a; }",
     2, "address space"},
    {"a function of one space does not take another",
     "void f(device float* p);\nvoid g(threadgroup float* p) { f(p); }", 2,
     "no matching function for call to 'f'"},
    {"a reference of the thread takes nothing of the device",
     "void f(thread float& x);\nvoid g(device float* p) { f(p[0]); }", 2,
     "no matching function for call to 'f'"},
    {"a method that changes its object takes nothing of the device",
     "struct S { float x; void set() { x = 1; } };\nvoid g(device S* s) { s->set(); }", 2,
     "no matching member function for call to 'set'"},
    {"constant memory is not written",
     "kernel void k(constant float* a [[buffer(0)]]) {\na[0] = 1; }", 2,
     "read-only variable is not assignable"},
    {"a member in constant memory is not written",
     "struct S { float4 v; };\nkernel void k(constant S& s [[buffer(0)]]) {\ns.v = 1; }", 3, ""},
    {"a pointer parameter of a function needs a space", "float f(\nfloat* p) { return *p; }", 2,
     "pointer type must have an explicit address space"},
    {"a reference parameter of a function needs a space", "void f(float& p) { p = 1; }", 1,
     "reference type must have an explicit address space"},
    {"a pointer variable needs a space", "void f(device float* p) {\nfloat* q = p; }", 2,
     "pointer type must have an explicit address space"},
    {"a cast to a pointer needs a space", "void f(device float* p) {\nauto q = (int*)p; }", 2,
     "pointer type must have an explicit address space"},
    {"a pointer member needs a space", "struct S {\nfloat* p; };", 2,
     "pointer type must have an explicit address space"},
    {"a kernel's pointer needs a space", "kernel void k(float* p [[buffer(0)]]) {}", 1,
     "explicit address space"},
    {"a kernel's pointer without an attribute needs a space", "kernel void k(float* p) {}", 1,
     "explicit address space"},
    {"a buffer is not in threadgroup memory",
     "kernel void k(threadgroup float* p [[buffer(0)]]) {}", 1,
     "must be in device or constant memory"},
    {"a variable of program scope is constant", "float x = 1;", 1,
     "must be in the constant address space"},
    {"a variable of program scope is initialized", "constant float x;", 1, "must be initialized"},
    {"threadgroup variables are in kernels alone", "void f() {\nthreadgroup float x[4]; }", 2,
     "can only be declared in a kernel"},
    {"threadgroup variables are not initialized", "kernel void k() {\nthreadgroup float x = 3; }",
     2, "cannot be initialized"},
    {"a static variable is a constant", "kernel void k() {\nstatic int n = 0;\nn++; }", 2,
     "a static variable must be in the constant address space"},
    {"a kernel is not called",
     "kernel void a(device int* p [[buffer(0)]]) {}\nkernel void b(device int* p [[buffer(0)]]) {\n"
     "a(p); }",
     3, "kernel \"a\" cannot be called by a function"},
    {"members have numbers of their own",
     "struct S { device int* a [[id(0)]];\ndevice int* b [[id(0)]]; };", 2,
     "member \"b\" has the [[id(0)]] of member \"a\""},
    {"atomic operations order nothing else",
     "kernel void k(device atomic_int* p [[buffer(0)]]) {\n"
     "atomic_store_explicit(p, 1, memory_order_seq_cst); }",
     2, "atomic_store_explicit() takes memory_order_relaxed alone"},
    {"threadgroup variables are not initialized by functions of zero",
     "kernel void k() {\nthreadgroup float x = metal::exp(0.0f); }", 2, "cannot be initialized"},
    {"a method of the thread is not called on device memory",
     "struct S { float x; float get() const { return x; } };\nkernel void k(device S* s "
     "[[buffer(0)]]) {\ns->get(); }",
     3, "no matching member function for call to 'get'"},
    {"a device method is not called on threadgroup memory by a thread method",
     "struct S { float x; float get() const device { return x; } };\nvoid f(threadgroup S& "
     "s);\nfloat g(constant S& s) {\nreturn s.missing(); }",
     4, "no member named 'missing'"},
    // Attributes.
    {"an index is used once",
     "kernel void k(device float* a [[buffer(1)]],\ndevice float* b [[buffer(1)]]) {}", 2,
     "buffer index 1 is used twice: by \"a\" and \"b\""},
    {"a texture index is used once",
     "kernel void k(texture2d<float> a [[texture(0)]],\ntexture2d<float> b [[texture(0)]]) {}", 2,
     "texture index 0 is used twice"},
    {"buffers end at 30", "kernel void k(device float* a [[buffer(31)]]) {}", 1,
     "buffer index 31 is over the limit of 30"},
    {"textures end at 127", "kernel void k(texture2d<float> a [[texture(128)]]) {}", 1,
     "over the limit of 127"},
    {"samplers end at 15", "kernel void k(sampler a [[sampler(16)]]) {}", 1,
     "over the limit of 15"},
    {"an index is a number", "kernel void k(device float* a [[buffer(x)]]) {}", 1,
     "must be a number"},
    {"an index is not negative",
     "constant constexpr int n = 2;\nkernel void k(device float* a [[buffer(n - 3)]]) {}", 2,
     "must be a number"},
    {"enumerators that are the same index are used once",
     "enum { A = 2, B, C = B };\nkernel void k(device float* a [[buffer(B)]],\ndevice float* b "
     "[[buffer(C)]]) {}",
     3, "buffer index 3 is used twice"},
    {"a parameter has one index", "kernel void k(device float* a [[buffer(0)]] [[texture(1)]]) {}",
     1, "two attributes of an index"},
    {"attributes end with two brackets",
     "[[kernel] void k(device float* x [[buffer(0)]]) {}\nkernel void k2() {}", 1,
     "expected ']]' at the end of [[kernel"},
    {"an attribute of a parameter ends with two brackets",
     "kernel void k(\ndevice float* x [[buffer(0) ]) {}\nkernel void k2() {}", 2,
     "expected ']]' at the end of [[buffer"},
    {"a builtin is given once",
     "kernel void k(uint a [[thread_position_in_grid]],\nuint b [[thread_position_in_grid]]) {}", 2,
     "given to two parameters"},
    {"a position is no float", "kernel void k(float3 a [[thread_position_in_grid]]) {}", 1,
     "[[thread_position_in_grid]] must be uint"},
    {"an index has one component", "kernel void k(uint3 a [[thread_index_in_threadgroup]]) {}", 1,
     "[[thread_index_in_threadgroup]] must be uint or ushort"},
    {"a scalar is not bound by itself", "kernel void k(\nfloat x) {}", 2, "needs an attribute"},
    {"a buffer is a pointer", "kernel void k(float x [[buffer(0)]]) {}", 1,
     "must be a pointer or reference to device or constant memory"},
    {"a texture attribute needs a texture", "kernel void k(device float* x [[texture(0)]]) {}", 1,
     "must be a texture"},
    {"a sampler attribute needs a sampler", "kernel void k(texture2d<float> x [[sampler(0)]]) {}",
     1, "must be a sampler"},
    {"threadgroup memory is bound by a pointer to it",
     "kernel void k(device float* x [[threadgroup(0)]]) {}", 1,
     "pointer or reference to threadgroup memory"},
    {"a kernel returns nothing", "kernel int k(device float* a [[buffer(0)]]) { return 1; }", 1,
     "must return void"},
    {"a kernel is defined once",
     "kernel void k() {}\nkernel void k(device float* a [[buffer(0)]]) {}", 2, "defined twice"},
    {"an instantiation needs a template",
     "template [[host_name(\"x\")]] kernel void missing<float>(device float* a);", 1,
     "no kernel template \"missing\""},
    {"a function constant has one index",
     "constant int a [[function_constant(0)]];\nconstant int b [[function_constant(0)]];", 2,
     "declared twice"},
    // Features that the language lacks.
    {"there is no double", "kernel void k() {\ndouble x = 1; }", 2, "\"double\" is not supported"},
    {"there is no recursion",
     "float f(int n) { return n > 0 ? f(n - 1) : 0.0f; }\nkernel void k(device float* a) { a[0] = "
     "f(3); }",
     1, "recursive"},
    {"there is no recursion through two functions",
     "float g(int n);\nfloat f(int n) { return g(n); }\nfloat g(int n) { return n > 0 ? f(n - 1) : "
     "0.0f; }",
     2, "recursive"},
    {"functions of the host are not called",
     "extern \"C\" void abort();\nkernel void k(device float* a) {\nabort(); }", 3,
     "function \"abort\" is declared, but not defined"},
    {"what is called is defined",
     "float f(float x);\nkernel void k(device float* a) {\na[0] = f(a[0]); }", 3,
     "function \"f\" is declared, but not defined"},
    {"functions have no other names in assembly", "float f(float x)\n__asm__(\"abort\");", 2,
     "\"__asm__\" is not supported"},
    {"there is no goto", "void f() {\ngoto end; end: ; }", 2, "\"goto\" is not supported"},
    {"there are no exceptions", "void f() {\nthrow 1; }", 2, "exceptions are not supported"},
    {"there is no new", "void f() {\nauto p = new int; }", 2, "\"new\" is not supported"},
    {"there are no virtual functions", "struct S {\nvirtual void f(); };", 2, "virtual functions"},
    {"bfloat needs 3.1", "kernel void k() {\nbfloat x = 1; }", 2,
     "needs Metal language version 3.1", 300},
    {"atomic_float needs 3.0", "kernel void k(device atomic_float* a [[buffer(0)]]) {}", 1,
     "needs Metal language version 3.0", 240},
    // Types.
    {"vectors of other elements do not convert by themselves", "void f() {\nint4 i = float4(1); }",
     2, "no viable conversion from 'float4'"},
    {"a vector has no further components", "void f() { float2 v;\nv.z = 1; }", 2,
     "no member named 'z' in 'float2'"},
    {"a swizzle that repeats is not assigned", "void f() { float2 v;\nv.xx = float2(1); }", 2,
     "not assignable"},
    {"vectors of different sizes are not added", "void f() {\nauto x = float3(1) + float4(1); }", 2,
     "invalid operands"},
    {"a fraction is not added to integers", "void f() { int4 i(1);\ni = i + 1.5f; }", 2,
     "invalid operands"},
    {"a constructor needs all components", "void f() {\nfloat4 v = float4(1, 2); }", 2, ""},
    {"max of an integer and a float is ambiguous", "float f() {\nreturn max(1, 2.0f); }", 2,
     "ambiguous"},
    {"floats have no remainder operator", "float4 f(float4 a) {\nreturn a % a; }", 2,
     "invalid operands"},
    {"components have no address of the thread",
     "void f(thread float& x);\nvoid g() { float4 v; f(v[0]); }", 2, "no matching function"},
    {"a texture that is read is not written",
     "kernel void k(texture2d<float, access::read> t [[texture(0)]]) {\nt.write(float4(1), "
     "uint2(0)); }",
     2, "no matching member function for call to 'write'"},
    {"a texture that is written is not read",
     "kernel void k(texture2d<float, access::write> t [[texture(0)]]) {\nt.read(uint2(0)); }", 2,
     "no matching member function for call to 'read'"},
    {"a matrix is made of all its columns", "void f() {\nfloat3x3 m = {float3(1), float3(2)}; }", 2,
     "a matrix is made of all its columns"},
    {"a texture that is read is not sampled",
     "kernel void k(texture2d<float, access::read> t [[texture(0)]]) {\nconstexpr sampler "
     "s;\nt.sample(s, float2(0)); }",
     3, "sample"},
    {"what is no depth texture is not compared",
     "kernel void k(texture2d<float> t [[texture(0)]]) {\nt.sample_compare(sampler(), float2(0), "
     "0.5f); }",
     2, "no member named 'sample_compare'"},
    {"texel coordinates are not signed",
     "kernel void k(texture2d<float, access::read> t [[texture(0)]]) {\nt.read(int2(0)); }", 2,
     "no matching member function"},
    {"texels are not of double",
     "kernel void k(texture2d<long> t [[texture(0)]]) {\nt.get_width(); }", 2,
     "a texture's elements are float"},
    {"atomics are not plain numbers",
     "kernel void k(device atomic_int* a [[buffer(0)]]) {\na[0] = a[0] + 1; }", 2, ""},
    {"plain numbers are no atomics",
     "kernel void k(device int* a [[buffer(0)]]) {\natomic_fetch_add_explicit(a, 1, "
     "memory_order_relaxed); }",
     2, "no matching function"},
    {"names must be declared", "void f() {\nx = 1; }", 2, "use of undeclared identifier 'x'"},
    {"a file must exist", "#include <vector>\n", 1, "'vector' file not found"},
    {"syntax errors have their line", "void f() {\nint x = ; }", 2, "expected expression"},
};

constexpr const char* kPrologue = "#include <metal_stdlib>\nusing namespace metal;\n";

// All sources, compiled at once.
const std::vector<Compilation>& compilations() {
  static const std::vector<Compilation> kAll = [] {
    std::vector<std::string> sources;
    for (const Misuse& m : kMisuses) sources.push_back(kPrologue + std::string(m.source));
    std::vector<Compilation> all = compile_all(sources);
    for (size_t i = 0; i < all.size(); ++i) {
      if (kMisuses[i].version == 320) continue;
      CompileOptions options;
      options.version = kMisuses[i].version;
      all[i] = compile_source(sources[i], options);
    }
    return all;
  }();
  return kAll;
}

class Misuses : public testing::TestWithParam<size_t> {};

TEST_P(Misuses, AreRefusedWithTheLine) {
  const Misuse& m = kMisuses[GetParam()];
  const Compilation& c = compilations()[GetParam()];
  SCOPED_TRACE(m.what);
  EXPECT_FALSE(c.ok);
  bool found = false;
  for (const Message& message : c.messages) {
    found |= message.kind == Message::Kind::Error && message.line == m.line + 2 &&
             message.text.find(m.message) != std::string::npos;
  }
  EXPECT_TRUE(found) << "line " << m.line + 2 << ", \"" << m.message << "\", is not in:\n" << c.log;
}
INSTANTIATE_TEST_SUITE_P(All, Misuses, testing::Range(size_t{0}, kMisuses.size()));

}  // namespace
}  // namespace softmetal
