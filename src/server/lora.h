// LoRA adapters: GET and POST /lora-adapters, in llama.cpp's format, and the field "lora".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/json_value.h"
#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

// [{"id": 0, "scale": 0.5}] as Generation::adapters has it; an empty list is "none". `field` is for
// messages.
Result<std::vector<std::string>> lora_texts(const Array& list, std::string_view field);

// Of the model in the query, else the first.
http::Reply list_adapters(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& wake);
// Sets the scales of requests that choose none; adapters that are not in the list get 0.
http::Reply set_adapters(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
