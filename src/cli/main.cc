#include "cli/cli.h"

int main(int argc, char** argv) {
  return wick::run_program(argc, argv);
}
