#include "tests/softmetal/programs/npy.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/softmetal/execute/pixel_format.h"

namespace softmetal {
namespace {

struct DtypeInfo {
  Dtype dtype;
  const char* name;
  const char* code;  // in the header, without the byte order
  size_t size;
};
constexpr DtypeInfo kDtypes[] = {
    {Dtype::Bool, "bool", "b1", 1},      {Dtype::Int8, "int8", "i1", 1},
    {Dtype::UInt8, "uint8", "u1", 1},    {Dtype::Int16, "int16", "i2", 2},
    {Dtype::UInt16, "uint16", "u2", 2},  {Dtype::Int32, "int32", "i4", 4},
    {Dtype::UInt32, "uint32", "u4", 4},  {Dtype::Int64, "int64", "i8", 8},
    {Dtype::UInt64, "uint64", "u8", 8},  {Dtype::Float16, "float16", "f2", 2},
    {Dtype::Float32, "float32", "f4", 4}};

const DtypeInfo& info(Dtype dtype) {
  for (const DtypeInfo& d : kDtypes) {
    if (d.dtype == dtype) return d;
  }
  return kDtypes[0];
}

// The text behind `'key':` in the header's dictionary.
std::string value_of(const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) return {};
  const size_t colon = header.find(':', at);
  const size_t begin = header.find_first_not_of(' ', colon + 1);
  if (colon == std::string::npos || begin == std::string::npos) return {};
  if (header[begin] == '(') return header.substr(begin, header.find(')', begin) + 1 - begin);
  return header.substr(begin, header.find_first_of(",}", begin) - begin);
}

bool parse_header(const std::string& header, NpyArray& array, std::string& problem) {
  std::string descr = value_of(header, "descr");
  if (descr.size() < 4) {
    problem = "its type is not a plain one";
    return false;
  }
  descr = descr.substr(1, descr.size() - 2);
  if (descr[0] == '>') {
    problem = "it is big-endian (" + descr + ")";
    return false;
  }
  const std::string code = descr.substr(1);
  bool known = false;
  for (const DtypeInfo& d : kDtypes) {
    if (code == d.code) {
      array.dtype = d.dtype;
      known = true;
    }
  }
  if (!known) {
    problem = code == "f8" ? "its type is float64, which Metal does not have; convert it to float32"
                           : "its type \"" + descr + "\" is none of Metal's";
    return false;
  }
  if (value_of(header, "fortran_order") != "False") {
    problem = "it is in Fortran order; save numpy.ascontiguousarray() of it";
    return false;
  }
  const std::string shape = value_of(header, "shape");
  array.size = info(array.dtype).size;
  for (size_t at = shape.find_first_of("0123456789"); at != std::string::npos;
       at = shape.find_first_of("0123456789", at)) {
    size_t extent = 0;
    const auto end = std::from_chars(shape.data() + at, shape.data() + shape.size(), extent).ptr;
    at = static_cast<size_t>(end - shape.data());
    array.shape.push_back(extent);
    if (extent != 0 && array.size > (size_t{1} << 40) / extent) {
      problem = "its shape " + shape + " is too large";
      return false;
    }
    array.size *= extent;
  }
  return true;
}

}  // namespace

size_t dtype_size(Dtype dtype) { return info(dtype).size; }
std::string dtype_name(Dtype dtype) { return info(dtype).name; }
std::optional<Dtype> dtype_of_name(const std::string& name) {
  for (const DtypeInfo& d : kDtypes) {
    if (name == d.name) return d.dtype;
  }
  return std::nullopt;
}

bool read_npy(const std::string& file, NpyArray& array, std::string& problem) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    problem = "cannot read \"" + file + "\"";
    return false;
  }
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  problem = "\"" + file + "\" is no .npy file";
  if (all.size() < 10 || all.compare(0, 6, "\x93NUMPY") != 0) return false;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(all[i])); };
  const size_t version = byte(6), prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || all.size() < prefix) return false;
  const size_t length = version == 1 ? byte(8) | byte(9) << 8
                                     : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (all.size() < prefix + length) return false;
  std::string why;
  if (!parse_header(all.substr(prefix, length), array, why)) {
    problem = "\"" + file + "\": " + why;
    return false;
  }
  if (all.size() != prefix + length + array.size) {
    problem = "\"" + file + "\" has " + std::to_string(all.size() - prefix - length) +
              " bytes of data, but its shape needs " + std::to_string(array.size);
    return false;
  }
  array.file = file;
  array.header = all.substr(0, prefix + length);
  array.storage.assign(array.size / 8 + 1, 0);
  std::memcpy(array.storage.data(), all.data() + prefix + length, array.size);
  array.original = array.storage;
  problem.clear();
  return true;
}

bool write_npy(const NpyArray& array, std::string& problem) {
  std::ofstream out(array.file, std::ios::binary);
  out.write(array.header.data(), static_cast<std::streamsize>(array.header.size()));
  out.write(reinterpret_cast<const char*>(array.storage.data()),
            static_cast<std::streamsize>(array.size));
  out.flush();
  if (!out) problem = "cannot write \"" + array.file + "\"";
  return out.good();
}

namespace {

template <class T>
bool append_integer(const std::string& word, std::vector<uint8_t>& bytes) {
  T value{};
  const char* begin = word.data();
  const char* end = word.data() + word.size();
  const bool hex = word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  const auto result = std::from_chars(begin + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (result.ec != std::errc() || result.ptr != end) return false;
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
  return true;
}

bool append_float(const std::string& word, Dtype dtype, std::vector<uint8_t>& bytes) {
  char* end = nullptr;
  const float value = std::strtof(word.c_str(), &end);
  if (word.empty() || *end != 0) return false;
  const uint16_t half = half_of_float(value);
  const auto* raw = dtype == Dtype::Float16 ? reinterpret_cast<const uint8_t*>(&half)
                                            : reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + dtype_size(dtype));
  return true;
}

bool append_number(const std::string& word, Dtype dtype, std::vector<uint8_t>& bytes) {
  switch (dtype) {
    case Dtype::Bool:
      if (word != "0" && word != "1" && word != "true" && word != "false") return false;
      bytes.push_back(word == "1" || word == "true" ? 1 : 0);
      return true;
    case Dtype::Int8:
      return append_integer<int8_t>(word, bytes);
    case Dtype::UInt8:
      return append_integer<uint8_t>(word, bytes);
    case Dtype::Int16:
      return append_integer<int16_t>(word, bytes);
    case Dtype::UInt16:
      return append_integer<uint16_t>(word, bytes);
    case Dtype::Int32:
      return append_integer<int32_t>(word, bytes);
    case Dtype::UInt32:
      return append_integer<uint32_t>(word, bytes);
    case Dtype::Int64:
      return append_integer<int64_t>(word, bytes);
    case Dtype::UInt64:
      return append_integer<uint64_t>(word, bytes);
    case Dtype::Float16:
    case Dtype::Float32:
      return append_float(word, dtype, bytes);
  }
  return false;
}

}  // namespace

bool parse_numbers(const std::string& text, Dtype dtype, std::vector<uint8_t>& bytes,
                   std::string& problem) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!append_number(word, dtype, bytes)) {
      problem = "\"" + word + "\" is no number of type " + dtype_name(dtype);
      return false;
    }
    at = end + 1;
  }
  return true;
}

}  // namespace softmetal
