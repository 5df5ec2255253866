#include "builders/config/types/optimizer_registry.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

struct SignOptions {
  double share = 0.9;
};

OptimizerRule SignRule() {
  return {.name = "sign",
          .states = [](const OptimizerOptions&) { return std::size_t{1}; },
          .update = [](Backend&, const OptimizerOptions&, const UpdateCall&) {}};
}

// Registered as late as here, these names are in no message of another chapter.
void RegisterOnce() {
  static const OptimizerRule& rule = RegisterOptimizer<SignOptions>(
      SignRule(), {MakeField("share", &SignOptions::share, "Share of the momentum that is kept.",
                             {.min = 0, .max = 1})});
  static_cast<void>(rule);
}

Case After(const Case& one) {
  return {one.title, one.input, [action = one.action] {
            RegisterOnce();
            action();
          }};
}

void Plan(const OptimizerOptions& options) {
  WriteTinyData();
  TinyTraining().Optimizer(options).Plan();
}

}  // namespace

Chapter Registered() {
  Chapter chapter{"Parts that a program registers", {}};
  for (const Case& one : {
           FromToml("A registered optimizer with a typo", "[optimizer]\nkind = \"sing\"\n"),
           FromToml("An option that a registered optimizer lacks",
                    "[optimizer]\nkind = \"sign\"\n[optimizer.sign]\nshaer = 0.8\n"),
           FromToml("An option of a registered optimizer out of range",
                    "[optimizer]\nkind = \"sign\"\nsign.share = 1.5\n"),
           FromToml("Options of a registered optimizer beside another one",
                    "[optimizer]\nkind = \"adamw\"\nsign.share = 0.8\n"),
           FromToml("Narrow state for a registered optimizer that has none",
                    "[optimizer]\nkind = \"sign\"\nstate = \"bf16\"\n"),
           Case{"Options of a registered optimizer for ours",
                "builder.Optimizer({.kind = OptimizerKind::kSgd, .options = SignOptions{}})",
                [] { Plan({.kind = OptimizerKind::kSgd, .options = SignOptions()}); }},
           Case{"Two optimizers of one name", "Optimizers().Add({.name = \"adamw\", ...})",
                [] {
                  OptimizerRule rule = SignRule();
                  rule.name = "adamw";
                  Optimizers().Add(rule);
                }},
           Case{"An optimizer named as a key",
                "RegisterOptimizer<SignOptions>({.name = \"lr\", ...})",
                [] {
                  OptimizerRule rule = SignRule();
                  rule.name = "lr";
                  RegisterOptimizer<SignOptions>(rule, {});
                }},
       }) {
    chapter.cases.push_back(After(one));
  }
  return chapter;
}

}  // namespace frugal::gallery
