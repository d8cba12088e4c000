// Performs the loads and stores of one runner, with every check.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interpret/memory.h"
#include "ir/interpret/races.h"
#include "ir/interpret/runner.h"
#include "support/function_ref.h"

namespace texloom::ir {

// Which lanes of a vector are evaluated: bit i for lane i.
using Mask = uint64_t;
inline constexpr Mask kAllLanes = ~Mask{0};
static_assert(kMaxLanes <= 64);
inline bool has_lane(Mask mask, int lane) { return (mask >> lane & 1) != 0; }

struct Binding {
  std::shared_ptr<Memory> memory;
  int64_t x = 0, y = 0;   // the first texel of a texture's rectangle
  bool is_param = false;  // whether this is a parameter of the program, which the caller sees
};
using Bindings = std::unordered_map<const BufferNode*, Binding>;

// The access histories of memory objects that several threads see. A launch has one for global
// memory, a block has one for shared memory.
class ObjectHistories {
 public:
  AccessHistory& of(const Memory& memory) { return histories_[&memory]; }

  struct ImageUse {
    const BufferNode* read = nullptr;  // the first tensor of the image that is read
    const BufferNode* written = nullptr;
    SourceLocation read_line, write_line;
  };
  ImageUse& use_of(const Memory& image) { return uses_[&image]; }

 private:
  std::unordered_map<const Memory*, AccessHistory> histories_;
  std::unordered_map<const Memory*, ImageUse> uses_;
};

// The memory that a runner sees. A buffer is in at most one of `outer`, `shared` and `own`, since
// definitions are unique.
struct View {
  const Bindings* outer = nullptr;  // the launch's memory; null if there is none
  Bindings* shared = nullptr;       // the block's memory; null outside kernels
  Bindings own;
  ObjectHistories* launch = nullptr;  // null outside kernels, where one runner does everything
  ObjectHistories* block = nullptr;

  const Binding& of(const BufferNode& buffer) const;
  // Allocates an array or image, unless it is shared memory that the block has already. Returns the
  // binding in both cases.
  const Binding& allocate(const BufferNode& buffer);
};

// Indices have one lane, or as many lanes as the value. Lanes of a loaded value that are outside
// the mask are zero.
class Accesses {
 public:
  Accesses(Runner& runner, View& view) : runner_(runner), view_(view) {}

  Value load(const Load& n, const std::vector<Value>& indices, Mask mask);
  Value load(const TextureLoad& n, const Scalar& x, const Scalar& y, Mask mask);
  void store(const Store& n, const std::vector<Value>& indices, const Value& value);
  // One element of a buffer, for a statement that is no Store.
  Scalar load(const StmtNode& n, const BufferNode& buffer, const std::vector<int64_t>& index);
  void store(const StmtNode& n, const BufferNode& buffer, const std::vector<int64_t>& index,
             Scalar value);
  // Makes the elements undefined that a store of this type, which is finished later, will write.
  void begin_store(const Store& n, const std::vector<Value>& indices, Type type);
  void store(const TextureStore& n, const Scalar& x, const Scalar& y, const Value& value);

 private:
  // An access by a node to a tensor.
  struct Site {
    const void* node;
    const SourceLocation& line;
    const BufferNode& buffer;
    const Binding& binding;
    bool writes;
    Type type;  // of the values: that of the elements, or one that holds their bits
  };
  // One element or one texel: its name, and its coordinates in the layout.
  struct Element {
    FunctionRef<std::string()> name;
    Coordinates at;
  };
  using Index = std::vector<int64_t>;

  Scalar load_lane(const Site& site, const std::vector<Value>& indices, int lane);
  void store_lane(const Site& site, const std::vector<Value>& indices, int lane, Scalar value);
  Scalar load_element(const Site& site, const Index& index);
  void store_element(const Site& site, const Index& index, Scalar value);
  bool is_inside(const Site& site, const Index& index) const;
  Coordinates coordinates(const BufferNode& buffer, const Index& index) const;

  Scalar read(const Site& site, const Element& place);
  void write(const Site& site, const Element& place, Scalar value);

  ObjectHistories* histories(const BufferNode& buffer) const;
  void note_access(const Site& site, const Element& place);
  void note_image_use(const Site& site, const Element& place, ObjectHistories& histories);

  Runner& runner_;
  View& view_;
};

}  // namespace texloom::ir
