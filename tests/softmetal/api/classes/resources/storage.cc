#include "tests/softmetal/api/classes/resources/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

namespace softmetal {
namespace {

// The most bytes that are filled with garbage, since filled pages take memory.
constexpr size_t kMostGarbage = size_t{1} << 24;

// The existing device memory: sizes by begin address.
std::mutex all_mutex;
std::map<const uint8_t*, size_t>& all() {
  static auto* const ranges = new std::map<const uint8_t*, size_t>;
  return *ranges;
}

uint8_t* allocate(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

}  // namespace

Storage::Storage(size_t size, bool has_two_copies, void* borrowed)
    : size_(size),
      is_owned_(borrowed == nullptr),
      device_(is_owned_ ? allocate(size) : static_cast<uint8_t*>(borrowed)),
      host_(has_two_copies ? allocate(size) : device_) {
  const std::lock_guard lock(all_mutex);
  all()[device_] = size;
}

Storage::~Storage() {
  {
    const std::lock_guard lock(all_mutex);
    all().erase(device_);
  }
  if (host_ != device_ && host_ != nullptr) munmap(host_, size_);
  if (is_owned_ && device_ != nullptr) munmap(device_, size_);
}

void Storage::to_device(size_t offset, size_t size) {
  if (host_ != device_) std::memcpy(device_ + offset, host_ + offset, size);
}

void Storage::to_host(size_t offset, size_t size) {
  if (host_ != device_) std::memcpy(host_ + offset, device_ + offset, size);
}

void Storage::fill_with_garbage() {
  const size_t size = std::min(size_, kMostGarbage);
  std::memset(device_, 0xcb, size);
  if (host_ != device_) std::memset(host_, 0xce, size);
}

bool is_of_a_resource(const void* address) {
  const auto* const at = static_cast<const uint8_t*>(address);
  const std::lock_guard lock(all_mutex);
  const auto after = all().upper_bound(at);
  return after != all().begin() && at < std::prev(after)->first + std::prev(after)->second;
}

}  // namespace softmetal
