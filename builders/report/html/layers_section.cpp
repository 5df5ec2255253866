#include <algorithm>

#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/rows/layer_times.h"
#include "builders/report/text/layer_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string CountOrDash(std::int64_t count) { return count == 0 ? "-" : FormatCount(count); }
std::string BytesOrDash(std::int64_t bytes) { return bytes == 0 ? "-" : FormatBytes(bytes); }

double ShareOf(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Time, share of it, GFLOP/s, and the most that was live.
void AddMeasured(const LayerMeasurement& layer, double seconds, std::vector<HtmlCell>& row) {
  const double share = ShareOf(layer.seconds, seconds);
  const bool has_rate = layer.seconds > 0 && layer.flops > 0;
  row.push_back({FixedText(layer.seconds * 1e3, 2) + " ms"});
  row.push_back({PercentText(share), "share", share});
  row.push_back({has_rate ? FixedText(layer.flops / layer.seconds / 1e9, 1) : "-"});
  row.push_back({BytesOrDash(layer.peak_live_bytes)});
}

std::vector<HtmlColumn> ColumnsOf(bool segments, bool measured) {
  std::vector<HtmlColumn> columns = {
      {"path"}, {"layer"}, {"output"}, {"parameters", true}, {"keeps", true}};
  if (segments) columns.push_back({"segment"});
  if (!measured) return columns;
  for (const char* title : {"time", "share", "GFLOP/s", "live at most"}) {
    columns.push_back({title, true});
  }
  return columns;
}

HtmlCell SegmentCell(const LayerPlan& layer) {
  const int segment = layer.segment;
  if (segment < 0) return {InnerSegmentsText(layer.inner_segments)};
  return {std::to_string(segment + 1), segment % 2 == 0 ? "even-segment" : "odd-segment"};
}

std::vector<HtmlCell> RowOf(const LayerPlan& layer) {
  return {{layer.path},
          {layer.description},
          {ToString(layer.output), "nowrap"},
          {CountOrDash(layer.parameters)},
          {BytesOrDash(layer.saved_bytes)}};
}

std::string Explanation(bool segments, bool measured) {
  std::string text = "A layer keeps so much for backward";
  text += segments ? " where it is not checkpointed. Layers of one segment keep only the input of "
                     "the first and run a second time."
                   : ".";
  if (measured) text += " Times are of one step, forward and backward together.";
  return "<p>" + text + "</p>\n";
}

}  // namespace

std::string LayersSection(const ReportData& data) {
  const std::vector<LayerPlan>& layers = data.plan().layers;
  const bool measured = !data.result.layers.empty();
  const bool segments = std::ranges::any_of(layers, IsCheckpointed);
  const LayerTimes times = TimesByLayer(layers, data.result.layers);
  HtmlTable table;
  table.columns = ColumnsOf(segments, measured);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    table.rows.push_back(RowOf(layers[i]));
    if (segments) table.rows.back().push_back(SegmentCell(layers[i]));
    if (measured) AddMeasured(times.layers[i], times.seconds, table.rows.back());
  }
  for (const LayerMeasurement& other : times.others) {
    table.rows.push_back({{other.label}, {""}, {""}, {""}, {""}});
    if (segments) table.rows.back().push_back({""});
    AddMeasured(other, times.seconds, table.rows.back());
  }
  return "<section>\n<h2>Layers</h2>\n" + Explanation(segments, measured) + ToHtml(table) +
         "</section>\n";
}

}  // namespace frugal
