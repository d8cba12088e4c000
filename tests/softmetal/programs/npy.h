// Arrays in .npy files, format versions 1 to 3. Kernels get them in C order and little-endian;
// files keep their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softmetal {

enum class Dtype {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  Float32,
  Complex64,
  Record  // of a structured array, or raw bytes
};
size_t dtype_size(Dtype dtype);
std::string dtype_name(Dtype dtype);
// Returns the dtype of a name such as "int32"; only numbers have one.
std::optional<Dtype> dtype_of_name(const std::string& name);

struct NpyArray {
  std::string file;
  Dtype dtype = Dtype::Float32;
  std::vector<size_t> shape;
  size_t item_size = 0;
  bool fortran_order = false, big_endian = false;  // in the file
  size_t size = 0;                                 // of the data in bytes
  std::vector<uint64_t> storage;                   // aligned for every type
  std::string header;                              // up to the data, for writing back
  std::vector<uint64_t> original;                  // to see changes

  void* data() { return storage.data(); }
  bool changed() const { return storage != original; }
};

// If the file is no array that kernels can use, returns false and sets `problem`.
bool read_npy(const std::string& file, NpyArray& array, std::string& problem);
bool write_npy(const NpyArray& array, std::string& problem);

// Converts numbers with commas to bytes of one type, `7,8`, or of several, `7,float32:0.5`. If a
// number does not fit, returns false and sets `problem`.
bool parse_numbers(const std::string& text, Dtype dtype, std::vector<uint8_t>& bytes,
                   std::string& problem);

}  // namespace softmetal
