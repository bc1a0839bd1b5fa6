/* X-macros: lists of the fields that have the same name and meaning in C++ (the other headers), C
 * (wick/wick.h) and Python. The conversions between the languages use these lists. A list calls its
 * argument with each name:
 *
 *   #define WICK_COPY(name) to.name = from.name;
 *   WICK_USAGE_FIELDS(WICK_COPY)
 *   #undef WICK_COPY
 *
 * Callbacks, lists and optional values are not listed, because their types differ between the
 * languages. This header is for C and C++, and defines macros only. */
#ifndef WICK_FIELDS_H
#define WICK_FIELDS_H

/* ModelOptions: numbers, booleans and strings. */
#define WICK_MODEL_FIELDS(FIELD) \
  FIELD(threads)                 \
  FIELD(device)                  \
  FIELD(tensor_split)            \
  FIELD(context)                 \
  FIELD(max_concurrent)          \
  FIELD(max_queue)               \
  FIELD(cache_limit_bytes)       \
  FIELD(cache_type)              \
  FIELD(chat_template)           \
  FIELD(may_download)            \
  FIELD(speculation)             \
  FIELD(draft_model)             \
  FIELD(draft_max)               \
  FIELD(quantization)

/* Generation: numbers, booleans and strings. */
#define WICK_GENERATION_FIELDS(FIELD) \
  FIELD(max_tokens)                   \
  FIELD(samplers)                     \
  FIELD(logprobs)                     \
  FIELD(prompt_logprobs)              \
  FIELD(top_logprobs)                 \
  FIELD(time_limit_ms)                \
  FIELD(priority)                     \
  FIELD(tenant)                       \
  FIELD(client)                       \
  FIELD(emit_tokens)                  \
  FIELD(emit_ms)                      \
  FIELD(emit_bytes)                   \
  FIELD(tool_choice)                  \
  FIELD(parallel_tool_calls)

/* EmbedOptions: numbers, booleans and strings. */
#define WICK_EMBED_FIELDS(FIELD) \
  FIELD(pooling)                 \
  FIELD(normalize)               \
  FIELD(query)                   \
  FIELD(time_limit_ms)           \
  FIELD(priority)                \
  FIELD(tenant)                  \
  FIELD(client)

/* PoolOptions without the model options: numbers and booleans. */
#define WICK_POOL_FIELDS(FIELD) \
  FIELD(budget_bytes)           \
  FIELD(max_models)             \
  FIELD(warm_up)

/* ModelInfo: strings, numbers and booleans. */
#define WICK_INFO_FIELDS(FIELD) \
  FIELD(name)                   \
  FIELD(architecture)           \
  FIELD(source)                 \
  FIELD(context)                \
  FIELD(vocabulary)             \
  FIELD(is_pinned)              \
  FIELD(is_used)

/* ModelMemory: numbers. In C and Python these are fields of the model info itself. */
#define WICK_MEMORY_FIELDS(FIELD) \
  FIELD(weight_bytes)             \
  FIELD(cache_bytes)              \
  FIELD(scratch_bytes)

/* Usage: numbers. In C these are fields of wick_completion. */
#define WICK_USAGE_FIELDS(FIELD) \
  FIELD(prompt_tokens)           \
  FIELD(cached_tokens)           \
  FIELD(generated_tokens)        \
  FIELD(reasoning_tokens)        \
  FIELD(draft_tokens)            \
  FIELD(accepted_tokens)         \
  FIELD(steered_tokens)          \
  FIELD(preemptions)             \
  FIELD(queue_ms)                \
  FIELD(prompt_ms)               \
  FIELD(generate_ms)

/* RequestEstimate: numbers. */
#define WICK_ESTIMATE_FIELDS(FIELD) \
  FIELD(prompt_tokens)              \
  FIELD(max_tokens)                 \
  FIELD(cached_tokens)              \
  FIELD(blocks)                     \
  FIELD(free_blocks)                \
  FIELD(cache_bytes)                \
  FIELD(requests_before)

#endif
