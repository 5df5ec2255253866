#include "builders/report/html/html_report.h"

#include <limits>

#include "builders/report/text/device_table.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

std::string ReportOf(const PlannedTraining& planned, const TrainingResult& result) {
  return HtmlReport({planned, result});
}

// The elements that are open at the end, or the first end tag that fits none.
std::string Unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find(' '));
    if (name == "!DOCTYPE" || name == "meta" || tag.ends_with("/")) continue;
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

// Checks what must hold for every report.
void CheckSound(const std::string& html) {
  CHECK(Unbalanced(html).empty());
  for (const char* part : {"<script", "http", "<link", "@import", "url(", "src=", "href=", "\"nan",
                           " nan", "Lnan", "inf\"", "NaN"}) {
    CAPTURE(part);
    CHECK_FALSE(Contains(html, part));
  }
}

}  // namespace

TEST_CASE("A report shows the training from its figures to its configuration") {
  PlannedTraining planned = SampleTraining();
  planned.config.origins.Set("memory.use_gradient_checkpointing",
                             Origin::At({"dir/train.toml", 7, 1}));
  const std::string html = ReportOf(planned, SampleResult());
  CheckSound(html);
  CHECK(Contains(html, "<title>sample - training report</title>"));
  CHECK(Contains(html, "<b>87.50%</b><span>test accuracy</span>"));
  CHECK(Contains(html, "exactly as planned"));
  CHECK(Contains(html, "class=\"loss faint\""));
  CHECK(Contains(html, "epoch 2: 87.50%"));
  CHECK(Contains(html, "peak 10.8 KB"));
  CHECK(Contains(html, "<td>block.0</td><td>in residual around 2 layers</td>"));
  CHECK(Contains(html, "= in whole pages"));
  CHECK(Contains(html, "use_gradient_checkpointing"));
  CHECK(Contains(html, "title=\"dir/train.toml:7:1\">train.toml:7</td>"));
  CHECK(Contains(html, "sharding_strategy: with one device every strategy"));
  CHECK_FALSE(Contains(html, "GFLOP/s"));
}

TEST_CASE("Devices have a column for their page files, where there are any") {
  PlannedTraining planned = SampleTraining();
  TrainingResult result = SampleResult();
  planned.plan.devices.emplace().devices.resize(2);
  result.memory.devices.resize(2);
  for (const bool pages : {false, true}) {
    if (pages) {
      planned.plan.paging.emplace().file = "page.0 to .1";
      planned.plan.devices->devices.front().page_file_bytes = 4096;
    }
    const std::string html = ReportOf(planned, result), text = DevicesText(*planned.plan.devices);
    CheckSound(html);
    CHECK(Contains(html, ">page file</th>") == pages);
    CHECK(Contains(html, ">4.0 KB</td>") == pages);
    CHECK(Contains(text, "page file") == pages);
    CHECK(Contains(text, "4.0 KB") == pages);
  }
}

TEST_CASE("With tracked statistics the report has the measured step and times of layers") {
  TrainingResult result = SampleResult();
  result.measured_timeline = SampleStep().timeline;
  result.measured_timeline->live[2] = BytesOf(0, 3001, 0);
  result.layers = {{"block", 0.001, 1e9, 2, 5000},
                   {"block.0", 0.001, 1e9, 2, 11072},
                   {"loss", 0.002, 0, 1, 4000}};
  const std::string html = ReportOf(SampleTraining(), result);
  CheckSound(html);
  CHECK(Contains(html, "3 of 4 events are, by purpose and to the byte, as planned"));
  CHECK(Contains(html, "class=\"measured\""));
  CHECK(Contains(html, "<td class=\"number\">2.00 ms</td>"));
  CHECK(Contains(html, "<td class=\"number\">1000.0</td>"));
  CHECK(Contains(html, "<td>loss</td>"));
}

TEST_CASE("Names cannot put markup into the report") {
  const std::string attack = "</title><script>alert('x')</script>\"&";
  PlannedTraining planned = SampleTraining();
  planned.config.model.name = attack;
  planned.config.data.dataset = attack;
  planned.config.memory.weights_file_path = attack;
  planned.plan.layers[0].path = attack;
  planned.plan.layers[0].description = attack;
  planned.plan.steps[0].timeline.holders_at_peak[0].label = attack;
  planned.config.origins.Set("data.dataset", Origin::At({attack, 1, 1}));
  planned.config.origins.Set("memory.planner_costs", Origin::At({attack, 1, 1}));  // is noted
  TrainingResult result = SampleResult();
  result.layers = {{attack, 1, 1, 1, 1}};
  result.weights_hash = attack;
  const std::string html = ReportOf(planned, result);
  CheckSound(html);
  CHECK(Contains(html, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
}

TEST_CASE("Runs of one step, without a test, or of nothing have a report") {
  TrainingResult result = SampleResult();
  result.losses = {0.5};
  result.epochs = {{1, 0.5, 1, {}, {}}};
  result.test_accuracy.reset();
  result.test_loss.reset();
  const std::string one = ReportOf(SampleTraining(), result);
  CheckSound(one);
  CHECK(Contains(one, "class=\"loss-dot\""));
  CHECK_FALSE(Contains(one, "after each epoch"));

  const std::string none = ReportOf(PlannedTraining(), TrainingResult());
  CheckSound(none);
  CHECK(Contains(none, "There is no loss to draw."));
  CHECK(Contains(none, "No step takes any memory."));
}

TEST_CASE("Losses that stand still, run off or are no numbers are drawn as far as they go") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  TrainingResult result = SampleResult();
  for (const std::vector<double>& losses :
       {std::vector<double>(20, 1.5), std::vector<double>(20, 0.0),
        std::vector<double>{1, nan, inf, 2, -inf}, std::vector<double>{nan, 3},
        std::vector<double>{-1e308, 1e308, 5e-324}}) {
    result.losses = losses;
    CheckSound(ReportOf(SampleTraining(), result));
  }
  result.losses = {nan, nan};
  result.epochs[1].mean_loss = 0;
  const std::string html = ReportOf(SampleTraining(), result);
  CheckSound(html);
  CHECK(Contains(html, "2 of 2 losses are not finite, the first in step 1."));
}

TEST_CASE("Long runs and long steps are thinned out, but not their peaks") {
  PlannedTraining planned = SampleTraining();
  TrainingResult result = SampleResult();
  result.losses.assign(100000, 1.0);
  MemoryTimeline& timeline = planned.plan.steps[0].timeline;
  timeline.live.assign(50000, BytesOf(0, 1000, 0));
  timeline.peak_event = 33333;
  timeline.live[33333] = BytesOf(0, 8000, 0);
  const std::string html = ReportOf(planned, result);
  CheckSound(html);
  CHECK(html.size() < 200000);
  CHECK(Contains(html, "activation, up to 7.8 KB"));
  CHECK(Contains(html, "peak 10.8 KB"));
}

TEST_CASE("Where the run peaks outside of the step that is drawn, the report says so") {
  PlannedTraining planned = SampleTraining();
  StepPlan evaluate = SampleStep();
  evaluate.kind = StepKind::kEvaluate;
  evaluate.batch = 64;
  evaluate.timeline.live[1][MemoryTag::kActivation] = 9000;
  planned.plan.steps.push_back(evaluate);
  planned.plan.peak_bytes = 12072;
  CHECK(Contains(ReportOf(planned, SampleResult()),
                 "The whole run peaks at 11.8 KB, in its evaluate steps of 64 samples."));
}

TEST_CASE("A report says where it draws three turns of a loop") {
  PlannedTraining planned = SampleTraining();
  CHECK_FALSE(Contains(ReportOf(planned, SampleResult()), "Three turns are drawn"));
  planned.plan.steps.front().timeline.shortens_loops = true;
  CHECK(Contains(ReportOf(planned, SampleResult()), "Three turns are drawn of a loop"));
}

TEST_CASE("A report on a text tells tokens and bits") {
  PlannedTraining planned = SampleTraining();
  planned.layout = {.sample_shape = {10},
                    .classes = 256,
                    .target_shape = {},
                    .vocabulary = 256,
                    .label_shape = {10}};
  const std::string html = ReportOf(planned, SampleResult());
  CheckSound(html);
  CHECK(Contains(html, "<b>0.577</b><span>bits per byte</span>"));
  CHECK(Contains(html, "test loss 0.4000, test accuracy 87.50%"));
  CHECK(Contains(html, "512 tokens/s"));
}

}  // namespace frugal
