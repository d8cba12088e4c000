// The custom operators that a program may call, by name and version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::runtime {

// The custom operators that functions for loading programs take, by value. Copies share the
// operators.
class OperatorRegistry {
 public:
  // InvalidArgument: null, an invalid OperatorInfo, or a second operator of that name and version.
  Status add(const std::shared_ptr<const CustomOperator>& op);

  // NotFound, listing the known names, or the known versions of that name.
  Result<std::shared_ptr<const CustomOperator>> find(std::string_view name,
                                                     std::uint32_t version) const;

  std::vector<std::shared_ptr<const CustomOperator>> operators() const;  // by name and version

 private:
  std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<const CustomOperator>> operators_;
};

}  // namespace texloom::runtime
