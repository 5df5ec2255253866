#include "presets/memory_fields.h"

#include <random>

#include "presets/config/field_check.h"
#include "presets/config/field_reader.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/memory_reader.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;

// A value that the field accepts and that is not the given one.
Value OtherValue(const Field& field, const Value& now) {
  switch (field.kind) {
    case ValueKind::kBool:
      return !std::get<bool>(now);
    case ValueKind::kInt:
      return IsNone(now) ? std::int64_t{5} : std::get<std::int64_t>(now) + 1;
    case ValueKind::kAmount:
      return now == Value{std::string("12.5%")} ? Value{std::int64_t{77}}
                                                : Value{std::string("12.5%")};
    case ValueKind::kReal:
      return std::get<double>(now) / 2;
    case ValueKind::kText:
      return "some/file";
    case ValueKind::kChoice:
      return now == Value{field.choices[1]} ? field.choices[0] : field.choices[1];
    case ValueKind::kIntList:
      return std::vector<std::int64_t>{0, 1};
    default:
      return {};
  }
}

void Randomize(const FieldTable& table, void* object, std::mt19937& random) {
  for (const Field& field : table.fields) {
    if (field.sub) {
      if (random() % 2 == 0) Randomize(field.sub->table, field.sub->ensure(object), random);
      continue;
    }
    if (random() % 2 == 0) continue;
    field.set(object, OtherValue(field, field.get(object)));
    const auto number = static_cast<std::int64_t>(random() % 1'000'000) + 1;
    const auto most = static_cast<std::int64_t>(field.range.max.value_or(1e9));
    if (field.kind == ValueKind::kInt) field.set(object, std::min(number, most));
    if (field.kind == ValueKind::kReal) field.set(object, static_cast<double>(number) / 1e6);
    if (field.kind == ValueKind::kChoice) {
      field.set(object, field.choices[random() % field.choices.size()]);
    }
  }
}

// Reads without the rules between fields, which random configurations break.
Config ReadBack(const std::string& toml) {
  Config config;
  Origins origins;
  Diagnostics diagnostics;
  const ConfigNode root = ParseTomlText(toml, "text");
  ReadFields(MemoryFields(), &config, *root.Find("memory"), "memory", origins, diagnostics);
  CHECK(diagnostics.Lines().empty());
  return config;
}

}  // namespace

TEST_CASE("Every field has its documented default") {
  std::vector<std::string> lines;
  const Config config;
  for (const FlatField& row : Flatten(MemoryFields(), &config)) {
    lines.push_back(row.name + " " + ToString(row.value));
  }
  CHECK(lines == std::vector<std::string>{"use_gradient_checkpointing false",
                                          "checkpoint_every_n_layers 2",
                                          "checkpoint_attention_layers true",
                                          "checkpoint_residual_blocks true",
                                          "high_activation_memory_threshold_bytes none",
                                          "optimizer_in_backward false",
                                          "checkpoint_planning \"AsStated\"",
                                          "memory_budget_mb none",
                                          "planner_costs \"model\"",
                                          "memory_page_file none",
                                          "memory_page_kinds \"Optimizer\"",
                                          "memory_page_activations_mb 0",
                                          "memory_page_buffer_mb 64",
                                          "memory_page_least_kb 256",
                                          "use_activation_pooling true",
                                          "max_pool_memory_mb 4096",
                                          "num_devices 1",
                                          "sharding_strategy \"EvenSplit\"",
                                          "custom_device_assignments none",
                                          "max_memory_per_device_mb none",
                                          "use_pipeline_parallelism false",
                                          "micro_batch_count 4",
                                          "track_memory_statistics false",
                                          "memory_warning_threshold 0.9",
                                          "use_tensor_pooling true",
                                          "tensor_pool_options none",
                                          "use_shared_tensor_pool true",
                                          "default_initialization_strategy \"Eager\"",
                                          "weights_file_path none",
                                          "weights_file_format \"Auto\""});
  CHECK(TensorPoolOptions{} == TensorPoolOptions{.max_pool_size_mb = 256,
                                                 .max_elements_to_pool = 10'000'000,
                                                 .max_items_per_bucket = 10,
                                                 .use_weak_references = false,
                                                 .enabled = true});
}

TEST_CASE("The table has one row for each member") {
  // A structured binding must name every member: adding one breaks this line until it has a row.
  // began_as has none: it is where the values came from.
  [[maybe_unused]] const auto [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, aa,
                               bb, cc, dd, ee, ff, gg, hh, ii, began_as] = Config{};
  CHECK(MemoryFields().fields.size() == 30);
  [[maybe_unused]] const auto [v, w, x, y, z] = TensorPoolOptions{};
  CHECK(TensorPoolFields().fields.size() == 5);
}

TEST_CASE("Every row has a sentence of documentation") {
  for (const FieldTable* table : {&MemoryFields(), &TensorPoolFields()}) {
    for (const Field& field : table->fields) {
      INFO(field.name);
      CHECK(field.doc.size() > 10);
      CHECK(field.doc.ends_with('.'));
      CHECK(field.doc.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("Every row changes its own member and no other") {
  Config full;
  full.tensor_pool_options.emplace();
  const auto rows = Flatten(MemoryFields(), &full);
  REQUIRE(rows.size() == 34);
  for (std::size_t changed = 0; changed < rows.size(); ++changed) {
    INFO(rows[changed].name);
    const Value other = OtherValue(*rows[changed].field, rows[changed].value);
    REQUIRE_FALSE(CheckValue(*rows[changed].field, other));
    Config config = full;
    SetByName(MemoryFields(), &config, rows[changed].name, other);
    CHECK_FALSE(config == full);
    const auto after = Flatten(MemoryFields(), &config);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      CHECK((after[row].value == rows[row].value) == (row != changed));
    }
    CHECK(after[changed].value == other);
    CHECK(ReadBack(WriteMemoryToml(config)) == config);
  }
}

TEST_CASE("Random configurations read back equal") {
  std::mt19937 random(20240607);
  for (int i = 0; i < 300; ++i) {
    Config config;
    Randomize(MemoryFields(), &config, random);
    const std::string text = WriteMemoryToml(config);
    INFO(text);
    CHECK(ReadBack(text) == config);
  }
}

TEST_CASE("Ranges are those of the specification") {
  const auto accepts = [](const std::string& name, const Value& value) {
    return !CheckValue(*MemoryFields().Find(name), value);
  };
  CHECK(accepts("checkpoint_every_n_layers", 1));
  CHECK_FALSE(accepts("checkpoint_every_n_layers", 0));
  CHECK(accepts("max_pool_memory_mb", 1));
  CHECK_FALSE(accepts("max_pool_memory_mb", 0));
  CHECK(accepts("max_pool_memory_mb", kMostMegabytes));
  CHECK_FALSE(accepts("max_pool_memory_mb", kMostMegabytes + 1));
  CHECK_FALSE(accepts("num_devices", 0));
  CHECK_FALSE(accepts("micro_batch_count", 0));
  CHECK_FALSE(accepts("high_activation_memory_threshold_bytes", -1));
  CHECK_FALSE(accepts("max_memory_per_device_mb", 0));
  CHECK(accepts("memory_warning_threshold", 1));
  CHECK(accepts("memory_warning_threshold", 1e-9));
  CHECK_FALSE(accepts("memory_warning_threshold", 0.0));
  CHECK_FALSE(accepts("memory_warning_threshold", 1.0001));
  CHECK_FALSE(accepts("custom_device_assignments", std::vector<std::int64_t>{}));
  CHECK_FALSE(accepts("custom_device_assignments", std::vector<std::int64_t>{0, -1}));
}

}  // namespace frugal
