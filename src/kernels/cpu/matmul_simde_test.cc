// The AVX-512 products in emulated instructions: the same source, compiled with WICK_SIMDE and AVX2
// flags (cmake/modules.cmake), brings matmul_overrides_simde(), which same_bits_matmul_test.cc
// holds to the scalar bits beside the ISAs that run here.
#include "kernels/cpu/matmul_avx512.cc"  // on purpose
