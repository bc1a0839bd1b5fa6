#!/usr/bin/env python3
"""How far one engine's distributions are from another's: mean and largest KL(ref || ours) and agreement of the top token.

  python kl.py REF.npy OURS.npy [--max-mean 0.007]     # float32 [tokens, vocab] logits; exit status 1 above the limit

REF.npy comes from tools/goldens/model_kl.py, OURS.npy from `wick logits -m MODEL --ids $(IDS) -o OURS.npy`, where IDS are those of
tests/data/model/english_ids.json. Everything is summed in double.
"""
import argparse
import sys

import numpy as np


def log_softmax(logits):
    x = logits.astype(np.float64)
    x -= x.max(axis=1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


def compare(ref, ours, chunk=256):
    """For each position: KL, whether both have the same top token, the largest difference of a logit."""
    kl, same, apart = [], [], []
    for at in range(0, len(ref), chunk):
        a, b = ref[at:at + chunk], ours[at:at + chunk]
        p, q = log_softmax(a), log_softmax(b)
        kl.append((np.exp(p) * (p - q)).sum(axis=1))
        same.append(p.argmax(axis=1) == q.argmax(axis=1))
        apart.append(np.abs(a - b).max(axis=1))
    return np.concatenate(kl), np.concatenate(same), np.concatenate(apart)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ref")
    parser.add_argument("ours")
    parser.add_argument("--max-mean", type=float, help="fail if the mean KL is above this")
    args = parser.parse_args()
    ref, ours = np.load(args.ref, mmap_mode="r"), np.load(args.ours, mmap_mode="r")
    if ref.ndim != 2 or ref.shape != ours.shape:
        sys.exit(f"{args.ours}: the logits are {list(ours.shape)}, the reference's are {list(ref.shape)}")
    kl, same, apart = compare(ref, ours)
    if not np.isfinite(apart).all():
        sys.exit(f"{args.ours}: some logits are not finite, first at position {int(np.argmin(np.isfinite(apart)))}")
    print(f"positions {len(kl)}  mean KL {kl.mean():.6f}  max KL {kl.max():.6f} at {int(kl.argmax())}  "
          f"top-1 agreement {same.mean():.4%}  largest logit difference {apart.max():.6f}")
    if args.max_mean is not None and not kl.mean() <= args.max_mean:
        sys.exit(f"mean KL {kl.mean():.6f} is above the limit {args.max_mean}")


if __name__ == "__main__":
    main()
