#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sdk/io/weights/input_file.h"
#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// Our binary form: what a program without a JSON parser can read. Little endian, nothing aligned:
//
//   8 bytes  the letters FRUGALWT
//   u32      version, 1
//   u32      number of metadata pairs
//     per pair:    u32 length, the key; u32 length, its text (UTF-8)
//   u64      number of tensors
//     per tensor:  u32 length, the name (UTF-8)
//                  u8  dtype: 0 BOOL, 1 U8, 2 I8, 3 I16, 4 U16, 5 F16, 6 BF16, 7 I32, 8 U32, 9 F32,
//                      10 F64, 11 I64, 12 U64
//                  u8  rank, at most 8
//                  i64 per dimension, outermost first
//                  u64 bytes of its data
//   the data of every tensor, row-major, in the order of the list, up to the end of the file

// The first eight bytes, by which the form is known.
inline constexpr std::string_view kBinaryWeightsMagic = "FRUGALWT";

// The table of contents of a file in our binary form.
struct BinaryTable {
  std::vector<StoredTensor> tensors;
  std::vector<std::int64_t> offsets;  // of each tensor's data, from the start of the file
  WeightMetadata metadata;
};

// Reads and checks the table against the size of the file. Throws WeightFileError.
BinaryTable ReadBinaryTable(const InputFile& file);

}  // namespace frugal
