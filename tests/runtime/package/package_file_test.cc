// Tests writing and reading packages.
#include "runtime/package/package_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/package/package_format.h"
#include "runtime/package/package_writer.h"
#include "tests/runtime/package/package_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

Bytes written(const Package& package) {
  auto bytes = package_bytes(std::span(&package, 1));
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  return bytes.ok() ? *bytes : Bytes();
}

// Returns the message with which the reader refuses the bytes.
std::string refusal(const Bytes& bytes, const PackageOptions& options = {}) {
  const auto file = PackageFile::open(bytes, options);
  EXPECT_FALSE(file.ok());
  return file.status().message();
}

PackageHeader header_of(const Bytes& bytes) {
  PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}
void set_header(Bytes& bytes, const PackageHeader& header) {
  std::memcpy(bytes.data(), &header, sizeof header);
}

class PackageFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              fmt::format("packages-{}-{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

// A package that is read and written again gives the same bytes, so nothing is lost. The values of
// constants are compared separately.
TEST_F(PackageFileTest, KeepsEverything) {
  for (const Package& package : {example_package(), symbolic_package()}) {
    const Bytes bytes = written(package);
    const auto file = PackageFile::open(bytes);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    Package read = (*file)->package();
    for (std::size_t v = 0; v < read.variants.size(); ++v) {
      for (std::size_t i = 0; i < read.variants[v].constants.size(); ++i) {
        const auto constant = (*file)->constant(v, i);
        ASSERT_TRUE(constant.ok()) << constant.status().to_string();
        EXPECT_THAT(*constant, ElementsAreArray(weight_bytes()));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(constant->data()) % kSectionAlignment, 0U);
        read.variants[v].constants[i].bytes = *constant;
      }
    }
    EXPECT_EQ(written(read), bytes);
  }
}

// The comparison of bytes above would miss fields that both the writer and the reader forget.
TEST_F(PackageFileTest, ReadsWhatWasWritten) {
  const Package wanted = example_package();
  const auto file = PackageFile::open(written(wanted));
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const Package& read = (*file)->package();
  EXPECT_EQ(read.operations, 96.0);
  EXPECT_EQ(read.metadata, wanted.metadata);
  EXPECT_EQ(read.nodes[0].attributes, wanted.nodes[0].attributes);
  EXPECT_EQ(read.numbers[0].element, hal::ElementType::Float16);
  const PackageVariant& variant = read.variants[0];
  EXPECT_EQ(variant.needs, wanted.variants[0].needs);
  EXPECT_EQ(variant.needs.of(need::kMaxImageHeight), 4U);
  EXPECT_EQ(variant.needs.of(need::kLocalBytes), 64U);
  EXPECT_EQ(variant.stores[1].storage_scope, "texture:weight");
  EXPECT_EQ(variant.stores[1].tensor, wanted.variants[0].stores[1].tensor);
  EXPECT_EQ(variant.nodes, wanted.variants[0].nodes);
  EXPECT_EQ(variant.program, wanted.variants[0].program);
  const LaunchPlan& plan = variant.plan;
  const LaunchPlan expected = example_plan();
  EXPECT_EQ(plan.modules, expected.modules);
  EXPECT_EQ(plan.kernels, expected.kernels);
  EXPECT_EQ(plan.calls, expected.calls);
  EXPECT_EQ(plan.temporaries[0].layout, expected.temporaries[0].layout);
  EXPECT_EQ(plan.parts, expected.parts);
  EXPECT_TRUE(plan.names_barriers);
  EXPECT_EQ(plan.workspace->places[0].origin, (hal::Offset2D{3, 1}));
  const auto& launch = std::get<LaunchStep>(std::get<LoopStep>(plan.steps[1]).body[0]);
  EXPECT_EQ(launch.groups[1], Size::of(Size::Op::Add, Size::loop_variable(7), 1));
  EXPECT_EQ(std::get<OriginOf>(launch.operands[4]).axis, OriginOf::Axis::Y);
  EXPECT_EQ(std::get<Immediate>(launch.operands[7]).value, 7);
}

TEST_F(PackageFileTest, HoldsSeveralPackages) {
  const std::vector<Package> packages = {example_package(), symbolic_package()};
  const auto bytes = package_bytes(packages);
  ASSERT_TRUE(bytes.ok());
  const auto file = PackageFile::open(*bytes);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_EQ((*file)->packages().size(), 2U);
  EXPECT_EQ((*file)->packages()[1].name, "symbolic");
  EXPECT_EQ((*file)->packages()[1].variants[0].plan.symbols, std::vector<std::string>{"n"});
  EXPECT_FALSE((*file)->constant(0, 0, 1).ok());
  const std::vector<Package> twins = {example_package(), example_package()};
  EXPECT_THAT(package_bytes(twins).status().message(), HasSubstr("two packages are named"));
}

// Weights that variants share are stored once.
TEST_F(PackageFileTest, SharesEqualConstants) {
  Package package = example_package();
  const std::size_t both = written(package).size();
  Bytes other = weight_bytes();
  other[0] ^= std::byte{1};
  package.variants[1].constants[0].bytes = other;
  EXPECT_EQ(written(package).size(), both + other.size() + sizeof(std::uint64_t) * 3);
}

TEST_F(PackageFileTest, IsMappedFromAFile) {
  const fs::path path = folder_ / "example.tlp";
  ASSERT_TRUE(write_package(example_package(), path).ok());
  EXPECT_EQ(fs::file_size(path), written(example_package()).size());
  auto file = PackageFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  // The open file keeps its contents when another file replaces it by name.
  ASSERT_TRUE(write_package(symbolic_package(), path).ok());
  EXPECT_EQ((*file)->package().name, "example");
  EXPECT_THAT(*(*file)->constant(1, 0), ElementsAreArray(weight_bytes()));
  EXPECT_EQ((*PackageFile::open(path))->package().name, "symbolic");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "a temporary file is left";
}

// A link is followed, a pipe is written in place, and a file that cannot be written leaves nothing.
TEST_F(PackageFileTest, WritesWhereItIsTold) {
  const Package package = symbolic_package();
  fs::create_symlink("target.tlp", folder_ / "link.tlp");
  ASSERT_TRUE(write_package(package, folder_ / "target.tlp").ok());
  ASSERT_TRUE(write_package(package, folder_ / "link.tlp").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.tlp"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    std::ifstream in(folder_ / "pipe", std::ios::binary);
    got.assign(std::istreambuf_iterator<char>(in), {});
  });
  EXPECT_TRUE(write_package(package, folder_ / "pipe").ok());
  reader.join();
  EXPECT_EQ(got.size(), written(package).size());
  for (const fs::path& wrong : {folder_, folder_ / "none" / "f", fs::path("")}) {
    const Status status = write_package(package, wrong);
    EXPECT_EQ(status.code(), StatusCode::Unavailable) << wrong;
    EXPECT_THAT(status.message(), HasSubstr("cannot be written"));
  }
}

TEST_F(PackageFileTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {folder_, folder_ / "pipe", fs::path("/dev/zero")})
    EXPECT_THAT(PackageFile::open(path).status().message(), HasSubstr("it is not a file")) << path;
  EXPECT_THAT(PackageFile::open(folder_ / "none").status().message(),
              HasSubstr("none' cannot be read: No such file"));
}

TEST_F(PackageFileTest, SaysWhatIsWrongWithAFile) {
  const Bytes good = written(example_package());
  EXPECT_THAT(refusal({}), HasSubstr("is not a package"));
  EXPECT_THAT(refusal(counted_bytes(200)), HasSubstr("is not a package"));
  EXPECT_THAT(refusal(Bytes(good.begin(), good.begin() + 20)), HasSubstr("ends in its header"));
  EXPECT_THAT(refusal(Bytes(good.begin(), good.end() - 1)), HasSubstr("bytes of"));
  const auto with_header = [&](auto change) {
    Bytes bytes = good;
    PackageHeader header = header_of(bytes);
    change(header);
    set_header(bytes, header);
    return refusal(bytes);
  };
  const std::string writer = (*PackageFile::open(good))->writer();
  EXPECT_THAT(writer, ::testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
  EXPECT_THAT(with_header([](PackageHeader& h) { h.version = kFormatVersion + 1; }),
              HasSubstr("newer Texloom, " + writer +
                        " (format 2, this one reads 1); update, or export it again"));
  EXPECT_THAT(with_header([](PackageHeader& h) { h.version = 0; }),
              HasSubstr("old format 0 of Texloom " + writer + ", and this"));
  // For a header of an unknown version, the error does not name the writer.
  EXPECT_THAT(with_header([](PackageHeader& h) {
                h.version = 2;
                h.index_offset = 0;
              }),
              HasSubstr("newer Texloom (format 2,"));
  EXPECT_THAT(with_header([](PackageHeader& h) { h.reserved[2] = 1; }),
              HasSubstr("unknown fields"));
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{65}, ~std::uint64_t{63}})
    EXPECT_THAT(with_header([&](PackageHeader& h) { h.index_offset = offset; }),
                HasSubstr("its index is not at its end"));
  Bytes damaged = good;
  damaged[damaged.size() - 5] ^= std::byte{1};
  EXPECT_THAT(refusal(damaged), HasSubstr("its index does not have its checksum; export it again"));
}

// The writer does not check the axis of an origin, so it can produce the invalid file.
TEST_F(PackageFileTest, RefusesAnOriginOfAThirdAxis) {
  Package package = example_package();
  auto& loop = std::get<LoopStep>(package.variants.at(0).plan.steps.at(1));
  auto& origin = std::get<OriginOf>(std::get<LaunchStep>(loop.body.at(0)).operands.at(4));
  ASSERT_EQ(origin.axis, OriginOf::Axis::Y);
  origin.axis = static_cast<OriginOf::Axis>(2);
  EXPECT_THAT(refusal(written(package)), HasSubstr("an origin is of axis 2"));
}

// Damage to a constant is noticed at its first use, but damage to code at once.
TEST_F(PackageFileTest, NoticesDamageAtTheFirstUse) {
  const Bytes good = written(example_package());
  const auto position = [&](std::span<const std::byte> part) {
    return static_cast<std::size_t>(
        std::search(good.begin(), good.end(), part.begin(), part.end()) - good.begin());
  };
  Bytes damaged = good;
  damaged[position(weight_bytes()) + 3] ^= std::byte{16};
  const auto file = PackageFile::open(damaged);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT((*file)->constant(0, 0).status().message(), HasSubstr("constant \"W\" is damaged"));
  EXPECT_FALSE((*file)->constant(0, 1).ok());
  EXPECT_FALSE((*file)->constant(2, 0).ok());
  damaged = good;
  const std::string code = "__kernel void scale";
  damaged[position(std::as_bytes(std::span(code)))] ^= std::byte{16};
  EXPECT_THAT(refusal(damaged), HasSubstr("the code of module 0 is damaged"));
  damaged = good;
  const std::string binary = example_plan().modules[0].codes[3].code;
  damaged[position(std::as_bytes(std::span(binary))) + 2] ^= std::byte{16};
  EXPECT_THAT(refusal(damaged), HasSubstr("the code of module 0 is damaged"));
}

TEST_F(PackageFileTest, LeavesOutSource) {
  const PackageOptions binaries = {.kernels = {.takes_source = false}};
  const auto file = PackageFile::open(written(example_package()), binaries);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const std::vector<ModuleSpec>& modules = (*file)->package().variants[0].plan.modules;
  ASSERT_EQ(modules[0].codes.size(), 3U);
  EXPECT_EQ(modules[0].codes[0].format, KernelFormat::OpenClBinary);
  EXPECT_EQ(modules[0].codes[1].format, KernelFormat::Metallib);
  EXPECT_THAT(refusal(written(symbolic_package()), binaries),
              HasSubstr("module 0 has only source, which is refused"));
}

// Threads that request a constant for the first time together get the same bytes.
TEST_F(PackageFileTest, ConstantsAreThreadSafe) {
  const auto file = PackageFile::open(written(example_package()));
  ASSERT_TRUE(file.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) EXPECT_TRUE((*file)->constant(i % 2, 0).ok());
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace texloom::runtime
