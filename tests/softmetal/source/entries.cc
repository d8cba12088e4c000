#include "tests/softmetal/source/entries.h"

#include <map>
#include <set>

namespace softmetal {
namespace {

constexpr const char* kExported = "extern \"C\" __attribute__((visibility(\"default\")))";

// The positions of builtins in the table that an entry point gets (abi.h), and whether they are
// indices, which have one component.
struct Builtin {
  const char* name;
  int place;
  bool index;
};
constexpr Builtin kBuiltins[] = {{"thread_position_in_grid", 0, false},
                                 {"thread_position_in_threadgroup", 1, false},
                                 {"threadgroup_position_in_grid", 2, false},
                                 {"threads_per_threadgroup", 3, false},
                                 {"threads_per_grid", 4, false},
                                 {"threadgroups_per_grid", 5, false},
                                 {"dispatch_threads_per_threadgroup", 6, false},
                                 {"grid_origin", 7, false},
                                 {"grid_size", 4, false},
                                 {"thread_index_in_threadgroup", 8, true},
                                 {"thread_index_in_simdgroup", 9, true},
                                 {"simdgroup_index_in_threadgroup", 10, true},
                                 {"threads_per_simdgroup", 11, true},
                                 {"thread_execution_width", 11, true},
                                 {"simdgroups_per_threadgroup", 12, true},
                                 {"dispatch_simdgroups_per_threadgroup", 12, true},
                                 {"thread_index_in_quadgroup", 13, true},
                                 {"quadgroup_index_in_threadgroup", 14, true},
                                 {"quadgroups_per_threadgroup", 15, true},
                                 {"dispatch_quadgroups_per_threadgroup", 15, true}};

const Builtin& builtin(const std::string& name) {
  for (const Builtin& b : kBuiltins) {
    if (name == b.name) return b;
  }
  return kBuiltins[0];
}

class Printer {
 public:
  Printer(const Program& program, const std::string& file) : program_(program), file_(file) {}

  std::string run() {
    out_ += "\n";
    for (size_t i = 0; i < program_.kernels.size(); ++i)
      kernel(program_.kernels[i], std::to_string(i));
    for (size_t i = 0; i < program_.structs.size(); ++i)
      record(program_.structs[i], std::to_string(i));
    return std::move(out_);
  }

 private:
  void line(int number) { out_ += "# " + std::to_string(number) + " \"" + file_ + "\"\n"; }

  void check(const std::string& condition, const std::string& message, int at) {
    line(at);
    out_ += "static_assert(" + condition + ", \"" + message + "\");\n";
  }

  static std::string type_of(const Kernel& kernel, size_t i) {
    return "typename ::metal::__sm_parameter<" + std::to_string(i) + ", decltype(" +
           "::" + kernel.expression + ")>::type";
  }

  void check_parameter(const Kernel& kernel, size_t i) {
    const Parameter& p = kernel.parameters[i];
    if (!p.binding) return;
    const std::string type = type_of(kernel, i);
    const std::string given = " parameter '" + p.name + "' of kernel '" + kernel.name + "' ";
    switch (*p.binding) {
      case BindingKind::Buffer:
        check("::metal::__sm_is_buffer<" + type + ">()",
              "the buffer" + given + "must be a pointer or reference to device or constant memory",
              p.line);
        break;
      case BindingKind::Threadgroup:
        check("::metal::__sm_is_threadgroup<" + type + ">()",
              "the threadgroup" + given + "must be a pointer or reference to threadgroup memory",
              p.line);
        break;
      case BindingKind::Texture:
        check("::metal::__sm_is_resource<" + type + ">(1)",
              "the texture" + given + "must be a texture or an array of textures", p.line);
        break;
      case BindingKind::Sampler:
        check("::metal::__sm_is_resource<" + type + ">(2)",
              "the sampler" + given + "must be a sampler", p.line);
        break;
      case BindingKind::Builtin:
        if (builtin(p.builtin).index) {
          check("::metal::__sm_is_index<" + type + ">()",
                "[[" + p.builtin + "]] must be uint or ushort", p.line);
        } else {
          check("::metal::__sm_is_position<" + type + ">()",
                "[[" + p.builtin + "]] must be uint, uint2, uint3, ushort, ushort2 or ushort3",
                p.line);
        }
        break;
    }
  }

  void kernel(const Kernel& kernel, const std::string& number) {
    check("::metal::is_void<typename ::metal::__sm_result<decltype(::" + kernel.expression +
              ")>::type>::value",
          "kernel '" + kernel.name + "' must return void", kernel.line);
    for (size_t i = 0; i < kernel.parameters.size(); ++i) check_parameter(kernel, i);
    line(kernel.line);
    out_ += std::string(kExported) + " void __sm_entry_" + number +
            "(const __generic ulong* __sm_v, const __generic uint (*__sm_b)[4]) { " +
            "::" + kernel.expression + "(";
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& p = kernel.parameters[i];
      const std::string type = type_of(kernel, i);
      if (i != 0) out_ += ", ";
      if (p.binding == BindingKind::Builtin) {
        out_ += "::metal::__sm_builtin_of<typename ::metal::__sm_unqualified<" + type +
                ">::type>::get(__sm_b[" + std::to_string(builtin(p.builtin).place) + "])";
      } else {
        out_ += "::metal::__sm_value_of<" + type + ">::get(__sm_v[" + std::to_string(i) + "])";
      }
    }
    out_ += "); }\n";
    out_ += std::string(kExported) + " __global const __sm_description __sm_parameters_" + number +
            "[] = {";
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      out_ += "::metal::__sm_describe<" + type_of(kernel, i) + ">(), ";
    }
    out_ += "__sm_description{}};\n";
    line(kernel.line);
    out_ += std::string(kExported) + " __global const uint __sm_threads_" + number + " = " +
            (kernel.max_threads.empty() ? "0" : "(" + kernel.max_threads + ")") + ";\n";
    // Exports which parameters are present, since a function constant may omit some.
    out_ += std::string(kExported) + " __global const bool __sm_present_" + number + "[] = {";
    for (const Parameter& p : kernel.parameters) {
      out_ += p.condition.empty() ? "true, " : "(bool)(" + p.condition + "), ";
    }
    out_ += "true};\n";
  }

  void record(const Struct& s, const std::string& number) {
    if (s.is_template || s.is_nested) return;
    out_ += std::string(kExported) + " __global const __sm_description __sm_members_" + number +
            "[] = {";
    for (const Member& m : s.members) {
      out_ += "::metal::__sm_describe<decltype(::" + s.name + "::" + m.name +
              ")>(__builtin_offsetof(::" + s.name + ", " + m.name + ")), ";
    }
    out_ += "__sm_description{}};\n";
  }

  const Program& program_;
  const std::string& file_;
  std::string out_;
};

}  // namespace

std::string print_entries(const Program& program, const std::string& file) {
  return Printer(program, file).run();
}

}  // namespace softmetal
