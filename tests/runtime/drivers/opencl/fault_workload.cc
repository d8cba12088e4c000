#include "tests/runtime/drivers/opencl/fault_workload.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/drivers/opencl/faulty_api.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

constexpr const char* kWorkloadKernels = R"(
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

}  // namespace

Status FaultWorkload::run() {
  using Step = Status (FaultWorkload::*)();
  // Steps that build programs come last, since they take longest.
  constexpr std::pair<const char*, Step> kSteps[] = {
      {"driver", &FaultWorkload::find_driver},
      {"device", &FaultWorkload::open_device},
      {"buffers", &FaultWorkload::make_buffers},
      {"mappings", &FaultWorkload::map_buffers},
      {"import", &FaultWorkload::import_memory},
      {"textures", &FaultWorkload::make_textures},
      {"texture copies", &FaultWorkload::copy_textures},
      {"host call", &FaultWorkload::call_host},
      {"bad submission", &FaultWorkload::submit_badly},
      {"semaphores", &FaultWorkload::two_queues},
      {"native wait", &FaultWorkload::native_wait},
      {"profile", &FaultWorkload::profile},
      {"bad option", &FaultWorkload::build_bad},
      {"source", &FaultWorkload::build},
      {"stored binary", &FaultWorkload::load},
      {"program in use", &FaultWorkload::share},
      {"dispatch", &FaultWorkload::dispatch},
      {"dispatch again", &FaultWorkload::dispatch_again},
      {"transfers", &FaultWorkload::transfer},
  };
  Status status;
  for (const auto& [name, step] : kSteps) {
    status = (this->*step)();
    step_ = name;
    if (!status.ok() || FaultyApi::fired()) break;
  }
  return status;
}

Status FaultWorkload::run_next() {
  if (driver_ == nullptr) TL_RETURN_IF_ERROR(find_driver());
  if (device_ == nullptr) TL_RETURN_IF_ERROR(open_device());
  TL_ASSIGN_OR_RETURN(const auto buffer, device_->create_buffer({.bytes = 64}));
  const Bytes data = random_bytes(64, 3);
  TL_RETURN_IF_ERROR(write_buffer(*device_, buffer, 0, data));
  Bytes read(64);
  TL_RETURN_IF_ERROR(read_buffer(*device_, buffer, 0, read));
  return read == data ? Status() : wrong("the next submission");
}

Status FaultWorkload::find_driver() {
  // The option makes fills and copies of odd bytes use kernels.
  TL_ASSIGN_OR_RETURN(driver_,
                      create_driver(api_, {.binary_cache = std::make_shared<BinaryCache>(
                                               BinaryCacheOptions{.folder = cache_folder_}),
                                           .transfer_alignment = 4}));
  return {};
}

Status FaultWorkload::open_device() {
  TL_ASSIGN_OR_RETURN(device_, driver_->open(0));
  return {};
}

Status FaultWorkload::make_buffers() {
  const auto make = [&](MemoryKind kind) {
    return device_->create_buffer({.bytes = kBytes, .memory = kind});
  };
  TL_ASSIGN_OR_RETURN(a_, make(MemoryKind::Device));
  TL_ASSIGN_OR_RETURN(b_, make(MemoryKind::Device));
  TL_ASSIGN_OR_RETURN(shared_, make(MemoryKind::Shared));
  TL_ASSIGN_OR_RETURN(managed_, make(MemoryKind::Managed));
  return {};
}

Status FaultWorkload::map_buffers() {
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

Status FaultWorkload::import_memory() {
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

Status FaultWorkload::make_textures() {
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

Result<std::shared_ptr<Executable>> FaultWorkload::executable(std::vector<std::string> options) {
  return device_->create_executable(
      {.codes = opencl_c(kWorkloadKernels, std::move(options)), .entry_points = entry_points()});
}

Status FaultWorkload::build() {
  TL_ASSIGN_OR_RETURN(executable_, executable());
  return {};
}

Status FaultWorkload::load() {
  executable_ = nullptr;  // a program in use would be shared
  TL_ASSIGN_OR_RETURN(executable_, executable());
  return {};
}

Status FaultWorkload::share() { return executable().status(); }

Status FaultWorkload::build_bad() {
  const Status status = executable({"-no-such-option"}).status();
  const bool is_refused = status.code() == StatusCode::BuildFailed;
  return is_refused ? Status() : status.ok() ? wrong("a bad build option") : status;
}

Status FaultWorkload::submit(const std::shared_ptr<CommandBuffer>& commands) {
  TL_RETURN_IF_ERROR(commands->finish());
  const auto done = Semaphore::create();
  TL_RETURN_IF_ERROR(
      device_->queue()->submit({.waits = {}, .commands = {commands}, .signals = {{done, 1}}}));
  const Status status = device_->queue()->wait_idle();
  const Status signalled = done->wait(1, after(std::chrono::seconds(10)));
  if (status.code() != signalled.code() || status.message() != signalled.message())
    return wrong("the semaphore has another status: " + signalled.to_string());
  return status;
}

Status FaultWorkload::dispatch() {
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

// Submits a command buffer that keeps its kernels, with two tables in turn. The submission after a
// failed one must set all arguments again.
Status FaultWorkload::dispatch_again() {
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const auto commands = device_->create_command_buffer({.reusable = true});
  TL_RETURN_IF_ERROR(commands->dispatch_with_table(
      executable_, 0, {16, 1, 1}, {{BindingSlot{0, step}, BindingSlot{1}}}, {{Constant(1)}}));
  TL_RETURN_IF_ERROR(commands->finish());
  const std::vector<int> ones(kBytes / sizeof(int), 1);
  Status first;
  for (const auto& buffer : {a_, b_, a_}) {
    const auto submit_once = [&]() -> Status {
      TL_RETURN_IF_ERROR(write_buffer(*device_, buffer, 0, bytes_of(ones)));
      return device_->queue()->run(
          {.commands = {{commands, {BufferBinding{buffer}, BufferBinding{buffer}}}}});
    };
    if (Status status = submit_once(); !status.ok()) {
      first = std::move(status);
      TL_RETURN_IF_ERROR(submit_once());
    }
    std::vector<int> result(16);
    TL_RETURN_IF_ERROR(read_buffer(*device_, buffer, step, writable_bytes_of(result)));
    if (result != std::vector<int>(16, 4)) return wrong("a dispatch that is submitted again");
  }
  return first;
}

Status FaultWorkload::transfer() {
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

Status FaultWorkload::copy_textures() {
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

Status FaultWorkload::call_host() {
  const auto commands = device_->create_command_buffer();
  Bytes read(16), again(16);
  TL_RETURN_IF_ERROR(commands->fill(a_, 0, 16, Bytes(1, std::byte{9})));
  TL_RETURN_IF_ERROR(commands->readback(a_, 0, read));
  TL_RETURN_IF_ERROR(commands->host_call(
      [&] { return read == Bytes(16, std::byte{9}) ? Status() : wrong("what a host call sees"); }));
  TL_RETURN_IF_ERROR(commands->readback(a_, 0, again));
  TL_RETURN_IF_ERROR(submit(commands));
  return read == again ? Status() : wrong("what follows a host call");
}

Status FaultWorkload::submit_badly() {
  const auto made = device_->create_executable({.codes = opencl_c("__kernel void k() { bad; }"),
                                                .entry_points = {{.name = "k", .params = {}}},
                                                .build = BuildTime::FirstUse});
  TL_RETURN_IF_ERROR(made.status());
  const auto commands = device_->create_command_buffer();
  TL_RETURN_IF_ERROR(commands->fill(a_, 0, 16, Bytes(1, std::byte{9})));
  TL_RETURN_IF_ERROR(commands->dispatch(*made, 0, {1, 1, 1}, {}, {}));
  const Status status = submit(commands);
  return status.code() == StatusCode::BuildFailed ? Status() : status;
}

Status FaultWorkload::two_queues() {
  TL_ASSIGN_OR_RETURN(const auto second, device_->create_queue());
  // A host semaphore makes the sequence of OpenCL calls deterministic.
  const auto start = Semaphore::create();
  const auto ping = Semaphore::create();
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
  const Status after = second->wait_idle();
  if (status.ok() != after.ok() || (after.ok() && !first.ok()))
    return wrong("an error did not reach what waits for it: " + first.to_string());
  TL_RETURN_IF_ERROR(status);
  return read == Bytes(16, std::byte{5}) ? Status() : wrong("the second queue");
}

// A callback blocks the first queue's completion thread until the second queue's work has run, so
// that the second queue must wait for an event.
Status FaultWorkload::native_wait() {
  TL_ASSIGN_OR_RETURN(const auto second, device_->create_queue());
  TL_ASSIGN_OR_RETURN(const auto held, device_->create_semaphore());
  TL_ASSIGN_OR_RETURN(const auto ping, device_->create_semaphore());
  const auto filling = device_->create_command_buffer();
  const auto filling_again = device_->create_command_buffer();
  const auto waiting = device_->create_command_buffer();
  TL_RETURN_IF_ERROR(filling->fill(a_, 0, 16, Bytes(1, std::byte{5})));
  TL_RETURN_IF_ERROR(filling_again->fill(a_, 0, 16, Bytes(1, std::byte{6})));
  TL_RETURN_IF_ERROR(waiting->fill(a_, 0, 16, Bytes(1, std::byte{7})));
  std::atomic<bool> encoded = false;
  TL_RETURN_IF_ERROR(waiting->native({}, [&](const NativeCommands&) {
    encoded = true;
    return Status();
  }));
  for (const auto& commands : {filling, filling_again, waiting})
    TL_RETURN_IF_ERROR(commands->finish());
  std::atomic<bool> is_held = true;
  held->when_reached(1, [&](const Status& status) {
    for (int i = 0; i < 200 && status.ok() && !encoded; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_held = false;
  });
  TL_RETURN_IF_ERROR(device_->queue()->submit({{}, {filling}, {{held, 1}}}));
  TL_RETURN_IF_ERROR(device_->queue()->submit({{}, {filling_again}, {{ping, 1}}}));
  TL_RETURN_IF_ERROR(second->submit({{{ping, 1}}, {waiting}, {}}));
  const Status first = device_->queue()->wait_idle();
  const Status status = second->wait_idle();
  while (is_held) std::this_thread::yield();
  return first.ok() ? status : first;
}

Status FaultWorkload::profile() {
  const auto profile = std::make_shared<Profile>();
  TL_ASSIGN_OR_RETURN(const auto device, driver_->open(0, {.profile = profile}));
  TL_ASSIGN_OR_RETURN(const auto buffer, device->create_buffer({.bytes = 160}));
  TL_ASSIGN_OR_RETURN(const auto texture, device->create_texture({.extent = kExtent}));
  const auto commands = device->create_command_buffer();
  TL_RETURN_IF_ERROR(commands->update(buffer, 0, Bytes(16)));
  TL_RETURN_IF_ERROR(
      commands->copy_buffer_to_texture(buffer, texture, {.extent = kExtent, .row_pitch = 80}));
  return run_and_wait(*device, commands);
}

}  // namespace texloom::hal::opencl
