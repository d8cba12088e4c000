#include "tests/fuzz/package/seeds.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "compile/package.h"
#include "lower/te_text.h"
#include "runtime/package/needs.h"
#include "runtime/package/package_writer.h"
#include "support/check.h"
#include "tests/runtime/package/package_fixture.h"
#include "tests/support/processor/native_object.h"

namespace texloom::fuzz {
namespace {

// Two kernels with a texture between them.
constexpr std::string_view kTexture = R"(program texture stage=te target="opencl"
  param A
  param C

placeholder A: float32[3, 5, 4]

compute B(i < 3, j < 5, k < 4): float32 = A[i, j, k] + 1.0
  scope texture
  bind i blockIdx.x
  vectorize k

compute C(i < 3, j < 5, k < 4): float32 = B[i, j, k] * 2.0
  output
  bind i blockIdx.x
)";

// A loop of launches.
constexpr std::string_view kLoop = R"(program loop stage=kernels
  symbol n: int32
  param X: global int32[n]
  param Y: global int32[n]
  for i < 3 {
    launch twice(X, Y, n) grid=(n, 1, 1) block=(1, 1, 1)
  }

kernel twice grid=(n, 1, 1) block=(1, 1, 1)
  param X: read global int32[n]
  param Y: write global int32[n]
  param n: int32
  axis i = blockIdx.x < n
  Y[i] = X[i] * 2 + n
)";

runtime::Package compiled(std::string_view text) {
  const ir::Target target;
  const compile::SourceProgram program{std::make_shared<const lower::Lowering>(
      lower::parse_lowering(std::string(text), "seed.tl", {.target = &target}))};
  return compile::package_of(compile::compile(program), {});
}

// The example package without requirements, since the fuzzer's devices might not meet them.
runtime::Package runnable_example() {
  runtime::Package package = runtime::example_package();
  for (runtime::PackageVariant& variant : package.variants) {
    runtime::VariantNeeds needs;
    for (const runtime::KnownNeed& known : runtime::known_needs())
      needs.require(known.name, variant.needs.of(known.name));
    variant.needs = needs;
  }
  return package;
}

// Packages with native code in each module, before the code that the interpreter runs.
std::vector<runtime::Package> native_packages() {
  std::vector<runtime::Package> packages = {compiled(kLoop), runnable_example()};
  const std::string object = NativeObjectFile("1 avx2,fma").bytes();
  for (runtime::Package& package : packages) {
    for (runtime::PackageVariant& variant : package.variants) {
      for (runtime::ModuleSpec& module : variant.plan.modules)
        module.codes.insert(module.codes.begin(), {KernelFormat::NativeObject, object});
    }
  }
  return packages;
}

std::vector<Bytes> written(const std::vector<std::vector<runtime::Package>>& files) {
  std::vector<Bytes> seeds;
  for (const std::vector<runtime::Package>& packages : files) {
    auto bytes = runtime::package_bytes(packages);
    TL_CHECK(bytes.ok(), bytes.status().to_string());
    seeds.push_back(*std::move(bytes));
  }
  return seeds;
}

}  // namespace

std::vector<Bytes> seed_packages() {
  return written({{runnable_example()},
                  {runtime::symbolic_package()},
                  {compiled(kTexture)},
                  native_packages(),
                  {compiled(kLoop), runnable_example(), runtime::symbolic_package()}});
}

std::vector<Bytes> native_seed_packages() { return written({native_packages()}); }

}  // namespace texloom::fuzz
