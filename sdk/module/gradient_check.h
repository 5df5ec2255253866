#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/autograd/finite_difference.h"
#include "sdk/core/error.h"
#include "sdk/module/layer.h"

namespace frugal {

struct GradientCheckOptions {
  double tolerance = 1e-6;    // of the largest gradient of an input or a parameter
  double step = 1e-5;         // of the differences
  double low = -1, high = 1;  // inputs are uniform numbers in [low, high)
  std::uint64_t seed = 7;
  bool training = true;
};

// Holds what a check found.
struct GradientReport {
  struct Leaf {
    std::string name;  // "input 0", or the path of a parameter
    LeafError found;
  };
  std::vector<Leaf> leaves;
  // The first thing that is wrong; nothing where all is right.
  std::optional<Diagnostic> problem;

  bool ok() const { return !problem; }
  // "all gradients are right: input 0 to 3e-11, ...", or the problem in one sentence.
  std::string ToString() const;
  // Throws UsageError with the problem where there is one.
  void Require() const;
};

// Checks an operation, or a function of several, as planning and training will use it; five lines
// for one of a program's own:
//
//   const GradientReport report = CheckGradients(
//       [](Context& context, const std::vector<Var>& x) { return Swirl(context, x[0], x[1]); },
//       {{4, 3}, {3}});
//   report.Require();
//
// It runs on the reference backend in f64, in a context with memory of its own, on random inputs of
// these shapes, and finds out whether
//  - what it asks for of memory, forward and backward, is the same when it is planned (dry) as when
//    it runs, block by block, in the name of the same layers;
//  - it gives the same result for the same inputs;
//  - the gradients of all inputs agree with central differences.
// The report names the input and the element that is wrong, or the label and the first block.
// Reading or writing a tensor outside of Context::Launch ends the program, as planning would, with
// a sentence that says so. Throws what the function throws, e.g. ShapeError.
GradientReport CheckGradients(const CheckedFunction& function, const std::vector<Shape>& inputs,
                              const GradientCheckOptions& options = {});

// Does the same for a layer and its parameters, whose initial values are moved a little, so that
// zeros and ones hide nothing. A layer of several variables takes an input for each; the first one
// that it leaves is looked at. Names the layer's parts where nobody has, and numbers its
// parameters.
GradientReport CheckGradients(Layer& layer, const std::vector<Shape>& inputs,
                              const GradientCheckOptions& options = {});

}  // namespace frugal
