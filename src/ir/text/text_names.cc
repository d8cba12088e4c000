#include "ir/text/text_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/equal.h"
#include "ir/verify/verify_types.h"

namespace texloom::ir {
namespace {

template <class Node>
Ref<Node> find(const std::map<std::string, Ref<Node>>& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

bool same_declaration(const BufferNode& b, const Declaration& d) {
  const bool same_extents =
      std::equal(b.extents.begin(), b.extents.end(), d.extents.begin(), d.extents.end(),
                 [](const Expr& x, const Expr& y) { return equal(x, y); });
  return same_extents && b.type == d.type && b.shape == d.shape && b.memory == d.memory &&
         b.layout == d.layout && b.origin.x.same_as(d.origin.x) && b.origin.y.same_as(d.origin.y) &&
         b.origin.exact_image == d.origin.exact_image && b.nontemporal == d.nontemporal &&
         b.counts == d.counts;
}

constexpr std::string_view kRename = "give each thing in the text its own name";

}  // namespace

Expr TextNames::find_variable(const std::string& name) const {
  const Expr found = find(variables_, name);
  return !found && outer_ != nullptr ? outer_->find_variable(name) : found;
}
Buffer TextNames::find_buffer(const std::string& name) const { return find(buffers_, name); }

Expr TextNames::bind(const TextReader& reader, const NamedToken& name, Type type) {
  if (find_buffer(name.name)) {
    reader.wrong(name.token, std::string(kRename), "{} is a buffer", name.token.text);
  }
  Expr& var = variables_[name.name];
  if (!var) var = make_var(name.name, type);
  if (var->type != type) {
    reader.wrong(name.token, std::string(kRename), "{} is {} here and {} before", name.token.text,
                 to_string(type), to_string(var->type));
  }
  return var;
}

Buffer TextNames::declare(const TextReader& reader, const NamedToken& name,
                          const Declaration& declaration, SourceLocation location) {
  if (find_variable(name.name)) {
    reader.wrong(name.token, std::string(kRename), "{} is a variable", name.token.text);
  }
  Buffer& buffer = buffers_[name.name];
  if (buffer && !same_declaration(*buffer, declaration)) {
    reader.wrong(name.token, "declare it in the same way, or rename one of them",
                 "{} is declared differently than before", name.token.text);
  }
  if (buffer) return buffer;
  auto* node = new BufferNode;
  buffer = Buffer(node);
  node->name = name.name;
  node->type = declaration.type;
  node->shape = declaration.shape;
  node->extents = declaration.extents;
  node->memory = declaration.memory;
  node->layout = declaration.layout;
  node->origin = declaration.origin;
  node->nontemporal = declaration.nontemporal;
  node->counts = declaration.counts;
  node->location = std::move(location);
  const std::string problem = buffer_problem(*node);
  if (!problem.empty()) {
    reader.wrong(name.token, "correct the declaration", "{} cannot be declared like this: {}",
                 name.token.text, problem);
  }
  return buffer;
}

Expr TextNames::variable(const TextReader& reader, const NamedToken& name) const {
  if (Expr var = find_variable(name.name)) return var;
  if (find_buffer(name.name)) {
    reader.wrong(name.token, "name its indices in brackets", "{} is a buffer, not a variable",
                 name.token.text);
  }
  reader.wrong(
      name.token,
      fmt::format("bind {} by a loop, a let or a parameter before it is used", name.token.text),
      "there is no variable {} here", name.token.text);
}

Buffer TextNames::buffer(const TextReader& reader, const NamedToken& name) const {
  if (Buffer found = find_buffer(name.name)) return found;
  if (find_variable(name.name)) {
    reader.wrong(name.token, "only buffers have elements", "{} is a variable, not a buffer",
                 name.token.text);
  }
  reader.wrong(
      name.token,
      fmt::format("declare {} as a parameter or by an alloca before it is used", name.token.text),
      "there is no buffer {} here", name.token.text);
}

// -- Stage te.

void TextNames::add_tensors(const TextReader& reader, const NamedToken& name,
                            const std::vector<Tensor>& outputs) {
  if (tensors_.try_emplace(name.name, outputs).second) return;
  reader.wrong(name.token, std::string(kRename), "{} is a tensor already", name.token.text);
}

void TextNames::add_reducer(const TextReader& reader, const NamedToken& name,
                            const DeclaredReducer& reducer) {
  if (reducers_.try_emplace(name.name, reducer).second) return;
  reader.wrong(name.token, std::string(kRename), "{} is a reducer already", name.token.text);
}

Tensor TextNames::tensor(const TextReader& reader, const NamedToken& name, size_t output) const {
  if (const auto found = tensors_.find(name.name); found != tensors_.end()) {
    const std::vector<Tensor>& outputs = found->second;
    if (output < outputs.size()) return outputs[output];
    reader.wrong(name.token, "number the outputs from 0", "{} has {} {}, no number {}",
                 name.token.text, outputs.size(), outputs.size() == 1 ? "output" : "outputs",
                 output);
  }
  if (outer_ != nullptr) return outer_->tensor(reader, name, output);
  reader.wrong(name.token,
               fmt::format("declare a placeholder or compute {} above the stages that read it",
                           name.token.text),
               "there is no tensor {} here", name.token.text);
}

const DeclaredReducer& TextNames::reducer(const TextReader& reader, const NamedToken& name) const {
  if (const auto found = reducers_.find(name.name); found != reducers_.end()) return found->second;
  if (outer_ != nullptr) return outer_->reducer(reader, name);
  reader.wrong(name.token,
               fmt::format("declare it at the head, as in reducer {}(a, b): float32 = a + b, "
                           "identity=0.0",
                           name.token.text),
               "there is no reducer {}", name.token.text);
}

}  // namespace texloom::ir
