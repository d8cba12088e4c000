// When a tensor holds its values, counted in operators.
#pragma once

#include <cstdint>

namespace texloom::plan {

// The first and the last operator that uses a tensor, both inclusive: 0 <= first <= last. Two
// tensors are live together if some operator lies in both lifetimes.
struct Lifetime {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool meets(const Lifetime& other) const { return first <= other.last && other.first <= last; }
  bool operator==(const Lifetime&) const = default;
};

}  // namespace texloom::plan
