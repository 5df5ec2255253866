#include "samples/020_error_gallery/case.h"

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"

namespace frugal::gallery {
namespace {

constexpr const char* kHead = R"(
[[model.layers]]
type = "flatten"

[[model.layers]]
type = "dense"
units = 10
)";

}  // namespace

Case FromWholeToml(const std::string& title, const std::string& text) {
  return {title, text, [text] { PlanTraining(ReadRunConfigText(text, "run.toml")); }};
}

Case FromToml(const std::string& title, const std::string& text) {
  Case made = FromWholeToml(title, text + kHead);
  made.input = text;
  return made;
}

}  // namespace frugal::gallery
