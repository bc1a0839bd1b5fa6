#include <stdio.h>

#include "wick/wick.h"

static int show(void *user, const char *text, size_t length) {
  return fwrite(text, 1, length, (FILE *)user) == length ? 0 : 1;
}

int main(int argc, char **argv) {
  wick_error *error = NULL;
  wick_model *model = wick_model_open(argc > 1 ? argv[1] : "", NULL, &error);
  if (model == NULL) {
    fprintf(stderr, "%s\n", error->message);
    wick_error_free(error);
    return 1;
  }
  wick_parameter greedy = {"temperature", 0};
  wick_generation generation;
  wick_generation_init(&generation);
  generation.parameters = &greedy;
  generation.n_parameters = 1;
  wick_completion *answer =
      wick_chat(model, "What is the capital of Japan?", &generation, show, stdout, &error);
  if (answer == NULL) {
    fprintf(stderr, "%s\n", error->message);
    wick_error_free(error);
  } else {
    puts("");
  }
  wick_completion_free(answer);
  wick_model_free(model);
  return answer == NULL;
}
