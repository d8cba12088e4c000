// An example of embedding Texloom's runtime: loads a package and runs it on a picture.
//
//     embed PACKAGE IN.ppm OUT.ppm [DEVICE]
//
// DEVICE is a path such as "opencl:0", "metal" or "host"; by default "opencl", its first device.
// With EMBED_KERNELS (CMakeLists.txt) the program has the package's kernels itself, runs them on
// the processor, and needs no driver and no library. The package's graph takes an array (height,
// width, 3) of float32 from 0 to 1 and gives another. Everything that can fail returns a Status or
// a Result, which contains a value or a Status; nothing throws. TL_ASSIGN_OR_RETURN and
// TL_RETURN_IF_ERROR return an error to the caller.
#ifdef EMBED_KERNELS
#include EMBED_KERNELS_HEADER
#include <texloom/runtime/drivers/host/driver.h>
#else
#include <texloom/runtime/drivers/all/drivers.h>
#endif
#include <texloom/runtime/executor/executor.h>
#include <texloom/runtime/executor/load_graph.h>
#include <texloom/runtime/package/package_file.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

namespace hal = texloom::hal;
namespace runtime = texloom::runtime;
using texloom::Result;
using texloom::Status;
using texloom::StatusCode;

struct Picture {
  std::int64_t height = 0, width = 0;
  std::vector<float> values;  // red, green and blue of each pixel, row by row, from 0 to 1
};

Status bad_file(const std::string& file, const std::string& problem) {
  return Status(StatusCode::InvalidArgument, file + ": " + problem);
}

// Reads a binary portable pixmap (the format "P6" of Netpbm) with 8 bits for each value.
Result<Picture> read_picture(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string magic;
  Picture picture;
  int largest = 0;
  in >> magic;
  while (in >> std::ws && in.peek() == '#') in.ignore(1 << 16, '\n');
  in >> picture.width >> picture.height >> largest;
  in.get();  // one blank before the pixels
  if (!in || magic != "P6" || largest != 255)
    return bad_file(file, "not a PPM picture (P6) with values up to 255");
  constexpr std::int64_t kLargest = 1 << 15;
  if (picture.width < 1 || picture.height < 1 || picture.width > kLargest ||
      picture.height > kLargest)
    return bad_file(file, "the picture is empty or larger than 32768 pixels");
  std::vector<char> bytes(static_cast<std::size_t>(picture.width * picture.height * 3));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    return bad_file(file, "the picture is cut off");
  for (const char byte : bytes)
    picture.values.push_back(static_cast<float>(static_cast<unsigned char>(byte)) / 255);
  return picture;
}

Status write_picture(const std::string& file, const Picture& picture) {
  std::vector<char> bytes;
  for (const float value : picture.values)
    bytes.push_back(static_cast<char>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255)));
  std::ofstream out(file, std::ios::binary);
  out << "P6\n" << picture.width << ' ' << picture.height << "\n255\n";
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? Status() : Status(StatusCode::Unavailable, file + ": cannot be written");
}

// Runs a graph with one input and one output.
Result<Picture> apply(runtime::Executor& graph, const Picture& picture) {
  if (graph.interface().inputs.size() != 1 || graph.interface().outputs.size() != 1)
    return Status(StatusCode::InvalidArgument, "the graph has not one input and one output");
  const std::vector<std::int64_t> shape = {picture.height, picture.width, 3};
  TL_RETURN_IF_ERROR(graph.set_shape(0, shape));
  TL_RETURN_IF_ERROR(graph.set_input(0, std::as_bytes(std::span(picture.values))));
  TL_RETURN_IF_ERROR(graph.run());
  TL_ASSIGN_OR_RETURN(const runtime::Shape made, graph.output_shape(0));
  TL_ASSIGN_OR_RETURN(const std::uint64_t bytes, graph.output_bytes(0));
  if (made.size() != 3 || made[2] != 3 ||
      bytes != static_cast<std::uint64_t>(made[0] * made[1]) * 3 * sizeof(float))
    return Status(StatusCode::InvalidArgument, "the graph's output is not a picture");
  Picture result{made[0], made[1], std::vector<float>(bytes / sizeof(float))};
  TL_RETURN_IF_ERROR(graph.get_output(0, std::as_writable_bytes(std::span(result.values))));
  return result;
}

#ifdef EMBED_KERNELS
Result<std::shared_ptr<hal::Device>> open_device(const std::string&) {
  return hal::host::create_driver({.linked = {&EMBED_KERNELS}})->open(0);
}
#else
Result<std::shared_ptr<hal::Device>> open_device(const std::string& path) {
  hal::DriverRegistry drivers;
  TL_RETURN_IF_ERROR(hal::add_drivers(drivers));
  return drivers.open(path);
}
#endif

Status run(const std::string& package, const std::string& in, const std::string& out,
           const std::string& path) {
  TL_ASSIGN_OR_RETURN(const auto device, open_device(path));
  std::printf("device: %s\n", device->info().name.c_str());
  TL_ASSIGN_OR_RETURN(const auto file, runtime::PackageFile::open(package));
  TL_ASSIGN_OR_RETURN(const auto graph, runtime::load_graph(device, file));
  TL_ASSIGN_OR_RETURN(const auto executor,
                      runtime::Executor::create(graph.program, graph.interface));
  TL_ASSIGN_OR_RETURN(const Picture picture, read_picture(in));
  TL_ASSIGN_OR_RETURN(const Picture result, apply(*executor, picture));
  TL_RETURN_IF_ERROR(write_picture(out, result));
  std::printf("%s: %s of %d x %d pixels\n", out.c_str(), file->package().name.c_str(),
              static_cast<int>(result.width), static_cast<int>(result.height));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: embed PACKAGE IN.ppm OUT.ppm [DEVICE]\n");
    return 1;
  }
  const Status status = run(argv[1], argv[2], argv[3], argc == 5 ? argv[4] : "opencl");
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed: %s\n", status.to_string().c_str());
  return 1;
}
