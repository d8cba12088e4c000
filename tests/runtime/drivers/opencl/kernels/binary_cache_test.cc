// Tests programs from the binary cache and from binaries beside their source: how often they are
// built, and binaries that implementations change or refuse. The conformance suite tests which
// entries are used.
#include "runtime/hal/binary_cache.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "runtime/drivers/opencl/api/api.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "__kernel void k(__global int* x, int n) { x[0] = n + ADD; }";

EntryPoint entry() {
  return {
      .name = "k",
      .params = {BufferParam{.name = "x", .access = Access::Write}, ConstantParam{.name = "n"}}};
}

ExecutableDesc add_five() {
  return {.codes = opencl_c(kSource, {"-DADD=5"}), .entry_points = {entry()}};
}

class ProgramCacheTest : public OpenClTest {
 protected:
  // The real functions, the number of programs created from source, and the last binary that a
  // program was created from.
  static inline Api real = {};
  static inline std::atomic<int> from_source = 0;
  static inline std::string last_binary;

  void SetUp() override {
    OpenClTest::SetUp();
    if (IsSkipped()) return;
    std::string name = (fs::temp_directory_path() / "texloom-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    from_source = 0;
    last_binary.clear();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Opens a device with a new driver and a new cache over the folder, as a new process would.
  void open(const std::function<void(Api&)>& replace = [](Api&) {}) {
    const std::vector<std::string> paths = DriverOptions().loader_paths;
    real = **load_api(paths);
    const auto api = std::make_shared<Api>(real);
    api->clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** sources,
                                        const std::size_t* lengths, cl_int* error) -> cl_program {
      ++from_source;
      return real.clCreateProgramWithSource(context, count, sources, lengths, error);
    };
    api->clCreateProgramWithBinary = [](cl_context context, cl_uint count,
                                        const cl_device_id* devices, const std::size_t* lengths,
                                        const unsigned char** binaries, cl_int* states,
                                        cl_int* error) -> cl_program {
      last_binary.assign(reinterpret_cast<const char*>(binaries[0]), lengths[0]);
      return real.clCreateProgramWithBinary(context, count, devices, lengths, binaries, states,
                                            error);
    };
    replace(*api);
    cache_ = std::make_shared<BinaryCache>(BinaryCacheOptions{.folder = folder_.string()});
    const auto driver = create_driver(std::shared_ptr<const Api>(api), {.binary_cache = cache_});
    ASSERT_TRUE(driver.ok()) << driver.status().to_string();
    device_ = *(*driver)->open(0);
  }

  // Returns the kernel's result for the input 2.
  int result_of(const ExecutableDesc& desc) {
    const auto executable = device_->create_executable(desc);
    if (!executable.ok()) {
      ADD_FAILURE() << executable.status().to_string();
      return -1;
    }
    const auto buffer = make_buffer(4);
    const auto commands = device_->create_command_buffer();
    const Status recorded =
        commands->dispatch(*executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(2)}});
    EXPECT_TRUE(recorded.ok()) << recorded.to_string();
    const Status done = run(commands);
    EXPECT_TRUE(done.ok()) << done.to_string();
    return values_of<int>(buffer).front();
  }

  // Returns the binary that the driver gives back.
  KernelCode binary_of(const ExecutableDesc& desc) {
    const auto binary = (*device_->create_executable(desc))->binary();
    EXPECT_TRUE(binary.ok()) << binary.status().to_string();
    return binary.ok() ? *binary : KernelCode();
  }

  // A fill at an offset that is not a multiple of its pattern uses one of the driver's kernels.
  Status fill_unaligned(Queue& queue, const std::shared_ptr<Buffer>& buffer) {
    const auto commands = device_->create_command_buffer();
    TL_RETURN_IF_ERROR(commands->fill(buffer, 1, 6, Bytes{std::byte{1}, std::byte{2}}));
    TL_RETURN_IF_ERROR(commands->finish());
    TL_RETURN_IF_ERROR(queue.submit(commands));
    return queue.wait_idle();
  }

  fs::path folder_;
  std::shared_ptr<BinaryCache> cache_;
};

TEST_F(ProgramCacheTest, TheNextProcessBuildsNothing) {
  open();
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(cache_->counts().stored, 1u);
  open();
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(cache_->counts().hits, 1u);
  EXPECT_EQ(cache_->counts().stored, 0u);
  // The user may supply the same binary.
  EXPECT_EQ(result_of({.codes = {{.format = KernelFormat::OpenClBinary, .code = last_binary}},
                       .entry_points = {entry()}}),
            7);
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(cache_->counts().stored, 0u);
}

TEST_F(ProgramCacheTest, WhatABinaryDependsOnIsInItsKey) {
  open();
  EXPECT_EQ(result_of(add_five()), 7);
  ExecutableDesc desc = add_five();
  desc.codes[0].build_options = {"-DADD=6"};
  EXPECT_EQ(result_of(desc), 8);
  EXPECT_EQ(from_source, 2);
  desc = add_five();
  desc.codes[0].code = "__kernel void k(__global int* x, int n) { x[0] = n - ADD; }";
  EXPECT_EQ(result_of(desc), -3);
  EXPECT_EQ(from_source, 3);
  desc = add_five();
  desc.math = MathMode::Contract;
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(from_source, 4);
  // The binary of another driver version is not used.
  open([](Api& api) {
    api.clGetDeviceInfo = [](cl_device_id device, cl_device_info name, std::size_t bytes,
                             void* value, std::size_t* size) -> cl_int {
      const cl_int code = real.clGetDeviceInfo(device, name, bytes, value, size);
      if (name == CL_DRIVER_VERSION && value != nullptr) *static_cast<char*>(value) = '~';
      return code;
    };
  });
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 5);
}

// Kernels created from a binary need not describe their arguments.
TEST_F(ProgramCacheTest, AWrongTableIsRefusedThoughThereIsABinary) {
  open();
  EXPECT_EQ(result_of(add_five()), 7);
  ExecutableDesc wrong = add_five();
  wrong.entry_points[0].params[1] = ConstantParam{.name = "n", .type = ElementType::Float32};
  const auto refused = fails_with(StatusCode::InvalidArgument, "argument 1 \"n\"");
  EXPECT_THAT(device_->create_executable(wrong).status(), refused);
  EXPECT_THAT(device_->create_executable(wrong).status(), refused);
  EXPECT_EQ(cache_->counts().stored, 1u);
}

TEST_F(ProgramCacheTest, ABinaryThatTheDriverRefusesIsBuiltFromSource) {
  open();
  EXPECT_EQ(result_of(add_five()), 7);
  open([](Api& api) {
    api.clCreateProgramWithBinary = [](cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                                       const unsigned char**, cl_int*,
                                       cl_int* error) -> cl_program {
      *error = CL_INVALID_BINARY;
      return nullptr;
    };
  });
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 2);
  // If the driver accepts the binary but creates no kernels from it, the source is built, too.
  open([](Api& api) {
    api.clCreateKernel = [](cl_program program, const char* name, cl_int* error) -> cl_kernel {
      if (from_source == 2) {
        *error = CL_INVALID_PROGRAM_EXECUTABLE;
        return nullptr;
      }
      return real.clCreateKernel(program, name, error);
    };
  });
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 3);
}

TEST_F(ProgramCacheTest, ADriverWithoutBinariesIsBuiltFromSource) {
  open([](Api& api) {
    api.clGetProgramInfo = [](cl_program program, cl_program_info name, std::size_t bytes,
                              void* value, std::size_t* size) -> cl_int {
      const cl_int code = real.clGetProgramInfo(program, name, bytes, value, size);
      if (name == CL_PROGRAM_BINARY_SIZES && value != nullptr) std::memset(value, 0, bytes);
      return code;
    };
  });
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(result_of(add_five()), 7);
  EXPECT_EQ(from_source, 2);
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_THAT((*device_->create_executable(add_five()))->binary().status(),
              fails_with(StatusCode::Unimplemented, "gives no binaries back"));
}

// With a binary of the same device and driver beside the source, nothing is compiled, and neither
// the cache nor the source is asked.
TEST_F(ProgramCacheTest, ABinaryBesideItsSourceComesFirst) {
  open();
  ExecutableDesc desc = add_five();
  desc.codes.push_back(binary_of(desc));
  EXPECT_EQ(from_source, 1);
  fs::remove_all(folder_);
  open();
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(last_binary, desc.codes[1].code);
  EXPECT_EQ(cache_->counts().hits + cache_->counts().misses, 0u);
  EXPECT_FALSE(fs::exists(folder_));
  // The order of the codes makes no difference.
  std::swap(desc.codes[0], desc.codes[1]);
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(from_source, 1);
  // An executable that was loaded from a binary gives one back, too.
  EXPECT_EQ(binary_of(desc).origin, desc.codes[0].origin);
  EXPECT_EQ(from_source, 1);
}

TEST_F(ProgramCacheTest, ABinaryOfAnotherProgramIsLeftAlone) {
  open();
  const KernelCode binary = binary_of(add_five());
  fs::remove_all(folder_);
  const auto result_with_binary = [&](ExecutableDesc desc) {
    desc.codes.push_back(binary);
    return result_of(desc);
  };
  ExecutableDesc other = add_five();
  other.codes[0].build_options = {"-DADD=6"};
  EXPECT_EQ(result_with_binary(other), 8);
  EXPECT_EQ(from_source, 2);
  other = add_five();
  other.codes[0].code += "\n";
  EXPECT_EQ(result_with_binary(other), 7);
  EXPECT_EQ(from_source, 3);
  other = add_five();
  other.entry_points[0].workgroup_size = {2, 1, 1};
  EXPECT_EQ(result_with_binary(other), 7);
  EXPECT_EQ(from_source, 4);
  EXPECT_EQ(cache_->counts().misses, 4u);
  EXPECT_EQ(last_binary, "");
}

TEST_F(ProgramCacheTest, ABinaryOfAnotherDriverIsLeftAlone) {
  open();
  ExecutableDesc desc = add_five();
  desc.codes.push_back(binary_of(desc));
  for (std::string BinaryMaker::* const field :
       {&BinaryMaker::platform, &BinaryMaker::vendor, &BinaryMaker::device,
        &BinaryMaker::driver_version, &BinaryMaker::api_version, &BinaryMaker::language_version}) {
    fs::remove_all(folder_);
    from_source = 0;
    ExecutableDesc other = desc;
    other.codes[1].origin->maker.*field += "~";
    EXPECT_EQ(result_of(other), 7);
    EXPECT_EQ(from_source, 1);
    EXPECT_EQ(last_binary, "");
    // Without the source there is nothing to run.
    other.codes.erase(other.codes.begin());
    EXPECT_THAT(device_->create_executable(other).status(),
                fails_with(StatusCode::Unimplemented, "an OpenCL binary for "));
  }
  desc.codes.erase(desc.codes.begin());
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(last_binary, desc.codes[0].code);
}

TEST_F(ProgramCacheTest, ABinaryBesideItsSourceMayBeRefused) {
  open();
  ExecutableDesc desc = add_five();
  desc.codes.push_back(binary_of(desc));
  desc.codes[1].code = "no binary";
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(cache_->counts().hits, 1u) << "the cache is asked before the source is built";
  EXPECT_EQ(from_source, 1);
  fs::remove_all(folder_);
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(from_source, 2);
}

TEST_F(ProgramCacheTest, BinariesAreOfSourceAlone) {
  open();
  const ExecutableDesc bare = {
      .codes = {{.format = KernelFormat::OpenClBinary, .code = binary_of(add_five()).code}},
      .entry_points = {entry()}};
  EXPECT_THAT((*device_->create_executable(bare))->binary().status(),
              fails_with(StatusCode::Unimplemented, "the kernels have no source"));
}

// A submission races with threads that prepare its executable: one builds, the others wait.
TEST_F(ProgramCacheTest, AtFirstUseItIsBuiltOnce) {
  open();
  ExecutableDesc desc = add_five();
  desc.build = BuildTime::FirstUse;
  const auto executable = *device_->create_executable(desc);
  EXPECT_EQ(from_source, 0);
  const auto buffer = make_buffer(4);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(2)}}));
  std::atomic<int> prepared = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { prepared += executable->prepare().ok() ? 1 : 0; });
  }
  TL_ASSERT_OK(run(commands));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(prepared, 2);
  EXPECT_EQ(values_of<int>(buffer).front(), 7);
}

// Two kernels of a plan may be equal but for the bytes that they touch. Their program is built once
// while it is in use; each executable has kernels of its own, which keep their arguments.
TEST_F(ProgramCacheTest, EqualProgramsAreBuiltOnce) {
  open();
  ExecutableDesc small = add_five(), large = add_five();
  small.build = large.build = BuildTime::FirstUse;
  std::get<BufferParam>(small.entry_points[0].params[0]).min_bytes = 4;
  std::get<BufferParam>(large.entry_points[0].params[0]).min_bytes = 8;
  const auto one = *device_->create_executable(small), two = *device_->create_executable(large);
  std::vector<std::thread> threads;
  for (const auto& each : {one, two})
    threads.emplace_back([&each = *each] { TL_EXPECT_OK(each.prepare()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(from_source, 1);
  EXPECT_EQ(cache_->counts().misses, 1u);
  const auto first = make_buffer(4), second = make_buffer(8);
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(one, 0, {1, 1, 1}, {{BufferBinding{first}}}, {{Constant(2)}}));
  TL_ASSERT_OK(commands->dispatch(two, 0, {1, 1, 1}, {{BufferBinding{second}}}, {{Constant(3)}}));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(values_of<int>(first).front(), 7);
  EXPECT_EQ(values_of<int>(second).front(), 8);
  // Another math mode is another program.
  large.math = MathMode::Contract;
  TL_EXPECT_OK((*device_->create_executable(large))->prepare());
  EXPECT_EQ(from_source, 2);
}

TEST_F(ProgramCacheTest, AProgramIsBuiltAnewIfThatIsWanted) {
  open();
  ExecutableDesc desc = add_five();
  desc.codes.push_back(binary_of(desc));
  const auto in_use = *device_->create_executable(desc);
  EXPECT_EQ(from_source, 1);
  desc.builds_anew = true;
  EXPECT_EQ(result_of(desc), 7);
  EXPECT_EQ(from_source, 2);
  EXPECT_EQ(binary_of(desc).origin, desc.codes[1].origin);
  EXPECT_EQ(from_source, 3);
  EXPECT_EQ(cache_->counts().stored, 1u);
}

TEST_F(ProgramCacheTest, AProgramThatNobodyUsesIsBuiltAgain) {
  open();
  ExecutableDesc desc = add_five();
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(result_of(desc), 7);
    EXPECT_EQ(from_source, i);
    fs::remove_all(folder_);
  }
  desc.codes[0].code = "wrong";
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(device_->create_executable(desc).status(),
                fails_with(StatusCode::BuildFailed, "build log"));
}

// The driver's own kernels are an executable that all queues of the device share.
TEST_F(ProgramCacheTest, TheKernelsForUnalignedTransfersAreBuiltOnceAndStored) {
  for (const bool is_stored : {false, true}) {
    open();
    EXPECT_EQ(from_source, is_stored ? 1 : 0) << "before they are needed";
    const auto second = *device_->create_queue();
    const Bytes zeros(8);
    const auto buffer = make_buffer(zeros);
    for (Queue* queue : {device_->queue().get(), second.get(), device_->queue().get()})
      TL_ASSERT_OK(fill_unaligned(*queue, buffer));
    EXPECT_EQ(values_of<std::uint8_t>(buffer), (std::vector<std::uint8_t>{0, 1, 2, 1, 2, 1, 2, 0}));
    EXPECT_EQ(from_source, 1);
    EXPECT_EQ(cache_->counts().hits, is_stored ? 1u : 0u);
    EXPECT_EQ(cache_->counts().misses, is_stored ? 0u : 1u);
    EXPECT_EQ(cache_->counts().stored, is_stored ? 0u : 1u);
  }
}

TEST_F(ProgramCacheTest, TheBuildLogOfTheDriversKernelsIsTold) {
  open([](Api& api) {
    api.clCreateProgramWithSource = [](cl_context context, cl_uint, const char**,
                                       const std::size_t*, cl_int* error) -> cl_program {
      const char* wrong = "#error gibberish";
      return real.clCreateProgramWithSource(context, 1, &wrong, nullptr, error);
    };
  });
  const auto buffer = make_buffer(8);
  const Status status = fill_unaligned(*device_->queue(), buffer);
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "gibberish"));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "the kernels for unaligned transfers"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace texloom::hal::opencl
