// Collects the violations that the verifier finds.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/verify/verify.h"
#include "ir/verify/verify_text.h"

namespace texloom::ir {

// Keeps one violation of each rule for each node, and at most 50 in all.
class Violations {
 public:
  SourceLocation location;  // for nodes that have no location

  template <class... Args>
  void add(Rule rule, const void* node, std::string text, const SourceLocation& where,
           fmt::format_string<Args...> format, Args&&... args) {
    if (is_full() || !reported_.emplace(node, rule).second) return;
    found_.push_back({rule, std::move(text), fmt::format(format, std::forward<Args>(args)...),
                      where.known() ? where : location});
  }
  template <class Node, class... Args>
  void add(Rule rule, const Ref<Node>& node, fmt::format_string<Args...> format, Args&&... args) {
    if (is_full()) return;
    add(rule, node.get(), text_of(node), node->location, format, std::forward<Args>(args)...);
  }

  template <class Node>
  void add_index(const Ref<Node>& node, IndexFault fault) {
    const size_t before = found_.size();
    add(Rule::Bounds, node, "{} is not proven to lie in 0..{} of {}", fault.index, fault.extent,
        fault.buffer);
    if (found_.size() > before) found_.back().index = std::move(fault);
  }

  std::vector<Violation> take() { return std::move(found_); }

 private:
  bool is_full() const { return found_.size() >= 50; }

  std::vector<Violation> found_;
  std::set<std::pair<const void*, Rule>> reported_;
};

}  // namespace texloom::ir
