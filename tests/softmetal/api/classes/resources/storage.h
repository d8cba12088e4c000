// The memory of buffers, textures and heaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/softmetal/api/classes/checks/hazards.h"

namespace softmetal {

// Memory that is zero at first. Managed memory of a discrete device has two copies.
class Storage {
 public:
  // If `borrowed` is not null, the storage uses this memory of the host, and does not free it.
  Storage(size_t size, bool has_two_copies, void* borrowed = nullptr);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  bool is_there() const { return device_ != nullptr && host_ != nullptr; }
  size_t size() const { return size_; }
  uint8_t* device() const { return device_; }
  uint8_t* host() const { return host_; }
  // Copies a range between the host's copy and the device's.
  void to_device(size_t offset, size_t size);
  void to_host(size_t offset, size_t size);
  // Writes arbitrary bytes, to simulate undefined contents.
  void fill_with_garbage();

  UseHistory& uses() { return uses_; }

 private:
  size_t size_;
  bool is_owned_;
  uint8_t* device_;
  uint8_t* host_;
  UseHistory uses_;
};

// Returns whether the memory of any device's resource contains the address.
bool is_of_a_resource(const void* address);

// The part of a storage that a resource has.
struct Part {
  std::shared_ptr<Storage> storage;
  size_t offset = 0, size = 0;
  uint8_t* device() const { return storage->device() + offset; }
  uint8_t* host() const { return storage->host() + offset; }
};

}  // namespace softmetal
