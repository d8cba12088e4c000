#include "runtime/hal/buffer.h"

#include <algorithm>

namespace texloom::hal {

// In debug mode, the value of bytes that the host maps for writing but does not write.
constexpr std::byte kUnwrittenByte{0xcd};

// Commands and mappings use the subspan's root, so drivers never see a subspan.
class Buffer::Subspan final : public Buffer {
 public:
  Subspan(std::shared_ptr<Buffer> root, std::uint64_t base_offset, const BufferDesc& desc)
      : Buffer(root->device_info_, desc) {
    root_ = std::move(root);
    base_offset_ = base_offset;
  }
};

Buffer::~Buffer() {
  if (release_import_) release_import_();
}

Result<std::shared_ptr<Buffer>> Buffer::subspan(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return invalid_argument("a subspan of zero bytes: at least 1 is required");
  if (!range_fits(offset, bytes, desc_.bytes))
    return invalid_argument("a subspan of {} bytes at offset {}, but the buffer has {}", bytes,
                            offset, desc_.bytes);
  BufferDesc desc = desc_;
  desc.bytes = bytes;
  std::shared_ptr<Buffer> part =
      std::make_shared<Subspan>(shared_root(), base_offset_ + offset, desc);
  part->native_uses_ = native_uses_;
  return part;
}

Result<Mapping> Buffer::map(Access access) { return map(0, desc_.bytes, access); }

Result<Mapping> Buffer::map(std::uint64_t offset, std::uint64_t bytes, Access access) {
  if (bytes == 0) return invalid_argument("map: zero bytes");
  if (!range_fits(offset, bytes, desc_.bytes))
    return invalid_argument("map: {} bytes at offset {}, but the buffer has {}", bytes, offset,
                            desc_.bytes);
  if (!device_info_->memory(desc_.memory).mappable)
    return invalid_argument(
        "map: memory of the kind \"{}\" cannot be mapped on device {}: make the buffer with a kind "
        "that can, or copy",
        to_string(desc_.memory), device_info_->name);
  const std::shared_ptr<Buffer> root = shared_root();
  const MappedRange range{base_offset_ + offset, bytes, access};
  TL_RETURN_IF_ERROR(root->enter_mapping(range));
  const Result<std::byte*> memory = root->map_memory(range.offset, bytes, access);
  if (!memory.ok()) {
    root->leave_mapping(range);
    return memory.status().with_context("map");
  }
  if (root->fills_write_mappings_ && access == Access::Write)
    std::fill_n(*memory, bytes, kUnwrittenByte);
  return Mapping(root, *memory, range);
}

Status Buffer::enter_mapping(const MappedRange& range) {
  const std::lock_guard lock(mutex_);
  for (const MappedRange& other : mapped_) {
    if (!writes(range.access) && !writes(other.access)) continue;
    if (!ranges_meet(range.offset, range.bytes, other.offset, other.bytes)) continue;
    return invalid_argument(
        "map: {} bytes at offset {} for {}, while {} at {} are mapped for {}: release that mapping",
        range.bytes, range.offset, to_string(range.access), other.bytes, other.offset,
        to_string(other.access));
  }
  mapped_.push_back(range);
  return {};
}

void Buffer::leave_mapping(const MappedRange& range) {
  const std::lock_guard lock(mutex_);
  mapped_.erase(std::find(mapped_.begin(), mapped_.end(), range));
}

Result<std::byte*> Buffer::map_memory(std::uint64_t, std::uint64_t, Access) {
  return make_error(StatusCode::Unimplemented, "device {} cannot map memory", device_info_->name);
}
Status Buffer::unmap_memory(std::byte*, std::uint64_t, std::uint64_t, Access) { return {}; }
Status Buffer::flush_memory(std::byte*, std::uint64_t, std::uint64_t) { return {}; }
Status Buffer::invalidate_memory(std::byte*, std::uint64_t, std::uint64_t) { return {}; }

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(memory_, other.memory_);
  std::swap(range_, other.range_);
  return *this;
}

// A destructor cannot return errors; release() can.
Mapping::~Mapping() { static_cast<void>(release()); }

Status Mapping::release() {
  if (root_ == nullptr) return {};
  const std::shared_ptr<Buffer> root = std::move(root_);
  root_ = nullptr;
  const Buffer::MappedRange range = std::exchange(range_, {});
  const Status status =
      root->unmap_memory(std::exchange(memory_, nullptr), range.offset, range.bytes, range.access);
  root->leave_mapping(range);
  return status.with_context("unmap");
}

Status Mapping::check(const char* call, std::uint64_t offset, std::uint64_t bytes,
                      bool allowed) const {
  if (root_ == nullptr) return invalid_argument("{}: the mapping is released", call);
  if (!allowed)
    return invalid_argument("{}: the range is mapped for {}", call, to_string(range_.access));
  if (range_fits(offset, bytes, range_.bytes)) return {};
  return invalid_argument("{}: {} bytes at offset {}, but the mapping has {}", call, bytes, offset,
                          range_.bytes);
}

Status Mapping::flush(std::uint64_t offset, std::uint64_t bytes) {
  TL_RETURN_IF_ERROR(check("flush", offset, bytes, writes(range_.access)));
  if (bytes == 0) return {};
  return root_->flush_memory(memory_ + offset, range_.offset + offset, bytes).with_context("flush");
}

Status Mapping::invalidate(std::uint64_t offset, std::uint64_t bytes) {
  TL_RETURN_IF_ERROR(check("invalidate", offset, bytes, reads(range_.access)));
  if (bytes == 0) return {};
  return root_->invalidate_memory(memory_ + offset, range_.offset + offset, bytes)
      .with_context("invalidate");
}

}  // namespace texloom::hal
