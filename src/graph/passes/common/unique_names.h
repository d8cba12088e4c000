// Names that nothing else of a kind has.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace texloom::graph {

class UniqueNames {
 public:
  // The names that are taken are those of `all`.
  template <typename Named>
  explicit UniqueNames(const std::vector<Named>& all) {
    for (const Named& each : all) names_.insert(each.name);
  }

  // The stem, or the stem and a number; the name is taken from now on.
  std::string unused(const std::string& stem) {
    std::string name = stem;
    for (int number = 2; !names_.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    return name;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace texloom::graph
