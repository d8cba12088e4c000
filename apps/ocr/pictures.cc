#include <png.h>

#include <algorithm>
#include <cmath>

#include "page.h"

using texloom::Status;
using texloom::StatusCode;

texloom::Result<Picture> read_picture(const std::string& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  std::vector<png_byte> bytes;
  std::string why;
  if (png_image_begin_read_from_file(&image, file.c_str()) != 0) {
    image.format = PNG_FORMAT_RGB;
    if (std::max(image.width, image.height) > 16384) why = "wider or higher than 16384 pixels";
    if (why.empty()) bytes.resize(PNG_IMAGE_SIZE(image));
    const png_color white = {255, 255, 255};  // behind transparent pixels
    if (why.empty()) png_image_finish_read(&image, &white, bytes.data(), 0, nullptr);
    png_image_free(&image);
  }
  if (PNG_IMAGE_FAILED(image)) why = image.message;
  if (!why.empty()) return Status(StatusCode::InvalidArgument, file + ": " + why);
  return Picture{static_cast<int>(image.height), static_cast<int>(image.width),
                 std::vector<float>(bytes.begin(), bytes.end())};
}

Status write_picture(const std::string& file, const Picture& picture) {
  const std::vector<png_byte> bytes(picture.values.begin(), picture.values.end());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.columns);
  image.height = static_cast<png_uint_32>(picture.rows);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, file.c_str(), 0, bytes.data(), 0, nullptr) != 0) return {};
  return Status(StatusCode::Unavailable, file + ": " + image.message);
}

Picture part(const Picture& page, const Box& box, int rows, int columns) {
  const Point across = box.along / static_cast<double>(columns);
  const Point down = box.down / static_cast<double>(rows);
  // A pixel is the mean of n * n samples, each of which is interpolated between four pixels.
  const int n = static_cast<int>(std::ceil(std::max(std::abs(across), std::abs(down))));
  Picture made{rows, columns, std::vector<float>(std::size_t{3} * rows * columns)};
  for (int row = 0; row < rows * n; ++row) {
    for (int column = 0; column < columns * n; ++column) {
      const Point p = box.corner + across * ((column + 0.5) / n) + down * ((row + 0.5) / n);
      const double left = std::floor(p.real()), top = std::floor(p.imag());
      float* const values = &made.values[3 * (row / n * columns + column / n)];
      for (const double y : {top, top + 1}) {
        for (const double x : {left, left + 1}) {
          const double weight = (1 - std::abs(p.real() - x)) * (1 - std::abs(p.imag() - y));
          const double nearest = std::clamp(y, 0.0, page.rows - 1.0) * page.columns +
                                 std::clamp(x, 0.0, page.columns - 1.0);
          const float* const from = &page.values[3 * static_cast<std::size_t>(nearest)];
          for (int k = 0; k < 3; ++k) values[k] += static_cast<float>(weight / n / n) * from[k];
        }
      }
    }
  }
  return made;
}

void draw(Picture& page, const Box& box) {
  const Point sides[][2] = {{box.corner, box.along},
                            {box.corner, box.down},
                            {box.corner + box.along, box.down},
                            {box.corner + box.down, box.along}};
  for (const auto& [from, side] : sides) {
    for (double step = 0; step < std::abs(side); ++step) {
      const Point p = from + side * (step / std::abs(side));
      const auto x = std::lround(p.real()), y = std::lround(p.imag());
      if (x < 0 || y < 0 || x >= page.columns || y >= page.rows) continue;
      float* const values = &page.values[3 * (y * page.columns + x)];
      values[0] = 207, values[1] = 34, values[2] = 46;
    }
  }
}
