#include "sdk/backend/activation.h"

#include <array>

namespace frugal {
namespace {

struct Facts {
  std::string_view name;
  double parameter;
  bool from_output;
};
constexpr auto kFacts = std::to_array<Facts>({{"identity", 0, true},
                                              {"relu", 0, true},
                                              {"gelu", 0, false},
                                              {"gelu_tanh", 0, false},
                                              {"quick_gelu", 0, false},
                                              {"silu", 0, false},
                                              {"sigmoid", 0, true},
                                              {"tanh", 0, true},
                                              {"softplus", 0, false},
                                              {"elu", 1.0, true},
                                              {"leaky_relu", 0.01, true},
                                              {"mish", 0, false},
                                              {"hardswish", 0, false},
                                              {"exp", 0, true}});
static_assert(kFacts.size() == kActivationCount);
static_assert(kActivationCount == static_cast<std::size_t>(Activation::kExp) + 1);

const Facts& Of(Activation activation) { return kFacts[static_cast<std::size_t>(activation)]; }

}  // namespace

std::string_view NameOf(Activation activation) { return Of(activation).name; }
double DefaultParameter(Activation activation) { return Of(activation).parameter; }
bool DerivesFromOutput(Activation activation) { return Of(activation).from_output; }

}  // namespace frugal
