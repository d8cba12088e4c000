// Pages, and boxes around their text.
#pragma once

#include <texloom/support/status.h>

#include <complex>
#include <span>
#include <string>
#include <vector>

struct Picture {
  int rows = 0, columns = 0;
  std::vector<float> values;  // red, green and blue of each pixel, row by row, from 0 to 255
};

using Point = std::complex<double>;  // column and row

// A rectangle: the corner where its text begins, at the top, and the sides from there.
struct Box {
  Point corner, along, down;
};

// boxes.cc: the boxes around text, from top to bottom, given the probability that each pixel of a
// picture is text. A pixel's size is `scale` in the boxes.
std::vector<Box> find_boxes(std::span<const float> probability, int columns, Point scale);

// pictures.cc: reads and writes PNG files, returns the part of a page in a box as `rows` by
// `columns` pixels, and draws the sides of a box.
texloom::Result<Picture> read_picture(const std::string& file);
texloom::Status write_picture(const std::string& file, const Picture& picture);
Picture part(const Picture& page, const Box& box, int rows, int columns);
void draw(Picture& page, const Box& box);
