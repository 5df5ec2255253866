#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "builders/cli/commands.h"
#include "builders/plan/published_models.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"

namespace frugal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ModelsArguments {
  std::string preset = "ForTransformers";
  bool json = false;
};

void PrintJson(const ModelsArguments& arguments) {
  Json list = Json::array();
  for (const ModelListing& model : ListModels(arguments.preset)) {
    list.push_back({{"name", model.name},
                    {"family", model.family},
                    {"parameters", model.parameters},
                    {"held_bytes", model.held_bytes},
                    {"train_bytes", model.train_bytes},
                    {"memory_preset", arguments.preset},
                    {"published", model.published}});
  }
  std::cout << list.dump(2) << "\n";
}

void PrintTable(const ModelsArguments& arguments) {
  constexpr std::size_t kWidth = 176;  // a description is of no use without its end
  TextTable table;
  table.columns = {{"name"},       {"family"},      {"parameters", true},
                   {"hold", true}, {"train", true}, {"what it is"}};
  table.flexible = table.columns.size() - 1;
  table.width = kWidth;
  for (const ModelListing& model : ListModels(arguments.preset)) {
    table.rows.push_back({model.name, model.family, FormatCount(model.parameters),
                          FormatBytes(model.held_bytes), FormatBytes(model.train_bytes),
                          model.published});
  }
  std::cout << "Published models. hold: parameters and buffers in f32; train: planned peak of "
               "training on one\nsample with AdamW in f32 under " +
                   arguments.preset + ". Of a cascade each network is a model by its own name.\n" +
                   "More: frugal plan NAME --batch B --preset P\n\n" + ToText(table);
}

}  // namespace

void AddModelsCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("models", "List the published models that can be planned by name");
  const auto arguments = std::make_shared<ModelsArguments>();
  command.add_option("--preset", arguments->preset, "Memory preset of the plans")
      ->type_name("NAME");
  command.add_flag("--json", arguments->json, "As JSON");
  command.callback([arguments, &action] {
    action = [arguments] { arguments->json ? PrintJson(*arguments) : PrintTable(*arguments); };
  });
}

}  // namespace frugal::cli
