// Makes ids of devices (DeviceInfo::id) from the names that an API reports.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace texloom::hal {

// "NVIDIA CUDA NVIDIA H200" -> "nvidia-cuda-nvidia-h200"
std::string device_id(std::string_view names);

// Makes the ids of a driver's devices unique by appending "-2", "-3", … to all but the first.
class UniqueIds {
 public:
  std::string add(std::string id);

 private:
  std::map<std::string, int> seen_;
};

}  // namespace texloom::hal
