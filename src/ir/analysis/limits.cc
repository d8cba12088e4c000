#include "ir/analysis/limits.h"

#include <algorithm>
#include <limits>

#include "ir/visit.h"
#include "support/check.h"
#include "support/int128.h"

namespace texloom::ir {
namespace {

// On CPUs, the limit for the private arrays of all threads of a block together. The threads share
// one stack, usually of 8 MiB, which also holds data of the OpenCL implementation.
constexpr int64_t kBlockStackBytes = 2 << 20;
// The bytes that a buffer, a texture or a constant takes among the parameters: drivers count at
// least a register for each.
constexpr int64_t kParameterBytes = 8;

int64_t saturated(int128 value) {
  return static_cast<int64_t>(std::min<int128>(value, std::numeric_limits<int64_t>::max()));
}

ArgumentSlots slots_of(const Kernel& kernel) {
  ArgumentSlots slots;
  bool has_constants = false;
  for (const KernelParam& p : kernel.params) {
    if (!p.buffer) {
      has_constants = true;
    } else {
      ++(p.buffer->is_texture() ? slots.textures : slots.buffers);
    }
  }
  if (has_constants) ++slots.buffers;
  return slots;
}

class LimitCheck {
 public:
  LimitCheck(const Kernel& kernel, const Target& target) : kernel_(kernel), target_(target) {}

  std::vector<Excess> run() {
    const KernelLimits& limits = target_.limits;
    const auto& [x, y, z] = kernel_.block;
    const int128 threads = int128{x} * y * z;
    check(Limit::BlockThreads, threads, limits.max_threads);
    check(Limit::BlockDepth, z, limits.max_threads_z);
    arrays(Limit::SharedBytes, limits.local_memory_bytes);
    int64_t own = limits.private_memory_bytes;
    if (target_.device_class == DeviceClass::Cpu) {
      own = std::min(own, saturated(kBlockStackBytes / std::max<int128>(threads, 1)));
    }
    arrays(Limit::PrivateBytes, own);
    if (!uses_argument_buffer(kernel_, target_)) {
      images(Limit::ImageReads, Access::Read, limits.max_image_reads);
      images(Limit::ImageWrites, Access::Write, limits.max_image_writes);
      if (limits.slots) check_slots(*limits.slots);
    }
    for (const KernelParam& p : kernel_.params) {
      // An image size that depends on the call is checked at each call.
      if (!p.buffer || !p.buffer->is_texture() || p.buffer->is_symbolic()) continue;
      const Layout& layout = p.buffer->layout;
      check(Limit::ImageSize, std::max(layout.row_count(), layout.col_count()),
            limits.max_image_size, p.buffer);
    }
    check(Limit::ParameterBytes, int128{kParameterBytes} * kernel_.params.size(),
          limits.max_parameter_bytes);
    return std::move(found_);
  }

 private:
  void check(Limit limit, int128 need, int64_t have, const Buffer& buffer = {}) {
    if (need > have) found_.push_back({limit, saturated(need), have, buffer});
  }

  void arrays(Limit limit, int64_t have) {
    int128 bytes = 0;
    Buffer largest;
    const auto bytes_of = [](const BufferNode& b) {
      return int128{b.layout.col_count()} * b.type.bytes();
    };
    walk_statements(kernel_.body, [&](const Allocate& n) {
      if (is_private(n.buffer->memory) != (limit == Limit::PrivateBytes)) return;
      bytes += bytes_of(*n.buffer);
      if (!largest || bytes_of(*n.buffer) > bytes_of(*largest)) largest = n.buffer;
    });
    check(limit, bytes, have, largest);
  }

  void images(Limit limit, Access access, int64_t have) {
    int64_t count = 0;
    Buffer last;
    for (const KernelParam& p : kernel_.params) {
      if (!p.buffer || !p.buffer->is_texture() || p.access != access) continue;
      ++count;
      last = p.buffer;
    }
    check(limit, count, have, last);
  }

  void check_slots(const ArgumentSlots& have) {
    const ArgumentSlots need = slots_of(kernel_);
    check(Limit::Textures, need.textures, have.textures);
    check(Limit::Buffers, need.buffers, have.buffers);
  }

  const Kernel& kernel_;
  const Target& target_;
  std::vector<Excess> found_;
};

}  // namespace

std::string_view to_string(Limit limit) {
  switch (limit) {
    case Limit::BlockThreads:
      return "threads in a block";
    case Limit::BlockDepth:
      return "threads along z";
    case Limit::SharedBytes:
      return "bytes of shared memory";
    case Limit::PrivateBytes:
      return "bytes of local memory";
    case Limit::ImageReads:
      return "textures to read";
    case Limit::ImageWrites:
      return "textures to write";
    case Limit::Textures:
      return "textures";
    case Limit::Buffers:
      return "buffers";
    case Limit::ImageSize:
      return "texels along an axis";
    case Limit::ParameterBytes:
      return "bytes of arguments";
  }
  TL_UNREACHABLE();
}

bool is_one_simd_group(const Kernel& kernel, const Target& target) {
  const auto& [x, y, z] = kernel.block;
  const int64_t width = target.limits.simd_width;
  return width > 1 && int128{x} * y * z <= width;
}

bool relies_on_simd_width(const Kernel& kernel, const Target& target) {
  if (target.limits.simd_width <= 1) return false;
  if (contains<Shuffle>(kernel.body) || contains<ForeignCall>(kernel.body)) return true;
  return is_one_simd_group(kernel, target) && contains<Barrier>(kernel.body);
}

bool uses_argument_buffer(const Kernel& kernel, const Target& target) {
  if (!target.features.argument_buffers) return false;
  const ArgumentSlots need = slots_of(kernel), have = target.limits.slots.value_or(ArgumentSlots{});
  return need.textures > have.textures || need.buffers > have.buffers;
}

std::vector<Excess> exceeded_limits(const Kernel& kernel, const Target& target) {
  return LimitCheck(kernel, target).run();
}

}  // namespace texloom::ir
