// The items of a response's output, and their JSON. Plain data of one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "provider/gather.h"
#include "server/context.h"
#include "server/json_out.h"
#include "wick/generation.h"

namespace wick::server {

struct OutputItem {
  enum class Kind : std::uint8_t { kMessage, kReasoning, kCall };

  Kind kind = Kind::kMessage;
  std::string id = {}, call_id = {}, name = {};
  std::string text = {};                  // or the call's arguments
  std::vector<TokenLogprob> scores = {};  // of the tokens of a message's text
  int index = 0;                          // in the output
  int call_index = 0;                     // of the answer's calls
  bool is_done = false;
};

OutputItem make_item(Context& context, OutputItem::Kind kind);
OutputItem make_call(Context& context, int index, std::string call_id, std::string name);
std::vector<OutputItem> items_of(Context& context, const Gather& answer);
Message message_of(const std::vector<OutputItem>& items);

void write_item(JsonOut& json, const OutputItem& item);
void write_text_part(JsonOut& json, const OutputItem& item);
void write_tool(JsonOut& json, const Tool& tool);
void write_response_usage(JsonOut& json, const Usage& usage);

}  // namespace wick::server
