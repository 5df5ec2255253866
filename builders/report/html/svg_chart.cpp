#include "builders/report/html/svg_chart.h"

#include <cmath>

#include "builders/report/html/html.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string Coordinate(double value) { return FixedText(value, 1); }

std::string Attribute(std::string_view name, const std::string& value) {
  return " " + std::string(name) + "=\"" + value + "\"";
}

std::string LineElement(Point from, Point to, std::string_view style_class) {
  return "<line" + Attribute("class", std::string(style_class)) +
         Attribute("x1", Coordinate(from.x)) + Attribute("y1", Coordinate(from.y)) +
         Attribute("x2", Coordinate(to.x)) + Attribute("y2", Coordinate(to.y)) + "/>\n";
}

// `anchor` is "start", "middle" or "end".
std::string TextElement(Point at, std::string_view anchor, std::string_view text,
                        std::string_view style_class) {
  return "<text" + Attribute("class", std::string(style_class)) + Attribute("x", Coordinate(at.x)) +
         Attribute("y", Coordinate(at.y)) + Attribute("text-anchor", std::string(anchor)) + ">" +
         EscapeHtml(text) + "</text>\n";
}

bool IsFinite(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

}  // namespace

SvgChart::SvgChart(ChartFrame frame) : frame_(std::move(frame)) { DrawAxes(); }

void SvgChart::DrawAxes() {
  const double floor = frame_.height - frame_.bottom;
  const double end = frame_.width - frame_.right;
  for (const Tick& tick : frame_.y.ticks) {
    const double y = frame_.Y(tick.at);
    body_ += LineElement({frame_.left, y}, {end, y}, "grid");
    body_ += TextElement({frame_.left - 8, y + 4}, "end", tick.text, "tick");
  }
  for (const Tick& tick : frame_.x.ticks) {
    const double x = frame_.X(tick.at);
    body_ += LineElement({x, floor}, {x, floor + 5}, "axis");
    body_ += TextElement({x, floor + 18}, "middle", tick.text, "tick");
  }
  body_ += LineElement({frame_.left, floor}, {end, floor}, "axis");
  body_ += TextElement({(frame_.left + end) / 2, frame_.height - 6}, "middle", frame_.x.title,
                       "axis-title");
  body_ += TextElement({frame_.left - 8, frame_.top - 8}, "start", frame_.y.title, "axis-title");
}

std::string SvgChart::Position(const Point& point) const {
  return Coordinate(frame_.X(point.x)) + " " + Coordinate(frame_.Y(point.y));
}

void SvgChart::Line(const std::vector<Point>& points, std::string_view style_class) {
  std::string path;
  bool is_open = false;
  for (const Point& point : points) {
    if (IsFinite(point)) path += (is_open ? "L" : "M") + Position(point);
    is_open = IsFinite(point);
  }
  if (path.empty()) return;
  body_ += "<path" + Attribute("class", std::string(style_class)) + Attribute("d", path) + "/>\n";
}

void SvgChart::Dots(const std::vector<Point>& points, const std::vector<std::string>& texts,
                    std::string_view style_class) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!IsFinite(points[i])) continue;
    body_ += "<circle" + Attribute("class", std::string(style_class)) +
             Attribute("cx", Coordinate(frame_.X(points[i].x))) +
             Attribute("cy", Coordinate(frame_.Y(points[i].y))) + " r=\"3.5\"><title>" +
             EscapeHtml(texts[i]) + "</title></circle>\n";
  }
}

void SvgChart::Area(const std::vector<Point>& lower, const std::vector<Point>& upper,
                    std::string_view colour, std::string_view hint) {
  if (upper.empty()) return;
  std::string path;
  for (const Point& point : upper) path += (path.empty() ? "M" : "L") + Position(point);
  for (auto point = lower.rbegin(); point != lower.rend(); ++point) path += "L" + Position(*point);
  body_ += "<path class=\"area\"" + Attribute("fill", std::string(colour)) +
           Attribute("d", path + "Z") + "><title>" + EscapeHtml(hint) + "</title></path>\n";
}

void SvgChart::VerticalLine(double x, std::string_view style_class) {
  body_ += LineElement({frame_.X(x), frame_.top}, {frame_.X(x), frame_.height - frame_.bottom},
                       style_class);
}

void SvgChart::Text(Point at, double offset, std::string_view text, std::string_view style_class) {
  body_ += TextElement({frame_.X(at.x) + offset, frame_.Y(at.y)}, offset < 0 ? "end" : "start",
                       text, style_class);
}

std::string SvgChart::Finish(std::string_view title) const {
  return "<svg role=\"img\"" + Attribute("aria-label", EscapeHtml(title)) +
         Attribute("viewBox", "0 0 " + Coordinate(frame_.width) + " " + Coordinate(frame_.height)) +
         ">\n" + body_ + "</svg>\n";
}

}  // namespace frugal
