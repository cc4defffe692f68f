"""The Python rules that are built into Bazel 4 to 6, under the names of
rules_python.
"""

load(
    "@bazel_tools//tools/python:toolchain.bzl",
    _py_runtime_pair = "py_runtime_pair",
)

py_binary = native.py_binary
py_library = native.py_library
py_runtime = native.py_runtime
py_runtime_pair = _py_runtime_pair
py_test = native.py_test
