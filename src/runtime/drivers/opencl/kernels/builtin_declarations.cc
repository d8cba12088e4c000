#include "runtime/drivers/opencl/kernels/builtin_declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace texloom::hal::opencl {
namespace {

struct Element {
  std::string_view name;
  std::string_view of_signed, of_unsigned;  // the integers of the same width
  bool is_float;
  std::string_view guard;  // the condition of the preprocessor under which the type exists, or ""
};
constexpr std::array kBuiltinElements = {
    Element{"char", "char", "uchar", false, ""},
    Element{"uchar", "char", "uchar", false, ""},
    Element{"short", "short", "ushort", false, ""},
    Element{"ushort", "short", "ushort", false, ""},
    Element{"int", "int", "uint", false, ""},
    Element{"uint", "int", "uint", false, ""},
    Element{"long", "long", "ulong", false, ""},
    Element{"ulong", "long", "ulong", false, ""},
    Element{"float", "int", "uint", true, ""},
    Element{"double", "long", "ulong", true, "defined(cl_khr_fp64)"},
    Element{"half", "short", "ushort", true, "defined(cl_khr_fp16)"},
};
constexpr std::array kLanes = {1, 2, 3, 4, 8, 16};
constexpr std::array<std::string_view, 4> kSpaces = {"__global", "__local", "__private",
                                                     "__constant"};

enum class Types : unsigned char { Float32, Floats, Integers, Numbers, None };

// Functions of one signature. In the signature, the letters stand for
//   g  the type T or a vector of it      s  T itself
//   i  int, with as many lanes as g      n  int itself
//   c  the signed integer of T's width, with as many lanes as g; d  the unsigned one
// and other types for themselves. A signature is declared for vectors only if its scalar form
// repeats that of another signature.
struct Family {
  std::string_view names;  // separated by spaces
  Types types;
  std::string_view result;
  std::string_view parameters;
  std::string_view attribute = "const";
  bool vectors_only = false;
};

constexpr std::array kFamilies = {
    Family{"exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan sinh cosh tanh "
           "asin acos atan asinh acosh atanh sinpi cospi tanpi asinpi acospi atanpi erf erfc "
           "tgamma lgamma floor ceil trunc round rint fabs logb",
           Types::Floats, "g", "g"},
    Family{"pow powr fmod remainder atan2 atan2pi hypot copysign nextafter fdim fmin fmax maxmag "
           "minmag",
           Types::Floats, "g", "g, g"},
    Family{"fmin fmax", Types::Floats, "g", "g, s", "const", true},
    Family{"fma mad", Types::Floats, "g", "g, g, g"},
    Family{"ldexp", Types::Floats, "g", "g, i"},
    Family{"ldexp", Types::Floats, "g", "g, n", "const", true},
    Family{"pown rootn", Types::Floats, "g", "g, i"},
    Family{"native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_sin "
           "native_cos native_tan native_sqrt native_rsqrt native_recip half_exp half_exp2 "
           "half_exp10 half_log half_log2 half_log10 half_sin half_cos half_tan half_sqrt "
           "half_rsqrt half_recip",
           Types::Float32, "g", "g"},
    Family{"native_divide native_powr half_divide half_powr", Types::Float32, "g", "g, g"},
    Family{"popcount clz", Types::Integers, "g", "g"},
    Family{"abs", Types::Integers, "d", "g"},
    Family{"abs_diff", Types::Integers, "d", "g, g"},
    Family{"mul_hi rotate add_sat sub_sat hadd rhadd", Types::Integers, "g", "g, g"},
    Family{"min max", Types::Numbers, "g", "g, g"},
    Family{"min max", Types::Numbers, "g", "g, s", "const", true},
    Family{"clamp", Types::Numbers, "g", "g, g, g"},
    Family{"clamp", Types::Numbers, "g", "g, s, s", "const", true},
    Family{"select", Types::Numbers, "g", "g, g, c"},
    Family{"select", Types::Numbers, "g", "g, g, d"},
    Family{"get_global_id get_local_id get_group_id get_global_size get_local_size get_num_groups "
           "get_global_offset",
           Types::None, "size_t", "uint"},
    Family{"get_work_dim", Types::None, "uint", "void"},
    Family{"barrier", Types::None, "void", "cl_mem_fence_flags", "convergent"},
    Family{"read_imagef", Types::None, "float4", "__read_only image2d_t, sampler_t, int2", "pure"},
    Family{"read_imagei", Types::None, "int4", "__read_only image2d_t, sampler_t, int2", "pure"},
    Family{"read_imageui", Types::None, "uint4", "__read_only image2d_t, sampler_t, int2", "pure"},
    Family{"write_imagef", Types::None, "void", "__write_only image2d_t, int2, float4", ""},
    Family{"write_imagei", Types::None, "void", "__write_only image2d_t, int2, int4", ""},
    Family{"write_imageui", Types::None, "void", "__write_only image2d_t, int2, uint4", ""},
};

// Names, and prefixes of names, of built-in functions that are not declared here.
constexpr std::string_view kOthers =
    "all any bitselect cross degrees distance dot fast_distance fast_length "
    "fast_normalize fract frexp ilogb lgamma_r length mad24 mad_hi mad_sat mem_fence mix modf "
    "mul24 "
    "nan normalize prefetch printf radians read_mem_fence remquo shuffle shuffle2 sign signbit "
    "sincos smoothstep step upsample vec_step wait_group_events write_mem_fence";
constexpr std::array<std::string_view, 8> kPrefixesOfOthers = {
    "async_work_", "atom_", "atomic_", "get_image_", "is", "vloada_", "vstorea_", "work_group_"};

std::string vector_of(std::string_view element, int lanes) {
  return lanes == 1 ? std::string(element) : fmt::format("{}{}", element, lanes);
}

// Writes declarations; declarations with a type that may be missing are guarded by its condition.
class Declarations {
 public:
  void add(std::string guard, std::string_view attribute, std::string_view result,
           std::string_view name, std::string_view parameters) {
    if (guard != guard_) {
      end_guard();
      guard_ = std::move(guard);
      if (!guard_.empty()) text_ += fmt::format("#if {}\n", guard_);
    }
    text_ += fmt::format("{} __attribute__((overloadable{}{})) {}({});\n", result,
                         attribute.empty() ? "" : ", ", attribute, name, parameters);
  }

  std::string take() {
    end_guard();
    return std::move(text_);
  }

 private:
  void end_guard() {
    if (!guard_.empty()) text_ += "#endif\n";
    guard_.clear();
  }

  std::string text_, guard_;
};

bool accepts(Types types, const Element& element) {
  switch (types) {
    case Types::Float32:
      return element.name == "float";
    case Types::Floats:
      return element.is_float;
    case Types::Integers:
      return !element.is_float;
    case Types::Numbers:
      return true;
    case Types::None:
      return false;
  }
  return false;
}

template <typename Visit>
void for_each_part(std::string_view text, std::string_view separator, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
}

std::string type_of(std::string_view word, const Element& element, int lanes) {
  if (word == "g") return vector_of(element.name, lanes);
  if (word == "s") return std::string(element.name);
  if (word == "i") return vector_of("int", lanes);
  if (word == "n") return "int";
  if (word == "c") return vector_of(element.of_signed, lanes);
  if (word == "d") return vector_of(element.of_unsigned, lanes);
  return std::string(word);
}

void declare(const Family& family, std::string_view name, const Element& element, int lanes,
             Declarations& out) {
  std::string parameters;
  for_each_part(family.parameters, ", ", [&](std::string_view word) {
    parameters += (parameters.empty() ? "" : ", ") + type_of(word, element, lanes);
  });
  out.add(std::string(element.guard), family.attribute, type_of(family.result, element, lanes),
          name, parameters);
}

void declare_family(const Family& family, std::string_view name, Declarations& out) {
  if (family.types == Types::None) return declare(family, name, Element{}, 1, out);
  for (const Element& element : kBuiltinElements) {
    if (!accepts(family.types, element)) continue;
    for (const int lanes : kLanes) {
      if (lanes > 1 || !family.vectors_only) declare(family, name, element, lanes, out);
    }
  }
}

// Takes a number of lanes from the start of a name: "4_rte" -> 4, "_rte" -> 1.
std::optional<int> take_lanes(std::string_view& name) {
  int number = 0;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0 &&
         number < 100) {
    number = 10 * number + (name.front() - '0');
    name.remove_prefix(1);
  }
  if (number == 0) return 1;
  return std::ranges::count(kLanes, number) == 0 ? std::nullopt : std::optional(number);
}

bool take(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

bool is_rounding(std::string_view suffix) {
  return suffix.empty() || suffix == "_rte" || suffix == "_rtz" || suffix == "_rtp" ||
         suffix == "_rtn";
}

// convert_float4, convert_int_sat_rte
void declare_conversion(std::string_view name, Declarations& out) {
  std::string_view rest = name.substr(std::string_view("convert_").size());
  for (const Element& to : kBuiltinElements) {
    std::string_view suffix = rest;
    if (!take(suffix, to.name)) continue;
    const std::optional<int> lanes = take_lanes(suffix);
    take(suffix, "_sat");
    if (!lanes || !is_rounding(suffix)) continue;
    for (const Element& from : kBuiltinElements) {
      const bool both = !from.guard.empty() && !to.guard.empty();
      out.add(fmt::format("{}{}{}", from.guard, both ? " && " : "", to.guard), "const",
              vector_of(to.name, *lanes), name, vector_of(from.name, *lanes));
    }
  }
}

// vload4, vload_half, vload_half4
void declare_load(std::string_view name, Declarations& out) {
  std::string_view rest = name.substr(std::string_view("vload").size());
  const bool halves = take(rest, "_half");
  const std::optional<int> lanes = take_lanes(rest);
  if (!lanes || !rest.empty()) return;
  for (const Element& element : kBuiltinElements) {
    if (halves ? element.name != "float" : *lanes == 1) continue;
    for (const std::string_view space : kSpaces) {
      out.add(std::string(element.guard), "pure", vector_of(element.name, *lanes), name,
              fmt::format("size_t, const {} {}*", space, halves ? "half" : element.name));
    }
  }
}

// vstore4, vstore_half, vstore_half4_rte
void declare_store(std::string_view name, Declarations& out) {
  std::string_view rest = name.substr(std::string_view("vstore").size());
  const bool halves = take(rest, "_half");
  const std::optional<int> lanes = take_lanes(rest);
  if (!lanes || !(halves ? is_rounding(rest) : rest.empty())) return;
  for (const Element& element : kBuiltinElements) {
    if (halves ? element.name != "float" && element.name != "double" : *lanes == 1) continue;
    for (const std::string_view space : kSpaces) {
      if (space == "__constant") continue;
      out.add(std::string(element.guard), "", "void", name,
              fmt::format("{}, size_t, {} {}*", vector_of(element.name, *lanes), space,
                          halves ? "half" : element.name));
    }
  }
}

// Returns the words that a parenthesis follows.
std::set<std::string_view> called_names(std::string_view source) {
  std::set<std::string_view> names;
  const auto in_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  for (std::size_t at = 0; at < source.size();) {
    if (!in_word(source[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < source.size() && in_word(source[end])) ++end;
    const std::size_t next = source.find_first_not_of(" \t\n\r", end);
    if (next != std::string_view::npos && source[next] == '(')
      names.insert(source.substr(at, end - at));
    at = end;
  }
  return names;
}

bool is_other(std::string_view name) {
  bool found = std::ranges::any_of(
      kPrefixesOfOthers, [&](std::string_view prefix) { return name.starts_with(prefix); });
  for_each_part(kOthers, " ", [&](std::string_view other) { found |= name == other; });
  return found;
}

}  // namespace

std::optional<std::string> builtin_declarations(std::string_view source) {
  const std::set<std::string_view> called = called_names(source);
  if (std::ranges::any_of(called, is_other)) return std::nullopt;
  Declarations out;
  for (const Family& family : kFamilies) {
    for_each_part(family.names, " ", [&](std::string_view name) {
      if (called.contains(name)) declare_family(family, name, out);
    });
  }
  for (const std::string_view name : called) {
    if (name.starts_with("convert_")) declare_conversion(name, out);
    if (name.starts_with("vload")) declare_load(name, out);
    if (name.starts_with("vstore")) declare_store(name, out);
  }
  return out.take();
}

}  // namespace texloom::hal::opencl
