#!/usr/bin/env python3
"""Wheels to be repaired: made, taken apart, compared; honest and hostile ones.

usage: wheels.py make OUT.whl NAME=FILE…        a wheel with these members, and a module
       wheels.py check WHEEL [NAME…]            zipfile's test, RECORD against the members; these must be there
       wheels.py same LEFT RIGHT NAME…          these members have the same bytes
       wheels.py get WHEEL NAME                 a member to standard output
       wheels.py hostile FOLDER OBJECT          wheels that must be refused, each with a reason
       wheels.py large OUT.whl OBJECT           65,600 members, which needs zip64
       wheels.py stream IN.whl OUT.whl          the same as a program writes it to a pipe: sizes behind the bytes
       wheels.py bundle OUT NAME=FILE…          an offload bundle
"""
import base64
import csv
import hashlib
import io
import os
import struct
import sys
import zipfile

INFO = "toy-1.0.dist-info"
METADATA = {
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
}


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path, members, stored=(), record=None, signed=False, fill=None):
    """A wheel of (name, bytes) pairs."""
    rows = io.StringIO()
    table = csv.writer(rows, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members:
            info = zipfile.ZipInfo(name, (2020, 2, 3, 4, 5, 6))
            info.external_attr = 0o100755 << 16 if name.endswith(".so") else 0o100644 << 16
            info.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            info.comment = b"a comment" if name.endswith(".py") else b""
            out.writestr(info, data)
            table.writerow([name, digest(data), len(data)])
        if fill:
            fill(out)
        table.writerow([f"{INFO}/RECORD", "", ""])
        if record is not False:
            out.writestr(f"{INFO}/RECORD", rows.getvalue() if record is None else record)
        if signed:
            out.writestr(f"{INFO}/RECORD.jws", "signature")


def plain():
    return [("toy/__init__.py", b"value = 42\n")] + list(METADATA.items())


def make(path, pairs):
    members = plain()
    for pair in pairs:
        name, file = pair.split("=", 1)
        with open(file, "rb") as source:
            members.insert(1, (name, source.read()))
    write(path, members, stored=("toy/stored.co",), signed=True)


def check(path, names):
    with zipfile.ZipFile(path) as wheel:
        bad = wheel.testzip()
        assert bad is None, f"{bad} is damaged"
        listed = wheel.namelist()
        assert len(set(listed)) == len(listed), "two members of one name"
        (record,) = [name for name in listed if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(listed), sorted(set(listed) ^ {row[0] for row in rows})
        for name, value, size in rows:
            if name == record:
                assert (value, size) == ("", "")
                continue
            data = wheel.read(name)
            assert value == digest(data) and int(size) == len(data), f"RECORD of {name}"
        for name in names:
            assert name in listed, f"no {name}: {listed}"
        for info in wheel.infolist():
            if info.filename.endswith(".so"):
                assert info.external_attr >> 16 & 0o777 == 0o755, "permissions"
            if info.filename.endswith(".py"):
                assert info.comment == b"a comment" and info.date_time == (2020, 2, 3, 4, 5, 6)


def same(left, right, names):
    with zipfile.ZipFile(left) as a, zipfile.ZipFile(right) as b:
        for name in names:
            assert a.read(name) == b.read(name), name


def patch(path, change):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data = change(data)
    with open(path, "wb") as file:
        file.write(data)


def announce(data, size):
    """Another size of the first member in the directory."""
    struct.pack_into("<I", data, data.find(b"PK\1\2") + 24, size)
    return data


def hostile(folder, file):
    with open(file, "rb") as source:
        code = source.read()

    def at(name):
        return os.path.join(folder, name + ".whl")

    for number, name in enumerate(("../up.co", "/etc/passwd.co", "toy/../../up.co", "toy\\up.co", "toy//x.co",
                                   "./x.co")):
        write(at(f"path{number}"), plain() + [(name, code)])
    write(at("twice"), plain() + [("toy/a.co", code), ("toy/a.co", code)])
    write(at("no-record"), plain() + [("toy/a.co", code)], record=False)
    write(at("odd-record"), plain() + [("toy/a.co", code)], record='"toy/a.co')
    row = f"toy/a.co,{digest(b'something else')},{len(code)}\n"
    write(at("other-hash"), plain() + [("toy/a.co", code)], record=row)
    # More bytes than there can be; more than there are said to be.
    for name, size in (("bomb", 4000000000), ("liar", 1000)):
        write(at(name), [("toy/zeros", bytes(100000))] + plain() + [("toy/a.co", code)])
        patch(at(name), lambda data, size=size: announce(data, size))

    good = at("good")
    write(good, plain() + [("toy/a.co", code)])
    with open(good, "rb") as source:
        data = source.read()
    os.unlink(good)
    for number in range(1, 12):
        with open(at(f"cut{number}"), "wb") as out:
            out.write(data[: len(data) * number // 12])
    # Every member's directory entry leads to the same bytes.
    write(at("overlap"), plain() + [(f"toy/{i}.co", code) for i in range(30)])

    def join(data):
        end = data.rfind(b"PK\5\6")
        start, place = struct.unpack_from("<I", data, end + 16)[0], None
        while data[start:start + 4] == b"PK\1\2":
            name, extra, comment = struct.unpack_from("<HHH", data, start + 28)
            if data[start + 46:start + 46 + name].endswith(b".co"):
                place = place or struct.unpack_from("<I", data, start + 42)[0]
                struct.pack_into("<I", data, start + 42, place)
                struct.pack_into("<I", data, start + 20, len(data) // 3)
            start += 46 + name + extra + comment
        return data

    patch(at("overlap"), join)
    write(at("crc"), plain() + [("toy/a.co", code)], stored=("toy/a.co",))
    patch(at("crc"), lambda data: data.replace(code[:100], code[:99] + b"\1", 1))
    write(at("encrypted"), plain() + [("toy/a.co", code)])

    def encrypt(data):
        start = data.find(b"PK\1\2")
        data[start + 8] |= 1
        return data

    patch(at("encrypted"), encrypt)


def large(path, file):
    with open(file, "rb") as source:
        code = source.read()
    many = [(f"toy/data/{i}", b"%d" % i) for i in range(65600)]
    write(path, plain() + many + [("toy/a.co", code)])


class Pipe(io.RawIOBase):
    """A file that cannot go back."""

    def __init__(self, path):
        super().__init__()
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def close(self):
        self.file.close()
        super().close()


def stream(source, path):
    with zipfile.ZipFile(source) as old, Pipe(path) as pipe, zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info, old.read(info.filename))


def bundle(path, pairs):
    table, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(pairs)), b""
    for pair in pairs:
        name, file = pair.split("=", 1)
        with open(file, "rb") as source:
            data = source.read()
        body += bytes(-len(body) % 4096)
        table += struct.pack("<QQQ", 4096 + len(body), len(data), len(name)) + name.encode()
        body += data
    with open(path, "wb") as out:
        out.write(table + bytes(-len(table) % 4096) + body)


def main():
    command, *rest = sys.argv[1:]
    if command == "get":
        with zipfile.ZipFile(rest[0]) as wheel:
            sys.stdout.buffer.write(wheel.read(rest[1]))
    elif command == "same":
        same(rest[0], rest[1], rest[2:])
    elif command in ("make", "check", "bundle"):
        {"make": make, "check": check, "bundle": bundle}[command](rest[0], rest[1:])
    else:
        {"hostile": hostile, "large": large, "stream": stream}[command](*rest)


main()
