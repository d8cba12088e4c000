// An example of a program around compiled networks: reads the text of a scanned page.
//
//     ocr DETECTION.tlp DIRECTION.tlp RECOGNITION.tlp PAGE.png [BOXES.png [DEVICE]]
//
// DEVICE is a path such as "opencl:0" or "metal"; by default "opencl", its first device.
//
// The networks are those of PP-OCR, a package each that serves all sizes: one finds text, one tells
// whether it is upside down, one reads a line. docs/embedding.md says how to make the packages. The
// steps and the text are those of the demonstration in Python, apps/texloom_demo/ocr.
#include <texloom/runtime/drivers/all/drivers.h>
#include <texloom/runtime/executor/executor.h>
#include <texloom/runtime/executor/load_graph.h>
#include <texloom/runtime/package/package_file.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <variant>

#include "page.h"

namespace {

namespace hal = texloom::hal;
namespace runtime = texloom::runtime;
using texloom::Result;
using texloom::Status;
using texloom::StatusCode;

constexpr int kHeight = 48;   // of a line, in pixels
constexpr int kWidths = 320;  // widths of lines are multiples of this: few sizes are planned
constexpr int kBegin = 192;   // columns of a line, from which its direction is found
constexpr double kLargestScale = 2, kLongestSide = 1920;  // of a page, for detection

struct Network {
  std::shared_ptr<const runtime::PackageFile> file;
  std::unique_ptr<runtime::Executor> executor;
};

Result<Network> load(const std::shared_ptr<hal::Device>& device, const std::string& name) {
  TL_ASSIGN_OR_RETURN(auto file, runtime::PackageFile::open(name));
  TL_ASSIGN_OR_RETURN(const auto graph, runtime::load_graph(device, file));
  if (graph.interface.inputs.size() != 1 || graph.interface.outputs.size() != 1)
    return Status(StatusCode::InvalidArgument, name + " does not have one input and one output");
  TL_ASSIGN_OR_RETURN(auto executor, runtime::Executor::create(graph.program, graph.interface));
  return Network{std::move(file), std::move(executor)};
}

// Runs a network. Its output must be a multiple of `numbers` numbers.
Result<std::vector<float>> run(const Network& network, const runtime::Shape& shape,
                               const std::vector<float>& input, std::size_t numbers) {
  runtime::Executor& executor = *network.executor;
  TL_RETURN_IF_ERROR(executor.set_shape(0, shape));
  TL_RETURN_IF_ERROR(executor.set_input(0, std::as_bytes(std::span(input))));
  TL_RETURN_IF_ERROR(executor.run());
  TL_ASSIGN_OR_RETURN(const auto bytes, executor.output_bytes(0));
  if (bytes == 0 || bytes % (numbers * sizeof(float)) != 0)
    return Status(StatusCode::InvalidArgument,
                  network.file->package().name + " is not the network that this argument needs");
  std::vector<float> output(bytes / sizeof(float));
  TL_RETURN_IF_ERROR(executor.get_output(0, std::as_writable_bytes(std::span(output))));
  return output;
}

// Adds a picture to an input: planes of numbers from -1 to 1 of that width, with zeros at the end.
void append(std::vector<float>& input, const Picture& picture, int width) {
  for (int color = 0; color < 3; ++color)
    for (int row = 0; row < picture.rows; ++row)
      for (int i = 0; i < width; ++i) {
        const int place = 3 * (row * picture.columns + i) + color;
        input.push_back(i < picture.columns ? picture.values[place] / 127.5F - 1 : 0);
      }
}

Result<std::vector<Box>> detect(const Network& detection, const Picture& page) {
  const double width = page.columns, height = page.rows;
  const double scale = std::min(kLargestScale, kLongestSide / std::max(width, height));
  const int rows = 32 * std::max(1, static_cast<int>(std::nearbyint(height * scale / 32)));
  const int columns = 32 * std::max(1, static_cast<int>(std::nearbyint(width * scale / 32)));
  std::vector<float> input;
  append(input, part(page, {{-0.5, -0.5}, width, {0, height}}, rows, columns), columns);
  TL_ASSIGN_OR_RETURN(const auto made,
                      run(detection, {1, 3, rows, columns}, input, std::size_t(rows) * columns));
  return find_boxes(made, columns, {width / columns, height / rows});
}

Picture line_in(const Picture& page, const Box& box) {
  const double width = std::abs(box.along) * kHeight / std::abs(box.down);
  return part(page, box, kHeight, std::max(1, static_cast<int>(std::nearbyint(width))));
}

// Turns all boxes if the page is upside down, which is decided by all lines together.
Status turn(const Network& direction, const Picture& page, std::vector<Box>& boxes) {
  std::vector<float> input;
  for (const Box& box : boxes) append(input, line_in(page, box), kBegin);
  const auto count = static_cast<std::int64_t>(boxes.size());
  TL_ASSIGN_OR_RETURN(const auto made,
                      run(direction, {count, 3, kHeight, kBegin}, input, 2 * boxes.size()));
  double sum = 0;
  for (std::size_t i = 1; i < made.size(); i += 2) sum += made[i];
  if (sum <= 0.5 * static_cast<double>(count)) return {};
  for (Box& box : boxes) box = {box.corner + box.along + box.down, -box.along, -box.down};
  return {};
}

// The character of each class of a network. Between characters there is the first class, a blank.
std::vector<std::string> characters(const runtime::Package& recognition) {
  std::vector<std::string> made = {""};
  for (const runtime::Attribute& each : recognition.metadata) {
    const auto* text = std::get_if<std::string>(&each.value);
    std::istringstream lines(each.name == "character" && text != nullptr ? *text : "");
    for (std::string line; std::getline(lines, line);) made.push_back(line);
  }
  made.emplace_back(" ");
  return made;
}

// Equal classes of adjacent steps are one character (Graves et al., 2006).
Result<std::string> recognize(const Network& recognition, const Picture& line,
                              const std::vector<std::string>& classes) {
  const int width = (line.columns + kWidths - 1) / kWidths * kWidths;
  std::vector<float> input;
  append(input, line, width);
  TL_ASSIGN_OR_RETURN(const auto scores,
                      run(recognition, {1, 3, kHeight, width}, input, classes.size()));
  std::string text;
  std::ptrdiff_t last = 0;
  for (auto step = scores.begin(); step != scores.end(); step += classes.size()) {
    const auto best = std::max_element(step, step + classes.size()) - step;
    if (best != last) text += classes[best];
    last = best;
  }
  return text;
}

Status read(const std::vector<std::string>& files) {
  TL_ASSIGN_OR_RETURN(Picture page, read_picture(files[3]));
  hal::DriverRegistry drivers;
  TL_RETURN_IF_ERROR(hal::add_drivers(drivers, {.binary_cache = hal::binary_cache_of_environment}));
  TL_ASSIGN_OR_RETURN(const auto device, drivers.open(files.size() > 5 ? files[5] : "opencl"));
  TL_ASSIGN_OR_RETURN(const Network detection, load(device, files[0]));
  TL_ASSIGN_OR_RETURN(const Network direction, load(device, files[1]));
  TL_ASSIGN_OR_RETURN(const Network recognition, load(device, files[2]));
  const auto classes = characters(recognition.file->package());
  TL_ASSIGN_OR_RETURN(std::vector<Box> boxes, detect(detection, page));
  if (!boxes.empty()) TL_RETURN_IF_ERROR(turn(direction, page, boxes));
  for (const Box& box : boxes) {
    TL_ASSIGN_OR_RETURN(const auto text, recognize(recognition, line_in(page, box), classes));
    std::printf("%s\n", text.c_str());
  }
  for (const Box& box : boxes) draw(page, box);
  return files.size() > 4 ? write_picture(files[4], page) : Status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 7) {
    std::fputs(
        "usage: ocr DETECTION.tlp DIRECTION.tlp RECOGNITION.tlp PAGE.png "
        "[BOXES.png [DEVICE]]\n",
        stderr);
    return 1;
  }
  const Status status = read({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "ocr: %s\n", status.to_string().c_str());
  return 1;
}
