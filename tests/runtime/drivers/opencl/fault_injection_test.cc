// Every call of OpenCL fails once, in every way that it can, while a workload runs that makes all
// of them. The error comes back with the driver's words, nothing is left or released too early,
// nothing hangs, and the same device does the next work.
//
// --gtest_output=json:FILE writes the outcomes, by function.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/drivers/opencl/faulty_api.h"
#include "tests/runtime/opencl_fixture.h"

// Behind the API, whose version it goes by.
#include <CL/cl_ext.h>

namespace texloom::hal::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName(const Fault& fault) { return kFunctionNames[fault.function]; }

std::string to_string(const Fault& fault) {
  constexpr std::array kWays = {"CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY", "makes nothing"};
  return fmt::format("{} number {}: {}", kName(fault), fault.occurrence,
                     kWays[static_cast<std::size_t>(fault.failing)]);
}

// A call that the workload may survive: of which functions, in which step ("" is any) and with
// which first integer (0 is any).
struct Tolerated {
  std::string_view function_prefix;
  std::string_view step;
  cl_uint first_integer;
  std::string_view reason;
  std::optional<Failing> failing = {};
};
constexpr Tolerated kTolerated[] = {
    {"clCreate", "", 0, "what is short of memory is tried again", Failing::OutOfHostMemory},
    {"clRelease", "", 0, "what is released is not used again, whatever the driver says"},
    {"clFinish", "", 0, "it follows an error, which is told"},
    {"clGetPlatformInfo", "", 0, "the platform has no name then"},
    {"clGetDeviceInfo", "", CL_DEVICE_HALF_FP_CONFIG, "there is no half arithmetic then"},
    {"clGetDeviceInfo", "", CL_DEVICE_IMAGE_PITCH_ALIGNMENT_KHR,
     "pitch alignment: there are no views then"},
    {"clGetDeviceInfo", "", CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT_KHR,
     "base alignment: there are no views then"},
    {"clGetKernelArgInfo", "", 0, "what is not described is not checked"},
    {"clGetProgramInfo", "source", CL_PROGRAM_BINARY_SIZES, "nothing is stored then"},
    {"clGetProgramInfo", "source", CL_PROGRAM_BINARIES, "nothing is stored then"},
    {"cl", "stored binary", 0, "it is built from source then"},
    {"clGetProgramBuildInfo", "", 0, "the error of the build says so"},
    {"clGetEventProfilingInfo", "", 0, "the command has no span then"},
};

// Ends the process when a fault takes longer than anything here does.
class Watchdog {
 public:
  explicit Watchdog(std::string what)
      : what_(std::move(what)), thread_([this] {
          std::unique_lock lock(mutex_);
          if (done_.wait_for(lock, std::chrono::seconds(60), [this] { return over_; })) return;
          std::fprintf(stderr, "hangs: %s\n", what_.c_str());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::string what_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread thread_;
};

constexpr const char* kSource = R"(
__kernel void advance(__global int* x, __global const int* y, int k) {
  int i = get_global_id(0);
  for (int n = 0; n < k; ++n) x[i] = x[i] * 3 + y[i];
}
__kernel void sample(__read_only image2d_t t, __global float4* out) {
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  out[at.y * 4 + at.x] = read_imagef(t, s, at);
})";

std::vector<EntryPoint> entry_points() {
  return {
      {.name = "advance",
       .params = {BufferParam{.name = "x", .access = Access::ReadWrite, .min_bytes = 64},
                  BufferParam{.name = "y", .min_bytes = 64}, ConstantParam{.name = "k"}}},
      {.name = "sample",
       .params = {TextureParam{.name = "t"}, BufferParam{.name = "out", .access = Access::Write}}}};
}

Status wrong(std::string_view what) {
  return make_error(StatusCode::Internal, "wrong result: {}", what);
}

// One process's life with a device, in steps; each returns the first error that the HAL tells.
class Workload {
 public:
  Workload(std::shared_ptr<const Api> api, std::string cache_folder, bool is_slow)
      : api_(std::move(api)), cache_folder_(std::move(cache_folder)), is_slow_(is_slow) {}

  // Until a step fails, or has survived the fault. The device stays.
  Status run() {
    using Step = Status (Workload::*)();
    // What builds programs comes last, since that takes longest.
    constexpr std::pair<const char*, Step> kSteps[] = {
        {"driver", &Workload::find_driver},
        {"device", &Workload::open_device},
        {"buffers", &Workload::make_buffers},
        {"mappings", &Workload::map_buffers},
        {"import", &Workload::import_memory},
        {"textures", &Workload::make_textures},
        {"texture copies", &Workload::copy_textures},
        {"host call", &Workload::call_host},
        {"bad host call", &Workload::call_host_badly},
        {"semaphores", &Workload::two_queues},
        {"profile", &Workload::profile},
        {"bad option", &Workload::build_bad},
        {"source", &Workload::build},
        {"stored binary", &Workload::load},
        {"dispatch", &Workload::dispatch},
        {"transfers", &Workload::transfer},
    };
    Status status;
    for (const auto& [name, step] : kSteps) {
      status = (this->*step)();
      step_ = name;
      if (!status.ok() || FaultyApi::fired()) break;
    }
    return status;
  }
  const std::string& step() const { return step_; }  // the last one

  // The next work, on the same device where there is one. Nothing of run() is told again.
  Status run_next() {
    if (driver_ == nullptr) TL_RETURN_IF_ERROR(find_driver());
    if (device_ == nullptr) TL_RETURN_IF_ERROR(open_device());
    TL_ASSIGN_OR_RETURN(const auto buffer, device_->create_buffer({.bytes = 64}));
    const Bytes data = random_bytes(64, 3);
    TL_RETURN_IF_ERROR(write_buffer(*device_, buffer, 0, data));
    Bytes read(64);
    TL_RETURN_IF_ERROR(read_buffer(*device_, buffer, 0, read));
    return read == data ? Status() : wrong("the next submission");
  }

 private:
  Status find_driver() {
    // Fills and copies of odd bytes then take kernels.
    TL_ASSIGN_OR_RETURN(driver_,
                        create_driver(api_, {.binary_cache = std::make_shared<BinaryCache>(
                                                 BinaryCacheOptions{.folder = cache_folder_}),
                                             .transfer_alignment = 4}));
    return {};
  }
  Status open_device() {
    TL_ASSIGN_OR_RETURN(device_, driver_->open(0));
    return {};
  }

  Status make_buffers() {
    const auto make = [&](MemoryKind kind) {
      return device_->create_buffer({.bytes = kBytes, .memory = kind});
    };
    TL_ASSIGN_OR_RETURN(a_, make(MemoryKind::Device));
    TL_ASSIGN_OR_RETURN(b_, make(MemoryKind::Device));
    TL_ASSIGN_OR_RETURN(shared_, make(MemoryKind::Shared));
    TL_ASSIGN_OR_RETURN(managed_, make(MemoryKind::Managed));
    return {};
  }

  Status map_buffers() {
    const Bytes data = random_bytes(kBytes, 1);
    for (const auto& buffer : {shared_, managed_}) {
      TL_ASSIGN_OR_RETURN(Mapping written, buffer->map(Access::Write));
      std::copy(data.begin(), data.end(), written.bytes().begin());
      TL_RETURN_IF_ERROR(written.release());
      TL_ASSIGN_OR_RETURN(Mapping read, buffer->map(Access::ReadWrite));
      if (!std::equal(data.begin(), data.end(), read.bytes().begin())) return wrong("a mapping");
      TL_RETURN_IF_ERROR(read.flush(0, 16));
      TL_RETURN_IF_ERROR(read.invalidate(0, 16));
      TL_RETURN_IF_ERROR(read.release());
    }
    return {};
  }

  Status import_memory() {
    constexpr std::size_t kPage = 4096;
    const std::shared_ptr<void> memory(std::aligned_alloc(kPage, kPage), std::free);
    const std::span bytes(static_cast<std::byte*>(memory.get()), kPage);
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    TL_ASSIGN_OR_RETURN(const auto buffer,
                        device_->allocator()->import({.memory = bytes, .release = [memory] {}}));
    Bytes read(16);
    TL_RETURN_IF_ERROR(read_buffer(*device_, buffer, 64, read));
    return read == Bytes(16, std::byte{7}) ? Status() : wrong("imported memory");
  }

  Status make_textures() {
    const TextureDesc desc{.extent = kExtent};
    TL_ASSIGN_OR_RETURN(texture_, device_->create_texture(desc));
    TL_ASSIGN_OR_RETURN(other_texture_, device_->create_texture(desc));
    if (!device_->info().features.texture_views) return {};
    const DeviceInfo& info = device_->info();
    const std::uint64_t pitch = smallest_view_pitch(info, desc.format, kExtent.width);
    const std::uint64_t offset = std::max(info.limits.buffer_offset_alignment,
                                          std::uint64_t{info.limits.view_base_alignment} * 16);
    TL_ASSIGN_OR_RETURN(const auto buffer,
                        device_->create_buffer({.bytes = offset + pitch * kExtent.height}));
    TL_RETURN_IF_ERROR(
        device_->allocator()->create_view(buffer, {.texture = desc, .offset = offset}).status());
    return device_->allocator()->create_view(buffer, {.texture = desc}).status();
  }

  Result<std::shared_ptr<Executable>> executable(std::vector<std::string> options = {}) {
    return device_->create_executable(
        {.codes = opencl_c(kSource, std::move(options)), .entry_points = entry_points()});
  }
  Status build() {
    TL_ASSIGN_OR_RETURN(executable_, executable());
    return {};
  }
  // The source is found in the cache now.
  Status load() {
    TL_ASSIGN_OR_RETURN(executable_, executable());
    return {};
  }
  // A mistake that costs no run of the compiler.
  Status build_bad() {
    const Status status = executable({"-no-such-option"}).status();
    const bool is_refused = status.code() == StatusCode::BuildFailed;
    return is_refused ? Status() : status.ok() ? wrong("a bad build option") : status;
  }

  // Submits to the first queue and waits: for the semaphore that it signals, which says the same.
  Status submit(const std::shared_ptr<CommandBuffer>& commands) {
    TL_RETURN_IF_ERROR(commands->finish());
    const auto done = std::make_shared<Semaphore>();
    TL_RETURN_IF_ERROR(
        device_->queue()->submit({.waits = {}, .commands = {commands}, .signals = {{done, 1}}}));
    const Status status = device_->queue()->wait_idle();
    const Status signalled = done->wait(1, after(std::chrono::seconds(10)));
    if (status.code() != signalled.code() || status.message() != signalled.message())
      return wrong("the semaphore has another status: " + signalled.to_string());
    return status;
  }

  // Two parts of one buffer, and a texture.
  Status dispatch() {
    const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
    const auto commands = device_->create_command_buffer();
    const std::vector<int> ones(kBytes / sizeof(int), 1);
    const std::vector<float> texels(kTexels * 4, 0.5F);
    const int k = is_slow_ ? 1 << 20 : 1;
    std::vector<int> result(16);
    std::vector<float> sampled(kTexels * 4);
    TL_RETURN_IF_ERROR(commands->update(a_, 0, bytes_of(ones)));
    TL_RETURN_IF_ERROR(commands->update(b_, 0, bytes_of(texels)));
    TL_RETURN_IF_ERROR(commands->copy_buffer_to_texture(b_, texture_, {.extent = kExtent}));
    TL_RETURN_IF_ERROR(commands->dispatch(executable_, 0, {16, 1, 1},
                                          {{BufferBinding{a_, step}, BufferBinding{a_, 0}}},
                                          {{Constant(k)}}));
    TL_RETURN_IF_ERROR(commands->dispatch(executable_, 1, {kExtent.width, kExtent.height, 1},
                                          {{TextureBinding{texture_}, BufferBinding{b_}}}, {}));
    TL_RETURN_IF_ERROR(commands->readback(b_, 0, writable_bytes_of(sampled)));
    TL_RETURN_IF_ERROR(commands->readback(a_, step, writable_bytes_of(result)));
    TL_RETURN_IF_ERROR(submit(commands));
    if (sampled != texels) return wrong("a sampled texture");
    return is_slow_ || result == std::vector<int>(16, 4) ? Status() : wrong("a dispatch");
  }

  // On whole words and on odd bytes.
  Status transfer() {
    const auto commands = device_->create_command_buffer();
    const Bytes data = random_bytes(kBytes, 2);
    const std::span<const std::byte> all = data;
    const auto four = all.first(4);
    Bytes read(kBytes), expected(kBytes);
    TL_RETURN_IF_ERROR(commands->fill(a_, 0, kBytes, four));
    for (std::size_t i = 0; i < kBytes; ++i) expected[i] = data[i % 4];
    TL_RETURN_IF_ERROR(commands->fill(a_, 33, 7, four.first(1)));
    std::fill_n(expected.begin() + 33, 7, data[0]);
    TL_RETURN_IF_ERROR(commands->update(a_, 64, all.first(64)));
    TL_RETURN_IF_ERROR(commands->update(a_, 128, all.subspan(64, 64)));
    std::copy_n(data.begin(), 128, expected.begin() + 64);
    TL_RETURN_IF_ERROR(commands->update(a_, 201, all.first(5)));
    std::copy_n(data.begin(), 5, expected.begin() + 201);
    TL_RETURN_IF_ERROR(commands->copy_buffer(a_, 0, b_, 0, kBytes));
    TL_RETURN_IF_ERROR(commands->copy_buffer(a_, 65, b_, 3, 9));
    std::copy_n(data.begin() + 1, 9, expected.begin() + 3);
    TL_RETURN_IF_ERROR(commands->readback(b_, 0, read));
    TL_RETURN_IF_ERROR(submit(commands));
    return read == expected ? Status() : wrong("transfers");
  }

  // Rows with and without gaps, both ways, and from texture to texture.
  Status copy_textures() {
    const auto commands = device_->create_command_buffer();
    const Bytes data = random_bytes(kBytes, 4);
    const BufferTextureRegion dense{.extent = kExtent};
    const BufferTextureRegion gaps{.extent = kExtent, .row_pitch = 80};
    Bytes read(kTexels * 16);
    TL_RETURN_IF_ERROR(commands->update(a_, 0, data));
    TL_RETURN_IF_ERROR(commands->copy_buffer_to_texture(a_, texture_, gaps));
    TL_RETURN_IF_ERROR(commands->copy_texture(texture_, {}, other_texture_, {}, kExtent));
    TL_RETURN_IF_ERROR(commands->copy_texture_to_buffer(other_texture_, b_, dense));
    TL_RETURN_IF_ERROR(commands->copy_buffer_to_texture(b_, texture_, dense));
    TL_RETURN_IF_ERROR(commands->copy_texture_to_buffer(texture_, b_, gaps));
    TL_RETURN_IF_ERROR(commands->readback(b_, 80, std::span(read).first(64)));
    TL_RETURN_IF_ERROR(submit(commands));
    return std::equal(read.begin(), read.begin() + 64, data.begin() + 80) ? Status()
                                                                          : wrong("texture copies");
  }

  Status call_host() {
    const auto commands = device_->create_command_buffer();
    Bytes read(16), again(16);
    TL_RETURN_IF_ERROR(commands->fill(a_, 0, 16, Bytes(1, std::byte{9})));
    TL_RETURN_IF_ERROR(commands->readback(a_, 0, read));
    TL_RETURN_IF_ERROR(commands->host_call([&] {
      return read == Bytes(16, std::byte{9}) ? Status() : wrong("what a host call sees");
    }));
    TL_RETURN_IF_ERROR(commands->readback(a_, 0, again));
    TL_RETURN_IF_ERROR(submit(commands));
    return read == again ? Status() : wrong("what follows a host call");
  }
  // An error of ours: the queue has to be waited for.
  Status call_host_badly() {
    const auto commands = device_->create_command_buffer();
    TL_RETURN_IF_ERROR(commands->host_call([] { return make_error(StatusCode::NotFound, "no"); }));
    const Status status = submit(commands);
    return status.code() == StatusCode::NotFound ? Status() : status;
  }

  // The second queue waits for the first, which waits for the host.
  Status two_queues() {
    TL_ASSIGN_OR_RETURN(const auto second, device_->create_queue());
    const auto start = std::make_shared<Semaphore>();
    const auto ping = std::make_shared<Semaphore>();
    const auto commands = device_->create_command_buffer();
    const auto reading = device_->create_command_buffer();
    Bytes read(16);
    TL_RETURN_IF_ERROR(commands->fill(a_, 0, 16, Bytes(1, std::byte{5})));
    TL_RETURN_IF_ERROR(reading->readback(a_, 0, read));
    TL_RETURN_IF_ERROR(commands->finish());
    TL_RETURN_IF_ERROR(reading->finish());
    TL_RETURN_IF_ERROR(
        second->submit({.waits = {{ping, 1}}, .commands = {reading}, .signals = {{ping, 2}}}));
    TL_RETURN_IF_ERROR(device_->queue()->submit(
        {.waits = {{start, 1}}, .commands = {commands}, .signals = {{ping, 1}}}));
    TL_RETURN_IF_ERROR(start->signal(1));
    const Status status = ping->wait(2, after(std::chrono::seconds(10)));
    const Status first = device_->queue()->wait_idle();
    const Status behind = second->wait_idle();
    if (status.ok() != behind.ok() || (behind.ok() && !first.ok()))
      return wrong("an error did not reach what waits for it: " + first.to_string());
    TL_RETURN_IF_ERROR(status);
    return read == Bytes(16, std::byte{5}) ? Status() : wrong("the second queue");
  }

  Status profile() {
    const auto profile = std::make_shared<Profile>();
    TL_ASSIGN_OR_RETURN(const auto device, driver_->open(0, {.profile = profile}));
    TL_ASSIGN_OR_RETURN(const auto buffer, device->create_buffer({.bytes = 16}));
    return write_buffer(*device, buffer, 0, Bytes(16));
  }

  static constexpr Extent2D kExtent = {4, 2};
  static constexpr std::size_t kTexels = 8;
  static constexpr std::uint64_t kBytes = 4096;  // more than any alignment of offsets

  std::shared_ptr<const Api> api_;
  std::string cache_folder_;
  bool is_slow_;
  std::string step_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Buffer> a_, b_, shared_, managed_;
  std::shared_ptr<Texture> texture_, other_texture_;
  std::shared_ptr<Executable> executable_;
};

class FaultInjectionTest : public OpenClTest {
 protected:
  static inline Api real = {};

  // The workload sees the first device of the first platform alone.
  void SetUp() override {
    OpenClTest::SetUp();
    if (driver_ == nullptr) return;
    const std::vector<std::string> paths = DriverOptions().loader_paths;
    real = **load_api(paths);
    Api first = real;
    first.clGetPlatformIDs = [](cl_uint size, cl_platform_id* platforms, cl_uint* count) {
      if (count != nullptr) *count = 1;
      return platforms == nullptr ? CL_SUCCESS : real.clGetPlatformIDs(size, platforms, nullptr);
    };
    first.clGetDeviceIDs = [](cl_platform_id platform, cl_device_type type, cl_uint size,
                              cl_device_id* devices, cl_uint* count) {
      if (count != nullptr) *count = 1;
      if (devices == nullptr) return CL_SUCCESS;
      return real.clGetDeviceIDs(platform, type, size, devices, nullptr);
    };
    api_ = std::make_shared<const Api>(FaultyApi::wrap(first));
    std::string name = (fs::temp_directory_path() / "texloom-fault-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  enum class Outcome { Error, Tolerated };

  Outcome run_with(const Fault& fault) {
    const Watchdog watchdog(to_string(fault));
    fs::remove_all(folder_);
    FaultyApi::arm(fault);
    std::optional<Workload> workload;
    workload.emplace(api_, folder_.string(), kName(fault) == "clWaitForEvents");
    const Status status = workload->run();
    const bool fired = FaultyApi::fired();
    const cl_uint first_integer = FaultyApi::first_integer();
    FaultyApi::disarm();
    const std::string step = workload->step();
    TL_EXPECT_OK(workload->run_next());
    workload.reset();
    for (const std::string& complaint : FaultyApi::take_complaints()) ADD_FAILURE() << complaint;
    EXPECT_TRUE(fired) << "the call was not made";
    if (status.ok()) {
      EXPECT_TRUE(is_tolerated(fault, step, first_integer))
          << "no error, in the step \"" << step << "\", first integer " << first_integer;
      return Outcome::Tolerated;
    }
    expect_words(fault, status);
    return Outcome::Error;
  }

  static bool is_tolerated(const Fault& fault, std::string_view step, cl_uint first_integer) {
    return std::any_of(std::begin(kTolerated), std::end(kTolerated), [&](const Tolerated& row) {
      return kName(fault).starts_with(row.function_prefix) &&
             (!row.failing || *row.failing == fault.failing) &&
             (row.step.empty() || row.step == step) &&
             (row.first_integer == 0 || row.first_integer == first_integer);
    });
  }

  static void expect_words(const Fault& fault, const Status& status) {
    constexpr std::array kWords = {"CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY",
                                   "success, but it made nothing"};
    const std::string& message = status.message();
    EXPECT_NE(message.find(kWords[static_cast<std::size_t>(fault.failing)]), std::string::npos)
        << status.to_string();
    // Of an enqueue that gives no event the command is named.
    const bool names_command =
        fault.failing == Failing::MakesNothing && kName(fault).starts_with("clEnqueue");
    EXPECT_TRUE(names_command || message.find(kName(fault)) != std::string::npos)
        << status.to_string();
  }

  std::shared_ptr<const Api> api_;
  fs::path folder_;
};

TEST_F(FaultInjectionTest, EachCallFailsInTurn) {
  FaultyApi::take_complaints();
  FaultyApi::disarm();
  std::array<std::array<int, kAllFailing.size()>, kFunctionNames.size()> calls = {};
  {
    Workload workload(api_, folder_.string(), false);
    TL_ASSERT_OK(workload.run());
    for (std::size_t function = 0; function < calls.size(); ++function) {
      for (std::size_t way = 0; way < kAllFailing.size(); ++way)
        calls[function][way] = FaultyApi::calls(function, kAllFailing[way]);
    }
  }
  EXPECT_EQ(FaultyApi::take_complaints(), std::vector<std::string>());
  for (std::size_t function = 0; function < calls.size(); ++function) {
    std::map<Outcome, int> outcomes;
    for (std::size_t way = 0; way < kAllFailing.size(); ++way) {
      for (int occurrence = 1; occurrence <= calls[function][way]; ++occurrence) {
        const Fault fault{function, occurrence, kAllFailing[way]};
        SCOPED_TRACE(to_string(fault));
        ++outcomes[run_with(fault)];
      }
    }
    const int errors = outcomes[Outcome::Error], tolerated = outcomes[Outcome::Tolerated];
    EXPECT_GT(errors + tolerated, 0) << kFunctionNames[function] << " is never called";
    RecordProperty(
        std::string(kFunctionNames[function]),
        fmt::format("{} failed: {} errors, {} tolerated", errors + tolerated, errors, tolerated));
  }
}

}  // namespace
}  // namespace texloom::hal::opencl
