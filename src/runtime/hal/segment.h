// The recorded form of a command buffer: a list of segments that a driver walks at submission.
//
// Segments are checked when they are recorded, and tables of bindings when they are submitted.
// Drivers may therefore assume that ranges and regions are in bounds, that objects belong to their
// device, and that arguments match their kernel. Segments refer to objects by plain pointers; the
// command buffer, or the table of the submission, keeps the objects alive. Subspans of buffers are
// resolved: a segment refers to the buffer that owns the memory, with an offset.
//
// Segments between two barriers may run in any order or concurrently, because none of them touches
// memory that another writes. If a segment fails, other segments may or may not have run. A host
// call runs by itself, after everything before it and before everything after it; the queue makes
// the call, and drivers receive the segments in between. Command buffers run one after another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/hal/binding.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/host_call.h"
#include "support/status.h"

namespace texloom::hal {

struct BoundBuffer {
  BoundBuffer() = default;
  // All bytes of the buffer from the offset on, possibly none.
  BoundBuffer(const Buffer* bound, std::uint64_t at)
      : BoundBuffer(bound, at, bound == nullptr || at > bound->bytes() ? 0 : bound->bytes() - at) {}
  BoundBuffer(const Buffer* bound, std::uint64_t at, std::uint64_t size)
      : buffer(bound), offset(at), bytes(size) {}

  const Buffer* buffer = nullptr;
  std::uint64_t offset = 0;  // bytes
  // From the offset to the end of the buffer or subspan that was bound, not of its root.
  std::uint64_t bytes = 0;
};

struct BoundTexture {
  const Texture* texture = nullptr;
  Offset2D origin = {};
};

using BoundMemory = std::variant<BoundBuffer, BoundTexture>;
// A BindingSlot refers to an entry of the submission's table.
using SegmentBinding = std::variant<BoundBuffer, BoundTexture, BindingSlot>;

// Returns the memory of a binding. `table` has passed the queue's checks.
BoundMemory resolve(const SegmentBinding& binding, std::span<const Binding> table);
BoundBuffer buffer_of(const BindingSlot& slot, std::span<const Binding> table);
BoundTexture texture_of(const BindingSlot& slot, std::span<const Binding> table);
// Like resolve(), for a binding that is known to be a buffer or a texture.
inline BoundBuffer resolve_buffer(const SegmentBinding& binding, std::span<const Binding> table) {
  const auto* buffer = std::get_if<BoundBuffer>(&binding);
  return buffer != nullptr ? *buffer : buffer_of(std::get<BindingSlot>(binding), table);
}
inline BoundTexture resolve_texture(const SegmentBinding& binding, std::span<const Binding> table) {
  const auto* texture = std::get_if<BoundTexture>(&binding);
  return texture != nullptr ? *texture : texture_of(std::get<BindingSlot>(binding), table);
}
// Translates a place in a subspan to the buffer that owns the memory. `place.buffer` is not null.
inline BoundBuffer root(const BoundBuffer& place) {
  return {&place.buffer->root(), place.buffer->base_offset() + place.offset, place.bytes};
}

// An entry point with its arguments.
struct KernelCall {
  Executable* executable = nullptr;
  std::uint32_t entry_point = 0;
  std::span<const SegmentBinding> bindings;  // the buffers and textures among the parameters
  std::span<const Constant> constants;       // the constants among the parameters
  std::uint32_t number = 0;  // the number of calls before this one in the command buffer
  bool has_slots = false;    // whether a binding is a slot

  const EntryPoint& entry() const { return executable->entry_points()[entry_point]; }
};

struct DispatchSegment {
  KernelCall call;
  std::array<std::uint32_t, 3> groups = {1, 1, 1};  // none is zero
};

// A dispatch whose numbers of groups are read from a buffer when it runs: three uint32 values at a
// multiple of 4 bytes. Nothing runs if one of the numbers is zero.
struct IndirectDispatchSegment {
  KernelCall call;
  SegmentBinding groups;  // a buffer, or a slot with one
};

// Sets byte i of the range to pattern[i % 4]; shorter patterns have been repeated.
struct FillSegment {
  BoundBuffer target;
  std::uint64_t bytes = 0;
  std::array<std::byte, 4> pattern = {};
  std::uint32_t pattern_bytes = 4;  // of the recorded pattern: 1, 2 or 4
};

// Host to buffer. The command buffer owns the host memory, or borrows it.
struct UpdateSegment {
  BoundBuffer target;
  std::span<const std::byte> data;
};

// Buffer to host.
struct ReadbackSegment {
  BoundBuffer source;
  std::span<std::byte> data;
};

struct CopyBufferSegment {
  BoundBuffer source;
  BoundBuffer target;
  std::uint64_t bytes = 0;
};

// A rectangle of texels and the position of its rows in a buffer.
struct BufferTextureRegion {
  Offset2D origin = {};             // in the texture
  Extent2D extent = {};             // in texels
  std::uint64_t buffer_offset = 0;  // bytes, of the first texel
  std::uint64_t row_pitch = 0;      // bytes from row to row; 0 means rows without gaps
};

struct CopyBufferToTextureSegment {
  const Buffer* source = nullptr;
  const Texture* target = nullptr;
  BufferTextureRegion region;  // its row_pitch is not 0
};

struct CopyTextureToBufferSegment {
  const Texture* source = nullptr;
  const Buffer* target = nullptr;
  BufferTextureRegion region;  // its row_pitch is not 0
};

struct CopyTextureSegment {
  const Texture* source = nullptr;
  Offset2D source_origin = {};
  const Texture* target = nullptr;
  Offset2D target_origin = {};
  Extent2D extent = {};
};

// Memory that a native command touches.
struct NativeArgument {
  SegmentBinding memory;
  Access access = Access::Read;
  std::uint64_t bytes = 0;  // of a buffer, from the offset; 0: everything that is bound
  Extent2D extent = {};     // of a texture, from the origin; {}: everything from the origin on
};

// The argument of a native command's function. The driver's native.h declares what `handles` points
// to.
struct NativeCommands {
  std::string_view driver;              // Driver::name()
  const void* handles = nullptr;        // valid during the call
  std::span<const BoundMemory> memory;  // the memory of each declared access, in order
};
using EncodeNative = std::function<Status(const NativeCommands&)>;

// Calls a function that gives its own commands to the device through the driver's native handles.
struct NativeSegment {
  std::span<const NativeArgument> arguments;
  const EncodeNative* encode = nullptr;
};

// Kinds of commands, as a set.
enum class CommandKinds : std::uint8_t {
  None = 0,
  Dispatches = 1,
  Transfers = 2,
  Native = 4,
  All = 7
};
constexpr CommandKinds operator|(CommandKinds a, CommandKinds b) {
  return static_cast<CommandKinds>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
// Kinds of memory, as a set.
enum class BarrierScope : std::uint8_t { None = 0, Buffers = 1, Textures = 2, All = 3 };
constexpr BarrierScope operator|(BarrierScope a, BarrierScope b) {
  return static_cast<BarrierScope>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

// Memory that commands before a barrier touch: one entry per object, with the range or rectangle
// that contains all of their accesses. Views count as memory of their buffer, and a slot as the
// memory that the table binds to it.
struct BarrierResource {
  SegmentBinding memory;
  Extent2D extent = {};     // of a texture, from the origin
  bool is_written = false;  // otherwise only read
};

// A barrier: later commands run when all earlier ones are complete, and see their writes.
//
// Later commands may depend on any command since the previous barrier. A driver may therefore
// restrict a native barrier to the kinds of commands, the kinds of memory or the resources listed
// here, but not to those that the next command uses.
struct BarrierSegment {
  CommandKinds commands = CommandKinds::All;   // the kinds of commands since the previous barrier
  BarrierScope memory = BarrierScope::All;     // the kinds of memory that they touch
  std::span<const BarrierResource> resources;  // the memory that they touch; empty: unknown, so all
};

// Calls a function on the host. If it fails, later commands of the submission do not run.
struct HostCallSegment {
  const HostCall* call = nullptr;
};

using Segment = std::variant<DispatchSegment, IndirectDispatchSegment, FillSegment, UpdateSegment,
                             ReadbackSegment, CopyBufferSegment, CopyBufferToTextureSegment,
                             CopyTextureToBufferSegment, CopyTextureSegment, NativeSegment,
                             BarrierSegment, HostCallSegment>;

// The call of a dispatch, direct or indirect; null for other segments.
const KernelCall* call_of(const Segment& segment);

// The amount of memory that a kernel touches from a bound place on: as much as its parameter
// declares, or everything that is bound if the parameter declares nothing. The extent begins at the
// place's origin, or at (0, 0).
inline std::uint64_t touched_bytes(const BufferParam& param, const BoundBuffer& place) {
  return param.min_bytes != 0 ? param.min_bytes : place.bytes;
}
Extent2D touched_extent(const TextureParam& param, const BoundTexture& place);
// Like touched_bytes() above, for an argument of a native command. Not larger than the bound
// memory.
std::uint64_t touched_bytes(const NativeArgument& argument, const BoundBuffer& place);
Extent2D touched_extent(const NativeArgument& argument, const BoundTexture& place);

// The name of the command that records the segment: "dispatch", "copy_buffer", …
std::string_view name_of(const Segment& segment);
// The segment's name in a profile: the name of the kernel or of the command.
std::string label_of(const Segment& segment);
// The number of bytes that the segment reads and writes, each range counted once: as many as the
// parameters of a kernel declare, or everything that is bound if they declare nothing.
std::uint64_t bytes_of(const Segment& segment, std::span<const Binding> table);

// A list of segments in the order of recording, allocated in an arena.
class SegmentList {
  struct Node {
    template <typename Kind>
    explicit Node(const Kind& kind) : segment(kind) {}

    Segment segment;
    Node* next = nullptr;
  };

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Segment;
    using difference_type = std::ptrdiff_t;
    using pointer = const Segment*;
    using reference = const Segment&;

    Iterator() = default;
    explicit Iterator(const Node* node) : node_(node) {}
    reference operator*() const { return node_->segment; }
    pointer operator->() const { return &node_->segment; }
    Iterator& operator++() {
      node_ = node_->next;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator old = *this;
      node_ = node_->next;
      return old;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Node* node_ = nullptr;
  };

  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(); }
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  const Segment& front() const { return first_->segment; }
  const Segment& back() const { return last_->segment; }

  // The arena (internal/recording/arena.h) owns the segments.
  template <typename Arena, typename Kind>
  void append(Arena& arena, const Kind& segment) {
    Node* node = arena.template make<Node>(segment);
    (last_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
    ++size_;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  std::size_t size_ = 0;
};

class CommandBuffer;

// Consecutive segments of one command buffer without a host call, with the submission's table.
class CommandRange {
 public:
  CommandRange(const CommandBuffer& commands, SegmentList::Iterator begin,
               SegmentList::Iterator end, std::span<const Binding> table,
               std::uint64_t table_number)
      : commands_(&commands),
        begin_(begin),
        end_(end),
        table_(table),
        table_number_(table_number) {}

  const CommandBuffer& commands() const { return *commands_; }
  SegmentList::Iterator begin() const { return begin_; }
  SegmentList::Iterator end() const { return end_; }
  std::span<const Binding> table() const { return table_; }
  // If two submissions of a command buffer have the same number, they bind the same memory to its
  // slots.
  std::uint64_t table_number() const { return table_number_; }

 private:
  const CommandBuffer* commands_;
  SegmentList::Iterator begin_, end_;
  std::span<const Binding> table_;
  std::uint64_t table_number_;
};

}  // namespace texloom::hal
