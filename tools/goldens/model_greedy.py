#!/usr/bin/env python3
"""Makes tests/data/model/greedy_20x64.json: what Hugging Face transformers continues 20 prompts with, 64 greedy tokens each.

transformers reads the default model's GGUF file and dequantizes it to F32. `gap` is the distance between the largest and the
second largest logit at each generated position: where it is tiny, another order of additions may well choose the other token.

  python model_greedy.py [MODEL.gguf] [OUT.json]     # needs: torch 2.13, transformers 5.23, gguf 0.19
"""
import json
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

STEPS = 64
PROMPTS = [
    "The lighthouse keeper counted the ships every evening, and",
    "Water boils at a lower temperature on a high mountain because",
    "To bake a plain loaf of bread you need",
    "def reverse_words(sentence):\n    ",
    "Dear Mrs. Hall,\n\nThank you for your letter of the third of May.",
    "The three primary colors of light are",
    "Once the rain had stopped, the children ran out to",
    "In 1969, two people",
    "Question: What is 17 plus 26?\nAnswer:",
    "A good chess player thinks ahead, but a great one",
    "The capital of France is",
    "Bees are important to farmers because",
    "List of things to pack for a winter hike:\n1.",
    "Photosynthesis is the process by which",
    "\"I don't think that's a very good idea,\" said the old man,",
    "The train from the coast arrives at 9:45, so",
    "SELECT name, price FROM products WHERE",
    "My grandmother always used to say that",
    "An algorithm is called stable if",
    "Far to the north, where the summer nights are bright,",
]


def continue_greedily(model, ids):
    tokens, gaps, past = [], [], None
    step = torch.tensor([ids])
    for _ in range(STEPS):  # on through end-of-text: every position is a comparison
        out = model(step, past_key_values=past, use_cache=True)
        past = out.past_key_values
        top = torch.topk(out.logits[0, -1], 2)
        tokens.append(int(top.indices[0]))
        gaps.append(round(float(top.values[0] - top.values[1]), 6))
        step = top.indices[:1].reshape(1, 1)
    return tokens, gaps


def main():
    here = pathlib.Path(__file__).parents[2]
    default = pathlib.Path.home() / ".cache/wick-test/SmolLM2-135M-Instruct.Q4_1.gguf"
    model_path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    out_path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else here / "tests/data/model/greedy_20x64.json"
    source = {"pretrained_model_name_or_path": model_path.parent, "gguf_file": model_path.name}
    torch.set_num_threads(1)  # one order of additions, whatever the machine
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32, attn_implementation="eager").eval()
    cases = []
    with torch.inference_mode():
        for prompt in PROMPTS:
            ids = tokenizer.encode(prompt, add_special_tokens=False)
            tokens, gaps = continue_greedily(model, ids)
            cases.append({"prompt": prompt, "ids": ids, "tokens": tokens, "gap": gaps})
            print(repr(prompt + tokenizer.decode(tokens)), "smallest gap", min(gaps), flush=True)
    head = {"model": model_path.name, "made_by": "tools/goldens/model_greedy.py, transformers 5.23.0, torch 2.13.0, float32"}
    rows = ",\n".join(json.dumps(case) for case in cases)
    out_path.write_text(json.dumps(head)[:-1] + ',\n"cases": [\n' + rows + "\n]}\n")


if __name__ == "__main__":
    main()
