#include "format/gguf_types.h"

#include "base/strings.h"

namespace wick {

namespace {

struct TypeName {
  std::uint32_t id;
  std::string_view name;
};

// ggml's numbers (gguf 0.19.0); 4, 5, 31–33 and 36–38 are retired ones that old files still hold.
constexpr TypeName kNames[] = {
    {4, "Q4_2"},    {5, "Q4_3"},        {9, "Q8_1"},        {15, "Q8_K"},       {16, "IQ2_XXS"},
    {17, "IQ2_XS"}, {18, "IQ3_XXS"},    {19, "IQ1_S"},      {21, "IQ3_S"},      {22, "IQ2_S"},
    {24, "I8"},     {25, "I16"},        {26, "I32"},        {27, "I64"},        {28, "F64"},
    {29, "IQ1_M"},  {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},   {33, "Q4_0_8_8"},   {34, "TQ1_0"},
    {35, "TQ2_0"},  {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"}, {40, "NVFP4"},
    {41, "Q1_0"},
};

}  // namespace

Error unsupported_type(const std::string& path, std::string_view tensor, std::uint32_t gguf_type) {
  std::string type = cat("number ", gguf_type);
  for (const TypeName& row : kNames) {
    if (row.id == gguf_type) type = row.name;
  }
  return {.code = ErrorCode::kUnsupported,
          .id = "unsupported_tensor_type",
          .message = cat(path, ": tensor '", printable(tensor), "' is of type ", type,
                         ", which wick does not read"),
          .hint = "choose another quantization of the model, such as Q4_K_M or Q8_0"};
}

}  // namespace wick
