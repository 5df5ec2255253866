#!/usr/bin/env python3
"""Whether two builds of frugal compute the same: trains every sample for some steps with both and
compares losses, weights to the byte, and plans.

    tests/benchmarks/same_results.py OLD_TREE NEW_TREE [STEPS]

Both trees hold build/release/bin/frugal; each is given its own configuration files. What is timed or
said of the machine is left out. Exits with 1 where anything differs.
"""
import filecmp
import json
import os
import subprocess
import sys
import tempfile

SAMPLES = ["010_fashion_mnist/fashion_mnist.toml", "030_char_gpt/char_gpt.toml",
           "040_transfer/eight_classes.toml", "040_transfer/ten_classes.toml",
           "050_diffusion/diffusion.toml"]
PLANS = ["gpt2", "bert-base", "vit-b-16", "resnet-50", "dit-xl-2", "sd-1.5", "flux.1-dev"]
MEASURED = ("second", "time", "rss", "machine", "samples_per", "free", "allocations", "operations",
            "output", "timeline", "layers", "profile")


def without_measured(value):
    if isinstance(value, dict):
        return {key: without_measured(inner) for key, inner in value.items()
                if not any(word in key for word in MEASURED)}
    if isinstance(value, list):
        return [without_measured(inner) for inner in value]
    return value


def run(tree, arguments):
    environment = dict(os.environ, OMP_NUM_THREADS="2")
    return subprocess.run([os.path.join(tree, "build/release/bin/frugal"), *arguments], cwd=tree,
                          env=environment, capture_output=True, text=True)


def train(tree, sample, steps, stem):
    settings = [f"training.max_steps={steps}", "data.train_limit=2048", "data.test_limit=256",
                f"output.weights={stem}.safetensors", f"output.summary={stem}.json"]
    if "char_gpt" in sample:
        settings = [s for s in settings if "limit" not in s]
    if "fashion_mnist" in sample:  # an earlier run's snapshots would be refused
        settings.append(f"snapshots.directory={stem}.snapshots")
    done = run(tree, ["train", f"samples/{sample}", *sum((["--set", s] for s in settings), [])])
    if done.returncode != 0:
        return done.stderr.strip()
    with open(f"{stem}.json", encoding="utf-8") as file:
        return without_measured(json.load(file))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    trees = [os.path.abspath(tree) for tree in sys.argv[1:3]]
    steps = sys.argv[3] if len(sys.argv) == 4 else "6"
    differ = 0
    with tempfile.TemporaryDirectory() as work:
        for sample in SAMPLES:
            stems = [os.path.join(work, f"{i}_" + sample.replace("/", "_")) for i in range(2)]
            results = [train(tree, sample, steps, stem) for tree, stem in zip(trees, stems)]
            if isinstance(results[0], str) or isinstance(results[1], str):
                print(f"{sample}: not run: {results}")
                differ += 1
                continue
            same = results[0] == results[1] and filecmp.cmp(
                stems[0] + ".safetensors", stems[1] + ".safetensors", shallow=False)
            print(f"{sample}: {'same losses and weights' if same else 'DIFFERENT'}")
            differ += not same
        for plan in [f"samples/{sample}" for sample in SAMPLES] + PLANS:
            plans = [run(tree, ["plan", plan, "--json"]) for tree in trees]
            texts = [without_measured(json.loads(p.stdout)) if p.returncode == 0 else p.stderr
                     for p in plans]
            print(f"plan {plan}: {'same' if texts[0] == texts[1] else 'DIFFERENT'}"
                  f"{'' if plans[0].returncode == 0 else ' (refused)'}")
            differ += texts[0] != texts[1]
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
