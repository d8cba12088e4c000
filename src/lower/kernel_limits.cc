#include "lower/kernel_limits.h"

#include <algorithm>

#include "ir/visit.h"
#include "support/diagnostic.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// What all threads of a block together may have in arrays of their own, where these lie on one
// stack: of the commonly 8 MiB there, next to what the implementation keeps there itself.
constexpr int64_t kBlockStackBytes = 2 << 20;

class Limits {
 public:
  Limits(const Kernel& kernel, const Target& target) : kernel_(kernel), target_(target) {}

  void check_block(const SourceLocation& where) const {
    const auto& [x, y, z] = kernel_.block;
    if (z > target_.max_threads_z) {
      fail(where, Code::BlockTooLarge, "bind a smaller part to threadIdx.z, or use threadIdx.x",
           "the kernel '{}' has blocks of {} threads along z; the target '{}' allows {}",
           kernel_.name, z, to_string(target_), target_.max_threads_z);
    }
    if (int128{x} * y * z <= target_.max_threads) return;
    fail(where, Code::BlockTooLarge,
         fmt::format("bind smaller parts to threadIdx: at most {} threads in all",
                     target_.max_threads),
         "the kernel '{}' has blocks of {} x {} x {} = {} threads; the target '{}' allows {}",
         kernel_.name, x, y, z, x * y * z, to_string(target_), target_.max_threads);
  }

  void check_arrays(MemoryScope scope, int64_t limit, std::string_view whose) const {
    int128 bytes = 0;
    Buffer largest;
    walk(kernel_.body, [&](const Allocate& n) {
      if (n.buffer->memory != scope) return;
      bytes += bytes_of(*n.buffer);
      if (!largest || bytes_of(*n.buffer) > bytes_of(*largest)) largest = n.buffer;
    });
    if (bytes <= limit) return;
    fail(largest->location, Code::LocalMemoryTooLarge,
         fmt::format("attach the {} stages to inner loops, or split those into smaller tiles",
                     to_string(scope)),
         "the {} buffers of the kernel '{}' need {} bytes, '{}' most of them; {} the target '{}' "
         "has {}",
         to_string(scope), kernel_.name, static_cast<int64_t>(bytes), largest->name, whose,
         to_string(target_), limit);
  }

  void check_images(Access access, int64_t limit) const {
    const auto count =
        std::count_if(kernel_.params.begin(), kernel_.params.end(), [&](const KernelParam& p) {
          return p.buffer && p.buffer->is_texture() && p.access == access;
        });
    if (count <= limit) return;
    fail(kernel_.location, Code::TooManyArguments, "keep some of the tensors in buffers",
         "the kernel '{}' has {} textures to {}; the target '{}' allows {}", kernel_.name, count,
         to_string(access), to_string(target_), limit);
  }

 private:
  static int128 bytes_of(const BufferNode& buffer) {
    return int128{buffer.layout.col_count()} * buffer.type.bytes();
  }

  const Kernel& kernel_;
  const Target& target_;
};

}  // namespace

void check_limits(const Kernel& kernel, const SourceLocation& block_location,
                  const Target& target) {
  const Limits limits(kernel, target);
  limits.check_block(block_location);
  limits.check_arrays(MemoryScope::Shared, target.local_memory_bytes, "a block on");
  const int64_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  const int64_t on_stack =
      target.block_stack ? kBlockStackBytes / threads : target.private_memory_bytes;
  limits.check_arrays(MemoryScope::Local, std::min(target.private_memory_bytes, on_stack),
                      fmt::format("each of the block's {} threads on", threads));
  limits.check_images(Access::Read, target.max_image_reads);
  limits.check_images(Access::Write, target.max_image_writes);
}

}  // namespace texloom::lower
