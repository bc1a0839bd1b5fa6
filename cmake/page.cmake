# The files of web/ as one source of the server, by tools/embed_page.
function(wick_page)
  find_program(PYTHON3 python3 REQUIRED)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*)
  set(out ${CMAKE_BINARY_DIR}/page_data.cc)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_page
    COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tools/embed_page ${CMAKE_SOURCE_DIR}/web ${out})
  target_sources(wick_server PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
