// Tests which kernels need the values of function constants.
#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

constexpr const char* kConstantsSource = R"(#include <metal_stdlib>
using namespace metal;
constant int a [[function_constant(0)]];
constant int b [[function_constant(1)]];
constant bool c [[function_constant(2)]];
constant int twice = a * 2;
constant int guarded = is_function_constant_defined(b) ? b : 7;
int in_function(int x) { return x + a; }
template <typename T> T through_two(T x) { return in_function(x); }
kernel void direct(device int* x [[buffer(0)]]) { x[0] = a; }
kernel void called(device int* x [[buffer(0)]]) { x[0] = through_two(1); }
kernel void derived(device int* x [[buffer(0)]]) { x[0] = twice; }
kernel void optional(device int* x [[buffer(0)]], constant int& y [[buffer(1), function_constant(c)]]) { x[0] = 1; }
kernel void asked(device int* x [[buffer(0)]]) { x[0] = guarded; }
kernel void shadowed(device int* a [[buffer(0)]]) { int twice = 3; a[0] = twice; }
kernel void member(device int4* x [[buffer(0)]]) { x[0].a = 3; }
template <typename T> kernel void made(device T* x [[buffer(0)]]) { x[0] = T(a) + T(c); }
template [[host_name("made_int")]] kernel void made<int>(device int* x [[buffer(0)]]);
)";

// Returns the source's kernels that lack constants with these values, and the missing constants.
std::map<std::string, std::string> missing(const std::map<int, std::string>& values) {
  CompileOptions options;
  options.constants = values;
  const auto library = compile_or_fail(kConstantsSource, options);
  std::map<std::string, std::string> all;
  if (library == nullptr) return all;
  for (const std::string& name : library->function_names()) {
    std::string problem;
    EXPECT_TRUE(library->has_function(name, problem)) << problem;
    if (library->has_constants(name, problem)) continue;
    EXPECT_EQ(library->function(name, problem), nullptr) << name;
    all[name] = problem.substr(problem.rfind(": ") + 2);
  }
  return all;
}

TEST(FunctionConstants, NeedValuesWhereKernelsUseThem) {
  EXPECT_EQ(missing({}), (std::map<std::string, std::string>{{"direct", "a"},
                                                             {"called", "a"},
                                                             {"derived", "a"},
                                                             {"optional", "c"},
                                                             {"made_int", "a c"}}));
}
TEST(FunctionConstants, HaveValues) {
  EXPECT_EQ(missing({{0, "1"}}),
            (std::map<std::string, std::string>{{"optional", "c"}, {"made_int", "c"}}));
  EXPECT_EQ(missing({{0, "1"}, {2, "true"}}), (std::map<std::string, std::string>{}));
}

}  // namespace
}  // namespace softmetal
