#pragma once

// An optimizer of a program's own, which steps by a sign (Chen et al., arXiv 2302.06675).
struct LionOptions {
  double beta1 = 0.9;   // share of the momentum in the step
  double beta2 = 0.99;  // decay of the momentum
};

// Makes it known to files: [optimizer] kind = "lion", and [optimizer.lion] with these options.
void RegisterLion();
