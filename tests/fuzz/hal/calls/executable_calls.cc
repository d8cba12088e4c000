// Draws executables: built at once or at first use, with valid and invalid tables and code.
#include <algorithm>
#include <utility>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/kernels.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostExecutables = 6;

// Adds one kind of misuse, and returns its documented outcome.
StatusCode spoil(World& world, ExecutableDesc& desc) {
  EntryPoint& entry = world.random.pick(desc.entry_points);
  switch (world.random.below(13)) {
    case 0:
      desc.codes.clear();
      break;
    case 1:
      desc.entry_points.clear();
      break;
    case 2:
      desc.entry_points.push_back(entry);
      break;
    case 3:
      entry.name.clear();
      break;
    case 4:
      entry.workgroup_size[world.random.below(3)] = 0;
      break;
    case 5:
      entry.workgroup_size.fill(~0U);
      break;
    case 6:
      entry.workgroup_size = {64, 64, 64};
      break;
    case 7:
      entry.params.emplace_back(ConstantParam{.name = "k", .type = ElementType::Int8});
      break;
    case 8:
      entry.params.emplace_back(TextureParam{.name = "t", .access = Access::ReadWrite});
      break;
    case 9:
      for (int i = 0; i < 600; ++i) entry.params.emplace_back(BufferParam{.name = "x"});
      break;
    case 10:
      for (int i = 0; i < 129; ++i)
        entry.params.emplace_back(TextureParam{.name = "t", .format = TexelFormat::Rgba8Int});
      break;
    case 11:
      entry.grid = Grid{Size::loop_variable(0), Size(1), Size(1)};
      break;
    default:
      desc.codes = {{.format = KernelFormat::Msl, .code = ""}};
      break;
  }
  return StatusCode::InvalidArgument;
}

// Adds an error that only building finds. The driver `null` builds nothing.
StatusCode break_code(World& world, ExecutableDesc& desc) {
  if (world.random.chance(50)) {
    desc.codes.back().code = "no such library";
  } else {
    world.random.pick(desc.entry_points).name = "no_such_function";
  }
  return StatusCode::NotFound;
}

ExecutableDesc draw_desc(World& world, std::vector<const Kernel*>& chosen) {
  ExecutableDesc desc{.codes = {{.format = KernelFormat::HostFunctions, .code = "fuzz"}},
                      .entry_points = {},
                      .build = world.random.chance(50) ? BuildTime::FirstUse : BuildTime::Creation};
  if (world.random.chance(20))
    desc.codes.insert(desc.codes.begin(), {.format = KernelFormat::Msl, .code = "anything"});
  for (const Kernel& kernel : kernels())
    if (kernel.entry.name != "failing" || world.random.chance(30)) chosen.push_back(&kernel);
  while (chosen.size() > 1 && world.random.chance(40))
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(world.random.below(chosen.size())));
  for (const Kernel* kernel : chosen) desc.entry_points.push_back(kernel->entry);
  return desc;
}

}  // namespace

void draw_create_executable(World& world) {
  if (world.executables.size() >= kMostExecutables) {
    const std::size_t place = world.random.below(world.executables.size());
    world.call("release {}", world.executables[place].name);
    world.executables.erase(world.executables.begin() + static_cast<std::ptrdiff_t>(place));
    return;
  }
  ExecutableModel executable{.name = world.name("executable "), .handle = {}, .kernels = {}};
  ExecutableDesc desc = draw_desc(world, executable.kernels);
  bool valid = true;
  StatusCode code = StatusCode::InvalidArgument;
  const char* what = "";
  if (world.random.chance(25)) {
    code = spoil(world, desc);
    valid = false;
    what = ", a wrong table";
  } else if (world.random.chance(15)) {
    code = break_code(world, desc);
    executable.broken = world.devices.computes;
    valid = !executable.broken || desc.build == BuildTime::FirstUse;
    what = ", code that cannot be built";
  } else if (world.random.chance(8)) {
    desc.codes = {{.format = KernelFormat::Msl, .code = "x"}};
    code = StatusCode::Unimplemented;
    valid = !world.devices.computes;
    what = ", an unknown format";
  }
  world.call("{} = create_executable({} kernels, {}{})", executable.name, executable.kernels.size(),
             desc.build == BuildTime::FirstUse ? "built at first use" : "built at once", what);
  auto made = world.device.create_executable(desc);
  world.expect(made.status(), valid, code);
  if (!valid) return;
  executable.handle = *made;
  world.executables.push_back(std::move(executable));
}

void draw_use_executable(World& world) {
  if (world.executables.empty()) return;
  const ExecutableModel& executable = world.random.pick(world.executables);
  if (world.random.chance(50)) {
    world.call("{}.prepare()", executable.name);
    world.expect(executable.handle->prepare(), !executable.broken, StatusCode::NotFound);
    return;
  }
  const bool known = world.random.chance(70);
  const std::string name = known ? executable.handle->entry_points().front().name : "nobody";
  world.call("{}.find({})", executable.name, name);
  const auto found = executable.handle->find(name);
  world.expect(found.status(), known, StatusCode::NotFound);
  world.check(!found.ok() || *found == 0, "an entry point is not where it was put");
}

}  // namespace texloom::hal::fuzz
