#include "builders/report/text/layer_table.h"

#include <algorithm>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

// "1 \", "  |", "  /": the first, inner and last layer of segment 1; "2 -" where it is alone.
std::string SegmentMark(const std::vector<LayerPlan>& layers, std::size_t i) {
  const int segment = layers[i].segment;
  if (segment < 0) return InnerSegmentsText(layers[i].inner_segments);
  const bool is_first = i == 0 || layers[i - 1].segment != segment;
  const bool is_last = i + 1 == layers.size() || layers[i + 1].segment != segment;
  const std::string number = std::to_string(segment + 1);
  if (is_first) return number + (is_last ? " -" : " \\");
  return std::string(number.size(), ' ') + (is_last ? " /" : " |");
}

std::string CountOrDash(std::int64_t count) { return count == 0 ? "-" : FormatCount(count); }
std::string BytesOrDash(std::int64_t bytes) { return bytes == 0 ? "-" : FormatBytes(bytes); }

}  // namespace

std::string InnerSegmentsText(const SegmentRange& segments) {
  if (segments.count == 0) return "";
  const std::string first = std::to_string(segments.first + 1);
  if (segments.count == 1) return first + " inside";
  return first + ".." + std::to_string(segments.first + segments.count) + " inside";
}

std::string LayerTableText(const std::vector<LayerPlan>& layers) {
  if (layers.empty()) return "  none\n";
  const bool has_segments = std::ranges::any_of(layers, IsCheckpointed);
  TextTable table;
  table.columns = {{"path"}, {"layer"}, {"output"}, {"parameters", true}, {"keeps", true}};
  table.flexible = 1;
  if (has_segments) table.columns.push_back({"segment"});
  std::int64_t parameters = 0;
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerPlan& layer = layers[i];
    table.rows.push_back({Printable(layer.path), Printable(layer.description),
                          ToString(layer.output), CountOrDash(layer.parameters),
                          BytesOrDash(layer.saved_bytes)});
    if (has_segments) table.rows.back().push_back(SegmentMark(layers, i));
    parameters += layer.parameters;
    kept += layer.saved_bytes;
  }
  table.rows.push_back({"all", "", "", FormatCount(parameters), FormatBytes(kept)});
  return ToText(table);
}

}  // namespace frugal
