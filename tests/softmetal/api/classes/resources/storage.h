// The memory of buffers, textures and heaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/softmetal/api/classes/checks/hazards.h"

namespace softmetal {

// Memory that is zero at first. Of managed memory of a discrete device there are two copies.
class Storage {
 public:
  // The host's memory `borrowed`, if there is some, is not freed.
  Storage(size_t size, bool has_two_copies, void* borrowed = nullptr);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  bool is_there() const { return device_ != nullptr && host_ != nullptr; }
  size_t size() const { return size_; }
  uint8_t* device() const { return device_; }
  uint8_t* host() const { return host_; }
  // Copies a range from one copy to the other.
  void to_device(size_t offset, size_t size);
  void to_host(size_t offset, size_t size);
  // Leaves bytes behind that nobody should rely on, as of memory whose contents are undefined.
  void fill_with_garbage();

  UseHistory& uses() { return uses_; }

 private:
  size_t size_;
  bool is_owned_;
  uint8_t* device_;
  uint8_t* host_;
  UseHistory uses_;
};

// Whether a resource of some device has this address.
bool is_of_a_resource(const void* address);

// A resource's part of it.
struct Part {
  std::shared_ptr<Storage> storage;
  size_t offset = 0, size = 0;
  uint8_t* device() const { return storage->device() + offset; }
  uint8_t* host() const { return storage->host() + offset; }
};

}  // namespace softmetal
