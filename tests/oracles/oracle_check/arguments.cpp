#include "tests/oracles/oracle_check/arguments.h"

#include "sdk/core/error.h"

namespace frugal::oracles {
namespace {

[[noreturn]] void Refuse(const std::string& required, const std::string& given) {
  throw UsageError({.where = "oracle_check",
                    .required = required,
                    .given = given,
                    .advice =
                        "write oracle_check ops DIR, models DIR, train DIR or optimizers FILE, "
                        "with --backend eigen|onednn and --precision f32|bf16|f64"});
}

BackendKind BackendNamed(const std::string& name) {
  for (const BackendKind kind : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    if (NameOf(kind) == name) return kind;
  }
  Refuse("--backend is eigen or onednn", "it is '" + name + "'");
}

DType PrecisionNamed(const std::string& name) {
  if (name == "f32") return DType::kF32;
  if (name == "f64") return DType::kF64;
  if (name == "bf16") return DType::kBF16;
  Refuse("--precision is f32, f64 or bf16", "it is '" + name + "'");
}

void CheckCommand(const std::string& command) {
  if (command == "ops" || command == "models" || command == "train" || command == "optimizers") {
    return;
  }
  Refuse("the first word is ops, models, train or optimizers",
         command.empty() ? "nothing" : "'" + command + "'");
}

}  // namespace

CheckArguments ReadCheckArguments(int count, const char* const* arguments) {
  CheckArguments read;
  if (count > 1) read.command = arguments[1];
  CheckCommand(read.command);
  for (int i = 2; i < count; ++i) {
    const std::string word = arguments[i];
    if (!word.starts_with("--")) {
      read.paths.push_back(word);
      continue;
    }
    if (word != "--backend" && word != "--precision") Refuse("options that exist", word);
    if (++i == count) Refuse(word + " has a value", "it ends the line");
    if (word == "--backend") read.environment.backend = BackendNamed(arguments[i]);
    if (word == "--precision") read.environment.dtype = PrecisionNamed(arguments[i]);
  }
  if (read.paths.empty()) Refuse("a path follows the command", "there is none");
  if (!MakeBackend(read.environment.backend)->Supports(read.environment.dtype)) {
    Refuse("the backend computes in the precision", ToString(read.environment) + " does not");
  }
  return read;
}

}  // namespace frugal::oracles
