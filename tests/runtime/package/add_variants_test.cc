// Tests packages with variants of a graph for several targets.
#include "runtime/package/add_variants.h"

#include <gmock/gmock.h>

#include <span>

#include "runtime/package/package_check.h"
#include "tests/runtime/package/package_fixture.h"

namespace texloom::runtime {
namespace {

using ::testing::HasSubstr;

// The second variant has a fused node, and an intermediate tensor with a name that the first
// variant uses, too.
TEST(AddVariants, JoinsGraphsThatDifferInside) {
  Package package = example_package(), other = example_package();
  const std::size_t tensors = package.tensors.size(), nodes = package.nodes.size();
  other.variants.resize(1);
  other.variants[0].target = "metal";
  other.nodes[0].op = "fused";
  for (PackageTensor& tensor : other.tensors) {
    if (tensor.role == TensorRole::Intermediate) tensor.shape.push_back(1);
  }
  const std::size_t before = package.variants.size();
  ASSERT_TRUE(add_variants(package, other).ok());
  ASSERT_EQ(package.variants.size(), before + 1);
  EXPECT_EQ(package.variants.back().target, "metal");
  EXPECT_GT(package.tensors.size(), tensors);
  EXPECT_GT(package.nodes.size(), nodes);
  EXPECT_TRUE(check_packages(std::span(&package, 1)).ok())
      << check_packages(std::span(&package, 1)).to_string();
}

TEST(AddVariants, RefusesAnotherInterface) {
  Package package = example_package(), other = example_package();
  other.tensors[other.inputs[0]].name = "y";
  const std::size_t before = package.variants.size();
  EXPECT_THAT(add_variants(package, other).message(), HasSubstr("the inputs of its variant"));
  EXPECT_EQ(package.variants.size(), before);
}

}  // namespace
}  // namespace texloom::runtime
