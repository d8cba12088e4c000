// Reads the parts that all tables of an index consist of. Only for the sources of this folder.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/package/index_enums.h"
#include "runtime/package/package.h"
#include "support/status.h"

namespace texloom::runtime {

template <class T>
using IndexVector = flatbuffers::Vector<T>;
template <class T>
using IndexTables = flatbuffers::Vector<flatbuffers::Offset<T>>;

// Whether the elements are aligned for their type. The verifier of FlatBuffers checks this for
// fields and for the lengths of vectors, but not for elements of 8 bytes.
template <class T>
bool is_aligned(const IndexVector<T>& vector) {
  constexpr std::size_t kAlignment = alignof(std::remove_cv_t<std::remove_pointer_t<T>>);
  return vector.size() == 0 || reinterpret_cast<std::uintptr_t>(vector.Data()) % kAlignment == 0;
}

// The first problem is kept, and values read after it are empty. So a reader of many values need
// not check for a problem after each value.
//
// Each byte of an index belongs to one value, so copies must not take more bytes than the index
// has: an index that refers to the same bytes again and again would otherwise fill the memory.
class IndexValues {
 public:
  explicit IndexValues(std::size_t index_bytes) : budget_(index_bytes) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Notes an InvalidArgument, or another error.
  void refuse(std::string problem);
  void refuse(Status problem);

  std::string text(const flatbuffers::String* text);
  std::vector<std::string> texts(const IndexTables<index::Text>* texts);
  std::vector<Attribute> attributes(const IndexTables<index::Attribute>* attributes);

  // From now on, size() and sizes() refer to these expressions.
  void use(const IndexTables<index::Expression>* expressions) { expressions_ = expressions; }
  Size size(const index::Size& size);
  std::vector<Size> sizes(const IndexVector<const index::Size*>* sizes);

  // An enumerator of C++ with this number.
  template <class To, class From>
  To enumerator(From value, From last, std::string_view what) {
    if (value <= last) return static_cast<To>(value);
    refuse(fmt::format("{} has the unknown number {}", what, static_cast<unsigned>(value)));
    return To{};
  }
  hal::ElementType element(index::ElementType type) {
    return enumerator<hal::ElementType>(type, index::ElementType::MAX, "an element type");
  }
  hal::Access access(index::Access access) {
    return enumerator<hal::Access>(access, index::Access::MAX, "an access");
  }
  hal::TexelFormat format(index::TexelFormat format) {
    return enumerator<hal::TexelFormat>(format, index::TexelFormat::MAX, "a texel format");
  }
  TensorRef tensor(index::TensorKind kind, std::uint32_t index) {
    return {enumerator<TensorRef::Kind>(kind, index::TensorKind::MAX, "a kind of tensor"), index};
  }

  // Numbers, or the structs of a vector as `convert` makes them.
  template <class T>
  std::vector<T> numbers(const IndexVector<T>* vector) {
    if (vector == nullptr || !takes(*vector, sizeof(T))) return {};
    return {vector->begin(), vector->end()};
  }
  template <class To, class T, class Convert>
  std::vector<To> structs(const IndexVector<const T*>* vector, const Convert& convert) {
    std::vector<To> all;
    if (vector == nullptr || !takes(*vector, sizeof(T))) return all;
    all.reserve(vector->size());
    for (const T* each : *vector) all.push_back(convert(*each));
    return all;
  }
  template <class To, class T, class Convert>
  std::vector<To> tables(const IndexTables<T>* vector, const Convert& convert) {
    std::vector<To> all;
    if (vector == nullptr || !takes(vector->size() * kTableBytes)) return all;
    all.reserve(vector->size());
    for (const T* each : *vector) {
      if (!ok()) return {};
      all.push_back(convert(*each));
    }
    return all;
  }

  // Takes bytes off the budget; if too few are left, notes an error and returns false.
  bool takes(std::size_t bytes);

 private:
  template <class T>
  bool takes(const IndexVector<T>& vector, std::size_t element_bytes) {
    if (!is_aligned(vector)) refuse("the index has a misaligned list");
    return takes(vector.size() * element_bytes);
  }

  static constexpr std::size_t kTableBytes = 8;  // the least: an offset, and the offset of a vtable

  std::size_t budget_;
  Status status_;
  const IndexTables<index::Expression>* expressions_ = nullptr;
};

}  // namespace texloom::runtime
