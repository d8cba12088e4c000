// Random changes of package files.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fuzz/hal/random.h"
#include "tests/fuzz/package/seeds.h"

namespace texloom::fuzz {

// Updates the checksums and the sizes in the header to match the content, as an attacker would. A
// damaged header or list of sections is updated as far as it can be read.
void repair(Bytes& file);

// The same seed gives the same changes.
class PackageMutator {
 public:
  PackageMutator(std::uint64_t seed, std::vector<Bytes> files)
      : random_(seed), files_(std::move(files)) {}

  // Returns one of the files with one to four changes, most often one. Repairs half of the results.
  Bytes changed();
  // Changes a file once: flips bits, cuts or extends it, overwrites an integer, or exchanges or
  // copies parts.
  void change(Bytes& file);

 private:
  void flip_bits(Bytes& file);
  void change_length(Bytes& file);
  void overwrite_integer(Bytes& file);
  void exchange_sections(Bytes& file);
  void copy_part(Bytes& file);

  // A position, most often in the index, which holds most of the numbers.
  std::size_t position(const Bytes& file, std::size_t alignment);

  hal::fuzz::Random random_;
  std::vector<Bytes> files_;
};

}  // namespace texloom::fuzz
