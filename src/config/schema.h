// JSON Schema 2020-12 of config.toml, for editors: generated from the rows of config/options.h and
// config/tables.h. Any thread.
#pragma once

#include "chat/json_value.h"
#include "config/options.h"

namespace wick {

JsonValue config_schema();
JsonValue to_json_value(const OptionValue& value);  // null if it is not set

}  // namespace wick
