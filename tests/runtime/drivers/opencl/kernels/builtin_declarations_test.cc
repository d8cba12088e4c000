// Tests the declarations of built-in functions that stand in for the compiler's header.
#include "runtime/drivers/opencl/kernels/builtin_declarations.h"

#include "runtime/drivers/opencl/platform/quirks.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string declarations_of(std::string_view source) {
  return builtin_declarations(source).value_or("a call without a declaration");
}

TEST(BuiltinDeclarationsTest, ACalledFunctionIsDeclaredForAllTypesThatItAccepts) {
  const std::string text = declarations_of("x = fmax (y, z) + fma;");
  EXPECT_THAT(text, HasSubstr("float __attribute__((overloadable, const)) fmax(float, float);"));
  EXPECT_THAT(text,
              HasSubstr("float16 __attribute__((overloadable, const)) fmax(float16, float);"));
  EXPECT_THAT(text, HasSubstr("#if defined(cl_khr_fp64)\n"
                              "double __attribute__((overloadable, const)) fmax(double, double);"));
  EXPECT_THAT(text, Not(HasSubstr("fma(")));
  EXPECT_THAT(text, Not(HasSubstr("int")));
}

TEST(BuiltinDeclarationsTest, FunctionsThatAreNotBuiltInAreNotDeclared) {
  EXPECT_EQ(declarations_of("convert_it(a) + vload5(0, p) + vstore_half4_up(a, 0, p) + f(a)"), "");
}

TEST(BuiltinDeclarationsTest, ProgramsThatCallOtherBuiltInFunctionsNeedTheHeader) {
  EXPECT_EQ(builtin_declarations("exp(x) + dot(x, y)"), std::nullopt);
  EXPECT_EQ(builtin_declarations("atomic_inc(x)"), std::nullopt);
}

TEST(BuiltinDeclarationsTest, AConversionIsDeclaredFromEachType) {
  const std::string text = declarations_of("convert_uchar4_sat_rte(x)");
  for (const char* from : {"char4", "ulong4", "float4", "double4", "half4"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("uchar4 __attribute__((overloadable, const)) "
                                            "convert_uchar4_sat_rte({});",
                                            from)));
  }
}

// A kernel that calls functions of all signatures.
constexpr const char* kCalls = R"(
  __kernel void calls(__global float4* f, __global int4* i, __global float* p, __global half* h,
                      __read_only image2d_t in, __write_only image2d_t out, __local float* l) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    size_t n = get_global_id(0) + get_local_id(0) + get_group_id(0) + get_local_size(0);
    float4 x = exp(f[n]) + pow(f[n], f[n]) + fmin(f[n], 1.0f) + mad(f[n], f[n], f[n]);
    x += ldexp(x, i[n]) + ldexp(x, 2) + pown(x, i[n]) + native_exp(x) + native_divide(x, x);
    x += clamp(x, x, x) + clamp(x, 0.0f, 1.0f) + max(x, 1.0f) + select(x, x, i[n] < 3);
    x += vload4(n, p) + vload_half4(n, h) + vload_half(n, h) + convert_float4_rte(i[n]);
    i[n] = popcount(i[n]) + min(i[n], 2) + mul_hi(i[n], i[n]) + convert_int4_sat(x);
    i[n] += as_int4(abs(i[n])) + clz(i[n]) + convert_int4(convert_long4(i[n]));
    l[n] = clamp(x.x, 0.0f, 1.0f) + (float)max(n, (size_t)3) + ldexp(x.x, 2) + fmax(x.x, x.y);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    vstore4(x + l[0], n, p);
    vstore_half4_rte(x, n, h);
    vstore_half(x.x, n, h);
    write_imagef(out, (int2)(0, 0), read_imagef(in, s, (int2)(0, 0)));
    write_imagei(out, (int2)(0, 0), read_imagei(in, s, (int2)(0, 0)));
    write_imageui(out, (int2)(0, 0), read_imageui(in, s, (int2)(0, 0)));
  })";

constexpr const char* kEmptyKernel = "\n__kernel void calls_nothing() {}\n";

// Programs with declarations of their own, on devices that accept the header's option.
class DeclaredProgramTest : public OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (!IsSkipped() && !has_quirk(device_->info(), kSlowBuiltinHeader))
      GTEST_SKIP() << "the device's compiler has no header that an option makes empty";
  }
  // Builds the source, which must have kEmptyKernel.
  Status build(const std::string& source, std::vector<std::string> options = {}) {
    return device_
        ->create_executable({.codes = opencl_c(source, std::move(options)),
                             .entry_points = {{.name = "calls_nothing", .params = {}}}})
        .status();
  }
};

TEST_F(DeclaredProgramTest, CallsOfAllSignaturesCompileWithoutTheHeader) {
  TL_EXPECT_OK(build(std::string(kCalls) + kEmptyKernel, {std::string(kNoBuiltinHeader)}));
}

// If a source calls a function that we do not declare, the driver builds it with the header and our
// declarations. The compiler then refuses two declarations that differ in their results.
TEST_F(DeclaredProgramTest, DeclarationsAgreeWithTheHeader) {
  const std::string other = "\n__kernel void other(__global float4* x) { x[0] = dot(x[1], x[2]); }";
  TL_EXPECT_OK(build(declarations_of(kCalls) + kCalls + other + kEmptyKernel));
}

}  // namespace
}  // namespace texloom::hal::opencl
