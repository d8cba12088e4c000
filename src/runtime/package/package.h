// The contents of a package: a graph, and code that runs it for each target. Plain data, which
// write_package() writes (package_writer.h) and PackageFile reads (package_file.h).
//
// A compiled operator is a graph of one node. A file holds one package or several, such as the
// functions of a module. The steps of a variant's launch plan run the whole graph; everything else
// in a package describes the graph, or is used by the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/hal/size_expression.h"
#include "runtime/hal/types.h"
#include "runtime/package/needs.h"
#include "runtime/plan/plan.h"

namespace texloom::runtime {

enum class TensorRole : std::uint8_t { Input, Output, Constant, Intermediate };

// A tensor of the graph, as the graph's author sees it.
struct PackageTensor {
  std::string name;  // unique
  hal::ElementType element = hal::ElementType::Float32;
  std::vector<Size> shape;  // logical, over the package's symbols
  TensorRole role = TensorRole::Intermediate;
};

struct PackageNode {
  std::string name;                            // unique
  std::string op;                              // "conv2d", or the name of a custom operator
  std::vector<std::uint32_t> inputs, outputs;  // tensors
  std::vector<Attribute> attributes = {};
};

// The place in which a variant keeps a tensor of the graph.
struct TensorStore {
  std::optional<TensorRef> tensor =
      {};  // a tensor of the variant's plan; nullopt if no step needs memory for it
  // The memory object: an index into the objects of the plan's workspace, or, for arguments and
  // constants, a number after the last object, one for each tensor.
  std::int64_t storage_id = -1;
  std::string storage_scope = {};  // "global", "texture", "texture:weight", …
  std::string layout = {};         // the layout as text (docs/textures.md); "" if it is row-major
};

// Bytes of a constant in the layout of its storage (plan/tensor_layout.h), padding included.
struct ConstantBytes {
  std::span<const std::byte> bytes;  // of the writer's caller; empty in packages that were read
};

// A form of the graph for one target.
struct PackageVariant {
  std::string target;  // such as "opencl -device=adreno"
  VariantNeeds needs = {};
  LaunchPlan plan;
  std::vector<TensorStore> stores;       // by tensor of the graph
  std::vector<ConstantBytes> constants;  // by constant of the plan
  // The node of each step of the plan's outermost list; nullopt for steps of no node, such as
  // barriers.
  std::vector<std::optional<std::uint32_t>> nodes;
  // The compiled program in the compiler's text form, at stage legalized, with what the front end
  // needs to know about arguments; "" if the package was made without it.
  std::string program = {};
};

// A number that callers pass, beside tensors: the value of a symbol or of a scalar.
struct PackageNumber {
  std::uint32_t position = 0;  // among all arguments of a call: the plans' arguments and numbers
  std::uint32_t symbol = 0;    // index in the package's symbols followed by the plans' scalars
  hal::ElementType element = hal::ElementType::Int32;  // the type that callers pass
};

struct Package {
  std::string name;
  std::vector<std::string> symbols = {};  // equal in all variants
  std::vector<PackageTensor> tensors;
  std::vector<PackageNode> nodes;
  std::vector<std::uint32_t> inputs, outputs;  // tensors, in the order of callers
  std::vector<PackageNumber> numbers = {};     // by position
  std::optional<double> operations = {};       // number of arithmetic operations of a run, if known
  std::vector<PackageVariant> variants;        // the first that a device can run is chosen
  std::vector<Attribute> metadata = {};        // added by the author: license, source, labels
};

}  // namespace texloom::runtime
