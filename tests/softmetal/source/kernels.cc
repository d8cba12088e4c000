#include "tests/softmetal/source/kernels.h"

#include <algorithm>
#include <array>
#include <map>

namespace softmetal {
namespace {

struct Limit {
  BindingKind kind;
  const char* name;
  int count;
};
// The number of arguments of each kind that a kernel may have.
constexpr std::array<Limit, 4> kLimits = {{{BindingKind::Buffer, "buffer", 31},
                                           {BindingKind::Texture, "texture", 128},
                                           {BindingKind::Sampler, "sampler", 16},
                                           {BindingKind::Threadgroup, "threadgroup", 31}}};

const Limit* limit_of(BindingKind kind) {
  for (const Limit& limit : kLimits) {
    if (limit.kind == kind) return &limit;
  }
  return nullptr;
}

bool has_word(const std::string& type, std::string_view word) {
  size_t at = 0;
  while ((at = type.find(word, at)) != std::string::npos) {
    const auto is_name = [&](size_t i) {
      return i < type.size() &&
             (std::isalnum(static_cast<unsigned char>(type[i])) || type[i] == '_');
    };
    if ((at == 0 || !is_name(at - 1)) && !is_name(at + word.size())) return true;
    ++at;
  }
  return false;
}

void apply_attribute(Code& code, const Attribute& a, Parameter& p, bool& explicit_index) {
  if (is_builtin_attribute(a.name)) {
    p.binding = BindingKind::Builtin;
    p.builtin = a.name;
    return;
  }
  if (a.name == "function_constant") p.condition = a.argument;
  for (const Limit& limit : kLimits) {
    if (a.name != limit.name) continue;
    if (p.binding && p.binding != BindingKind::Builtin) {
      code.error_at(a.line, "parameter \"" + p.name + "\" has two attributes of an index");
    }
    p.binding = limit.kind;
    p.line = a.line;
    explicit_index = true;
    const bool number =
        !a.argument.empty() && a.argument.find_first_not_of("0123456789") == std::string::npos;
    if (number && a.argument.size() < 8) {
      p.index = std::stoi(a.argument);
    } else {
      code.error_at(a.line,
                    "the index of [[" + a.name + "]] must be a number, not \"" + a.argument + "\"");
    }
  }
  if (a.name == "stage_in") code.error_at(a.line, "[[stage_in]] is not supported in kernels here");
}

// Returns the kind of a parameter that has no index attribute, by its type.
std::optional<BindingKind> kind_of_type(const std::string& type) {
  if (has_word(type, "device") || has_word(type, "constant")) return BindingKind::Buffer;
  if (has_word(type, "threadgroup")) return BindingKind::Threadgroup;
  if (type.find("texture") != std::string::npos || type.find("depth2d") != std::string::npos ||
      type.find("depthcube") != std::string::npos) {
    return BindingKind::Texture;
  }
  if (has_word(type, "sampler")) return BindingKind::Sampler;
  return std::nullopt;
}

Parameter read_parameter(Code& code, size_t begin, size_t end, bool& explicit_index) {
  Parameter p;
  size_t stop = end;
  for (size_t i = begin; i < end; ++i) {
    if (code.is(i, "=")) stop = std::min(stop, i);
  }
  size_t name = stop;
  for (size_t i = begin; i < stop; ++i) {
    const size_t behind = code.behind_template_arguments(i, true);
    if (behind > i && behind <= stop) {
      i = behind - 1;
      continue;
    }
    if (code.is(i, "[")) break;
    if (code.is_identifier(i) && i > begin) name = i;
  }
  p.name = name < stop ? std::string(code[name].text) : "";
  p.line = code[begin].line;
  p.type = code.text(begin, std::min(name, stop));
  for (size_t i = begin; i <= end; ++i) {
    // Attributes before the first token belong to this parameter, and those after the comma to the
    // next one.
    for (const Attribute& a : code.attributes_before(i))
      apply_attribute(code, a, p, explicit_index);
  }
  for (size_t i = begin; i < std::min(name, stop); ++i) {
    if (!code.is_identifier(i) || is_address_space(code[i]) || code.is(i, "const")) continue;
    p.of_struct = std::string(code[i].text);
    while (code.is(i + 1, "::") && i + 2 < end) {
      i += 2;
      p.of_struct += "::" + std::string(code[i].text);
    }
    break;
  }
  return p;
}

}  // namespace

void read_parameters(Code& code, const Declaration& d, Kernel& kernel) {
  if (code.is(d.open + 1, "void") && d.open + 2 == d.close) return;
  std::vector<bool> explicit_index;
  for (const auto& [begin, end] : split_at_commas(code, d.open + 1, d.close)) {
    bool given = false;
    kernel.parameters.push_back(read_parameter(code, begin, end, given));
    explicit_index.push_back(given);
  }
  std::map<BindingKind, std::vector<bool>> used;
  const auto mark = [&](BindingKind kind, int index) {
    std::vector<bool>& slots = used[kind];
    if (static_cast<int>(slots.size()) <= index) slots.resize(index + 1, false);
    slots[index] = true;
  };
  for (const Parameter& p : kernel.parameters) {
    if (p.binding && p.index >= 0) mark(*p.binding, p.index);
  }
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    Parameter& p = kernel.parameters[i];
    if (explicit_index[i] || p.binding == BindingKind::Builtin) continue;
    p.binding = kind_of_type(p.type);
    if (!p.binding) continue;
    std::vector<bool>& slots = used[*p.binding];
    p.index = static_cast<int>(std::find(slots.begin(), slots.end(), false) - slots.begin());
    mark(*p.binding, p.index);
  }
}

void check_kernel(Code& code, const Declaration& d, const Kernel& kernel) {
  std::map<std::pair<BindingKind, int>, const Parameter*> seen;
  std::map<std::string, const Parameter*> builtins;
  for (const Parameter& p : kernel.parameters) {
    if (!p.binding) {
      const bool pointer =
          p.type.find('*') != std::string::npos || p.type.find('&') != std::string::npos;
      if (pointer) {
        code.error_at(p.line,
                      std::string(p.type.find('*') != std::string::npos ? "pointer" : "reference") +
                          " type must have an explicit address space: parameter \"" + p.name +
                          "\" of a kernel is in device, constant or threadgroup memory");
      } else {
        code.error_at(p.line, "parameter \"" + p.name + "\" of kernel \"" + kernel.name +
                                  "\" needs an attribute: type \"" + p.type +
                                  "\" is bound to nothing by itself");
      }
      continue;
    }
    if (p.binding == BindingKind::Builtin) {
      if (!builtins.emplace(p.builtin, &p).second) {
        code.error_at(p.line, "[[" + p.builtin + "]] is given to two parameters of kernel \"" +
                                  kernel.name + "\"");
      }
      continue;
    }
    const bool is_pointer =
        p.type.find('*') != std::string::npos || p.type.find('&') != std::string::npos;
    if (p.binding == BindingKind::Buffer && is_pointer && !has_word(p.type, "device") &&
        !has_word(p.type, "constant") && !kernel.is_template) {
      code.error_at(
          p.line,
          has_word(p.type, "threadgroup") || has_word(p.type, "thread")
              ? "[[buffer]] parameter \"" + p.name + "\" must be in device or constant memory"
              : std::string(p.type.find('*') != std::string::npos ? "pointer" : "reference") +
                    " type must have an explicit address space: parameter \"" + p.name +
                    "\" is a buffer");
    }
    const Limit& limit = *limit_of(*p.binding);
    if (p.index >= limit.count) {
      code.error_at(p.line, std::string(limit.name) + " index " + std::to_string(p.index) +
                                " is over the limit of " + std::to_string(limit.count - 1));
    }
    const auto [at, fresh] = seen.emplace(std::pair(*p.binding, p.index), &p);
    // Parameters under function constants may share an index, if only one of them is present.
    if (!fresh && p.index >= 0 && (p.condition.empty() || at->second->condition.empty())) {
      code.error_at(p.line, std::string(limit.name) + " index " + std::to_string(p.index) +
                                " is used twice: by \"" + at->second->name + "\" and \"" + p.name +
                                "\"");
    }
  }
  (void)d;
}

}  // namespace softmetal
