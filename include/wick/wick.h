/* The library in C (C99 and later): opaque handles and plain structs. The C++ headers document each
 * field.
 *
 *   wick_error *error = NULL;
 *   wick_model *model = wick_model_open("model.gguf", NULL, &error);
 *   if (!model) { fprintf(stderr, "%s\n", error->message); wick_error_free(error); return 1; }
 *   wick_completion *answer = wick_chat(model, "Why is the sky blue?", NULL, NULL, NULL, &error);
 *   if (answer) puts(answer->text);
 *   wick_completion_free(answer);
 *   wick_model_free(model);
 *
 * Rules. A function that returns a handle or a struct returns NULL on failure. A function that
 * returns int returns 0 on success, unless its comment says otherwise. Both set *error on failure,
 * unless `error` is NULL. The caller frees handles, structs and errors with wick_..._free() of the
 * type; ..._free(NULL) does nothing.
 * Text is UTF-8 and NUL-terminated. No function throws or calls longjmp(); no callback may.
 *
 * Threads. A wick_model and a wick_cancel may be used by several threads at once. A session, a
 * stream and a stream set may be used by one thread at a time, except wick_stream_cancel(). Handles
 * may be freed in any order.
 *
 * Versions. Structs with an ..._init function begin with their size, which that function sets. The
 * size tells a newer library which fields the program has. New fields are added to output structs
 * at the end only; structs in arrays never change. While WICK_ABI is the same, functions keep their
 * meaning. */
#ifndef WICK_WICK_H
#define WICK_WICK_H

#include <stddef.h>
#include <stdint.h>

#ifndef WICK_API
#define WICK_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WICK_ABI 1
WICK_API int wick_abi(void);             /* WICK_ABI of the library that runs */
WICK_API const char* wick_version(void); /* "0.1.0" */

/* Errors. */

typedef enum wick_error_code {
  WICK_INVALID = 1, /* a wrong request: a value out of range, a prompt that does not fit */
  WICK_NOT_FOUND,
  WICK_CORRUPT,
  WICK_UNSUPPORTED,
  WICK_NO_MEMORY,
  WICK_IO,
  WICK_DEVICE,
  WICK_CANCELLED,
  WICK_UNAVAILABLE /* try again later */
} wick_error_code;

typedef struct wick_error {
  wick_error_code code;
  const char* id;                 /* stable name for programs: "context_length_exceeded" */
  const char* message;            /* one sentence, value seen and value wanted */
  const char* hint;               /* what to try next, may be "" */
  const struct wick_error* cause; /* may be NULL; freed with this one */
  const char* partial_text;       /* text of an answer before this error ended it, else "" */
  int retry_after_s;              /* with WICK_UNAVAILABLE: seconds to wait; 0 = not known */
  int64_t offset;                 /* byte where a parsed text is wrong (wick/result.h), else -1 */
} wick_error;

WICK_API void wick_error_free(wick_error* error);

/* Log messages: wick/log.h. */

typedef enum wick_log_level { WICK_LOG_INFO = 0, WICK_LOG_WARNING } wick_log_level;

/* `message` is one line. Several threads may call the sink at once. */
typedef void (*wick_log_sink)(void* user, wick_log_level level, const char* message);
/* Replaces the sink of the process; NULL disables logging. */
WICK_API void wick_set_log(wick_log_sink sink, void* user);

/* Adds an architecture, as JSON: wick/architecture.h. Before the first model is opened; one
   thread. */
WICK_API int wick_add_architecture(const char* json, wick_error** error);

/* Cancellation: one handle may cancel many requests. A used handle cannot be reset. */

typedef struct wick_cancel wick_cancel;
WICK_API wick_cancel* wick_cancel_new(void);
WICK_API void wick_cancel_request(wick_cancel* cancel);
WICK_API void wick_cancel_free(wick_cancel* cancel);

/* Models. */

typedef struct wick_model wick_model;

typedef enum wick_phase {
  WICK_PHASE_DOWNLOAD = 0,
  WICK_PHASE_CHECK, /* hashing downloaded data */
  WICK_PHASE_LOAD
} wick_phase;

typedef struct wick_progress {
  wick_phase phase;
  const char* what;     /* the file or its source */
  uint64_t done, total; /* bytes; total 0 = not yet known */
} wick_progress;

/* Called on the thread that opens the model; arguments are valid during the call. Return not 0 to
 * cancel (WICK_CANCELLED). */
typedef int (*wick_progress_sink)(void* user, const wick_progress* progress);

typedef struct wick_model_options {
  size_t size;
  int threads; /* 0 = all that this process may use */
  int context; /* in tokens; 0 = the model's context size, reduced to what the cache limit holds */
  int max_concurrent;          /* requests that run at once; default 4 */
  uint64_t cache_limit_bytes;  /* maximum size of the KV cache (wick/model.h); default 10^9 */
  const char* cache_type;      /* KV cache type; "bf16" (also NULL) */
  const char* chat_template;   /* NULL = the model's own */
  int may_download;            /* not 0: download the model if it is not on this machine */
  const char* speculation;     /* "none" (also NULL), "ngram" or "draft": wick/model.h */
  const char* draft_model;     /* with "draft": path or name of the smaller model */
  int draft_max;               /* maximum per step; 0 = 16 with "ngram", 3 with "draft" */
  const char* device;          /* "cpu", …; "auto" (also NULL) = the first that works */
  const char* tensor_split;    /* "3,1": ratio of layers on several devices; NULL: wick/model.h */
  const char* quantization;    /* "Q4_K_M": file of "hf:org/repo" to load; NULL = as in the name */
  wick_progress_sink progress; /* progress of download and load; may be NULL */
  void* progress_user;
  wick_cancel* cancel; /* cancels download and load; may be NULL */
  int max_queue;       /* queued requests; more are refused (id "queue_full"); default 256 */
  const char* const* adapters; /* LoRA: "[NAME=]FILE[:SCALE]" each: wick/model.h */
  size_t n_adapters;
} wick_model_options;

WICK_API void wick_model_options_init(wick_model_options* options);

/* `options` may be NULL. */
WICK_API wick_model* wick_model_open(const char* path_or_name, const wick_model_options* options,
                                     wick_error** error);
WICK_API void wick_model_free(wick_model* model);

/* Facts about a loaded model and its memory: wick/model_info.h. */
typedef struct wick_model_info {
  const char *name, *architecture;
  const char* source;      /* path or name it was loaded from */
  int context, vocabulary; /* context size, vocabulary size, in tokens; 0 = unknown */
  uint64_t weight_bytes, cache_bytes, scratch_bytes;
  uint64_t draft_bytes;   /* weights, cache and scratch of the draft model */
  int is_pinned, is_used; /* in a pool: wick/pool.h */
} wick_model_info;

WICK_API wick_model_info* wick_model_describe(const wick_model* model, wick_error** error);
WICK_API void wick_model_info_free(wick_model_info* info);
WICK_API int wick_model_context(const wick_model* model); /* context size in tokens; -1 for NULL */
WICK_API int wick_model_vocabulary(const wick_model* model); /* tokens; -1 for NULL */

/* Removes a tenant: cancels its requests and drops its cached prefixes; `wipe` not 0 also
 * overwrites them with zeros. Returns the number of dropped blocks, -1 for failure. */
WICK_API int wick_model_close_tenant(const wick_model* model, uint64_t tenant, int wipe,
                                     wick_error** error);

/* Tokens. Both functions write at most `capacity` items and return the number of items of the whole
 * result, or -1 on failure. `text` is `length` bytes and need not be NUL-terminated. */
WICK_API ptrdiff_t wick_tokenize(const wick_model* model, const char* text, size_t length,
                                 int32_t* ids, size_t capacity, wick_error** error);
WICK_API ptrdiff_t wick_detokenize(const wick_model* model, const int32_t* ids, size_t n_ids,
                                   char* text, size_t capacity, wick_error** error);

/* Embedding of a text, L2 norm 1. `pooling` is "mean", "first" or "last"; NULL = the model file's,
 * else mean. Returns the number of values and writes at most `capacity` of them; -1 for failure. */
WICK_API ptrdiff_t wick_embed(const wick_model* model, const char* text, size_t length,
                              const char* pooling, float* values, size_t capacity,
                              wick_error** error);

typedef struct wick_embed_options {
  size_t size;
  const char* pooling; /* as above */
  int normalize;       /* not 0 (default): scale each embedding to L2 norm 1 */
  int time_limit_ms;   /* per text; then an error (id "time_limit"); 0 = no limit */
  int priority;        /* -2 (in the background) to 2 */
  uint64_t tenant;
  wick_cancel* cancel; /* may be NULL */
  const char* query;   /* cross-encoder: the query that texts are ranked for */
  uint64_t client;     /* as in wick_generation */
} wick_embed_options;

WICK_API void wick_embed_options_init(wick_embed_options* options);

/* Embeddings of several texts, computed in one batch and written one after another; returns the
 * number of values. `options` may be NULL. */
WICK_API ptrdiff_t wick_embed_all(const wick_model* model, const char* const* texts,
                                  const size_t* lengths, size_t n_texts,
                                  const wick_embed_options* options, float* values, size_t capacity,
                                  wick_error** error);

/* Requests. */

/* Changes `logits` [vocabulary] in place before a token is sampled, on the model's engine thread.
 * Return not 0 to fail the request (id "callback_failed"). Calls to the same model inside the hook
 * fail (id "called_in_hook"); do not wait for a stream there. */
typedef int (*wick_logits_hook)(void* user, float* logits, size_t vocabulary,
                                const int32_t* history, size_t n_history);

typedef struct wick_parameter {
  const char* key; /* "temperature", "top_k", "seed", …: keys of [generation] in config.toml */
  double value;
} wick_parameter;

/* Reasoning of models that support it: the template variables enable_thinking and thinking. */
typedef enum wick_thinking {
  WICK_THINKING_DEFAULT = 0, /* the template's default */
  WICK_THINKING_ON,
  WICK_THINKING_OFF
} wick_thinking;

/* Logit bias: added to a token's logit, -HUGE_VAL bans the token. */
typedef struct wick_token_bias {
  int32_t id;
  double bias;
  const char* text; /* used if `id` is negative: for each token of this text */
} wick_token_bias;

/* The origin of a setting that does not come from the request: "flag --temp". */
typedef struct wick_origin {
  const char *key, *origin;
} wick_origin;

/* Constraints by the caller's own code: wick/constraint.h. A callback that returns int returns 1
 * for true or success, 0 for false; other values end the request (id "callback_failed"). */

typedef struct wick_recognizer {
  void* self;
  int (*push)(void* self, unsigned char byte);
  int (*pop)(void* self); /* returns 1 */
  int (*accepting)(void* self);
  /* Writes at most `capacity` bytes and returns their number, -1 for failure. May be NULL. */
  ptrdiff_t (*forced)(void* self, char* bytes, size_t capacity);
  void (*free)(void* self); /* on any thread; may be NULL */
} wick_recognizer;

/* Fills the zeroed `recognizer` for one answer; returns 1. */
typedef int (*wick_recognizer_factory)(void* user, wick_recognizer* recognizer);

typedef struct wick_token_place {
  const char* text; /* the answer so far; may contain NUL */
  size_t length;
  const int32_t* tokens;
  size_t n_tokens;
  const float* logits;
  size_t vocabulary; /* number of logits */
  const int32_t* ends;
  size_t n_ends;
  const void* bytes; /* for wick_token_bytes() */
} wick_token_place;

/* The bytes of a token, not NUL-terminated, valid during the call; none for control tokens. */
WICK_API const char* wick_token_bytes(const wick_token_place* place, int32_t id, size_t* length);

/* Clears bits of `allowed`, which has `n_words` words; returns 1. */
typedef int (*wick_token_mask_hook)(void* user, const wick_token_place* place, uint64_t* allowed,
                                    size_t n_words);
typedef int (*wick_text_predicate)(void* user, const char* text, size_t length);

typedef struct wick_text_constraint {
  int (*is_valid_next_token)(void* user, const char* text, size_t length, const char* token,
                             size_t token_length);
  wick_text_predicate is_complete;
  void* user;     /* of both */
  int candidates; /* as in wick/constraint.h, for example 64; 0 = all tokens are asked */
} wick_text_constraint;

typedef struct wick_stream_set wick_stream_set;

typedef struct wick_generation {
  size_t size;
  int max_tokens;                   /* 0 = until the context is full */
  const wick_parameter* parameters; /* not given: the model file's hint, else the default */
  size_t n_parameters;
  const char* const* stop;
  size_t n_stop;
  wick_logits_hook logits; /* may be NULL */
  void* logits_user;
  wick_cancel* cancel; /* may be NULL */
  int time_limit_ms;   /* then an error (id "time_limit"); 0 = no limit */
  int priority;        /* -2 (in the background) to 2 */
  uint64_t tenant;     /* tenants get fair scheduling and never share cache entries */
  int logprobs;        /* not 0: logprobs of the generated tokens, in completion and stream */
  int prompt_logprobs; /* not 0: logprobs of the prompt; disables prefix caching */
  int top_logprobs;    /* most likely alternatives per token, 0 to 20; needs one of these two */
  int has_seed;        /* not 0: `seed` is set */
  uint64_t seed;       /* all 64 bits */
  /* For prompts that are messages. JSON as in wick/message.h; NULL = none: */
  const char* tools;              /* an array */
  const char* tool_choice;        /* "auto", "none", "required", or a tool's name */
  const char* template_variables; /* an object: other variables of the chat template */
  wick_thinking thinking;
  const char*
      samplers; /* in order: "top_k;temperature"; NULL = the model file's hint, else default */
  const int32_t* stop_token_ids; /* tokens that end the answer */
  size_t n_stop_token_ids;
  const wick_token_bias* logit_bias;
  size_t n_logit_bias;
  /* DRY sequence breakers. NULL = the defaults. For none, give any pointer and n_dry_breakers 0. */
  const char* const* dry_sequence_breakers;
  size_t n_dry_breakers;
  /* How text is grouped into pieces: wick/generation.h. 0 = off. */
  int emit_tokens;             /* tokens per piece */
  int emit_ms;                 /* maximum milliseconds that text waits */
  int emit_bytes;              /* maximum bytes of text per event */
  const char* response_format; /* "text" (also NULL), "json_object", "json_schema", … */
  const char* response_schema; /* schema, regex, …: wick/generation.h; NULL = none */
  /* Origins of settings that do not come from the request. */
  const wick_origin* origins;
  size_t n_origins;
  wick_stream_set* stream_set; /* reports stream_key when the stream has new data; may be NULL */
  uint64_t stream_key;
  const char* const* adapters; /* "NAME[:SCALE]"; or "none"; NULL = as loaded */
  size_t n_adapters;
  wick_recognizer_factory recognizer; /* each constraint may be NULL */
  void* recognizer_user;
  wick_token_mask_hook token_mask;
  void* token_mask_user;
  const wick_text_constraint* text_constraint; /* instead of `token_mask`; copied */
  wick_text_predicate predicate;
  void* predicate_user;
  int parallel_tool_calls; /* 0: at most one tool call in an answer; default 1 */
  uint64_t client; /* requests of one client have one fair share; 0 = the tenant's */
} wick_generation;

WICK_API void wick_generation_init(wick_generation* generation);

typedef enum wick_finish {
  WICK_FINISH_EOS = 0, /* an EOG token or a stop token id; or structured output is complete */
  WICK_FINISH_STOP,
  WICK_FINISH_LENGTH,
  WICK_FINISH_CANCELLED,
  WICK_FINISH_TOOL_CALLS, /* the model called tools and expects their results */
  WICK_FINISH_CONTENT_FILTER,
  WICK_FINISH_ERROR
} wick_finish;

/* A tool call of the model. */
typedef struct wick_tool_call {
  const char *id, *name;
  const char* arguments; /* JSON: wick::ToolCall::arguments */
} wick_tool_call;

typedef struct wick_effective {
  const char* key;    /* "temperature", "seed", "samplers", "max_tokens", ... */
  double value;       /* 0 if there is a text */
  const char* text;   /* for "samplers"; NULL for a number */
  const char* origin; /* where it comes from: "request", "model file" or "default" */
} wick_effective;

/* A token and its logprob, before samplers, logit bias and hook. */
typedef struct wick_token_logprob {
  int32_t id;
  const char* bytes; /* its text, maybe part of a character */
  size_t length;     /* of `bytes`, which may contain NUL */
  double logprob;    /* natural logarithm */
  const struct wick_token_logprob*
      top_logprobs; /* most likely first; NULL in the entries of a top_logprobs list */
  size_t n_top_logprobs;
} wick_token_logprob;

/* The reason why prefix caching reused only a part of the prompt: wick/estimate.h. */
typedef enum wick_miss {
  WICK_MISS_NONE = 0, /* everything is cached except the last prompt token */
  WICK_MISS_NEW,      /* the cached sequence ends here */
  WICK_MISS_EDITED,   /* the cached sequence has another token here */
  WICK_MISS_EVICTED,  /* the blocks were evicted */
  WICK_MISS_OTHER_TENANT,
  WICK_MISS_NEVER_SEEN,
  WICK_MISS_OFF /* prefix caching is off, or prompt_logprobs is set */
} wick_miss;

typedef struct wick_completion {
  const char* text;
  size_t length; /* bytes of text, which may contain NUL */
  wick_finish finish;
  int prompt_tokens, cached_tokens, generated_tokens;
  double queue_ms, prompt_ms, generate_ms;
  const wick_effective* parameters; /* all effective parameters */
  size_t n_parameters;
  const wick_token_logprob* logprobs; /* of all generated tokens, EOS included */
  size_t n_logprobs;
  const wick_token_logprob* prompt_logprobs; /* without the first token, which has no prediction */
  size_t n_prompt_logprobs;
  int draft_tokens, accepted_tokens; /* speculative decoding */
  uint64_t seed;         /* of this answer, exact (a double in `parameters` may be rounded) */
  const char* reasoning; /* the model's reasoning, not part of text; "" = none */
  const wick_tool_call* tool_calls;
  size_t n_tool_calls;
  int reasoning_tokens; /* of generated_tokens, if the provider counts them */
  int preemptions;      /* how often the request was preempted and resumed */
  wick_miss miss;       /* why the rest was not cached; miss_... as in wick_estimate */
  int miss_position;
  int32_t miss_wanted, miss_cached;
  int steered_tokens; /* forced, to complete structured output within max_tokens */
} wick_completion;

WICK_API void wick_completion_free(wick_completion* completion);

typedef struct wick_message {
  const char *role, *content;
} wick_message;

/* Receives the text while it is generated, on the calling thread. Return not 0 to cancel the
 * answer. */
typedef int (*wick_text_sink)(void* user, const char* text, size_t length);

/* These functions block until the answer is complete. `generation` and `sink` may be NULL. */
WICK_API wick_completion* wick_complete(const wick_model* model, const char* prompt,
                                        const wick_generation* generation, wick_text_sink sink,
                                        void* user, wick_error** error);
WICK_API wick_completion* wick_chat(const wick_model* model, const char* question,
                                    const wick_generation* generation, wick_text_sink sink,
                                    void* user, wick_error** error);
WICK_API wick_completion* wick_chat_messages(const wick_model* model, const wick_message* messages,
                                             size_t n_messages, const wick_generation* generation,
                                             wick_text_sink sink, void* user, wick_error** error);

/* wick_complete_ids() is wick_complete() for token ids, which are used unchanged. wick_chat_json()
 * is wick_chat_messages() for messages as JSON (wick/message.h), with tool calls, tool results and
 * reasoning. */
WICK_API wick_completion* wick_complete_ids(const wick_model* model, const int32_t* ids,
                                            size_t n_ids, const wick_generation* generation,
                                            wick_text_sink sink, void* user, wick_error** error);
WICK_API wick_completion* wick_chat_json(const wick_model* model, const char* messages,
                                         const wick_generation* generation, wick_text_sink sink,
                                         void* user, wick_error** error);

/* Writes the prompt text that wick_chat_json() renders from the messages. `capacity` and the
 * result are as in wick_detokenize(). */
WICK_API ptrdiff_t wick_apply_template(const wick_model* model, const char* messages,
                                       const wick_generation* generation, char* text,
                                       size_t capacity, wick_error** error);

/* Estimates of wick_complete() and wick_chat_messages(), without running them. */

typedef struct wick_estimate {
  int prompt_tokens, max_tokens;
  int cached_tokens;    /* prompt tokens found in the prefix cache */
  wick_miss miss;       /* why the others are not cached */
  int miss_position;    /* of the first token that has to be computed */
  int32_t miss_wanted;  /* the prompt's token at miss_position */
  int32_t miss_cached;  /* WICK_MISS_EDITED: the cached token at miss_position; else -1 */
  int blocks;           /* of 16 tokens, for the prompt and the longest answer */
  int free_blocks;      /* blocks that no running request uses */
  uint64_t cache_bytes; /* of `blocks` */
  int requests_before;  /* running or waiting */
  double ttft_ms;       /* estimated time to first token; -1 = nothing measured yet */
} wick_estimate;

WICK_API wick_estimate* wick_complete_estimate(const wick_model* model, const char* prompt,
                                               const wick_generation* generation,
                                               wick_error** error);
WICK_API wick_estimate* wick_chat_estimate(const wick_model* model, const wick_message* messages,
                                           size_t n_messages, const wick_generation* generation,
                                           wick_error** error);
WICK_API wick_estimate* wick_complete_ids_estimate(const wick_model* model, const int32_t* ids,
                                                   size_t n_ids, const wick_generation* generation,
                                                   wick_error** error);
WICK_API wick_estimate* wick_chat_json_estimate(const wick_model* model, const char* messages,
                                                const wick_generation* generation,
                                                wick_error** error);
WICK_API void wick_estimate_free(wick_estimate* estimate);

/* Streams: wick/stream.h. */

typedef struct wick_stream wick_stream;
WICK_API wick_stream* wick_complete_stream(const wick_model* model, const char* prompt,
                                           const wick_generation* generation, wick_error** error);
WICK_API wick_stream* wick_chat_stream(const wick_model* model, const wick_message* messages,
                                       size_t n_messages, const wick_generation* generation,
                                       wick_error** error);
WICK_API wick_stream* wick_complete_ids_stream(const wick_model* model, const int32_t* ids,
                                               size_t n_ids, const wick_generation* generation,
                                               wick_error** error);
WICK_API wick_stream* wick_chat_json_stream(const wick_model* model, const char* messages,
                                            const wick_generation* generation, wick_error** error);
/* The next piece of text, valid until the next call; NULL: the answer has ended or failed. */
WICK_API const char* wick_stream_next(wick_stream* stream, size_t* length);
/* With wick_generation::logprobs: returns the *n tokens of the piece that was read last, valid
 * until the next call. After the end it returns the remaining tokens, such as EOS (wick/stream.h).
 * If there are no tokens, or on failure, it returns NULL and sets *n to 0; only a failure sets
 * *error. */
WICK_API const wick_token_logprob* wick_stream_logprobs(wick_stream* stream, size_t* n,
                                                        wick_error** error);

typedef enum wick_event_kind {
  WICK_EVENT_TEXT = 1,
  WICK_EVENT_REASONING,
  WICK_EVENT_TOOL_CALL, /* call `index` begins: id and name */
  WICK_EVENT_ARGUMENTS, /* the next part of the arguments' JSON: text */
  WICK_EVENT_LOGPROBS,  /* before the text of these tokens, or the end: wick_stream_logprobs() */
  WICK_EVENT_USAGE,     /* token counts so far */
  WICK_EVENT_DONE       /* the last event; wick_stream_finish() returns the whole answer */
} wick_event_kind;

typedef struct wick_event {
  wick_event_kind kind;
  const char* text;
  size_t length; /* of text, which may contain NUL */
  int index;
  const char *id, *name;
  int prompt_tokens, generated_tokens; /* WICK_EVENT_USAGE and _DONE */
  wick_finish finish;                  /* WICK_EVENT_DONE */
} wick_event;

/* The next event of any kind (wick_stream_next() returns text only), valid until the next call.
 * NULL means the end, or an error if *error is set. */
WICK_API const wick_event* wick_stream_next_event(wick_stream* stream, wick_error** error);
/* The same without waiting. NULL: if wick_stream_is_over() is 1, the answer has ended; otherwise
 * nothing has arrived yet (wick_generation::stream_set signals new data). */
WICK_API const char* wick_stream_poll(wick_stream* stream, size_t* length);
WICK_API const wick_event* wick_stream_poll_event(wick_stream* stream, wick_error** error);
WICK_API int wick_stream_is_over(const wick_stream* stream); /* 1, 0; 1 for NULL */
WICK_API wick_completion* wick_stream_finish(wick_stream* stream, wick_error** error);
WICK_API void wick_stream_cancel(wick_stream* stream); /* any thread */
WICK_API void wick_stream_free(wick_stream* stream);   /* cancels an unfinished request */

/* Stream sets: one event loop reads many streams (wick/stream_set.h). A stream belongs to the set
 * in wick_generation::stream_set. Streams may outlive the set. */

WICK_API wick_stream_set* wick_stream_set_new(wick_error** error);
WICK_API void wick_stream_set_free(wick_stream_set* set);
/* A file descriptor for poll() or epoll: readable when a stream has new data; -1 for NULL. */
WICK_API int wick_stream_set_fd(const wick_stream_set* set);
/* Calls visit(user, key) for each stream with new data since the last call, earliest first. */
WICK_API void wick_stream_set_take(wick_stream_set* set, void (*visit)(void* user, uint64_t key),
                                   void* user);

/* Sessions: conversations that keep their messages (wick/session.h). */

typedef struct wick_session wick_session;
/* `system` may be NULL. */
WICK_API wick_session* wick_session_new(const wick_model* model, const char* system,
                                        wick_error** error);
WICK_API wick_completion* wick_session_say(wick_session* session, const char* text,
                                           const wick_generation* generation, wick_text_sink sink,
                                           void* user, wick_error** error);
/* wick_session_say() as a stream. The session is busy until it ends (wick/session.h). */
WICK_API wick_stream* wick_session_stream(wick_session* session, const char* text,
                                          const wick_generation* generation, wick_error** error);
/* Like wick_session_stream(), for any message, for example a tool result. `message` is a JSON array
 * with one message. */
WICK_API wick_stream* wick_session_send(wick_session* session, const char* message,
                                        const wick_generation* generation, wick_error** error);
/* The conversation as JSON (wick/message.h). `capacity` and the result are as in
 * wick_detokenize(). */
WICK_API ptrdiff_t wick_session_messages(const wick_session* session, char* json, size_t capacity,
                                         wick_error** error);
/* Removes the last question and its answer. Returns 1, or 0 if there is none. */
WICK_API int wick_session_undo(wick_session* session);
/* Estimates wick_session_say(); does not change the conversation. */
WICK_API wick_estimate* wick_session_estimate(const wick_session* session, const char* text,
                                              const wick_generation* generation,
                                              wick_error** error);
/* Saves and restores the conversation with its part of the KV cache: wick/session.h. */
WICK_API int wick_session_save(const wick_session* session, const char* path, wick_error** error);
WICK_API wick_session* wick_session_load(const wick_model* model, const char* path,
                                         wick_error** error);
WICK_API void wick_session_reset(
    wick_session* session); /* removes all messages but the system message */
WICK_API void wick_session_free(wick_session* session);

/* Pools: several models within a memory budget (wick/pool.h). Any thread. */

typedef struct wick_pool wick_pool;

typedef struct wick_pool_options {
  size_t size;
  uint64_t budget_bytes; /* for weights and KV caches together; 0 = no limit */
  int max_models;        /* maximum number of loaded models; default 32 */
  int warm_up;           /* not 0: generate one token before a newly loaded model is returned */
  const wick_model_options* model; /* for each model; NULL = the defaults */
} wick_pool_options;

WICK_API void wick_pool_options_init(wick_pool_options* options);
WICK_API wick_pool* wick_pool_new(const wick_pool_options* options, wick_error** error);
WICK_API void wick_pool_free(wick_pool* pool); /* models with handles stay loaded */
/* A new handle to the pool's model; the caller frees it. */
WICK_API wick_model* wick_pool_get(wick_pool* pool, const char* path_or_name, wick_error** error);
WICK_API wick_model* wick_pool_replace(wick_pool* pool, const char* name, const char* source,
                                       wick_error** error);
/* Both return 1, or 0 if the model is not loaded. */
WICK_API int wick_pool_unload(wick_pool* pool, const char* name);
WICK_API int wick_pool_pin(wick_pool* pool, const char* name, int is_pinned);
/* The model at this index, least recently used first; NULL without an error after the last. */
WICK_API wick_model_info* wick_pool_describe(const wick_pool* pool, size_t index,
                                             wick_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WICK_WICK_H */
