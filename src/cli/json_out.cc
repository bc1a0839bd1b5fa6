#include "cli/json_out.h"

#include "cli/out.h"

namespace wick {

void print_json(const Value& value) {
  print({printable_json(to_json(value)), "\n"});
  flush_output();
}

}  // namespace wick
