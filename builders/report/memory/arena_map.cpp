#include "builders/report/memory/arena_map.h"

#include <algorithm>

#include "builders/report/html/html.h"
#include "builders/report/html/memory_chart.h"
#include "builders/report/memory/memory_words.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr double kWidth = 960;
constexpr double kHeight = 420;

constexpr std::string_view kScript = R"js(
for (const svg of document.querySelectorAll("svg.zoom")) {
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let box = whole.slice(), from = null;
  const show = () => svg.setAttribute("viewBox", box.join(" "));
  const at = (event) => {
    const place = svg.getBoundingClientRect();
    return [box[0] + box[2] * (event.clientX - place.left) / place.width,
            box[1] + box[3] * (event.clientY - place.top) / place.height];
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = at(event), by = event.deltaY > 0 ? 1.25 : 0.8;
    if (box[2] * by > whole[2]) { box = whole.slice(); return show(); }
    box = [x - (x - box[0]) * by, y - (y - box[1]) * by, box[2] * by, box[3] * by];
    show();
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { from = at(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = at(event);
    box[0] += from[0] - x; box[1] += from[1] - y;
    show();
  });
  svg.addEventListener("pointerup", () => { from = null; });
  svg.addEventListener("dblclick", () => { box = whole.slice(); show(); });
}
)js";

std::string HintOf(const PlacedBlock& block) {
  const std::string form = FormText(block.form);
  return block.holder + ", " + std::string(NameOf(block.tag)) + (form.empty() ? "" : ", " + form) +
         ", " + FormatBytes(block.bytes) + " at " + FormatCount(block.offset) + ", events " +
         FormatCount(block.begin) + " to " + FormatCount(block.end);
}

}  // namespace

std::string_view ZoomScript() { return kScript; }

std::string ArenaMap(const StepMemory& memory) {
  if (memory.arena_bytes == 0 || memory.placed.empty()) return "";
  const double events = std::max<double>(1, static_cast<double>(memory.timeline.live.size()));
  const auto x = [&](std::int64_t event) { return kWidth * static_cast<double>(event) / events; };
  const auto y = [&](std::int64_t offset) {
    return kHeight * static_cast<double>(offset) / static_cast<double>(memory.arena_bytes);
  };
  std::string html = "<svg class=\"zoom map\" viewBox=\"0 0 " + FixedText(kWidth, 0) + " " +
                     FixedText(kHeight, 0) +
                     "\" role=\"img\" aria-label=\"The arena: addresses over time\">\n"
                     "<rect class=\"ground\" width=\"" +
                     FixedText(kWidth, 0) + "\" height=\"" + FixedText(kHeight, 0) + "\"/>\n";
  for (const PlacedBlock& block : memory.placed) {
    html += "<rect x=\"" + FixedText(x(block.begin), 2) + "\" y=\"" +
            FixedText(kHeight - y(block.offset + block.bytes), 2) + "\" width=\"" +
            FixedText(std::max(0.2, x(block.end) - x(block.begin)), 2) + "\" height=\"" +
            FixedText(std::max(0.2, y(block.bytes)), 2) + "\" fill=\"" + ColourOf(block.tag) +
            "\"><title>" + EscapeHtml(HintOf(block)) + "</title></rect>\n";
  }
  return html + "</svg>\n<p>Addresses of the arena upwards, events of the step to the right; " +
         FormatCount(std::ssize(memory.placed)) +
         " of its blocks, the largest ones. The wheel zooms, dragging moves, a double click shows "
         "all.</p>\n";
}

}  // namespace frugal
