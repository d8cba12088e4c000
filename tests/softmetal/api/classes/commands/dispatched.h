// A dispatch with all bound arguments.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/softmetal/api/classes/checks/hazards.h"
#include "tests/softmetal/api/classes/resources/storage.h"
#include "tests/softmetal/execute/dispatch.h"

namespace softmetal {

// A resource as the search for hazards names it.
struct UsedObject {
  const void* object = nullptr;
  std::string name;
  bool is_tracked = false;
};

// A buffer, or a texture, that argument buffers may refer to.
struct Resident {
  Part part;
  UsedObject object;
  std::shared_ptr<Texture> texture = nullptr;  // null for a buffer
};

class Dispatched {
 public:
  std::shared_ptr<Function> function;
  uint32_t simd_width = 32;
  Arguments arguments;
  Grid grid;
  struct Indirect {
    Part part;
    size_t offset = 0;
    UsedObject object;
  };
  std::optional<Indirect> indirect;  // if not set, `grid` applies

  void bind(int index, const Part& part, size_t offset, const UsedObject& object,
            bool is_writable = true);
  void bind(int index, const std::shared_ptr<Texture>& texture, const Part& part,
            const UsedObject& object);
  // Adds a resource that argument buffers may refer to, unless it was added before.
  void make_resident(const Resident& resident, bool is_writable);
  // Returns whether a resident buffer may be written; empty if the buffer is not resident.
  // `of_sets` are the resources of residency sets.
  std::optional<bool> residency_of(const Part& buffer, const std::vector<Resident>& of_sets) const;

  // Returns why the arguments do not fit the function, or an empty string.
  std::string problem() const;
  // Returns the error, if any; reports hazards as misuses. `residents` are those of residency sets.
  std::string run(Pass& pass, const std::vector<Resident>& residents);

 private:
  struct Place {
    Part part;
    UsedObject object;
    std::shared_ptr<Texture> texture;
  };
  RunOptions options() const;
  bool has_argument_buffers() const;
  void add_use(const Pass& pass, const Touched& touched);

  std::map<const void*, Place> places_;  // by buffer address or by texture
};

// Compares a use of memory with earlier uses, and reports hazards.
void check_use(const Pass& pass, const std::string& what, const Part& part, Use use);

}  // namespace softmetal
