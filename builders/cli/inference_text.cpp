#include "builders/cli/inference_text.h"

#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal::cli {

std::string InferenceText(const Model& model, std::int64_t samples, double seconds) {
  const std::int64_t planned = model.plan().peak_bytes;
  const std::int64_t measured = model.Measured().peak_bytes;
  return FormatCount(samples) + (samples == 1 ? " sample in " : " samples in ") +
         DurationText(seconds) + "; peak memory " + FormatCount(planned) + " bytes planned, " +
         FormatCount(measured) + " measured (" + FormatBytes(measured) + ")";
}

void AddOverrides(CLI::App& command, std::vector<std::string>& overrides,
                  const std::string& example) {
  command
      .add_option("--set", overrides,
                  "Put a value on top of the configuration in the file, e.g. --set " + example +
                      "; repeatable")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace frugal::cli
