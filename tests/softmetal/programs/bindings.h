// Binds the arguments of softmetal-run to a kernel.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/softmetal/execute/dispatch.h"
#include "tests/softmetal/programs/npy.h"
#include "tests/softmetal/programs/run_command.h"

namespace softmetal {

class Bindings {
 public:
  Bindings(const Function& function, const RunCommand& command)
      : function_(function), command_(command) {}

  // If a file or a shape does not fit, returns false and sets `problem`.
  bool bind(std::string& problem);
  const Arguments& arguments() const { return arguments_; }
  // Writes changed arrays back to their files.
  bool write_back(std::string& problem);

 private:
  NpyArray* array(const std::string& file, std::string& problem);
  bool has_parameter(const char* option, BindingKind kind, int index, std::string& problem) const;
  bool bind_bytes(int index, const std::string& text, std::string& problem);
  bool bind_argument_buffer(int index, const std::vector<std::string>& values,
                            std::string& problem);
  std::vector<MemberInfo> slots_of(const ArgumentInfo& a, size_t count, std::string& problem) const;
  bool read_constant(const std::string& value, std::vector<uint8_t>& bytes, std::string& problem);
  bool bind_member(const MemberInfo& member, const std::string& value, const std::string& name,
                   char* buffer, std::string& problem);
  bool bind_texture(int index, const std::string& file, std::string& problem);
  bool bind_sampler(int index, const std::string& words, std::string& problem);
  Texture* make_texture(const std::string& file, uint32_t type, std::string& problem);
  const ArgumentInfo* parameter(BindingKind kind, int index) const;

  const Function& function_;
  const RunCommand& command_;
  Arguments arguments_;
  std::map<std::string, std::unique_ptr<NpyArray>> arrays_;  // one for each file
  std::vector<std::unique_ptr<Texture>> textures_;
  std::vector<std::unique_ptr<std::vector<uint64_t>>> argument_buffers_;
};

}  // namespace softmetal
