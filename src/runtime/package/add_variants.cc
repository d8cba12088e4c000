#include "runtime/package/add_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace texloom::runtime {
namespace {

using Numbers = std::vector<std::uint32_t>;

bool is_same(const PackageTensor& a, const PackageTensor& b) {
  return a.name == b.name && a.element == b.element && a.shape == b.shape && a.role == b.role;
}

bool is_same(const PackageNode& a, const PackageNode& b) {
  return a.name == b.name && a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.attributes == b.attributes;
}

bool is_same(const PackageNumber& a, const PackageNumber& b) {
  return a.position == b.position && a.symbol == b.symbol && a.element == b.element;
}

bool passes_same(const Package& a, const Numbers& of_a, const Package& b, const Numbers& of_b) {
  return std::ranges::equal(of_a, of_b, [&](std::uint32_t x, std::uint32_t y) {
    return is_same(a.tensors[x], b.tensors[y]);
  });
}

Status check_interfaces(const Package& a, const Package& b) {
  std::string_view differ;
  if (a.symbols != b.symbols) {
    differ = "symbols";
  } else if (!passes_same(a, a.inputs, b, b.inputs)) {
    differ = "inputs";
  } else if (!passes_same(a, a.outputs, b, b.outputs)) {
    differ = "outputs";
  } else if (!std::ranges::equal(a.numbers, b.numbers,
                                 [](const auto& x, const auto& y) { return is_same(x, y); })) {
    differ = "numbers";
  } else {
    return {};
  }
  return invalid_argument("package \"{}\": the {} of its variants for \"{}\" and \"{}\" differ",
                          a.name, differ, b.variants.front().target, a.variants.front().target);
}

template <class Item>
std::string unused_name(const std::vector<Item>& list, const std::string& name) {
  std::set<std::string_view> used;
  for (const Item& each : list) used.insert(each.name);
  std::string unused = name;
  for (int i = 2; used.contains(unused); ++i) unused = fmt::format("{}.{}", name, i);
  return unused;
}

// Adds the items that the list lacks, and returns the index of each item in the list.
template <class Item>
Numbers merged(std::vector<Item>& list, const std::vector<Item>& items) {
  Numbers numbers;
  for (const Item& item : items) {
    const auto same =
        std::ranges::find_if(list, [&](const Item& each) { return is_same(each, item); });
    numbers.push_back(static_cast<std::uint32_t>(same - list.begin()));
    if (same != list.end()) continue;
    Item added = item;
    added.name = unused_name(list, item.name);
    list.push_back(std::move(added));
  }
  return numbers;
}

Numbers renumbered(const Numbers& list, const Numbers& numbers) {
  Numbers result;
  for (const std::uint32_t each : list) result.push_back(numbers[each]);
  return result;
}

}  // namespace

Status add_variants(Package& package, const Package& other) {
  if (package.variants.empty() || other.variants.empty())
    return invalid_argument("a package has no variants; both packages need at least one");
  TL_RETURN_IF_ERROR(check_interfaces(package, other));
  const Numbers tensors = merged(package.tensors, other.tensors);
  std::vector<PackageNode> nodes = other.nodes;
  for (PackageNode& node : nodes) {
    node.inputs = renumbered(node.inputs, tensors);
    node.outputs = renumbered(node.outputs, tensors);
  }
  const Numbers of_nodes = merged(package.nodes, nodes);
  for (PackageVariant& variant : package.variants) variant.stores.resize(package.tensors.size());
  for (const PackageVariant& variant : other.variants) {
    PackageVariant added = variant;
    added.stores.assign(package.tensors.size(), {});
    for (std::size_t i = 0; i < variant.stores.size(); ++i)
      added.stores[tensors[i]] = variant.stores[i];
    for (auto& node : added.nodes) {
      if (node) node = of_nodes[*node];
    }
    package.variants.push_back(std::move(added));
  }
  for (const Attribute& each : other.metadata) {
    if (std::ranges::find(package.metadata, each.name, &Attribute::name) == package.metadata.end())
      package.metadata.push_back(each);
  }
  return {};
}

}  // namespace texloom::runtime
