#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/weight_source.h"
#include "sdk/io/weight_writer.h"

namespace frugal {

enum class WeightsFileFormat : std::uint8_t { kAuto, kJson, kBinary, kSafetensors };

std::string_view NameOf(WeightsFileFormat format);  // "auto", "JSON", "binary", "safetensors"

// Opens a weight file. kAuto goes by the content, never by the name. Throws WeightFileError for a
// file that is missing, empty, unreadable, damaged, of no known form (naming some well-known other
// kinds), or of another form than the one asked for.
std::unique_ptr<WeightSource> OpenWeights(const std::string& path,
                                          WeightsFileFormat format = WeightsFileFormat::kAuto);

// Begins a weight file; kAuto writes safetensors.
std::unique_ptr<WeightWriter> CreateWeights(const std::string& path, WeightsFileFormat format,
                                            std::vector<StoredTensor> tensors,
                                            const WeightMetadata& metadata = {});

}  // namespace frugal
