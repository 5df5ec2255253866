#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builders/report/html/axis.h"

namespace frugal {

struct Point {
  double x = 0;
  double y = 0;
};

// Tells where a chart lies in its SVG, in user units. The classes that its parts carry are in
// ReportStyle().
struct ChartFrame {
  Axis x;
  Axis y;
  double width = 960;
  double height = 300;
  double left = 64;
  double right = 16;
  double top = 18;
  double bottom = 44;

  double X(double value) const { return left + x.ShareOf(value) * (width - left - right); }
  double Y(double value) const {
    return height - bottom - y.ShareOf(value) * (height - top - bottom);
  }
};

// The parts of a chart, each drawn over what was drawn before. Points that are not finite break
// lines and leave holes; they are never written, since an SVG that holds "nan" shows nothing.
class SvgChart {
 public:
  explicit SvgChart(ChartFrame frame);  // draws the axes

  const ChartFrame& frame() const { return frame_; }

  void Line(const std::vector<Point>& points, std::string_view style_class);
  // One dot for each point, with its text shown under the pointer.
  void Dots(const std::vector<Point>& points, const std::vector<std::string>& texts,
            std::string_view style_class);
  // Fills the area between two lines with the same x in ascending order.
  void Area(const std::vector<Point>& lower, const std::vector<Point>& upper,
            std::string_view colour, std::string_view hint);
  void VerticalLine(double x, std::string_view style_class);
  // Text at a point, moved by `offset` user units to the right (to the left and ending there where
  // it is negative).
  void Text(Point at, double offset, std::string_view text, std::string_view style_class);

  // The finished <svg> element; `title` says what it shows to those who cannot see it.
  std::string Finish(std::string_view title) const;

 private:
  void DrawAxes();
  std::string Position(const Point& point) const;

  ChartFrame frame_;
  std::string body_;
};

}  // namespace frugal
