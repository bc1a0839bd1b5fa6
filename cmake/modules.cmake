# One static library and one test program per module. Which module links which is read from tools/modules.txt, the table that
# tools/tidy.py holds the includes against; sources are found by their place, so a new file needs no line here.

# What Debian's libraries each module needs besides (PkgConfig names end in the imported target).
if(NOT CMAKE_CROSSCOMPILING)
  find_package(PkgConfig REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(CURL REQUIRED)
  find_package(OpenSSL REQUIRED)
  pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
  pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
  pkg_check_modules(LIBEDIT REQUIRED IMPORTED_TARGET libedit)
  pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
  pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
  pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
  find_package(GTest REQUIRED)
  find_path(BOOST_BEAST boost/beast/version.hpp REQUIRED)
  find_path(TOMLPLUSPLUS toml++/toml.h REQUIRED)  # headers alone, seen by one file
endif()
# These are loaded at their first use, which keeps the start of the program short (src/base/shared_library.h): nothing is linked with
# them.
add_library(wick_late_headers INTERFACE)
target_include_directories(wick_late_headers SYSTEM INTERFACE ${CURL_INCLUDE_DIRS} ${OPENSSL_INCLUDE_DIR} ${LIBZIP_INCLUDE_DIRS}
  ${SQLITE_INCLUDE_DIRS} ${LIBEDIT_INCLUDE_DIRS})
set(WICK_NEEDS_base ${CMAKE_DL_LIBS})
set(WICK_NEEDS_unicode PkgConfig::UTF8PROC)
set(WICK_NEEDS_net wick_late_headers)
set(WICK_NEEDS_format nlohmann_json::nlohmann_json)
set(WICK_NEEDS_hub nlohmann_json::nlohmann_json wick_late_headers)
set(WICK_NEEDS_text nlohmann_json::nlohmann_json)
set(WICK_NEEDS_chat nlohmann_json::nlohmann_json)
set(WICK_NEEDS_grammar nlohmann_json::nlohmann_json)
set(WICK_NEEDS_local nlohmann_json::nlohmann_json)
set(WICK_NEEDS_remote PkgConfig::SIMDJSON)
set(WICK_NEEDS_server PkgConfig::SIMDJSON PkgConfig::PROMETHEUS)
set(WICK_NEEDS_http wick_late_headers nlohmann_json::nlohmann_json)  # Boost.Beast is headers alone
set(WICK_NEEDS_route wick_late_headers)
set(WICK_NEEDS_cli CLI11::CLI11 wick_late_headers)
set(WICK_TEST_NEEDS_hub PkgConfig::LIBZIP)
set(WICK_TEST_NEEDS_http OpenSSL::SSL OpenSSL::Crypto)
set(WICK_TEST_NEEDS_route PkgConfig::SQLITE)

# The cross build holds the modules whose code depends on the processor. GoogleTest's library for it is built from the sources
# that Debian's package googletest installs.
set(WICK_CROSS_MODULES base quant kernels)

# Modules with loops that take time; they compile with WICK_HOT_FLAGS besides, tests with WICK_TEST_FLAGS (CMakePresets.json).
set(WICK_HOT_MODULES quant sample kernels backend)

# Modules without loops that take time (those of a model are in kernels); they compile with WICK_COLD_FLAGS, which keep the program small.
set(WICK_COLD_MODULES hub config cli assist model)

# Modules whose tests run once more on a device whose memory faults when the host touches it (tests/support/fake_device.h).
set(WICK_DEVICE_MODULES model engine local library)

# Kernel files compile with the flags of the ISA they are named after, and only on its processor.
function(wick_isa_flags files)
  foreach(file IN LISTS files)
    if(file MATCHES "_avx2\\.cc$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c;-mbmi2")
    elseif(file MATCHES "_avx512\\.cc$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS
        "-march=x86-64-v4;-mavx512vnni;-mavx512vbmi;-mavx512bf16")
    elseif(file MATCHES "_simde_test\\.cc$")
      # AVX-512 code emulated on AVX2 (libsimde-dev), so that its bits are tested on any x86 machine. -O1 compiles four times as long.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-Og;-mavx2;-mfma;-mf16c;-Wno-psabi;-DWICK_SIMDE")
    elseif(file MATCHES "_neon\\.cc$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+dotprod+fp16")
    endif()
    if(file MATCHES "_(avx2|avx512|neon|simde_test)\\.cc$")
      set_source_files_properties(${file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# AVX-512 emulated on AVX2 for tests, by Debian's libsimde-dev, which tools/setup installs; elsewhere those tests are left out
# where it is missing.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  include(CheckIncludeFileCXX)
  check_include_file_cxx(simde/x86/avx512.h WICK_HAS_SIMDE)
endif()

# ctest labels come from the suite names: TEST(SameBitsGemv, …) is labeled same-bits. Everything else is unit.
set(WICK_LABELS "SameBits=same-bits" "HotPath=hot-path" "Hostile=hostile" "Parity=parity" "Cli=cli" "Model=model" "Slow=slow")

function(wick_add_tests target sources)
  set(text "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} lines REGEX "^ *(TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\\(")
    string(APPEND text "${lines};")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  set(others "")
  foreach(pair IN LISTS WICK_LABELS)
    string(REGEX MATCH "^([^=]*)=(.*)$" _ ${pair})
    set(prefix ${CMAKE_MATCH_1})
    set(label ${CMAKE_MATCH_2})
    if(text MATCHES "TEST[_A-Z]*\\((${prefix}[A-Za-z0-9]*)")
      add_test(NAME ${target}.${label} COMMAND ${target} --gtest_filter=${prefix}*:*/${prefix}*)
      set_tests_properties(${target}.${label} PROPERTIES LABELS "${label}")
    endif()
    list(APPEND others "${prefix}*" "*/${prefix}*")
  endforeach()
  list(JOIN others ":" others)
  add_test(NAME ${target}.unit COMMAND ${target} --gtest_filter=*:-${others})
  set_tests_properties(${target}.unit PROPERTIES LABELS unit)
endfunction()

# A test written in Python. Its labels stand in its first lines: "# labels: cli model"; cli if it has none.
function(wick_add_script name script)
  add_test(NAME ${name} COMMAND python3 ${script} ${ARGN})
  set(labels cli)
  file(STRINGS ${script} head LIMIT_COUNT 12 REGEX "^# labels:")
  if(head)
    string(REGEX REPLACE "^# labels: *" "" labels "${head}")
    string(REPLACE " " ";" labels "${labels}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endfunction()

# The same code model for the shared helpers and the programs, or these could not use the precompiled header of those.
function(wick_test_flags target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_compile_options(${target} PRIVATE ${WICK_TEST_FLAGS})
  wick_precompile(${target} test <gtest/gtest.h>)
endfunction()

# Several files are compiled as one: most of a file's time goes into headers and templates that its neighbors have as well. Tables
# (_data.cc), architectures and these stand apart, because their unnamed namespaces share a name with a neighbor's. Files of
# WICK_HOT_MODULES stand apart too: their instructions may not depend on neighbors.
set(WICK_APART net/ssrf_test server/chat_test server/completions_test server/request_test server/responses_test model/placement_test
  model/same_bits_test model/wild_values_test model/slot_map_test http/websocket_test hub/pull_test hub/store_test
  backend/cpu/same_bits_test kernels/cpu/vector_test format/safetensors_test sample/scan_test sample/stages_test
  engine/speculation_test grammar/token_masks_test grammar/json_string_test grammar/json_number_test local/local_pool_test
  local/local_session_test local/local_test library/memory_faults_test library/same_answers_test library/stream_logprobs_test
  text/tokenizer_test format/json_reader_test base/thread_team net/transfers shell/rewrites_test grammar/output_format
  grammar/json_spelling grammar/ebnf grammar/lark grammar/grammar_syntax grammar/composition grammar/composed grammar/captures
  grammar/gbnf grammar/productions model/families_test model/parity_experts_test model/parity_test
  server/admission remote/anthropic remote/azure remote/gemini remote/ollama remote/openai local/adapters_test
  local/local_tools_test local/rerank_test model/adapter_test server/rerank_test)

function(wick_unite target files_at_a_time)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_at_a_time})
  foreach(name IN LISTS WICK_APART)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${name}.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "_data\\.cc$|/arch/")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(wick_module module below)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(FILTER sources EXCLUDE REGEX "_avx(2|512)\\.cc$")
  else()
    list(FILTER sources EXCLUDE REGEX "_neon\\.cc$")
  endif()
  if(NOT WICK_HAS_SIMDE)
    list(FILTER tests EXCLUDE REGEX "_simde_test\\.cc$")
  endif()
  if(CMAKE_CROSSCOMPILING)
    list(FILTER tests EXCLUDE REGEX "/sha256_test\\.cc$")  # there is no libcrypto for that processor here
  endif()
  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/main\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(NOT sources)
    return()
  endif()
  wick_isa_flags("${sources};${tests}")
  add_library(wick_${module} STATIC ${sources})
  target_include_directories(wick_${module} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  foreach(other IN LISTS below)
    if(TARGET wick_${other})
      target_link_libraries(wick_${module} PUBLIC wick_${other})
    endif()
  endforeach()
  target_link_libraries(wick_${module} PUBLIC Threads::Threads PRIVATE ${WICK_NEEDS_${module}})
  if(module IN_LIST WICK_HOT_MODULES)
    target_compile_options(wick_${module} PRIVATE ${WICK_HOT_FLAGS})
    wick_precompile(wick_${module} hot)
  elseif(module IN_LIST WICK_COLD_MODULES)
    target_compile_options(wick_${module} PRIVATE ${WICK_COLD_FLAGS})
    wick_precompile(wick_${module} cold)
  else()
    wick_precompile(wick_${module} module)
  endif()
  if(NOT module IN_LIST WICK_HOT_MODULES)
    wick_unite(wick_${module} 10)
  endif()
  if(module MATCHES "^(cli|library)$")
    target_compile_definitions(wick_${module} PRIVATE WICK_VERSION="${PROJECT_VERSION}")
  endif()
  # tests/tools/MODULE_NAME.cc are small programs that scripts under tools/ drive; built when asked for, all by wick_drivers.
  file(GLOB drivers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tools/${module}_*.cc)
  foreach(driver IN LISTS drivers)
    get_filename_component(name ${driver} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${driver})
    add_dependencies(wick_drivers ${name})
    target_link_libraries(${name} PRIVATE wick_${module})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endforeach()
  if(main)
    add_executable(wick ${main})
    target_link_libraries(wick PRIVATE wick_${module})
    set_target_properties(wick PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endif()
  if(tests)
    add_executable(${module}_test ${tests})
    target_link_libraries(${module}_test PRIVATE wick_${module} wick_test_support ${WICK_NEEDS_${module}} ${WICK_TEST_NEEDS_${module}})
    wick_test_flags(${module}_test)
    wick_unite(${module}_test 8)
    if(module MATCHES "^(provider|route|server|local|library|cli)$")
      target_link_libraries(${module}_test PRIVATE wick_scripted)
    endif()
    if(WICK_HAS_SIMDE)
      target_compile_definitions(${module}_test PRIVATE WICK_HAS_SIMDE)
    endif()
    wick_add_tests(${module}_test "${tests}")
    if(module IN_LIST WICK_DEVICE_MODULES)
      add_test(NAME ${module}_test.fake-device COMMAND ${module}_test --gtest_filter=-Slow*:*/Slow*:Model*:*/Model*:Parity*:*/Parity*)
      set_tests_properties(${module}_test.fake-device PROPERTIES LABELS same-bits ENVIRONMENT WICK_TEST_DEVICE=fake)
    endif()
  endif()
endfunction()

function(wick_modules)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/modules.txt rows)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/modules.txt)
  # What tests share: writers of small files, the heap counter, the harness.
  if(CMAKE_CROSSCOMPILING)
    add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
    target_compile_options(gtest PRIVATE -w)  # foreign code: g++ 12 warns about a copy that cannot happen
  endif()
  file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.cc)
  list(FILTER support EXCLUDE REGEX "/scripted_[a-z]*\\.cc$")
  add_library(wick_test_support STATIC ${support})
  target_link_libraries(wick_test_support PUBLIC wick_quant GTest::gtest_main)
  target_include_directories(wick_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/src)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/support/test_data.cc PROPERTIES
    COMPILE_DEFINITIONS WICK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  wick_test_flags(wick_test_support)
  add_custom_target(wick_drivers)
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([a-z]+): *(.*)$" _ "${row}")
    set(module ${CMAKE_MATCH_1})
    string(REPLACE " " ";" below "${CMAKE_MATCH_2}")
    if(NOT CMAKE_CROSSCOMPILING OR module IN_LIST WICK_CROSS_MODULES)
      wick_module(${module} "${below}")
    endif()
  endforeach()
endfunction()

# A provider whose answers are scripted, for whoever knows a Provider: tests that link base, net, chat and provider alone, and a
# program in which "scripted:NAME" is a model.
function(wick_scripted_tests)
  add_library(wick_scripted STATIC ${CMAKE_SOURCE_DIR}/tests/support/scripted_provider.cc)
  target_link_libraries(wick_scripted PUBLIC wick_provider)
  target_include_directories(wick_scripted PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  file(GLOB alone CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/alone/*_test.cc)
  add_executable(alone_test ${alone})
  target_link_libraries(alone_test PRIVATE wick_scripted GTest::gtest_main)
  target_compile_options(alone_test PRIVATE ${WICK_TEST_FLAGS})
  wick_add_tests(alone_test "${alone}")
  add_executable(wick_scripted_program ${CMAKE_SOURCE_DIR}/src/cli/main.cc
    ${CMAKE_SOURCE_DIR}/tests/support/scripted_opener.cc)
  target_link_libraries(wick_scripted_program PRIVATE wick_cli wick_scripted)
endfunction()

# bench/NAME.cc becomes bench_NAME, built when asked for.
function(wick_benches)
  file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cc)
  foreach(source IN LISTS benches)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(bench_${name} PRIVATE wick_kernels wick_text wick_chat wick_grammar wick_engine wick_shell)
    target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR})
    set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endforeach()
  target_sources(bench_shell_check PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/shell_attacks.cc)
  target_include_directories(bench_shell_check PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endfunction()

# tests/*_test.cc see all modules; tests/cli/*.sh drive the program.
function(wick_product_tests)
  wick_benches()
  wick_scripted_tests()
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_test.cc)
  if(tests AND TARGET wick_cli)
    add_executable(product_test ${tests})
    target_link_libraries(product_test PRIVATE wick_cli wick_test_support nlohmann_json::nlohmann_json)
    wick_test_flags(product_test)
    wick_add_tests(product_test "${tests}")
  endif()
  if(TARGET wick)
    file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cli/*_test.py)
    foreach(script IN LISTS scripts)
      get_filename_component(name ${script} NAME_WE)
      wick_add_script(cli.${name} ${script} $<TARGET_FILE:wick>)
    endforeach()
  endif()
  # The counts are those of the compiler that users have, at the flags that users get.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
     CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND
     NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
    add_test(NAME kernel_loops COMMAND_EXPAND_LISTS
      COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/kernel_loops_test.py
        ${CMAKE_SOURCE_DIR}/tests/data/kernels/loops.txt $<TARGET_OBJECTS:wick_kernels>)
    set_tests_properties(kernel_loops PROPERTIES LABELS unit)
  endif()
  add_test(NAME exhaustive_visits
    COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/exhaustive_visits_test.py ${CMAKE_BINARY_DIR})
  set_tests_properties(exhaustive_visits PROPERTIES LABELS unit)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
    wick_add_script(debug_preset ${CMAKE_SOURCE_DIR}/tests/debug_preset_test.py ${CMAKE_BINARY_DIR})
  endif()
  add_test(NAME tidy COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/tidy.py ${CMAKE_SOURCE_DIR})
  set_tests_properties(tidy PROPERTIES LABELS unit)
  wick_add_script(tidy_rules ${CMAKE_SOURCE_DIR}/tests/tidy_test.py)
  wick_add_script(references ${CMAKE_SOURCE_DIR}/tests/references_test.py)
  wick_add_script(odr ${CMAKE_SOURCE_DIR}/tests/odr_test.py)
  wick_add_script(models_table ${CMAKE_SOURCE_DIR}/tests/models_table_test.py)
endfunction()

# tests/fuzz/NAME.cc becomes fuzz_NAME, its corpus lies in tests/fuzz/corpus/NAME. A fuzzer may use every module that there is.
function(wick_fuzzers)
  set(modules "")
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/modules.txt rows)
  foreach(row IN LISTS rows)
    string(REGEX REPLACE ":.*" "" module "${row}")
    if(TARGET wick_${module})
      list(APPEND modules wick_${module})
    endif()
  endforeach()
  # Without the harness of the tests, which has a main of its own.
  add_library(wick_fuzz_models STATIC ${CMAKE_SOURCE_DIR}/tests/support/gguf_writer.cc
    ${CMAKE_SOURCE_DIR}/tests/support/tiny_model.cc)
  target_link_libraries(wick_fuzz_models PUBLIC wick_quant)
  target_include_directories(wick_fuzz_models PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cc)
  foreach(source IN LISTS fuzzers)
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE wick_fuzz_models ${modules} nlohmann_json::nlohmann_json)
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endforeach()
endfunction()
