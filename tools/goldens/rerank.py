#!/usr/bin/env python3
"""Tiny random cross-encoders with their tokenizers, and the scores that Hugging Face transformers gives pairs of texts.

  ~/.cache/wick-ref/bin/python tools/goldens/rerank.py [OUT]      OUT: default tests/data/model/rerank

OUT/bert and OUT/xlm-roberta have the model, tokenizer.json, and pairs.json: a query, texts, and the score of each. More of them are
compared live by tools/parity/rerank.py. Made with torch 2.13.0, transformers 5.23.0; all seeds are fixed.
"""
import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools/parity"))
import rerank
import torch


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "tests/data/model/rerank")
    for name, case in (("bert", "bert_plain"), ("xlm-roberta", "xlmroberta_plain")):
        kind, tokenizer, fields = rerank.CASES[case]
        rerank.CASES[case] = (kind, tokenizer, dict(fields, hidden_size=32, intermediate_size=24))
        tokenizer, model = rerank.make(case)
        out = root / name
        shutil.rmtree(out, ignore_errors=True)
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        with torch.no_grad():
            scores = [float(model(**tokenizer(query, text, return_tensors="pt")).logits[0, 0]) for query, text in rerank.PAIRS]
        pairs = {"query": rerank.PAIRS[0][0], "texts": [text for _, text in rerank.PAIRS], "scores": scores}
        (out / "pairs.json").write_text(json.dumps(pairs, indent=1) + "\n")
        for file in out.iterdir():
            file.chmod(0o644)
        print(f"{name}: {sum(file.stat().st_size for file in out.iterdir()) / 1000:.0f} kB, scores {scores}")


if __name__ == "__main__":
    main()
