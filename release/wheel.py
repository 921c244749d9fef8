#!/usr/bin/env python3
"""Makes a wheel that carries the program: a zip, by the standard library alone, with the same bytes each time.

usage: wheel.py VERSION ARCH PROGRAM PACKAGE OUT     (ARCH is amd64 or arm64, PACKAGE and OUT are folders)
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

version, arch, program, package, out = sys.argv[1:]
machine = {"amd64": "x86_64", "arm64": "aarch64"}[arch]
# The program is static: any glibc does, and musl too.
platforms = [f"{libc}_{machine}" for libc in ("manylinux2014", "manylinux_2_17", "musllinux_1_1")]
info, script = f"placectl-{version}.dist-info", f"placectl-{version}.data/scripts/placectl"
when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]

files = {f"placectl/{p.name}": p.read_bytes() for p in sorted(pathlib.Path(package).iterdir()) if p.suffix in (".py", ".typed")}
files[script] = pathlib.Path(program).read_bytes()
files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: placectl
Version: {version}
Summary: Batch scheduling in one file: jobs, placements and SQL
Home-page: https://github.com/placectl/placectl
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: full
Requires-Dist: cloudpickle; extra == 'full'
Requires-Dist: pandas; extra == 'full'
""".encode()
files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: placectl\nRoot-Is-Purelib: false\n"
                          + "".join(f"Tag: py3-none-{p}\n" for p in platforms)).encode()
record = ""
for name, data in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(data)}\n"
files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

with zipfile.ZipFile(os.path.join(out, f"placectl-{version}-py3-none-{'.'.join(platforms)}.whl"), "w") as wheel:
    for name, data in files.items():
        entry = zipfile.ZipInfo(name, when)
        entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
        entry.external_attr = (0o100755 if name == script else 0o100644) << 16
        wheel.writestr(entry, data, compresslevel=9)
