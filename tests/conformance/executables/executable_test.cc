// Tests executables: finding and building them, and tables that every device must refuse.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Executables : public On<> {
 protected:
  // Returns the status of an entry point whose table was changed.
  template <typename Change>
  Status status_of(EntryPoint entry, Change change) {
    change(entry);
    return device().create_executable(tested().kernels({entry})).status();
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }
};
TL_ON_EVERY_DEVICE(Executables);

TEST_P(Executables, OfOneEntryPoint) {
  const auto made = executable(kernels::add_one());
  ASSERT_EQ(made->entry_points().size(), 1U);
  EXPECT_EQ(made->entry_points()[0].name, "add_one");
  EXPECT_EQ(made->entry_points()[0].params.size(), 2U);
  EXPECT_EQ(&made->device_info(), &info());
}

TEST_P(Executables, FindTheirEntryPoints) {
  const auto made = executable({kernels::add_one(), kernels::index(), kernels::nothing()});
  EXPECT_EQ(*made->find("add_one"), 0U);
  EXPECT_EQ(*made->find("index"), 1U);
  EXPECT_EQ(*made->find("nothing"), 2U);
}

TEST_P(Executables, NameTheirEntryPointsWhenOneIsNotThere) {
  EXPECT_THAT(executable({kernels::add_one(), kernels::index()})->find("none").status(),
              fails_with(StatusCode::NotFound, "\"none\"; there are: add_one, index"));
}

TEST_P(Executables, KeepTheirWorkgroupSize) {
  EXPECT_EQ(executable(kernels::index())->entry_points()[0].workgroup_size,
            (std::array<std::uint32_t, 3>{2, 3, 1}));
}

TEST_P(Executables, OfCodeThatCannotBeBuiltCarryTheCompilersWords) {
  if (tested().broken == nullptr) GTEST_SKIP() << "the driver has no compiler";
  const Status status = device().create_executable(tested().broken()).status();
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, tested().broken_says));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "broken"));
}

TEST_P(Executables, AreMadeAfterOneThatCouldNotBe) {
  if (tested().broken == nullptr) GTEST_SKIP() << "the driver has no compiler";
  EXPECT_FALSE(device().create_executable(tested().broken()).ok());
  TL_EXPECT_OK(device().create_executable(tested().kernels({kernels::nothing()})).status());
}

TEST_P(Executables, OfKernelsThatTheCodeLacksAreNotFound) {
  if (!computes()) GTEST_SKIP() << "the driver takes any code";
  EXPECT_THAT(status_of(kernels::add_one(), [](EntryPoint& e) { e.name = "add_two"; }),
              fails_with(StatusCode::NotFound, "add_two"));
}

TEST_P(Executables, WithoutEntryPointsAreRefused) {
  EXPECT_THAT(device().create_executable(tested().kernels({})).status(),
              refused("without entry points"));
}

TEST_P(Executables, OfTwoEntryPointsOfOneNameAreRefused) {
  EXPECT_THAT(
      device().create_executable(tested().kernels({kernels::index(), kernels::index()})).status(),
      refused("two entry points named \"index\""));
}

TEST_P(Executables, OfEntryPointsWithoutANameAreRefused) {
  EXPECT_THAT(status_of(kernels::nothing(), [](EntryPoint& e) { e.name = ""; }),
              refused("without a name"));
}

TEST_P(Executables, OfWorkgroupsOfNoItemsAreRefused) {
  EXPECT_THAT(status_of(kernels::nothing(), [](EntryPoint& e) { e.workgroup_size = {1, 0, 1}; }),
              refused("axis 1 is zero"));
}

TEST_P(Executables, OfWorkgroupsOverAnAxisAreRefused) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (limits().max_workitem_sizes[axis] > 0xfffffffe) continue;
    EXPECT_THAT(status_of(kernels::nothing(),
                          [&](EntryPoint& e) {
                            e.workgroup_size[axis] =
                                static_cast<std::uint32_t>(limits().max_workitem_sizes[axis] + 1);
                          }),
                refused(fmt::format("work items along axis {}", axis)));
  }
}

TEST_P(Executables, OfWorkgroupsOverTheLimitInAllAreRefused) {
  if (limits().max_workitem_sizes[0] < limits().max_workgroup_size ||
      limits().max_workitem_sizes[1] < 2 || limits().max_workgroup_size > 0xffffffff)
    GTEST_SKIP() << "axes bound work groups closer than their sum does";
  EXPECT_THAT(status_of(kernels::nothing(),
                        [&](EntryPoint& e) {
                          e.workgroup_size = {
                              static_cast<std::uint32_t>(limits().max_workgroup_size), 2, 1};
                        }),
              refused("x 2 x 1 work items"));
}

TEST_P(Executables, OfConstantsThatAreNotWordsAreRefused) {
  for (const ElementType type : {ElementType::Bool, ElementType::Int8, ElementType::UInt16,
                                 ElementType::Float16, ElementType::BFloat16})
    EXPECT_THAT(status_of(kernels::advance(),
                          [&](EntryPoint& e) { e.params[1] = ConstantParam{"k", type}; }),
                refused(std::string(to_string(type))));
}

TEST_P(Executables, OfLocalMemoryThatNoGroupHasAreRefused) {
  const auto with = [&](std::vector<std::uint64_t> bytes) {
    return status_of(kernels::reverse_and_rotate(), [&](EntryPoint& e) {
      e.params[1] = LocalParam{"first", bytes[0]};
      e.params[3] = LocalParam{"second", bytes[1]};
    });
  };
  const std::uint64_t all = limits().local_memory_bytes / 16 * 16;
  EXPECT_THAT(with({64, 0}), refused("\"second\" of 0 bytes: must be a multiple of 16"));
  EXPECT_THAT(with({72, 64}), refused("\"first\" of 72 bytes: must be a multiple of 16"));
  EXPECT_THAT(with({64, all + 16}), refused("\"second\""));
  EXPECT_THAT(with({all, ~std::uint64_t{0} / 16 * 16}), refused("\"second\""));
  EXPECT_THAT(with({all, 16}), refused(fmt::format("takes {} bytes of local memory", all + 16)));
}

TEST_P(Executables, OfTexturesForReadAndWriteAreUnimplemented) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  EXPECT_THAT(status_of(kernels::add_one(),
                        [](EntryPoint& e) {
                          e.params[0] = TextureParam{.name = "a", .access = Access::ReadWrite};
                        }),
              fails_with(StatusCode::Unimplemented, "\"a\""));
}

TEST_P(Executables, OfTexturesOnDevicesWithoutImagesAreUnimplemented) {
  if (info().features.images) GTEST_SKIP() << "the device has images";
  EXPECT_THAT(status_of(kernels::copy_texels(TexelFormat::Rgba32Float), [](EntryPoint&) {}),
              fails_with(StatusCode::Unimplemented, "no images"));
}

TEST_P(Executables, OfMoreTexturesThanTheDeviceReadsAreRefused) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  if (limits().max_read_images > 1000) GTEST_SKIP() << "thousands of textures in one kernel";
  EXPECT_THAT(status_of(kernels::nothing(),
                        [&](EntryPoint& e) {
                          for (std::uint32_t i = 0; i <= limits().max_read_images; ++i)
                            e.params.emplace_back(TextureParam{.name = "t" + std::to_string(i)});
                        }),
              refused("textures"));
}

}  // namespace
}  // namespace texloom::hal::conformance
