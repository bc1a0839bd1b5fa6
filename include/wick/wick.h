/* The library in C: opaque handles, one error struct, streams by callback or pull. C99 and later;
 * what it means stands in the C++ headers beside this one.
 *
 *   wick_error *error = NULL;
 *   wick_model *model = wick_model_open("model.gguf", NULL, &error);
 *   if (!model) { fprintf(stderr, "%s\n", error->message); wick_error_free(error); return 1; }
 *   wick_completion *answer = wick_chat(model, "Why is the sky blue?", NULL, NULL, NULL, &error);
 *   if (answer) puts(answer->text);
 *   wick_completion_free(answer);
 *   wick_model_free(model);
 *
 * Rules. A function that returns a handle or a struct returns NULL when it fails, one that returns
 * int returns 0 for success; both then set *error, unless `error` is NULL. Who gets a handle, a
 * struct or an error frees it with the function of its name; every ..._free(NULL) does nothing.
 * Text is UTF-8 and ends in 0. Nothing throws and nothing longjmps; callbacks must not either.
 *
 * Threads. A wick_model and a wick_cancel may be used from any thread at once; a session, a stream
 * or a stream set from one at a time, but for wick_stream_cancel(). They may be freed in any order.
 *
 * Versions. Structs that you fill begin with their size, set by their ..._init function, so that a
 * newer library knows which fields you have; structs that you get only grow at their end, and those
 * that you get as arrays stay as they are. Functions of one WICK_ABI keep their meaning. */
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
  WICK_INVALID = 1, /* the request is wrong: a value out of range, a prompt that does not fit */
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
  const char* partial_text;       /* of an answer that it ended: what had been said, else "" */
} wick_error;

WICK_API void wick_error_free(wick_error* error);

/* What the library has to say beside its results: wick/log.h. */

typedef enum wick_log_level { WICK_LOG_INFO = 0, WICK_LOG_WARNING } wick_log_level;

/* `message` is one line. On any thread, several at once. */
typedef void (*wick_log_sink)(void* user, wick_log_level level, const char* message);
/* For the whole process, instead of the one before; NULL: nobody is told any more. */
WICK_API void wick_set_log(wick_log_sink sink, void* user);

/* Cancellation: one handle may belong to many requests. Once requested, for good. */

typedef struct wick_cancel wick_cancel;
WICK_API wick_cancel* wick_cancel_new(void);
WICK_API void wick_cancel_request(wick_cancel* cancel);
WICK_API void wick_cancel_free(wick_cancel* cancel);

/* Models. */

typedef struct wick_model wick_model;

typedef enum wick_phase {
  WICK_PHASE_DOWNLOAD = 0,
  WICK_PHASE_CHECK, /* the hash of what was fetched */
  WICK_PHASE_LOAD
} wick_phase;

typedef struct wick_progress {
  wick_phase phase;
  const char* what;     /* the file, or where it comes from */
  uint64_t done, total; /* bytes; total 0 = not known yet */
} wick_progress;

/* On the thread that opens the model; what it gets is valid during the call. Not 0: ends the
 * opening, with WICK_CANCELLED. */
typedef int (*wick_progress_sink)(void* user, const wick_progress* progress);

typedef struct wick_model_options {
  size_t size;
  int threads;                /* 0 = what this process may use */
  int context;                /* positions; 0 = the smaller of the model's and the cache's */
  int max_concurrent;         /* answers under way at once; 4 */
  uint64_t cache_limit_bytes; /* for all of them together, if context is 0; 1,000,000,000 */
  const char* cache_type;     /* "bf16"; NULL means that too */
  const char* chat_template;  /* NULL = the model's own */
  int may_download;           /* not 0: a model that is not here may be fetched */
  const char* speculation;    /* "none" (NULL means that too), "ngram" or "draft": wick/model.h */
  const char* draft_model;    /* with "draft": file or name of the smaller model */
  int draft_max;              /* tokens drafted in a step at most; 0 = 16, with a draft model 3 */
  const char* device;         /* "cpu" …; "auto" (NULL means that too): the first that starts */
  const char* tensor_split;   /* "3,1": shares of several devices; NULL: wick/model.h */
  const char* quantization;   /* of the files of "hf:org/repo" this one; NULL: the name says it */
  wick_progress_sink progress; /* of download and load; may be NULL */
  void* progress_user;
  wick_cancel* cancel; /* ends both; may be NULL */
  int max_queue;       /* wait beyond max_concurrent; then refused, id "queue_full"; 256 */
} wick_model_options;

WICK_API void wick_model_options_init(wick_model_options* options);

/* `options` may be NULL. */
WICK_API wick_model* wick_model_open(const char* path_or_name, const wick_model_options* options,
                                     wick_error** error);
WICK_API void wick_model_free(wick_model* model);

/* What it is, and the memory it may take: wick/model_info.h. */
typedef struct wick_model_info {
  const char *name, *architecture;
  const char* source;      /* path or name that it was loaded from */
  int context, vocabulary; /* positions, tokens; 0 = not told */
  uint64_t weight_bytes, cache_bytes, scratch_bytes;
  uint64_t draft_bytes;   /* all of the draft model's */
  int is_pinned, is_used; /* in a pool */
} wick_model_info;

WICK_API wick_model_info* wick_model_describe(const wick_model* model, wick_error** error);
WICK_API void wick_model_info_free(wick_model_info* info);
WICK_API int wick_model_context(const wick_model* model);    /* positions; -1 for NULL */
WICK_API int wick_model_vocabulary(const wick_model* model); /* tokens; -1 for NULL */

/* A tenant that is gone: its requests end as cancelled, what is cached of its texts is dropped;
 * with `wipe` not 0 no byte of it stays in the cache. The number of blocks dropped, -1 for
 * failure. */
WICK_API int wick_model_close_tenant(const wick_model* model, uint64_t tenant, int wipe,
                                     wick_error** error);

/* Tokens. Both return how many items the whole result has and write at most `capacity` of them;
 * -1 for failure. A text is `length` bytes, which need not end in 0. */
WICK_API ptrdiff_t wick_tokenize(const wick_model* model, const char* text, size_t length,
                                 int32_t* ids, size_t capacity, wick_error** error);
WICK_API ptrdiff_t wick_detokenize(const wick_model* model, const int32_t* ids, size_t n_ids,
                                   char* text, size_t capacity, wick_error** error);

/* A text as a vector of length 1. `pooling` is "mean", "first" or "last"; NULL = as the model's
 * file says, else mean. Returns how many values it has and writes at most `capacity` of them; -1
 * for failure. */
WICK_API ptrdiff_t wick_embed(const wick_model* model, const char* text, size_t length,
                              const char* pooling, float* values, size_t capacity,
                              wick_error** error);

typedef struct wick_embed_options {
  size_t size;
  const char* pooling; /* as above */
  int normalize;       /* to length 1; 1 */
  int time_limit_ms;   /* of each text; then it fails, id "time_limit"; 0 = none */
  int priority;        /* -2 (in the background) to 2 */
  uint64_t tenant;
  wick_cancel* cancel; /* may be NULL */
} wick_embed_options;

WICK_API void wick_embed_options_init(wick_embed_options* options);

/* A vector for each text, computed together, one behind the other; returns how many values that
 * are. `options` may be NULL. */
WICK_API ptrdiff_t wick_embed_all(const wick_model* model, const char* const* texts,
                                  const size_t* lengths, size_t n_texts,
                                  const wick_embed_options* options, float* values,
                                  size_t capacity, wick_error** error);

/* Requests. */

/* Changes `logits` [vocabulary] in place before a token is drawn, on the model's thread. Not 0: the
 * request fails (id "callback_failed"). Inside it that model answers nothing (id "called_in_hook"),
 * and nobody may wait there for a stream. */
typedef int (*wick_logits_hook)(void* user, float* logits, size_t vocabulary,
                                const int32_t* history, size_t n_history);

typedef struct wick_parameter {
  const char* key; /* "temperature", "top_k", "seed", …: the sampler's flags */
  double value;
} wick_parameter;

/* Whether a model that can think before it answers does: the template's enable_thinking. */
typedef enum wick_thinking {
  WICK_THINKING_DEFAULT = 0, /* as the template has it */
  WICK_THINKING_ON,
  WICK_THINKING_OFF
} wick_thinking;

/* Added to a token's logit, -HUGE_VAL bans it. */
typedef struct wick_token_bias {
  int32_t id;
  double bias;
  const char* text; /* read if `id` is negative: then it is each token of this text */
} wick_token_bias;

/* Who set the parameter of that key, where it was not the request: "flag --temp". */
typedef struct wick_origin {
  const char *key, *origin;
} wick_origin;

typedef struct wick_stream_set wick_stream_set;

typedef struct wick_generation {
  size_t size;
  int max_tokens;                   /* 0 = to the context's end */
  const wick_parameter* parameters; /* what is left out comes from the model file or default */
  size_t n_parameters;
  const char* const* stop;
  size_t n_stop;
  wick_logits_hook logits; /* may be NULL */
  void* logits_user;
  wick_cancel* cancel; /* may be NULL */
  int time_limit_ms;   /* then it fails, id "time_limit"; 0 = none */
  int priority;        /* -2 (in the background) to 2 */
  uint64_t tenant;     /* tenants share time fairly, and of the cache nothing */
  int logprobs;        /* not 0: completion and stream have each token's log-probability */
  int prompt_logprobs; /* not 0: the prompt's, too; it then reuses no cache */
  int top_logprobs;    /* with either: so many of the likeliest beside each, 0 to 20 */
  int has_seed;        /* not 0: `seed` holds */
  uint64_t seed;       /* all 64 bits */
  /* Of a prompt that is messages. JSON as wick/message.h shows it; NULL = none: */
  const char* tools;              /* an array */
  const char* tool_choice;        /* "auto", "none" */
  const char* template_variables; /* an object: any variable of the chat template */
  wick_thinking thinking;
  const char* samplers; /* their order: "top_k;temperature"; NULL = the file's or the default */
  const int32_t* stop_token_ids; /* tokens that end the answer */
  size_t n_stop_token_ids;
  const wick_token_bias* logit_bias;
  size_t n_logit_bias;
  const char* const*
      dry_sequence_breakers;       /* texts that no repetition of DRY reaches past; with NULL the */
  size_t n_dry_breakers;           /* usual ones, with n_dry_breakers 0 behind a pointer none */
  /* In what pieces the text comes, 0 = not by this one (wick/generation.h): so many tokens, */
  int emit_tokens;
  int emit_ms;    /* so long waited, */
  int emit_bytes; /* and no event has more text */
  const char* response_format; /* "text" (NULL means that too), "json_object", … */
  const char* response_schema; /* JSON schema or grammar; NULL = none */
  const wick_origin* origins;
  size_t n_origins;
  wick_stream_set* stream_set; /* hears, under stream_key, that the stream has more; may be NULL */
  uint64_t stream_key;
} wick_generation;

WICK_API void wick_generation_init(wick_generation* generation);

typedef enum wick_finish {
  WICK_FINISH_EOS = 0, /* the model ended its answer */
  WICK_FINISH_STOP,
  WICK_FINISH_LENGTH,
  WICK_FINISH_CANCELLED,
  WICK_FINISH_TOOL_CALLS, /* the model waits for the results of the tools it called */
  WICK_FINISH_CONTENT_FILTER,
  WICK_FINISH_ERROR
} wick_finish;

/* A model's wish that a tool be run. */
typedef struct wick_tool_call {
  const char *id, *name;
  const char* arguments; /* a JSON object, as the model wrote it */
} wick_tool_call;

typedef struct wick_effective {
  const char* key;    /* "temperature", "seed", "samplers", "max_tokens", ... */
  double value;       /* 0 if there is a text */
  const char* text;   /* of "samplers"; NULL for a number */
  const char* origin; /* who set it: "request", "model file" or "default" */
} wick_effective;

/* A token, and how likely the model thought it before any sampler or hook. */
typedef struct wick_token_logprob {
  int32_t id;
  const char* bytes;                         /* its text, maybe a part of a character */
  size_t length;                             /* of bytes, which may hold zeros */
  double logprob;                            /* natural */
  const struct wick_token_logprob*
      top_logprobs; /* in its place, the likeliest first; they have none */
  size_t n_top_logprobs;
} wick_token_logprob;

/* Why the prompt's reuse of the cache ended where it did. */
typedef enum wick_miss {
  WICK_MISS_NONE = 0, /* all but the last token is cached */
  WICK_MISS_NEW,      /* the prompt goes on where the cached text ends */
  WICK_MISS_EDITED,   /* another token follows in the cache */
  WICK_MISS_EVICTED,  /* it was there and had to make room */
  WICK_MISS_OTHER_TENANT,
  WICK_MISS_NEVER_SEEN,
  WICK_MISS_OFF /* the prompt is scored */
} wick_miss;

typedef struct wick_completion {
  const char* text;
  size_t length; /* bytes of text, which may hold zeros */
  wick_finish finish;
  int prompt_tokens, cached_tokens, generated_tokens;
  double queue_ms, prompt_ms, generate_ms;
  const wick_effective* parameters; /* as they held for this answer, all of them */
  size_t n_parameters;
  const wick_token_logprob* logprobs; /* of all generated tokens, the end token too */
  size_t n_logprobs;
  const wick_token_logprob* prompt_logprobs; /* without the first, which nothing precedes */
  size_t n_prompt_logprobs;
  int draft_tokens, accepted_tokens; /* proposed by speculative decoding, and right */
  uint64_t seed;         /* that held for this answer; as a double in `parameters` it is rounded */
  const char* reasoning; /* what the model thought before, no part of text; "" = nothing */
  const wick_tool_call* tool_calls;
  size_t n_tool_calls;
  int reasoning_tokens; /* of generated_tokens, where a provider counts them */
  int preemptions;      /* how often it gave its place to another request and went on later */
  wick_miss miss;       /* why not more than cached_tokens were; the rest as in wick_estimate */
  int miss_position;
  int32_t miss_wanted, miss_cached;
} wick_completion;

WICK_API void wick_completion_free(wick_completion* completion);

typedef struct wick_message {
  const char *role, *content;
} wick_message;

/* Gets text as it is made, on the calling thread. Not 0: ends the answer, as cancelled. */
typedef int (*wick_text_sink)(void* user, const char* text, size_t length);

/* They block until the answer is whole. `generation` and `sink` may be NULL. */
WICK_API wick_completion* wick_complete(const wick_model* model, const char* prompt,
                                        const wick_generation* generation, wick_text_sink sink,
                                        void* user, wick_error** error);
WICK_API wick_completion* wick_chat(const wick_model* model, const char* question,
                                    const wick_generation* generation, wick_text_sink sink,
                                    void* user, wick_error** error);
WICK_API wick_completion* wick_chat_messages(const wick_model* model, const wick_message* messages,
                                             size_t n_messages, const wick_generation* generation,
                                             wick_text_sink sink, void* user, wick_error** error);

/* The same for tokens, taken as they are, and for messages as JSON (wick/message.h): with tool
 * calls, their results, what was thought. */
WICK_API wick_completion* wick_complete_ids(const wick_model* model, const int32_t* ids,
                                            size_t n_ids, const wick_generation* generation,
                                            wick_text_sink sink, void* user, wick_error** error);
WICK_API wick_completion* wick_chat_json(const wick_model* model, const char* messages,
                                         const wick_generation* generation, wick_text_sink sink,
                                         void* user, wick_error** error);

/* The text that wick_chat_json() would give the model; counts and writes as wick_detokenize(). */
WICK_API ptrdiff_t wick_apply_template(const wick_model* model, const char* messages,
                                       const wick_generation* generation, char* text,
                                       size_t capacity, wick_error** error);

/* Plans: what wick_complete() or wick_chat_messages() would take now, told without computing. */

typedef struct wick_estimate {
  int prompt_tokens, max_tokens;
  int cached_tokens;    /* of the prompt: they need not be computed */
  wick_miss miss;       /* why not more are */
  int miss_position;    /* of the first token that has to be computed */
  int32_t miss_wanted;  /* the token there */
  int32_t miss_cached;  /* WICK_MISS_EDITED: what the cache has there instead; else -1 */
  int blocks;           /* of 16 tokens, prompt and longest answer together */
  int free_blocks;      /* that no request under way holds */
  uint64_t cache_bytes; /* of `blocks` */
  int requests_before;  /* under way or waiting */
  double ttft_ms;       /* wait for the first token, an estimate; -1 = nothing measured yet */
} wick_estimate;

WICK_API wick_estimate* wick_complete_estimate(const wick_model* model, const char* prompt,
                                       const wick_generation* generation, wick_error** error);
WICK_API wick_estimate* wick_chat_estimate(const wick_model* model, const wick_message* messages,
                                   size_t n_messages, const wick_generation* generation,
                                   wick_error** error);
WICK_API wick_estimate* wick_complete_ids_estimate(const wick_model* model, const int32_t* ids,
                                           size_t n_ids, const wick_generation* generation,
                                           wick_error** error);
WICK_API wick_estimate* wick_chat_json_estimate(const wick_model* model, const char* messages,
                                        const wick_generation* generation, wick_error** error);
WICK_API void wick_estimate_free(wick_estimate* estimate);

/* Streams, to be pulled. */

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
/* The next piece, valid until the next call; NULL once the answer is over or has failed. */
WICK_API const char* wick_stream_next(wick_stream* stream, size_t* length);
/* With wick_generation::logprobs: the *n tokens that came with what was read last, valid until the
 * next call; which these are stands in wick/stream.h. After the NULL of wick_stream_next() those
 * that no text follows, the end token for one. NULL, *n = 0: there are none, or *error is set. */
WICK_API const wick_token_logprob* wick_stream_logprobs(wick_stream* stream, size_t* n,
                                                     wick_error** error);

typedef enum wick_event_kind {
  WICK_EVENT_TEXT = 1,
  WICK_EVENT_REASONING,
  WICK_EVENT_TOOL_CALL, /* call `index` begins: id and name */
  WICK_EVENT_ARGUMENTS, /* the next bytes of its JSON: text */
  WICK_EVENT_LOGPROBS,    /* before the text they came with: wick_stream_logprobs() */
  WICK_EVENT_USAGE,     /* what was used so far */
  WICK_EVENT_DONE       /* the last one; wick_stream_finish() says the rest */
} wick_event_kind;

typedef struct wick_event {
  wick_event_kind kind;
  const char* text;
  size_t length; /* of text, which may hold zeros */
  int index;
  const char *id, *name;
  int prompt_tokens, generated_tokens; /* WICK_EVENT_USAGE and _DONE */
  wick_finish finish;                  /* WICK_EVENT_DONE */
} wick_event;

/* All that comes, where wick_stream_next() gives the text alone: valid until the next call. NULL
 * behind the last one, or *error is set. */
WICK_API const wick_event* wick_stream_next_event(wick_stream* stream, wick_error** error);
/* What is there of either, without waiting. NULL: later, which wick_generation::stream_set tells,
 * or never, if wick_stream_is_over(): all was read, and wick_stream_finish() does not wait. */
WICK_API const char* wick_stream_poll(wick_stream* stream, size_t* length);
WICK_API const wick_event* wick_stream_poll_event(wick_stream* stream, wick_error** error);
WICK_API int wick_stream_is_over(const wick_stream* stream); /* 1, 0; 1 for NULL */
WICK_API wick_completion* wick_stream_finish(wick_stream* stream, wick_error** error);
WICK_API void wick_stream_cancel(wick_stream* stream); /* any thread */
WICK_API void wick_stream_free(wick_stream* stream);   /* not over: it is cancelled */

/* Stream sets: many streams read by one loop (wick/stream_set.h), those whose wick_generation named
 * the set. Streams may outlive it. */

WICK_API wick_stream_set* wick_stream_set_new(wick_error** error);
WICK_API void wick_stream_set_free(wick_stream_set* set);
/* To be watched for reading beside sockets: readable once a stream has more; -1 for NULL. */
WICK_API int wick_stream_set_fd(const wick_stream_set* set);
/* Calls visit(user, key) for each stream that got more since the last time, the earliest first. */
WICK_API void wick_stream_set_take(wick_stream_set* set, void (*visit)(void* user, uint64_t key),
                                   void* user);

/* Sessions: conversations that remember. */

typedef struct wick_session wick_session;
/* `system` may be NULL. */
WICK_API wick_session* wick_session_new(const wick_model* model, const char* system,
                                        wick_error** error);
WICK_API wick_completion* wick_session_say(wick_session* session, const char* text,
                                           const wick_generation* generation, wick_text_sink sink,
                                           void* user, wick_error** error);
/* The same, to be pulled; until it is over the session is busy (wick/session.h). */
WICK_API wick_stream* wick_session_stream(wick_session* session, const char* text,
                                          const wick_generation* generation, wick_error** error);
/* The same with any message, as an array of one: the result of a tool that the model called. */
WICK_API wick_stream* wick_session_send(wick_session* session, const char* message,
                                        const wick_generation* generation, wick_error** error);
/* The conversation as JSON (wick/message.h); counts and writes as wick_detokenize(). */
WICK_API ptrdiff_t wick_session_messages(const wick_session* session, char* json, size_t capacity,
                                         wick_error** error);
/* Takes back the last question and its answer: 1; 0 if there is none. */
WICK_API int wick_session_undo(wick_session* session);
/* What wick_session_say() would take now; the conversation stays as it is. */
WICK_API wick_estimate* wick_session_estimate(const wick_session* session, const char* text,
                                      const wick_generation* generation, wick_error** error);
/* To a file and back, with what the cache holds: see wick/session.h. */
WICK_API int wick_session_save(const wick_session* session, const char* path, wick_error** error);
WICK_API wick_session* wick_session_load(const wick_model* model, const char* path,
                                         wick_error** error);
WICK_API void wick_session_reset(wick_session* session); /* forgets all but the system message */
WICK_API void wick_session_free(wick_session* session);

/* Pools: several models within a budget of memory (wick/pool.h). Any thread. */

typedef struct wick_pool wick_pool;

typedef struct wick_pool_options {
  size_t size;
  uint64_t budget_bytes;           /* of weights and caches together; 0 = no limit */
  int max_models;                  /* 32 */
  int warm_up;                     /* not 0: a model answers one token before it is handed out */
  const wick_model_options* model; /* of each; NULL = the defaults */
} wick_pool_options;

WICK_API void wick_pool_options_init(wick_pool_options* options);
WICK_API wick_pool* wick_pool_new(const wick_pool_options* options, wick_error** error);
WICK_API void wick_pool_free(wick_pool* pool); /* models that were handed out stay loaded */
/* A handle of one's own on the pool's model, to be freed. */
WICK_API wick_model* wick_pool_get(wick_pool* pool, const char* path_or_name, wick_error** error);
WICK_API wick_model* wick_pool_replace(wick_pool* pool, const char* name, const char* source,
                                       wick_error** error);
WICK_API int wick_pool_unload(wick_pool* pool, const char* name); /* 1; 0 if it is not there */
WICK_API int wick_pool_pin(wick_pool* pool, const char* name, int is_pinned); /* likewise */
/* Of its models that one, the longest unused first; NULL without an error behind the last. */
WICK_API wick_model_info* wick_pool_describe(const wick_pool* pool, size_t index,
                                             wick_error** error);

#ifdef __cplusplus
}
#endif

#endif /* WICK_WICK_H */
