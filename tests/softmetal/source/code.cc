#include "tests/softmetal/source/code.h"

#include <algorithm>
#include <array>

namespace softmetal {
namespace {

const std::set<std::string, std::less<>>& builtins() {
  static const std::set<std::string, std::less<>> kNames = {"dispatch_quadgroups_per_threadgroup",
                                                            "dispatch_simdgroups_per_threadgroup",
                                                            "dispatch_threads_per_threadgroup",
                                                            "grid_origin",
                                                            "grid_size",
                                                            "quadgroup_index_in_threadgroup",
                                                            "quadgroups_per_threadgroup",
                                                            "simdgroup_index_in_threadgroup",
                                                            "simdgroups_per_threadgroup",
                                                            "thread_execution_width",
                                                            "thread_index_in_quadgroup",
                                                            "thread_index_in_simdgroup",
                                                            "thread_index_in_threadgroup",
                                                            "thread_position_in_grid",
                                                            "thread_position_in_threadgroup",
                                                            "threadgroup_position_in_grid",
                                                            "threadgroups_per_grid",
                                                            "threads_per_grid",
                                                            "threads_per_simdgroup",
                                                            "threads_per_threadgroup"};
  return kNames;
}

// Attributes of Metal, except builtins. Attributes of other stages are removed, too, so that a
// library with functions of these stages compiles.
const std::set<std::string, std::less<>>& metal_attributes() {
  static const std::set<std::string, std::less<>> kNames = {"amplification_count",
                                                            "attribute",
                                                            "barycentric_coord",
                                                            "base_instance",
                                                            "base_vertex",
                                                            "buffer",
                                                            "center_no_perspective",
                                                            "center_perspective",
                                                            "centroid_no_perspective",
                                                            "centroid_perspective",
                                                            "clip_distance",
                                                            "color",
                                                            "depth",
                                                            "early_fragment_tests",
                                                            "flat",
                                                            "fragment",
                                                            "front_facing",
                                                            "function_constant",
                                                            "host_name",
                                                            "id",
                                                            "instance_id",
                                                            "intersection",
                                                            "invariant",
                                                            "kernel",
                                                            "max_total_threads_per_threadgroup",
                                                            "mesh",
                                                            "object",
                                                            "patch",
                                                            "payload",
                                                            "point_coord",
                                                            "point_size",
                                                            "position",
                                                            "primitive_id",
                                                            "raster_order_group",
                                                            "render_target_array_index",
                                                            "required_threads_per_threadgroup",
                                                            "sample_id",
                                                            "sample_mask",
                                                            "sample_no_perspective",
                                                            "sample_perspective",
                                                            "sampler",
                                                            "share",
                                                            "stage_in",
                                                            "stencil",
                                                            "stitchable",
                                                            "texture",
                                                            "threadgroup",
                                                            "tile",
                                                            "user",
                                                            "vertex",
                                                            "vertex_id",
                                                            "viewport_array_index",
                                                            "visible"};
  return kNames;
}

// Templates of the library: after their names, `<` begins arguments and is no comparison.
const std::set<std::string, std::less<>>& library_templates() {
  static const std::set<std::string, std::less<>> kNames = {"vec",
                                                            "packed_vec",
                                                            "matrix",
                                                            "array",
                                                            "array_ref",
                                                            "atomic",
                                                            "as_type",
                                                            "static_cast",
                                                            "reinterpret_cast",
                                                            "const_cast",
                                                            "texture1d",
                                                            "texture1d_array",
                                                            "texture2d",
                                                            "texture2d_array",
                                                            "texture2d_ms",
                                                            "texture3d",
                                                            "texturecube",
                                                            "texturecube_array",
                                                            "texture_buffer",
                                                            "depth2d",
                                                            "depth2d_array",
                                                            "depth2d_ms",
                                                            "depth2d_ms_array",
                                                            "depthcube",
                                                            "depthcube_array",
                                                            "texture2d_ms_array",
                                                            "numeric_limits",
                                                            "simdgroup_matrix",
                                                            "make_filled_simdgroup_matrix",
                                                            "integral_constant",
                                                            "bool_constant",
                                                            "enable_if",
                                                            "enable_if_t",
                                                            "conditional",
                                                            "conditional_t",
                                                            "is_same",
                                                            "is_same_v",
                                                            "remove_cv_t",
                                                            "make_unsigned_t",
                                                            "make_signed_t"};
  return kNames;
}

// Returns the last token of the attributes whose `[[` is at `first`, or the first token that cannot
// be part of them.
size_t end_of_attributes(const std::vector<Token>& tokens, size_t first) {
  int depth = 0;
  size_t last = first;
  for (; last + 1 < tokens.size(); ++last) {
    const Token& token = tokens[last];
    if (token.is(";") || token.is("{") || token.is("}")) break;
    if (token.is("[") || token.is("(")) ++depth;
    if ((token.is("]") || token.is(")")) && --depth == 0) break;
  }
  return last;
}

}  // namespace

std::string unquoted(const std::string& literals) {
  std::string out;
  bool inside = false;
  for (char c : literals) {
    if (c == '"') {
      inside = !inside;
    } else if (inside) {
      out += c;
    }
  }
  return out;
}

bool is_builtin_attribute(std::string_view name) { return builtins().count(name) != 0; }

bool is_assignment(const Token& token) {
  static constexpr std::array<std::string_view, 11> kOperators = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return std::any_of(kOperators.begin(), kOperators.end(),
                     [&](std::string_view s) { return token.is(s); });
}

bool is_address_space(const Token& token) {
  return token.is("device") || token.is("constant") || token.is("threadgroup") ||
         token.is("thread");
}

bool is_builtin_type(const Token& token) {
  static const std::set<std::string, std::less<>> kScalars = {
      "bool",  "char",    "uchar",    "short",   "ushort",   "int",     "uint",     "long",
      "ulong", "half",    "float",    "bfloat",  "int8_t",   "uint8_t", "int16_t",  "uint16_t",
      "void",  "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t",  "unsigned", "signed"};
  if (!token.is_identifier()) return false;
  std::string_view name = token.text;
  if (kScalars.count(name) != 0) return true;
  if (name.size() > 2 && name.back() >= '2' && name.back() <= '4') name.remove_suffix(1);
  if (name.substr(0, 7) == "packed_") name.remove_prefix(7);
  return name != token.text && kScalars.count(name) != 0;
}

Code::Code(std::vector<Token>& tokens, std::vector<Message>& messages)
    : tokens_(tokens), messages_(messages), templates_(library_templates()) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].kind == TokenKind::Directive) continue;
    const bool opens = tokens_[i].is("[") && i + 1 < tokens_.size() && tokens_[i + 1].is("[") &&
                       tokens_[i + 1].offset == tokens_[i].offset + 1;
    size_t last = i;
    if (opens) {
      last = end_of_attributes(tokens_, i);
      // If `x[[` begins an index that is a lambda, no attribute name of Metal follows.
      const std::string_view name = tokens_[std::min(i + 2, last)].text;
      if (is_builtin_attribute(name) || metal_attributes().count(name) != 0) {
        if (tokens_[last].is("]") && tokens_[last - 1].is("]")) {
          take_attributes(i, last);
          i = last;
          continue;
        }
        error_at(tokens_[i].line, "expected ']]' at the end of [[" + std::string(name));
      }
    }
    at_.push_back(i);
  }
  match_brackets();
}

void Code::take_attributes(size_t first, size_t last) {
  std::vector<Attribute>& group = attributes_[at_.size()];
  for (size_t i = first + 2; i + 1 < last;) {
    Attribute attribute{std::string(tokens_[i].text), {}, tokens_[i].line};
    ++i;
    if (tokens_[i].is("(")) {
      int depth = 1;
      for (++i; i < last && depth != 0; ++i) {
        if (tokens_[i].is("(")) ++depth;
        if (tokens_[i].is(")") && --depth == 0) continue;
        if (!attribute.argument.empty()) attribute.argument += ' ';
        attribute.argument += tokens_[i].text;
      }
    }
    group.push_back(std::move(attribute));
    if (i < last && tokens_[i].is(",")) ++i;
  }
  for (size_t i = first; i <= last; ++i) tokens_[i].replace("");
}

void Code::match_brackets() {
  closing_.assign(at_.size(), at_.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < at_.size(); ++i) {
    const Token& token = (*this)[i];
    if (token.is("(") || token.is("[") || token.is("{")) open.push_back(i);
    if ((token.is(")") || token.is("]") || token.is("}")) && !open.empty()) {
      closing_[open.back()] = i;
      open.pop_back();
    }
  }
}

size_t Code::closing(size_t i) const { return i < size() ? closing_[i] : size(); }

bool Code::names_template(size_t i) const {
  return is_identifier(i) && templates_.find((*this)[i].text) != templates_.end();
}

size_t Code::behind_template_arguments(size_t i, bool of_any) const {
  if (!is(i, "<") || i == 0) return i;
  if (!of_any && !names_template(i - 1)) return i;
  int depth = 0;
  for (size_t k = i; k < size(); ++k) {
    if (is(k, "<")) ++depth;
    if (is(k, ">") && --depth == 0) return k + 1;
    if (is(k, "(") || is(k, "[")) {
      k = closing(k);
    } else if (is(k, ";") || is(k, "{") || is(k, "}") || is(k, ")") || is(k, "]")) {
      return i;
    }
  }
  return i;
}

const std::vector<Attribute>& Code::attributes_before(size_t i) const {
  static const std::vector<Attribute> kNone;
  const auto found = attributes_.find(i);
  return found == attributes_.end() ? kNone : found->second;
}

std::string Code::text(size_t begin, size_t end) const {
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    const Token& token = (*this)[i];
    const bool tight = i == begin || token.is("::") || (*this)[i - 1].is("::") || token.is("<") ||
                       token.is(",") || token.is(">") || (*this)[i - 1].is("<") || token.is("*") ||
                       token.is("&") || token.is("[") || token.is("]") || (*this)[i - 1].is("[") ||
                       token.is("(") || token.is(")") || (*this)[i - 1].is("(");
    if (!tight) out += ' ';
    out += token.replaced ? std::string_view(token.instead) : token.text;
  }
  return out;
}

}  // namespace softmetal
