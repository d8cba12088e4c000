// Undefined values and their origins. Reading an undefined value is not a fault: passes read texels
// before the condition that guards their use, and compute private copies past the last element.
// Undefined values spread through operations and temporaries. A fault is reported if an undefined
// value is returned to the caller, or decides which statements run or which element of a buffer is
// accessed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/memory.h"
#include "support/source_location.h"

namespace texloom::ir {

// The reason why a value is undefined.
struct UndefinedOrigin {
  std::string text;  // "S[3] was never written"
  SourceLocation location;
};

// All origins of undefined values in one run. An `Undefined` is a number in this table.
class UndefinedOrigins {
 public:
  // The origin of the undefined value that `node` makes at a place (an element, a lane); calls
  // `make` only for a new origin.
  template <class F>
  Undefined note(const void* node, int64_t place, const F& make) {
    const auto [known, added] = numbers_.try_emplace({node, place}, 0);
    if (added) {
      origins_.push_back(make());
      known->second = static_cast<Undefined>(origins_.size() + kNeverWritten);
    }
    return known->second;
  }
  const UndefinedOrigin& of(Undefined number) const {
    return origins_.at(number - kNeverWritten - 1);
  }

 private:
  std::vector<UndefinedOrigin> origins_;
  std::map<std::pair<const void*, int64_t>, Undefined> numbers_;
};

}  // namespace texloom::ir
