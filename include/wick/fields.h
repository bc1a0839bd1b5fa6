/* Fields that are called the same, and mean the same, in C++ (wick/model.h, wick/generation.h,
 * wick/usage.h, wick/plan.h), in C (wick/wick.h) and in Python: each stands here once, and who
 * hands one language's struct to another goes through the list. A list is a macro that calls its
 * argument with each name:
 *
 *   #define WICK_COPY(name) to.name = from.name;
 *   WICK_USAGE_FIELDS(WICK_COPY)
 *   #undef WICK_COPY
 *
 * What differs between the languages (callbacks, lists, what may be left out) is not here. C and
 * C++; this header declares nothing. */
#ifndef WICK_FIELDS_H
#define WICK_FIELDS_H

/* Of ModelOptions; a number, a truth value or a text. */
#define WICK_MODEL_FIELDS(FIELD) \
  FIELD(threads)                 \
  FIELD(device)                  \
  FIELD(context)                 \
  FIELD(max_concurrent)          \
  FIELD(cache_limit_bytes)       \
  FIELD(cache_type)              \
  FIELD(chat_template)           \
  FIELD(may_download)            \
  FIELD(speculation)             \
  FIELD(draft_model)             \
  FIELD(draft_max)               \
  FIELD(quantization)

/* Of Generation; likewise. */
#define WICK_GENERATION_FIELDS(FIELD) \
  FIELD(max_tokens)                   \
  FIELD(samplers)                     \
  FIELD(logprobs)                     \
  FIELD(prompt_logprobs)              \
  FIELD(top_logprobs)                 \
  FIELD(time_limit_ms)                \
  FIELD(priority)                     \
  FIELD(tenant)                       \
  FIELD(emit_tokens)                  \
  FIELD(emit_ms)                      \
  FIELD(emit_bytes)                   \
  FIELD(tool_choice)

/* Of EmbedOptions; likewise. */
#define WICK_EMBED_FIELDS(FIELD) \
  FIELD(pooling)                 \
  FIELD(normalise)               \
  FIELD(time_limit_ms)           \
  FIELD(priority)                \
  FIELD(tenant)

/* Of Usage, in C of wick_completion; numbers. */
#define WICK_USAGE_FIELDS(FIELD) \
  FIELD(prompt_tokens)           \
  FIELD(cached_tokens)           \
  FIELD(generated_tokens)        \
  FIELD(reasoning_tokens)        \
  FIELD(draft_tokens)            \
  FIELD(accepted_tokens)         \
  FIELD(preemptions)             \
  FIELD(queue_ms)                \
  FIELD(prompt_ms)               \
  FIELD(generate_ms)

/* Of RequestPlan; numbers. */
#define WICK_PLAN_FIELDS(FIELD) \
  FIELD(prompt_tokens)          \
  FIELD(max_tokens)             \
  FIELD(cached_tokens)          \
  FIELD(blocks)                 \
  FIELD(free_blocks)            \
  FIELD(cache_bytes)            \
  FIELD(requests_before)

#endif
