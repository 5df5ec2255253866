// The command speaks of itself: completion, the manual page, explanations, configurations to
// begin with, and how loud it is.
#include <algorithm>

#include "builders/reference/explain.h"
#include "builders/reference/kind_docs.h"
#include "builders/reference/reference.h"
#include "builders/reference/starting_file.h"
#include "presets/config/field_reader.h"
#include "presets/config/toml_reader.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

// Returns the words that bash offers behind these words, of which the last one is being written.
std::string Completed(const TempDir& directory, const std::string& words) {
  directory.Write("try.bash", ". ./frugal.bash\nCOMP_WORDS=(frugal " + words +
                                  ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_frugal\n"
                                  "echo \"${COMPREPLY[*]}\"\n");
  const ProgramRun run = Run(directory, "bash -u try.bash");
  CHECK(run.errors.empty());
  return run.output;
}

TEST_CASE("bash completes commands, options, keys, values and files") {
  const TempDir directory;
  const ProgramRun script = Frugal(directory, "completion bash > frugal.bash");
  REQUIRE(script.exit_code == 0);
  CHECK(Run(directory, "bash -n frugal.bash").exit_code == 0);
  directory.Write("my.toml", "");
  const auto offered = [&](const std::string& words) { return Completed(directory, words); };
  CHECK(offered("pla") == "plan\n");
  CHECK(offered("--ver") == "--version\n");
  CHECK(offered("plan --para") == "--parameters-only\n");
  CHECK(offered("plan my") == "my.toml\n");
  CHECK(offered("plan gpt2-") == "gpt2-xl\n");
  CHECK(offered("plan --preset ForC") == "ForConvNets\n");
  CHECK(offered("plan --preset = ForC") == "ForConvNets\n");
  CHECK(offered("train --set training.epo") == "training.epochs=\n");
  CHECK(offered("train my.toml --set optimizer.kind = rm") == "rmsprop\n");
  CHECK(offered("train --set training.evaluate =") == "true false\n");
  CHECK(offered("train --summary m") == "my.toml\n");
  CHECK(offered("explain conv3d.ker") == "conv3d.kernel\n");
  CHECK(offered("completion f") == "fish\n");
  CHECK(offered("plan --batch 1") == "\n");
}

TEST_CASE("zsh reads its script", "[needs-zsh]") {
  const TempDir directory;
  FRUGAL_SKIP_UNLESS(Run(directory, "zsh -c true").exit_code == 0, "zsh is not there");
  CHECK(Frugal(directory, "completion zsh > _frugal").exit_code == 0);
  CHECK(Run(directory, "zsh -n _frugal").errors.empty());
}

TEST_CASE("fish completes", "[needs-fish]") {
  const TempDir directory;
  FRUGAL_SKIP_UNLESS(Run(directory, "fish -c true").exit_code == 0, "fish is not there");
  CHECK(Frugal(directory, "completion fish > frugal.fish").exit_code == 0);
  const auto offered = [&](const std::string& line) {
    return Run(directory, "HOME=$PWD fish -c 'source frugal.fish; complete -C \"" + line + "\"'")
        .output;
  };
  CHECK(offered("frugal pla").starts_with("plan\t"));
  CHECK(offered("frugal plan --preset ForC").starts_with("ForConvNets"));
  CHECK(offered("frugal train --set optimizer.kind=rm").starts_with("optimizer.kind=rmsprop"));
  CHECK(offered("frugal explain conv3d.ker") == "conv3d.kernel\n");
}

TEST_CASE("a shell that there is no script for is a wrong command line") {
  const TempDir directory;
  const ProgramRun run = Frugal(directory, "completion csh");
  CHECK(run.exit_code == 2);
  CheckContains(run.errors, "there is no script for 'csh'; bash, zsh or fish");
}

TEST_CASE("the manual page has every command, option and section") {
  const TempDir directory;
  const std::string page = Frugal(directory, "man").output;
  CHECK(page.starts_with(".TH FRUGAL 1 "));
  for (const char* part :
       {".SH NAME\nfrugal \\- ", ".SS plan\n", ".SS completion\n",
        "\\fB\\-\\-parameters\\-only\\fR", "\\fB\\-\\-summary\\fR \\fIOUT.json\\fR",
        "\\fB[optimizer]\\fR", "SPDLOG_LEVEL"}) {
    CheckContains(page, part);
  }
  // Lines of text do not begin as requests do, and hyphens are those of options.
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((!line.starts_with('.') || std::isupper(static_cast<unsigned char>(line[1])) != 0));
    CHECK(line.find("--") == std::string::npos);
  }
}

TEST_CASE("the manual page is as groff wants it", "[needs-groff]") {
  const TempDir directory;
  FRUGAL_SKIP_UNLESS(Run(directory, "groff --version").exit_code == 0, "groff is not there");
  CHECK(Frugal(directory, "man > frugal.1").exit_code == 0);
  const ProgramRun run =
      Run(directory, "groff -ww -man -Tutf8 frugal.1 | sed 's/.\\x08//g; s/\\x1b[^m]*m//g'");
  CHECK(run.errors.empty());
  CheckContains(run.output, "EXIT STATUS");
  CheckContains(run.output, "--parameters-only");
}

TEST_CASE("explain tells of a key what it takes and where it is set") {
  CHECK(ExplainText("optimizer.lr") ==
        "optimizer.lr: a key of [optimizer]\n"
        "  Learning rate, before the schedule.\n\n"
        "  type      a number >= 0\n"
        "  default   0.001\n"
        "  in a file [optimizer]\n"
        "            lr = 0.001\n"
        "  on top    --set optimizer.lr=0.001\n"
        "  in C++    AiModelBuilder::Optimizer\n");
  CHECK(ExplainText("lr") == ExplainText("optimizer.lr"));
  CheckContains(ExplainText("memory.max_pool_memory_mb"), "in MB");
  CheckContains(ExplainText("memory.tensor_pool_options.enabled"), "Off, nothing is kept.");
}

TEST_CASE("explain knows whatever has a name") {
  CheckContains(ExplainText("conv2d"), "{ type = \"conv2d\", filters = 1, kernel = 1 }");
  CheckContains(ExplainText("conv2d.kernel"), "Height and width, or one for both.");
  CheckContains(ExplainText("optimizer"), "weight_decay");
  CheckContains(ExplainText("ForConvNets"), "checkpoint_every_n_layers = 3");
  CheckContains(ExplainText("f1"), "metrics = [\"f1\"]");
  CheckContains(ExplainText("gpt2"), "n_layer");
  CheckContains(ExplainText("gpt2"), "a published model");  // it is both
  CheckContains(ExplainText("adamw"), "kind = \"adamw\"");
  for (const std::string& name : ExplainableNames()) {
    CAPTURE(name);
    CHECK(ExplainText(name).size() > name.size() + 20);
  }
  CHECK(MessageOf<Error>([] {
          ExplainText("optimizer.lrr");
        }).ends_with("'optimizer.lrr' was given; did you mean 'optimizer.lr'?"));
  CHECK(MessageOf<Error>([] {
          ExplainText("nothing at all");
        }).ends_with("`frugal reference` lists all"));
}

TEST_CASE("a program's own parts are explained, listed and completed like ours") {
  const TempDir directory;
  const std::string program = Program("sample_070_own_parts");
  CheckContains(Run(directory, program + " explain squeeze_excitation.reduction").output,
                "Features inside, one in so many.");
  const std::string page = Run(directory, program + " reference").output;
  CheckContains(page, "### squeeze_excitation");
  CheckContains(page, "- `brier`: Mean square error of probabilities.");
  CheckContains(page, "- `lion`: Steps by the sign of a momentum");
  CheckContains(page, "- `bars`: Noisy images of a horizontal bar");
  CheckContains(Run(directory, program + " explain optimizer.lion.beta1").output,
                "Share of the momentum in the step.");
  const std::string completion = Run(directory, program + " completion bash").output;
  for (const char* name : {"squeeze_excitation", "lion", "data.bars.count"}) {
    CheckContains(completion, name);
  }
}

TEST_CASE("each kind of loss, optimizer and schedule says what it is") {
  for (const SectionReference& section : SectionReferences()) {
    CAPTURE(section.name);
    CHECK(section.doc.ends_with('.'));
    if (section.name != "loss" && section.name != "optimizer" && section.name != "schedule") {
      continue;
    }
    for (const std::string& kind : section.rows.front().field.choices) {
      CAPTURE(kind);
      CHECK(DocOfKind(section.name, kind).ends_with('.'));
    }
  }
}

TEST_CASE("examples of keys are values that they take") {
  for (const SectionReference& section : SectionReferences()) {
    for (const ReferenceRow& row : section.rows) {
      if (row.field.kind == ValueKind::kTable) continue;
      CAPTURE(section.name, row.name);
      const ConfigNode root = ParseTomlText("x = " + ExampleValue(row), "x");
      Diagnostics diagnostics;
      CHECK(ReadValue(row.field, *root.Find("x"), "x", diagnostics));
      CHECK(diagnostics.empty());
    }
  }
}

TEST_CASE("the reference has every section, layer, family, preset and metric") {
  const TempDir directory;
  const std::string page = Frugal(directory, "reference").output;
  for (const char* part :
       {"## [memory]", "| `lr` | a number >= 0 | `0.001` |", "### conv2d", "### controlnet_union",
        "- `ForConvNets`: ", "- `auroc`: ", "- `one_cycle`: ", "Published: gpt2"}) {
    CheckContains(page, part);
  }
}

void CheckNew(const TempDir& directory, const std::string& kind) {
  CAPTURE(kind);
  const std::string file = kind + ".toml";
  const ProgramRun written = Frugal(directory, "new " + kind + " --out " + file);
  CHECK(written.errors.empty());
  CHECK(written.output == "wrote " + file + "; next: frugal plan " + file + "\n");
  const std::string text = ReadAll(directory.File(file));
  CHECK(text == Frugal(directory, "new " + kind).output);
  CheckContains(text, "# Learning rate, before the schedule.");
  const ProgramRun planned = Frugal(directory, "plan " + file);
  CHECK(planned.errors.empty());
  CHECK(planned.exit_code == 0);
  const ProgramRun again = Frugal(directory, "new --out " + file);
  CHECK(again.exit_code == 1);
  CheckContains(again.errors, "it is there already");
  CHECK(ReadAll(directory.File(file)) == text);
}

TEST_CASE("what new writes is planned, explained, and replaces nothing") {
  const TempDir directory;
  directory.Write("text.txt", std::string(20000, 'x'));
  for (const std::string& kind : StartingKinds()) CheckNew(directory, kind);
  CHECK(Frugal(directory, "new").output == StartingFile("images"));
  const ProgramRun wrong = Frugal(directory, "new txt");
  CHECK(wrong.exit_code == 1);
  CheckContains(wrong.errors, "did you mean 'text'?");
}

TEST_CASE("what new writes about text is trained") {
  const TempDir directory;
  std::string text;
  while (text.size() < 20000) text += "all work and no play makes jack a dull boy\n";
  directory.Write("text.txt", text);
  Frugal(directory, "new text --out text.toml");
  const ProgramRun run = Frugal(directory,
                                "train text.toml --quiet --set training.max_steps=2 --set "
                                "model.config.n_layer=1 --set training.batch_size=4 --set "
                                "schedule.warmup_steps=1");
  CHECK(run.errors.empty());
  CHECK(run.exit_code == 0);
  CheckContains(ReadAll(directory.File("text.csv")), "perplexity");
}

TEST_CASE("the log is as loud as the command line or the environment says") {
  const TempDir directory;
  directory.Write("tiny.toml", kTinyConfig);
  const std::string plan = Program("frugal") + " plan tiny.toml ";
  const std::string note = "debug: planned ";
  CHECK(Run(directory, plan).errors.empty());
  CheckContains(Run(directory, plan + "--log-level debug").errors, note);
  CheckContains(Run(directory, "SPDLOG_LEVEL=debug " + plan).errors, note);
  CheckContains(Run(directory, "SPDLOG_LEVEL=off,frugal=debug " + plan).errors, note);
  CHECK(Run(directory, "SPDLOG_LEVEL=debug,frugal=warn " + plan).errors.empty());
  CHECK(Run(directory, "SPDLOG_LEVEL=other=debug,nonsense " + plan).errors.empty());
  CHECK(Run(directory, "SPDLOG_LEVEL=debug " + plan + "--log-level info").errors.empty());
  CHECK(Run(directory, "SPDLOG_LEVEL=debug " + plan + "--quiet").errors.empty());
  CheckContains(Run(directory, plan + "--quiet").output, "Plan of ");
  const ProgramRun wrong = Run(directory, plan + "--log-level debgu");
  CHECK(wrong.exit_code == 2);
  CheckContains(wrong.errors, "'debgu' is no level; did you mean 'debug'?");
}

TEST_CASE("warnings of a training are told by the log, and can be silenced") {
  const TempDir directory;
  directory.Write("tiny.toml", kTinyConfig);
  WriteTinyData(directory);
  const std::string diverging =
      "train tiny.toml --quiet --set optimizer.kind=sgd --set optimizer.lr=3e38 "
      "--set optimizer.weight_decay=1000 --set training.epochs=6 "
      "--set training.on_divergence=warn ";
  CheckContains(Frugal(directory, diverging).errors, "warning: ");
  CHECK(Frugal(directory, diverging + "--log-level error").errors.empty());
}

}  // namespace
}  // namespace frugal::testing
