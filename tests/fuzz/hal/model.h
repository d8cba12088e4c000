// Models the expected state of the HAL as plain data. The model of a recorded command keeps no
// handle, so only the HAL keeps the objects alive.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/semaphore.h"
#include "tests/runtime/bytes.h"

namespace texloom::hal::fuzz {

// Bytes that commands read and write: those of a whole buffer, of a texture that is not a view, or
// of host memory for a readback.
struct Memory {
  Bytes bytes = {};
  bool defined = true;                               // whether the contents are known
  std::map<std::uint64_t, std::uint64_t> uses = {};  // by queue: number of its last submission
};

struct BufferInfo {
  std::shared_ptr<Memory> memory = {};
  std::uint64_t base = 0;  // offset in the memory
  std::uint64_t bytes = 0;
  BufferUsage usage = BufferUsage::All;
  MemoryKind kind = MemoryKind::Device;
  bool foreign = false;  // belongs to another device
};
struct BufferModel {
  std::string name = {};
  std::shared_ptr<Buffer> handle = {};
  BufferInfo info = {};
  bool holds_groups = false;  // group counts: no random command overwrites them
};

struct TextureInfo {
  std::shared_ptr<Memory> memory = {};
  std::uint64_t identity = 0;  // distinguishes textures that are views of one memory
  bool is_view = false;
  std::uint64_t base = 0, pitch = 0;
  Extent2D extent = {};
  TexelFormat format = TexelFormat::Rgba32Float;
  TextureUsage usage = TextureUsage::All;
  bool foreign = false;

  std::uint64_t texel() const { return bytes_per_texel(format); }
  // Returns the texel's offset in the memory; the texel must be inside.
  std::uint64_t at(std::uint64_t x, std::uint64_t y) const {
    return base + y * pitch + x * texel();
  }
};
struct TextureModel {
  std::string name = {};
  std::shared_ptr<Texture> handle = {};
  TextureInfo info = {};
};

// A binding of a parameter.
struct Place {
  std::variant<std::monostate, BufferInfo, TextureInfo> object = {};  // monostate: null
  std::uint64_t offset = 0;
  Offset2D origin = {};

  const BufferInfo* buffer() const { return std::get_if<BufferInfo>(&object); }
  const TextureInfo* texture() const { return std::get_if<TextureInfo>(&object); }
};
// The place must not be null.
inline const std::shared_ptr<Memory>& memory_of(const Place& place) {
  return place.buffer() != nullptr ? place.buffer()->memory : place.texture()->memory;
}
using Bound = std::variant<Place, BindingSlot>;
using Table = std::vector<Place>;

// The memory that a command accesses, as in hazards.h.
struct Touch {
  const Memory* memory = nullptr;  // null for a slot
  std::optional<std::uint32_t> slot = {};
  bool writes = false;
  std::uint64_t x_begin = 0, x_end = 0, y_begin = 0, y_end = 1;
};
bool conflict(const Touch& a, const Touch& b, bool slots_alias);

struct Kernel;

struct ExecutableModel {
  std::string name = {};
  std::shared_ptr<Executable> handle = {};
  std::vector<const Kernel*> kernels = {};
  bool broken = false;  // building it fails
};

struct CallModel {
  std::vector<const Kernel*> kernels = {};
  std::uint32_t entry = 0;
  std::vector<Bound> bindings = {};
  std::optional<Bound> groups = {};  // group counts of an indirect dispatch
};

struct CommandModel {
  enum class Kind : std::uint8_t { Dispatch, Transfer, Update, Native, HostCall, Barrier };
  Kind kind = Kind::Barrier;
  std::vector<Touch> touches = {};
  // Returns false if the command ends the submission.
  std::function<bool(const Table&)> run = {};
};

struct CommandsModel {
  std::string name = {};
  std::shared_ptr<CommandBuffer> handle = {};
  CommandBufferDesc desc = {};
  bool foreign = false;
  bool finished = false, submitted = false;
  bool lacks_barrier = false;
  std::vector<CommandModel> commands = {};
  std::vector<CallModel> calls = {};                   // calls with slots
  std::vector<std::shared_ptr<Memory>> memories = {};  // memory named directly
  std::vector<Touch> touched = {};                     // since the last barrier
};

struct CallbackModel {
  std::uint64_t value = 0, number = 0;
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
};

struct SemaphoreModel {
  std::string name = {};
  std::shared_ptr<Semaphore> handle = {};
  std::optional<std::uint64_t> queue;  // the queue that signals; none: the host signals
  std::uint64_t value = 0;
  bool failed = false;
  std::uint64_t promised = 0;  // the highest value that submissions will signal
  std::uint64_t awaited = 0;   // the highest value that submissions wait for
  std::vector<CallbackModel> callbacks = {};

  enum class State : std::uint8_t { Reached, Failed, Open };
  State state(std::uint64_t wanted) const {
    if (value >= wanted) return State::Reached;
    return failed ? State::Failed : State::Open;
  }
};

struct PointModel {
  std::shared_ptr<SemaphoreModel> semaphore = {};
  std::uint64_t value = 0;
};

struct SubmissionModel {
  struct Commands {
    std::vector<CommandModel> commands = {};
    Table table = {};
  };
  std::vector<PointModel> waits, signals = {};
  std::vector<Commands> commands = {};
  std::vector<std::shared_ptr<Memory>> memories = {};  // used by the commands and their tables
};

struct QueueModel {
  std::string name = {};
  std::shared_ptr<Queue> handle = {};
  std::uint64_t number = 0;
  std::deque<SubmissionModel> waiting = {};  // submissions that the model has not run yet
  std::uint64_t submitted = 0, synchronized = 0;
  bool has_error = false;  // to be returned by wait_idle
  bool crosses = false;    // may wait for another queue's signals
  // Signals of submissions by number, for other queues to wait for.
  std::map<std::uint64_t, PointModel> completions = {};
};

struct ImportModel {
  std::shared_ptr<Bytes> memory = {};  // larger than the import, so that the import can be aligned
  std::shared_ptr<std::atomic<int>> released = std::make_shared<std::atomic<int>>(0);
};

struct MappingModel {
  std::string name = {};
  Mapping handle = {};
  std::shared_ptr<Memory> memory = {};
  std::uint64_t base = 0, bytes = 0;
  Access access = Access::Read;
};

}  // namespace texloom::hal::fuzz
