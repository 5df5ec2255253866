#include "builders/report/html/svg_chart.h"

#include <limits>

#include "builders/report/html/html.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

SvgChart SmallChart() {
  return SvgChart({.x = CountAxis(0, 10, "x"),
                   .y = ValueAxis(0, 10, "<y>"),
                   .width = 100,
                   .height = 100,
                   .left = 0,
                   .right = 0,
                   .top = 0,
                   .bottom = 0});
}

}  // namespace

TEST_CASE("A line runs through its points and breaks where one is missing") {
  SvgChart chart = SmallChart();
  chart.Line({{0, 0}, {5, 10}, {6, kMissing}, {10, 5}}, "loss");
  CHECK(Contains(chart.Finish(""), "d=\"M0.0 100.0L50.0 0.0M100.0 50.0\""));
}

TEST_CASE("A line of nothing draws nothing") {
  SvgChart chart = SmallChart();
  const std::string before = chart.Finish("");
  chart.Line({}, "loss");
  chart.Line({{1, kMissing}}, "loss");
  chart.Area({}, {}, "#fff", "");
  chart.Dots({{kMissing, 1}}, {"gone"}, "dot");
  CHECK(chart.Finish("") == before);
}

TEST_CASE("Texts in charts and tables are escaped") {
  SvgChart chart = SmallChart();
  chart.Dots({{1, 1}}, {"<script>"}, "dot");
  chart.Area({{0, 0}}, {{0, 1}}, "#fff", "a & b");
  chart.Text({1, 1}, -2, "\"'", "value");
  const std::string svg = chart.Finish("<title> & \"quote\"");
  CHECK(Contains(svg, "&lt;script&gt;"));
  CHECK(Contains(svg, "&lt;y&gt;"));
  CHECK(Contains(svg, "a &amp; b"));
  CHECK(Contains(svg, "text-anchor=\"end\">&quot;&#39;</text>"));
  CHECK(Contains(svg, "aria-label=\"&lt;title&gt; &amp; &quot;quote&quot;\""));

  HtmlTable table;
  table.columns = {{"<b>"}, {"n", true}};
  table.rows = {{{"<i>"}, {.text = "1", .style_class = "share", .bar = 2, .hint = "\"x"}}};
  const std::string html = ToHtml(table);
  CHECK(Contains(html, "<th>&lt;b&gt;</th>"));
  CHECK(Contains(html, "<td>&lt;i&gt;</td>"));
  CHECK(Contains(html, "<td class=\"number share\" title=\"&quot;x\">"));
  CHECK(Contains(html, "width:50.0%"));
  CHECK(EscapeHtml("a\x01\xFF") == "a??");
}

}  // namespace frugal
