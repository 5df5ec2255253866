#include "builders/cli/model_name.h"

#include <algorithm>
#include <filesystem>

#include "builders/plan/published_models.h"
#include "presets/config/config_file.h"
#include "sdk/core/error.h"

namespace frugal::cli {

bool IsModel(const std::string& given) {
  std::error_code error;
  if (std::filesystem::exists(given, error)) return false;
  const std::vector<std::string> models = NamedModels();
  if (std::ranges::find(models, given) != models.end()) return true;
  const std::string suggestion = SuggestFile(given, models);
  throw ConfigError({.where = given,
                     .required = "a TOML file or the name of a published model",
                     .given = "there is no such file and no such model",
                     .advice = suggestion.empty()
                                   ? "check the path; `frugal models` lists the models"
                                   : suggestion});
}

}  // namespace frugal::cli
