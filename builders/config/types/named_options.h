#pragma once

#include "layers/pool2d.h"
#include "layers/recurrent.h"

namespace frugal {

// Options of layers that share a struct or have none, told apart by type.
struct MaxPool2dOptions : Pool2dOptions {};
struct AveragePool2dOptions : Pool2dOptions {};
struct LstmOptions : RecurrentOptions {};
struct GruOptions : RecurrentOptions {};
struct FlattenOptions {};
struct ToSequenceOptions {};
struct SequentialOptions {};

}  // namespace frugal
