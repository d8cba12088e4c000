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

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;  // streams would double a static program

constexpr std::int64_t kLargest = 1 << 15;

// The next number of a picture's header, behind blanks and comments; -1 if there is none. Reads the
// blank that follows, too.
std::int64_t read_number(std::FILE* in) {
  int c = std::fgetc(in);
  while (c == '#' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = std::fgetc(in);
    c = std::fgetc(in);
  }
  if (c < '0' || c > '9') return -1;
  std::int64_t number = 0;
  for (; c >= '0' && c <= '9' && number <= kLargest; c = std::fgetc(in))
    number = number * 10 + (c - '0');
  return number;
}

// Reads a binary portable pixmap (the format "P6" of Netpbm) with 8 bits for each value.
Result<Picture> read_picture(const std::string& file) {
  const File in(std::fopen(file.c_str(), "rb"));
  if (!in || std::fgetc(in.get()) != 'P' || std::fgetc(in.get()) != '6')
    return bad_file(file, "not a PPM picture (P6)");
  Picture picture;
  picture.width = read_number(in.get());
  picture.height = read_number(in.get());
  if (read_number(in.get()) != 255)
    return bad_file(file, "not a PPM picture with values up to 255");
  if (picture.width < 1 || picture.height < 1 || picture.width > kLargest ||
      picture.height > kLargest)
    return bad_file(file, "the picture is empty or larger than 32768 pixels");
  std::vector<unsigned char> bytes(static_cast<std::size_t>(picture.width * picture.height * 3));
  if (std::fread(bytes.data(), 1, bytes.size(), in.get()) != bytes.size())
    return bad_file(file, "the picture is cut off");
  for (const unsigned char byte : bytes) picture.values.push_back(static_cast<float>(byte) / 255);
  return picture;
}

Status write_picture(const std::string& file, const Picture& picture) {
  std::vector<unsigned char> bytes;
  for (const float value : picture.values)
    bytes.push_back(static_cast<unsigned char>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255)));
  File out(std::fopen(file.c_str(), "wb"));
  const bool is_written =
      out &&
      std::fprintf(out.get(), "P6\n%d %d\n255\n", static_cast<int>(picture.width),
                   static_cast<int>(picture.height)) > 0 &&
      std::fwrite(bytes.data(), 1, bytes.size(), out.get()) == bytes.size();
  if (!is_written || std::fclose(out.release()) != 0)
    return Status(StatusCode::Unavailable, file + ": cannot be written");
  return {};
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
