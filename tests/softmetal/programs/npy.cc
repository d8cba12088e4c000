#include "tests/softmetal/programs/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/execute/pixel_format.h"

namespace softmetal {
namespace {

struct DtypeInfo {
  Dtype dtype;
  const char* name;
  const char* code;  // the header's code, without the byte order
  size_t size;
};
constexpr DtypeInfo kDtypes[] = {
    {Dtype::Bool, "bool", "b1", 1},       {Dtype::Int8, "int8", "i1", 1},
    {Dtype::UInt8, "uint8", "u1", 1},     {Dtype::Int16, "int16", "i2", 2},
    {Dtype::UInt16, "uint16", "u2", 2},   {Dtype::Int32, "int32", "i4", 4},
    {Dtype::UInt32, "uint32", "u4", 4},   {Dtype::Int64, "int64", "i8", 8},
    {Dtype::UInt64, "uint64", "u8", 8},   {Dtype::Float16, "float16", "f2", 2},
    {Dtype::Float32, "float32", "f4", 4}, {Dtype::Complex64, "complex64", "c8", 8},
    {Dtype::Record, "record", "", 0}};

const DtypeInfo& info(Dtype dtype) {
  for (const DtypeInfo& d : kDtypes) {
    if (d.dtype == dtype) return d;
  }
  return kDtypes[0];
}

// Returns the text after `'key':` in the header's dictionary.
std::string value_of(const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  const size_t colon = header.find(':', std::min(at, header.size()));
  const size_t begin = header.find_first_not_of(' ', std::min(colon, header.size() - 1) + 1);
  if (at == std::string::npos || begin == std::string::npos) return {};
  int depth = 0;
  size_t end = begin;
  for (; end < header.size(); ++end) {
    const char c = header[end];
    if (depth == 0 && (c == ',' || c == '}')) break;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  return header.substr(begin, end - begin);
}

// A structured type is a list, and a raw type is `|V12`; the element size then follows from the
// file's size.
bool parse_type(const std::string& descr, NpyArray& array, std::string& problem) {
  if (descr.size() < 4) {
    problem = "its type is not a plain one";
    return false;
  }
  if (descr[0] == '[' || descr.compare(0, 3, "'|V") == 0) {
    array.dtype = Dtype::Record;
    return true;
  }
  array.big_endian = descr[1] == '>';
  const std::string code = descr.substr(2, descr.size() - 3);
  for (const DtypeInfo& d : kDtypes) {
    if (code != d.code) continue;
    array.dtype = d.dtype;
    array.item_size = d.size;
    return true;
  }
  problem = code == "f8" ? "its type is float64, which Metal does not have; convert it to float32"
                         : "its type " + descr + " is none of Metal's";
  return false;
}

bool parse_header(const std::string& header, size_t bytes, NpyArray& array, std::string& problem) {
  if (!parse_type(value_of(header, "descr"), array, problem)) return false;
  array.fortran_order = value_of(header, "fortran_order") == "True";
  const std::string shape = value_of(header, "shape");
  size_t count = 1;
  for (size_t at = shape.find_first_of("0123456789"); at != std::string::npos;
       at = shape.find_first_of("0123456789", at)) {
    size_t extent = 0;
    const auto end = std::from_chars(shape.data() + at, shape.data() + shape.size(), extent).ptr;
    at = static_cast<size_t>(end - shape.data());
    array.shape.push_back(extent);
    if (extent != 0 && count > (size_t{1} << 36) / extent) {
      problem = "its shape " + shape + " is too large";
      return false;
    }
    count *= extent;
  }
  if (array.dtype == Dtype::Record) array.item_size = count == 0 ? 0 : bytes / count;
  array.size = count * array.item_size;
  return true;
}

}  // namespace

size_t dtype_size(Dtype dtype) { return info(dtype).size; }
std::string dtype_name(Dtype dtype) { return info(dtype).name; }
std::optional<Dtype> dtype_of_name(const std::string& name) {
  for (const DtypeInfo& d : kDtypes) {
    if (name == d.name && d.dtype != Dtype::Complex64 && d.dtype != Dtype::Record) return d.dtype;
  }
  return std::nullopt;
}

namespace {

// Copies elements from the file's order to C order and little-endian, or back.
void reorder(const NpyArray& a, const char* from, char* to, bool to_file) {
  const size_t count = a.item_size == 0 ? 0 : a.size / a.item_size;
  const size_t part = a.dtype == Dtype::Complex64 ? a.item_size / 2 : a.item_size;
  std::vector<size_t> index(a.shape.size(), 0);
  for (size_t c = 0; c < count; ++c) {
    size_t f = 0;  // the element's index in Fortran order
    for (size_t axis = a.shape.size(); axis-- > 0;) f = f * a.shape[axis] + index[axis];
    const size_t in_file = a.fortran_order ? f : c;
    char* out = to + (to_file ? in_file : c) * a.item_size;
    std::memcpy(out, from + (to_file ? c : in_file) * a.item_size, a.item_size);
    if (a.big_endian) {
      for (size_t at = 0; at < a.item_size; at += part) std::reverse(out + at, out + at + part);
    }
    for (size_t axis = a.shape.size(); axis-- > 0 && ++index[axis] == a.shape[axis];)
      index[axis] = 0;
  }
}

}  // namespace

bool read_npy(const std::string& file, NpyArray& array, std::string& problem) {
  const std::optional<std::string> content = read_file(file);
  if (!content) {
    problem = "cannot read \"" + file + "\"";
    return false;
  }
  const std::string& all = *content;
  problem = "\"" + file + "\" is no .npy file";
  if (all.size() < 10 || all.compare(0, 6, "\x93NUMPY") != 0) return false;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(all[i])); };
  const size_t version = byte(6), prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || all.size() < prefix) return false;
  const size_t length = version == 1 ? byte(8) | byte(9) << 8
                                     : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (all.size() < prefix + length) return false;
  std::string why;
  if (!parse_header(all.substr(prefix, length), all.size() - prefix - length, array, why)) {
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
  reorder(array, all.data() + prefix + length, static_cast<char*>(array.data()), false);
  array.original = array.storage;
  problem.clear();
  return true;
}

bool write_npy(const NpyArray& array, std::string& problem) {
  std::ofstream out(array.file, std::ios::binary);
  out.write(array.header.data(), static_cast<std::streamsize>(array.header.size()));
  std::string data(array.size, '\0');
  reorder(array, reinterpret_cast<const char*>(array.storage.data()), data.data(), true);
  out << data;
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
    case Dtype::Complex64:
    case Dtype::Record:
      break;  // these dtypes have no name
  }
  return false;
}

}  // namespace

bool parse_numbers(const std::string& text, Dtype dtype, std::vector<uint8_t>& bytes,
                   std::string& problem) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, end - at);
    // A dtype's name changes the type from here on, and aligns the bytes as in a struct.
    const size_t colon = word.find(':');
    const auto other = dtype_of_name(word.substr(0, std::min(colon, word.size())));
    if (colon != std::string::npos && other) {
      dtype = *other;
      word.erase(0, colon + 1);
      while (bytes.size() % dtype_size(dtype) != 0) bytes.push_back(0);
    }
    if (!append_number(word, dtype, bytes)) {
      problem = "\"" + word + "\" is no number of type " + dtype_name(dtype);
      return false;
    }
    at = end + 1;
  }
  return true;
}

}  // namespace softmetal
