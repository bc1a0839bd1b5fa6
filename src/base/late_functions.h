// Functions of a shared library that is loaded when it is first needed, under their own names:
// callers include the library's own headers, and the program is not linked with it. Each function
// is a jump to an address that WICK_FIND_FUNCTIONS writes; until then it must not be called. A
// function that is missing in the list is an error of the linker. For modules of the program alone:
// a program that links libwick.a may call the real functions itself.
//
//   #define WICK_EDIT(each) each(el_init) each(el_gets)
//   WICK_LATE_FUNCTIONS(WICK_EDIT);
//   ...
//   SharedLibrary library("libedit.so.2");
//   WICK_FIND_FUNCTIONS(library, WICK_EDIT)
//   WICK_DO(library.check("no_libedit", "install libedit (Debian: libedit2)"));
#pragma once

#include "base/shared_library.h"

// The slot of an address and the function that jumps to it. In the assembler's text, so that the
// compiler, which knows neither, leaves both as they are.
#define WICK_LATE_BEGIN         \
  ".macro wick_late name\n"     \
  ".pushsection .bss\n"         \
  ".globl wick_slot_\\name\n"   \
  ".hidden wick_slot_\\name\n"  \
  ".balign 8\n"                 \
  "wick_slot_\\name: .skip 8\n" \
  ".popsection\n"               \
  ".pushsection .text\n"        \
  ".globl \\name\n"             \
  ".hidden \\name\n"            \
  ".type \\name, @function\n"   \
  "\\name:\n" WICK_LATE_JUMP    \
  ".popsection\n"               \
  ".endm\n"
#if defined(__x86_64__)
#define WICK_LATE_JUMP "jmp *wick_slot_\\name(%rip)\n"
#elif defined(__aarch64__)
#define WICK_LATE_JUMP                       \
  "adrp x16, wick_slot_\\name\n"             \
  "ldr x16, [x16, :lo12:wick_slot_\\name]\n" \
  "br x16\n"
#endif
#define WICK_LATE_NAME(name) "wick_late " #name "\n"
#define WICK_LATE_SLOT(name) extern "C" [[gnu::visibility("hidden")]] void* wick_slot_##name;
#define WICK_LATE_FUNCTIONS(list) \
  list(WICK_LATE_SLOT) asm(WICK_LATE_BEGIN list(WICK_LATE_NAME) ".purgem wick_late\n")

#define WICK_FIND_FUNCTION(name) late_library.find(#name, wick_slot_##name);
#define WICK_FIND_FUNCTIONS(library, list) \
  {                                        \
    SharedLibrary& late_library = library; \
    list(WICK_FIND_FUNCTION)               \
  }
