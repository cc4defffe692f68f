"""A Python toolchain whose interpreter is a virtual environment of pinned
packages.

`python_environment(name, requirements)` makes a repository of that name with

    venv/         made by `python3 -m venv`, filled by `pip install -r`
    :toolchain    to be given to register_toolchains()

It is made anew when the requirements file, this file or $PLACER_PYTHON changes.
pip runs in the user's environment, so PIP_*, proxies, certificates and pip's
configuration files work as they do in a shell.
"""

_OLDEST = (3, 11)
_NEWEST = (3, 13)

_CANDIDATES = [
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
]

# The version if Python can make virtual environments, else a failure.
_PROBE = "import ensurepip, sys, venv; print('%d %d' % sys.version_info[:2])"

# pip takes minutes for TensorFlow's half a gigabyte on a slow line.
_TIMEOUT_SECONDS = 3600

_BUILD = """
load("@rules_python//python:defs.bzl", "py_runtime", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

py_runtime(
    name = "runtime",
    interpreter_path = "{interpreter}",
    python_version = "PY3",
    # The launcher's own; Bazel 4 would ask for `python`, which Debian lacks.
    stub_shebang = "#!/usr/bin/env python3",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "{toolchain_type}",
)
"""

def _find_python(ctx):
    """Returns the path of the first Python that fits; fails if none does."""
    chosen = ctx.os.environ.get("PLACER_PYTHON", "")
    tried = []
    for name in [chosen] if chosen else _CANDIDATES:
        path = name if "/" in name else ctx.which(name)
        if not path:
            tried.append("%s: not on PATH" % name)
            continue
        probe = ctx.execute([path, "-c", _PROBE])
        if probe.return_code != 0:
            tried.append("%s: %s" % (path, probe.stderr.strip()))
            continue
        major, minor = probe.stdout.strip().split(" ")
        version = (int(major), int(minor))
        if _OLDEST <= version and version <= _NEWEST:
            return path
        tried.append("%s: is Python %s.%s" % (path, major, minor))
    fail(("placer needs Python %d.%d to %d.%d with venv and ensurepip. " +
          "Tried:\n  %s\nInstall one (Debian, Ubuntu: python3 and " +
          "python3-venv), or set PLACER_PYTHON to its path.") %
         (_OLDEST + _NEWEST + ("\n  ".join(tried),)))

def _execute(ctx, what, arguments):
    ctx.report_progress(what)
    result = ctx.execute(
        arguments,
        timeout = _TIMEOUT_SECONDS,
        environment = {
            # Neither may change what ends up in the environment.
            "PIP_USER": "0",
            "PYTHONPATH": "",
        },
        quiet = False,
    )
    if result.return_code != 0:
        fail("%s failed (exit code %d):\n%s\n%s" % (
            what,
            result.return_code,
            result.stdout,
            result.stderr,
        ))

def _python_environment_impl(ctx):
    requirements = ctx.path(ctx.attr.requirements)
    python = _find_python(ctx)
    _execute(ctx, "python -m venv", [python, "-m", "venv", "venv"])
    interpreter = ctx.path("venv/bin/python3")
    _execute(ctx, "pip install -r requirements.txt (some minutes)", [
        interpreter,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        # graph_nets comes as source; an old pip would build it the old way.
        "--use-pep517",
        "--requirement",
        requirements,
    ])
    ctx.file("BUILD", _BUILD.format(
        interpreter = interpreter,
        toolchain_type = ctx.attr.toolchain_type,
    ))

python_environment = repository_rule(
    implementation = _python_environment_impl,
    attrs = {
        "requirements": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "The pip requirements file, every version pinned.",
        ),
        "toolchain_type": attr.string(
            default = "@rules_python//python:toolchain_type",
            doc = "The label of the toolchain type for Python.",
        ),
    },
    environ = ["PLACER_PYTHON"],
    doc = "A virtual environment as Python toolchain; see the top of the file.",
)
