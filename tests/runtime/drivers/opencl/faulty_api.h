// A table of OpenCL functions in which one call fails, and which counts live objects.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"

namespace texloom::hal::opencl {

inline constexpr std::array kFunctionNames = {
#define TL_OPENCL_NAME(name) std::string_view(#name),
    TL_OPENCL_FUNCTIONS(TL_OPENCL_NAME)
#undef TL_OPENCL_NAME
};

enum class Failing {
  OutOfResources,   // returns CL_OUT_OF_RESOURCES and does nothing
  OutOfHostMemory,  // returns CL_OUT_OF_HOST_MEMORY; only for calls that create objects
  MakesNothing,     // reports success but creates no object or event
};
inline constexpr std::array kAllFailing = {Failing::OutOfResources, Failing::OutOfHostMemory,
                                           Failing::MakesNothing};

struct Fault {
  std::size_t function = kFunctionNames.size();  // index into kFunctionNames; its size means none
  int occurrence = 0;  // number of the call among those that can fail this way, from 1
  Failing failing = Failing::OutOfResources;
};

// Records what happened since the last arm(). The state is global, since OpenCL functions take no
// user pointer; thread safe.
class FaultyApi {
 public:
  // Returns the table for the driver. `real` must not change while the table is in use.
  static Api wrap(const Api& real);

  static void arm(const Fault& fault) {
    const std::scoped_lock lock(state().mutex);
    state().fault = fault;
    state().calls = {};
    state().fired = false;
    state().first_integer = 0;
  }
  static void disarm() { arm({}); }
  static bool fired() {
    const std::scoped_lock lock(state().mutex);
    return state().fired;
  }
  // Returns the number of calls that could have failed this way.
  static int calls(std::size_t function, Failing failing) {
    const std::scoped_lock lock(state().mutex);
    return state().calls[function][static_cast<std::size_t>(failing)];
  }
  // Returns the first cl_uint argument of the failed call: for most queries, the queried property.
  static cl_uint first_integer() {
    const std::scoped_lock lock(state().mutex);
    return state().first_integer;
  }

  // Returns and clears the unreleased objects, by the function that releases them, and other
  // errors.
  static std::vector<std::string> take_complaints() {
    const std::scoped_lock lock(state().mutex);
    std::vector<std::string> all = std::exchange(state().complaints, {});
    for (const auto& [kind, objects] : state().live) {
      if (!objects.empty()) all.push_back(std::to_string(objects.size()) + " left for " + kind);
    }
    state().live.clear();
    return all;
  }

 private:
  template <std::size_t kFunction, auto Member>
  struct Replaced;

  struct State {
    std::mutex mutex;
    Api real;
    Fault fault;
    std::array<std::array<int, kAllFailing.size()>, kFunctionNames.size()> calls = {};
    bool fired = false;
    cl_uint first_integer = 0;
    std::map<std::string, std::multiset<const void*>> live;  // by the function that releases them
    std::vector<std::string> complaints;
  };
  static State& state() {
    static State state;
    return state;
  }

  template <typename... Args>
  static bool fails(std::size_t function, Failing failing, const Args&... args) {
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    const int call = ++s.calls[function][static_cast<std::size_t>(failing)];
    if (s.fault.function != function || s.fault.failing != failing) return false;
    if (call != s.fault.occurrence) return false;
    s.fired = true;
    bool found = false;
    const auto look_at = [&](const auto& argument) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, cl_uint>) {
        if (!std::exchange(found, true)) s.first_integer = argument;
      }
    };
    (look_at(args), ...);
    return true;
  }

  static void add(const char* releases, const void* object) {
    const std::scoped_lock lock(state().mutex);
    state().live[releases].insert(object);
  }
  static void remove(const char* releases, const void* object) {
    const std::scoped_lock lock(state().mutex);
    auto& objects = state().live[releases];
    const auto found = objects.find(object);
    if (found == objects.end())
      state().complaints.push_back(std::string(releases) + " of what is not there");
    else
      objects.erase(found);
  }

  // The function that releases an object of this type.
  static constexpr const char* releases(cl_context) { return "clReleaseContext"; }
  static constexpr const char* releases(cl_command_queue) { return "clReleaseCommandQueue"; }
  static constexpr const char* releases(cl_mem) { return "clReleaseMemObject"; }
  static constexpr const char* releases(cl_program) { return "clReleaseProgram"; }
  static constexpr const char* releases(cl_kernel) { return "clReleaseKernel"; }
  static constexpr const char* releases(cl_event) { return "clReleaseEvent"; }
  static constexpr const char* releases(void*) { return "clEnqueueUnmapMemObject"; }

  template <typename Object>
  static void release(Object object) {
    if constexpr (std::is_same_v<Object, cl_event>) {
      cl_int now = CL_COMPLETE;
      state().real.clGetEventInfo(object, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now,
                                  nullptr);
      const std::scoped_lock lock(state().mutex);
      if (now > CL_COMPLETE)
        state().complaints.push_back("an event was released before its command was complete");
    }
    remove(releases(object), object);
  }
};

template <std::size_t kFunction, typename R, typename... Args,
          R (CL_API_CALL* Api::*Member)(Args...)>
struct FaultyApi::Replaced<kFunction, Member> {
  static constexpr std::string_view kName = kFunctionNames[kFunction];
  using Last = std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>;
  static constexpr bool kMakesObject = std::is_pointer_v<R>;
  static constexpr bool kReleases = kName.starts_with("clRelease");
  static constexpr bool kUnmaps = kName == "clEnqueueUnmapMemObject";

  static R CL_API_CALL call(Args... args) {
    const auto all = std::tie(args...);
    const auto real = [&] { return (state().real.*Member)(args...); };
    auto& last = std::get<sizeof...(Args) - 1>(all);
    // An object counts as released even if the release fails: it must not be used afterwards.
    if constexpr (kReleases) release(std::get<0>(all));
    if constexpr (kUnmaps) remove("clEnqueueUnmapMemObject", std::get<2>(all));
    if (fails(kFunction, Failing::OutOfResources, args...)) {
      if constexpr (kReleases) real();
      return error(CL_OUT_OF_RESOURCES, last);
    }
    if constexpr (kMakesObject) {
      if (fails(kFunction, Failing::OutOfHostMemory, args...))
        return error(CL_OUT_OF_HOST_MEMORY, last);
      if (fails(kFunction, Failing::MakesNothing, args...)) return error(CL_SUCCESS, last);
      const R object = real();
      if (object != nullptr) add(releases(object), object);
      return object;
    } else if constexpr (std::is_same_v<Last, cl_event*>) {
      const R code = real();
      if (last == nullptr || *last == nullptr) return code;
      if (fails(kFunction, Failing::MakesNothing, args...)) {
        state().real.clReleaseEvent(*last);
        *last = nullptr;
      } else {
        add(releases(*last), *last);
      }
      return code;
    } else {
      return real();
    }
  }

  static R error(cl_int code, [[maybe_unused]] const Last& last) {
    if constexpr (kMakesObject) {
      if (last != nullptr) *last = code;
      return nullptr;
    } else {
      return code;
    }
  }
};

inline Api FaultyApi::wrap(const Api& real) {
  {
    const std::scoped_lock lock(state().mutex);
    state().real = real;
  }
  Api api;
  [&]<std::size_t... kFunction>(std::index_sequence<kFunction...>) {
    constexpr auto kMembers = std::tuple_cat(
#define TL_OPENCL_PLACE(name) std::tuple(&Api::name),
        TL_OPENCL_FUNCTIONS(TL_OPENCL_PLACE)
#undef TL_OPENCL_PLACE
            std::tuple());
    ((api.*std::get<kFunction>(kMembers) =
          Replaced<kFunction, std::get<kFunction>(kMembers)>::call),
     ...);
  }(std::make_index_sequence<kFunctionNames.size()>());
  return api;
}

}  // namespace texloom::hal::opencl
