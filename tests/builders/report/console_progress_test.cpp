#include "builders/report/text/console_progress.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

class Console {
 public:
  explicit Console(bool rewrite, std::size_t width = 100)
      : progress_(std::in_place,
                  ConsoleProgress::Options{.units = {.samples = "images", .rated = "images"},
                                           .out = &out_,
                                           .rewrite = rewrite,
                                           .width = [width] { return width; },
                                           .clock = [this] { return now_; }}) {}

  void Step(std::int64_t step, double after_seconds, double loss = 0.5) {
    now_ += after_seconds;
    progress_->OnStep({.step = step,
                       .total_steps = 1000,
                       .epoch = 1,
                       .loss = loss,
                       .samples_per_second = 5210,
                       .seconds_left = 125});
  }
  void Epoch(const EpochResult& epoch) { progress_->OnEpoch(epoch); }
  void Close() { progress_.reset(); }
  std::string text() const { return out_.str(); }

 private:
  double now_ = 100;
  std::ostringstream out_;
  std::optional<ConsoleProgress> progress_;
};

const std::string kLine = "step 1/1,000  epoch 1  loss 0.5000  5,210 images/s  2 min 05 s left";

}  // namespace

TEST_CASE("On a terminal one line is rewritten, at most ten times a second") {
  Console console(true);
  console.Step(1, 0);
  CHECK(console.text() == "\r" + kLine);
  console.Step(2, 0.05);
  CHECK(console.text() == "\r" + kLine);
  console.Step(3, 0.06);
  CHECK(
      console.text().ends_with("\rstep 3/1,000  epoch 1  loss 0.5000  5,210 images/s  "
                               "2 min 05 s left"));
  CHECK_FALSE(Contains(console.text(), "\n"));
  console.Step(1000, 0.01);  // the last one always
  CHECK(Contains(console.text(), "step 1,000/1,000"));
}

TEST_CASE("An epoch's line takes the place of the line that is rewritten") {
  Console console(true);
  console.Step(1, 0);
  console.Epoch({1, 0.25, 12.34, 0.3, 0.9132});
  CHECK(console.text() ==
        "\r" + kLine + "\r" + std::string(kLine.size(), ' ') +
            "\repoch 1  mean loss 0.2500  test accuracy 91.32%  5,210 images/s  12.3 s\n");
  console.Close();
  CHECK(console.text().ends_with("12.3 s\n"));
}

TEST_CASE("A shorter line wipes out the longer one before it") {
  Console console(true);
  console.Step(100, 0);
  const std::size_t before = console.text().size();
  console.Step(1, 1);
  CHECK(console.text().substr(before) == "\r" + kLine + "  ");
}

TEST_CASE("A line never wraps and never stays half open") {
  Console narrow(true, 20);
  narrow.Step(1, 0);
  CHECK(narrow.text() == "\rstep 1/1,000  ep...");
  narrow.Close();
  CHECK(narrow.text() == "\rstep 1/1,000  ep...\n");
  Console none(true, 0);
  none.Step(1, 0);
  CHECK(none.text() == "\r.");
}

TEST_CASE("Elsewhere there is a plain line for each epoch, and one every 30 seconds in between") {
  Console console(false);
  console.Step(1, 1);
  console.Step(2, 28);
  CHECK(console.text().empty());
  console.Step(3, 1.5);
  console.Step(4, 29);
  CHECK(console.text() == "step 3/1,000  epoch 1  loss 0.5000  5,210 images/s  2 min 05 s left\n");
  console.Epoch({1, 0.25, 59.5, {}, {}});
  console.Step(1000, 29);
  console.Epoch({2, 0.2, 29, 0.4, {}});
  console.Close();
  CHECK(console.text() ==
        "step 3/1,000  epoch 1  loss 0.5000  5,210 images/s  2 min 05 s left\n"
        "epoch 1  mean loss 0.2500  5,210 images/s  59.5 s\n"
        "epoch 2  mean loss 0.2000  test loss 0.4000  5,210 images/s  29.0 s\n");
}

TEST_CASE("A loss that is no number shows at once; others are smoothed") {
  Console console(true);
  console.Step(1, 0, 1.0);
  console.Step(2, 1, 3.0);
  CHECK(Contains(console.text(), "loss 2.0"));
  console.Step(3, 1, std::numeric_limits<double>::quiet_NaN());
  CHECK(Contains(console.text(), "loss nan"));
}

TEST_CASE("Of a text, tokens and bits are told") {
  std::ostringstream out;
  ConsoleProgress progress({.units = {.samples = "sequences",
                                      .rated = "tokens",
                                      .rated_per_sample = 10,
                                      .bits_per_byte = true},
                            .out = &out,
                            .rewrite = true});
  progress.OnStep({.step = 1, .total_steps = 9, .epoch = 1, .samples_per_second = 521});
  CHECK(Contains(out.str(), "5,210 tokens/s"));
  progress.OnEpoch({1, 0.25, 12.34, std::log(2.0), 0.9132});
  CHECK(
      Contains(out.str(), "mean loss 0.2500  test 1.000 bits per byte  5,210 tokens/s  12.3 s\n"));
  progress.OnEpoch({2, 0.25, 12.34, {}, {}});
  CHECK(out.str().ends_with("mean loss 0.2500  5,210 tokens/s  12.3 s\n"));
}

TEST_CASE("Nothing is written where nothing happens") {
  Console console(true);
  console.Close();
  CHECK(console.text().empty());
}

}  // namespace frugal
