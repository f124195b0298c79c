#!/usr/bin/env python3
"""A part of rocBLAS's test data, which has more than a million cases that its test program reads before it begins.

usage: rocblas_records.py DATA CATEGORY N OUT

The file has a header, in which one record stands for the layout of all, between the words "rocBLAS" and "ROCblas", and
then the records; each starts with the name of its function, and has its category at 128. Takes N records of the
category, spread evenly over all of them, in their order; prints N and how many there are.
"""
import mmap
import sys

FUNCTION, CATEGORY = 0, 128
GOLDEN = 0.6180339887498949


def text_at(data, at):
    return data[at:at + 64].split(b"\0")[0].decode()


def main():
    path, category, n, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    end = data.find(b"ROCblas\0", 0, 1 << 16)
    size = end - 8
    if data[:8] != b"rocBLAS\0" or size < 256 or (len(data) - end - 8) % size:
        sys.exit(f"{path}: not rocBLAS's test data as it is known here")
    wanted = category.encode() + b"\0"
    records = [at for at in range(end + 8, len(data), size)
               if data[at + CATEGORY:at + CATEGORY + len(wanted)] == wanted]
    chosen = sorted(range(len(records)), key=lambda i: (i + 1) * GOLDEN % 1)[:n]
    if not chosen:
        sys.exit(f"{path}: nothing of the category {category}")
    with open(out, "wb") as file:
        file.write(data[:end + 8])
        for i in sorted(chosen):
            file.write(data[records[i]:records[i] + size])
    functions = {text_at(data, records[i] + FUNCTION) for i in chosen}
    print(f"{len(chosen)} of {len(records)} {category} records, {len(functions)} functions")


main()
