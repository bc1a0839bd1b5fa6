#include "base/isa.h"

#include <cstdlib>
#include <string>

#include "base/strings.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace wick {
namespace {

#if defined(__x86_64__)
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// __builtin_cpu_supports also asks whether the system saves the registers.
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && has_f16c();
}

bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vnni") != 0 &&
         __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512bf16") != 0;
}
#endif

Result<Isa> best_isa() {
  if (is_supported(Isa::kAvx512)) return Isa::kAvx512;
  if (is_supported(Isa::kAvx2)) return Isa::kAvx2;
  if (is_supported(Isa::kNeon)) return Isa::kNeon;
  return Isa::kScalar;
}

std::string supported_names() {
  std::string names;
  for (Isa isa : kAllIsas) {
    if (!is_supported(isa)) continue;
    if (!names.empty()) names += ", ";
    names += name(isa);
  }
  return names;
}

}  // namespace

std::string_view name(Isa isa) noexcept {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kNeon:
      return "neon";
  }
  return "";
}

bool is_supported(Isa isa) noexcept {
  if (isa == Isa::kScalar) return true;
#if defined(__x86_64__)
  static const bool avx2 = has_avx2();
  static const bool avx512 = has_avx512();
  if (isa == Isa::kAvx2) return avx2;
  if (isa == Isa::kAvx512) return avx512;
#elif defined(__aarch64__)
  static const unsigned long wanted = HWCAP_ASIMDDP | HWCAP_ASIMDHP;
  static const bool neon = (getauxval(AT_HWCAP) & wanted) == wanted;
  if (isa == Isa::kNeon) return neon;
#endif
  return false;
}

Result<Isa> choose_isa(std::string_view wanted) {
  if (wanted.empty()) return best_isa();
  for (Isa isa : kAllIsas) {
    if (name(isa) != wanted) continue;
    if (is_supported(isa)) return isa;
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "isa_not_supported",
                 .message = cat("instruction set '", wanted,
                                "' does not run on this processor; it has ", supported_names()),
                 .hint = "unset WICK_ISA to use the best one"};
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "unknown_isa",
               .message = cat("'", printable(wanted),
                              "' is no instruction set; wanted scalar, avx2, avx512 or neon"),
               .hint = "unset WICK_ISA to use the best one"};
}

Result<Isa> choose_isa() {
  static const Result<Isa> chosen = [] {
    const char* wanted = std::getenv("WICK_ISA");
    return choose_isa(wanted == nullptr ? std::string_view{} : std::string_view{wanted});
  }();
  return chosen;
}

}  // namespace wick
