#!/usr/bin/env python3
"""Compares two folders of `sequence`, the original's and ours, record by record; Markdown on stdout.

usage: judge.py [--all] ORIGINAL OURS
Prints every sequence in which the two differ (--all: every sequence), with the explanation of the difference
from the table below, then the rules that ours keeps. Exit status 1 when a difference has no explanation, when
an explanation fits nothing any more, or when ours breaks a rule.
"""
import fnmatch
import re
import sys

import sequence_check

# Which sequences, what the original does, what ours does (regular expressions on the summaries), and why.
EXPLANATIONS = [
    # Results
    ("*/*f16/data|*/*f16/weights|*/*bf16/*", "^wrong out", "^right",
     "the original rounds intermediate columns or partial sums to 16 bits; ours adds up in f32"),
    ("torch-norm/bfloat/*", "^wrong (y|dx)", "^right", "the original truncates to bf16; ours rounds to nearest even"),
    ("torch-*/odd-one/*", "^status (GetSolutionCount:6|Find:7)", "^right",
     "the original finds nothing for odd strides of dimensions of size 1; ours ignores such strides"),
    ("torch-2.12-low-memory/*", "^status Convolution:7", "^right",
     "the original runs GEMM only where Find has measured it; ours runs whatever algorithm is named"),
    ("torch-norm/last*/inference", "^status .*Inference:6", "^right",
     "the original has no inference of batch norm for channels last on this chip"),
    ("fusion/*", "^(status CompileFusionPlan:[78]|status FindSolutions:7|wrong fallback=none)$", "^right",
     "the original has no kernel for that on this chip, or one that does not compile; ours executes the parts"),
    ("scaled/*", "^status Convolution:[67]", "^right",
     "the original takes alpha 1 and beta 0 only; ours computes both"),
    ("rnn-parameters/*", "^wrong .*set:inf", "^right",
     "the original writes a matrix transposed, all but the first; ours writes it as it is, so that it can be got "
     "again"),
    ("*rnn*/*-half/*", "^right weights ([0-9]*) ", "^right weights ([0-9]*) ",
     "the reserve space: everything inside is f32 in ours"),
    ("pool/*-last/*", "^status PoolingForward:7", "^right",
     "the original has no pooling of channels last on this chip"),
    ("pool/max-u64/*", "^wrong dx", "^right", "the original adds up gradients in f16; ours in f32"),
    ("softmax-problem/half/*", "^wrong out", "^right", "the original computes in f16; ours in f32"),
    ("mha/causal/*", "^wrong m", "^right", "the original's f32 kernels have no mask; ours have it in both passes"),
    ("mha/bias/*", "^wrong m", "^right",
     "the original subtracts the bias, and leaves it out of the gradients; ours adds it, as its own reference and "
     "PyTorch do"),
    ("mha/drop/*", "^wrong o", "^right", "other random numbers, and the gradient of what forward has computed"),
    ("mha/half/*|mha/bfloat/*", "^wrong fallback=none", "^right",
     "the original has no attention in 16 bits on this chip"),
    # Wrong calls
    ("hostile/*/*", "crash", ":3", "the original crashes; ours returns BadParm"),
    ("hostile/null_handle/*|hostile/null_conv_desc/*|hostile/null_x_desc/*|hostile/groups_misfit/*|"
     "hostile/channels_misfit/*",
     "workspace=untouched .*Size:3", "workspace=0 .*Size:3",
     "ours sets the size to 0 in a failing GetWorkSpaceSize: PyTorch does not look at its status"),
    ("hostile/unset_tensor/*", "bytes=4", "bytes=0", "a tensor without dimensions has no bytes"),
    ("hostile/dims_huge/*", "TensorDescriptor:0", "TensorDescriptor:3",
     "ours refuses a tensor whose size does not fit 63 bits"),
    ("hostile/products_overflow/*", "solutions=1 .*GetSolutionCount:0", "GetSolutionCount:4",
     "the original offers a kernel that would run for days on a tensor larger than any memory; ours refuses"),
    ("hostile/spatial_dims/*", "spatial=0,1,2,3,4,5,6", "spatial=2,1,2,3,3,3,3",
     "ours takes the one to three dimensions that there are convolutions for"),
    ("hostile/strides_gaps/*", "solutions=2", "solutions=[1-9]", "other numbers of solutions"),
    ("hostile/find_mode_wrong/*", "last=5", "last=7", "6 and 7 are find modes of later releases"),
    ("hostile/null_solutions/*", "GetSolution:0", "GetSolution:3", "four places are promised, and there are none"),
    ("hostile/alpha_two/*|hostile/beta_one/*", "ConvolutionForward:6", "ConvolutionForward:0",
     "ours computes alpha and beta"),
    ("hostile/algo_*/*", "ConvolutionForward:7", "ConvolutionForward:0", "ours needs no Find before"),
    ("hostile/solution_unknown/*", "Size:0,CompileSolution:7", "Size:3,CompileSolution:3",
     "the original has a solver of that number that does not apply; ours has no such number"),
    ("hostile/types_mixed/*|hostile/output_misfit*/*|hostile/batch_misfit/*|hostile/filter_too_large/*",
     "(GetSolutionCount:0|ConvolutionForward:7)", "(GetSolutionCount:3|ConvolutionForward:3)",
     "the original does not look whether the tensors fit each other; ours does"),
    ("hostile/ranks_mixed/*|hostile/ranks_wrong_for_conv/*", "GetSolutionCount:6", "GetSolutionCount:3",
     "BadParm instead of no solution"),
    ("hostile/rank_3/*", "GetSolutionCount:6", "GetSolutionCount:0", "ours has convolutions of one dimension"),
    ("hostile/types_double/*|hostile/types_int32/*", "GetSolutionCount:0", "GetSolutionCount:6",
     "ours has no convolutions of these types; no framework asks for them"),
    ("hostile/strides_zero/*|hostile/batch_zero/*|hostile/strides_overflow/*", "solutions=2", "solutions=[1-9]",
     "the descriptor stays as it was, and its convolution has another number of solutions"),
    ("hostile/workspace_small/*", "with_workspace=some", "with_workspace=none", "ours needs no workspace here"),
    ("hostile/get_tensor/*", "Get4d:0", "Get4d:3", "five dimensions are not four"),
    ("hostile/norm_mode/*", "Inference:0.*Training:6", "Inference:3.*Training:3",
     "ours refuses an unknown mode at once"),
    ("hostile/norm_epsilon/*", "Training:0", "Training:3", "ours refuses a negative epsilon"),
    ("hostile/tensor_misfit/*", "OpTensor:0$", "OpTensor:3$", "ours refuses an unknown operation"),
    ("hostile/problem_nulls/*", "CreateConvProblem:0,CreateConvProblem:0", "CreateConvProblem:[36],CreateConvProblem:0",
     "ours refuses an unknown direction at once"),
    ("hostile/problem_id/*", "invalid:0,SetTensor-other:0", "invalid:3,SetTensor-other:3",
     "ours refuses tensors that a convolution does not have"),
    ("hostile/rnn_reserve_*/*", "RNNForward-inference:7", "RNNForward-inference:0",
     "inference needs no reserve space in ours"),
    ("hostile/rnn_sequence_misfit/*", "RNNForward-training:0", "RNNForward-training:3",
     "the original does not look whether the sequences of x and y are as long; ours does"),
    ("hostile/rnn_lengths/*", "=SetRNNDataSeqTensorDescriptor:0", "=SetRNNDataSeqTensorDescriptor:3",
     "ours refuses a sequence that is longer than the longest"),
    ("hostile/rnn_empty/*", "RNNForward-training:0", "RNNForward-training:6",
     "ours refuses empty sequences; so does PyTorch"),
    ("hostile/task_missing/*", "FindSolutions:7", "FindSolutions:2",
     "InvalidValue, as for a convolution that lacks a tensor"),
    ("hostile/task_alone/*", "FindSolutions:6", "FindSolutions:0", "ours finds solutions of single problems, too"),
    ("hostile/task_foreign/*", "Descriptor:0$", "Descriptor:3$",
     "ours refuses tensors that an activation does not have"),
    ("hostile/pool_window_zero/*|hostile/pool_window_negative/*|hostile/pool_window_large/*|"
     "hostile/pool_stride_negative/*|hostile/pool_pad_negative/*", "PoolingBackward:0", "PoolingBackward:3",
     "ours refuses windows, strides and paddings that make no sense"),
    ("hostile/pool_mode/*|hostile/pool_descriptor/*|hostile/lrn_mode/*",
     "(PoolingDescriptor:0|SetNd-0:0|SetLRNDescriptor:0)", "(PoolingDescriptor:3|SetNd-0:3|SetLRNDescriptor:3)",
     "ours refuses modes and dimensions that there are not, when they are set"),
    ("hostile/pool_type_double/*|hostile/lrn_type_double/*", "Backward:7", "Backward:6",
     "NotImplemented for a type that is not there"),
    ("hostile/pool_workspace_small/*", "PoolingForward:0", "PoolingForward:6",
     "the original writes indices beyond the workspace; ours does not"),
    ("hostile/lrn_zero/*", "LRNForward:7", "LRNForward:3", "BadParm for a window of nothing"),
    ("hostile/lrn_long/*", "LRNForward:7", "LRNForward:0", "ours takes windows of any length"),
    ("hostile/mha_direction/*", "CreateMhaProblem:0", "CreateMhaProblem:3",
     "ours refuses an unknown direction at once"),
    ("hostile/mha_missing/*", "FindSolutions:2", "FindSolutions:0",
     "scales, statistics and dropout may be left out in ours"),
    ("hostile/mha_misfit/*|hostile/mha_type/*", "FindSolutions:2", "FindSolutions:[36]",
     "the original misses a scale before it looks at the tensors"),
    ("hostile/mha_empty/*", "solutions=untouched", "solutions=0", "ours sets the number of solutions to 0"),
    ("hostile/load_*/*", "LoadSolution:7", "LoadSolution:10",
     "VersionMismatch tells a client that its file is not this library's"),
]


def summary(folder, record):
    """A word or more that tell how a sequence went, without the numbers that every implementation has its own."""
    if record.kind != "hostile":
        text = sequence_check.verdict(folder, record)[0]
        if record.kind in ("rnn", "parameters"):
            text += f" weights {record['weights']} reserve {record['reserve']}"
        return text
    if "died" in record:
        return "crash"
    notes = [f"{key}={','.join(values)}" for key, values in record.all.items()
             if key not in ("client", "case", "pass", "calls")]
    calls = ",".join(f"{function}:{status}" for function, status in record.calls())
    text = " ".join(notes + [f"calls={calls}"])
    text = re.sub(r"=12345\b", "=untouched", text)
    # Sizes of workspaces are each implementation's own.
    return re.sub(r"workspace=[1-9]\d*", "workspace=some", text)


def numbers(record):
    """What the library answered, for the table."""
    said = [f"{key} {'/'.join(dict.fromkeys(record.all[key]))}"
            for key in ("solutions", "workspace", "memory", "algorithm") if key in record]
    return ", ".join(said) if record.kind != "hostile" else ""


def explain(name, original, ours, used):
    for i, (names, before, after, text) in enumerate(EXPLANATIONS):
        if any(fnmatch.fnmatch(name, pattern) for pattern in names.split("|")) and \
                re.search(before, original) and re.search(after, ours):
            used.add(i)
            return text
    return None


def broken_rules(record):
    """What clients rely on, whatever the numbers are."""
    counts = [int(word) for word in record.all.get("solutions", []) if word != "12345"]
    filled = [int(word) for word in record.all.get("filled", []) if word != "12345"]
    sizes = [int(word) for word in record.all.get("workspace", []) if word != "12345"]
    memory = [int(word) for word in record.all.get("memory", [])]
    if any(count > 10 for count in counts):
        yield "more than ten solutions make PyTorch throw"
    if counts and filled and counts != filled:
        yield "GetSolution gives another number than GetSolutionCount"
    if record.kind == "conv" and sizes and memory and max(memory) > max(sizes):
        yield "Find wants more than GetWorkSpaceSize told"
    if "fallback" in record:
        yield "no solution without a workspace"


def cut(text, length=150):
    return (text if len(text) <= length else text[:length] + " …").replace("|", "/")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--all"]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    sequence_check.torch.set_num_threads(1)
    folders = arguments
    original, ours = ({record.name: record for record in sequence_check.read_records(folder)} for folder in folders)
    used, n_same, n_explained, failures = set(), 0, 0, []
    print("| sequence | original | ours | why |\n|---|---|---|---|")
    for name, record in ours.items():
        if name not in original:
            failures.append(f"{name}: the original has no record of it")
            continue
        before, after = summary(folders[0], original[name]), summary(folders[1], record)
        why = ""
        if before == after:
            n_same += 1
        else:
            why = explain(name, before, after, used)
            n_explained += why is not None
            if why is None:
                failures.append(f"{name}: {before} | {after}")
        if before != after or "--all" in sys.argv:
            print(f"| {name} | {cut(' '.join([before, numbers(original[name])]))} "
                  f"| {cut(' '.join([after, numbers(record)]))} | {why if why is not None else '**unexplained**'} |")
        failures += [f"{name}: {rule}" for rule in broken_rules(record)]
    failures += [f"{name}: ours has no record of it" for name in original if name not in ours]
    failures += [f"the explanation '{EXPLANATIONS[i][3]}' ({EXPLANATIONS[i][0]}) fits nothing"
                 for i in range(len(EXPLANATIONS)) if i not in used]
    print(f"\n{n_same} alike, {n_explained} differ and are explained, {len(failures)} failures")
    for failure in failures:
        print(f"FAIL: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
