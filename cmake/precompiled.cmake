# The standard headers that nearly every file includes, parsed once for each set of flags: that of the modules, of the hot modules and
# of the tests. It only saves time (a quarter of a build): every file still includes what it uses, which the preset clang, without
# precompiled headers, proves. Files compiled for an instruction set see none of it (docs/ARCHITECTURE.md, "ISA dispatch").
set(WICK_COMMON_HEADERS <algorithm> <array> <atomic> <charconv> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <filesystem>
  <fstream> <functional> <limits> <map> <memory> <optional> <span> <sstream> <string> <string_view> <utility> <variant> <vector>)

# wick_precompile(TARGET KIND [HEADER…]): the first target of a kind makes the kind's header, the others use it.
function(wick_precompile target kind)
  get_property(first GLOBAL PROPERTY WICK_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY WICK_PRECOMPILED_${kind} ${target})
    target_precompile_headers(${target} PRIVATE ${WICK_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()
