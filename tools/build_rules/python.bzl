"""Python targets made from the files that are there, so that a new file needs
no edit of a BUILD file.
"""

load("@rules_python//python:defs.bzl", "py_library", "py_test")

_TESTS = "*_test.py"

# Beside the code: HTML templates, committed results and such.
_NO_DATA = [
    "__pycache__/**",
    "*.md",
    "*.py",
    "BUILD",
]

def python_folder(name, folder, deps = [], exclude = [], testonly = False):
    """A py_library of all files in a folder of this package, but for tests.

    Args:
        name: name of the target.
        folder: path of the folder, relative to the package.
        deps: labels of what its modules import.
        exclude: globs of files to leave out, relative to the folder.
        testonly: whether only tests may depend on it.
    """
    excluded = [folder + "/" + pattern for pattern in exclude]
    py_library(
        name = name,
        srcs = native.glob(
            [folder + "/**/*.py"],
            exclude = excluded + [folder + "/**/" + _TESTS],
            allow_empty = True,
        ),
        data = native.glob(
            [folder + "/**"],
            exclude = excluded + [folder + "/**/testdata/**"] +
                      [folder + "/**/" + pattern for pattern in _NO_DATA],
            allow_empty = True,
        ),
        testonly = testonly,
        deps = deps,
    )

def python_tests(deps, data = [], attributes = {}):
    """One py_test for each file of this package whose name ends in _test.py.

    The test of `core/placement_test.py` is the target `core/placement_test`.
    One named `*_timing_test.py` measures time: it runs while no other test
    does.

    Args:
        deps: labels of what the tests import.
        data: labels of the files they read, besides those in folders named
            testdata.
        attributes: from the path of a test file, relative to the package, to a
            dict of py_test's attributes for it, such as
            `{"search/loop_test.py": {"size": "large", "shard_count": 2}}`.
    """
    files = native.glob(["**/" + _TESTS], allow_empty = True)
    for file in attributes:
        if file not in files:
            fail("python_tests: there is no test file %s" % file)
    test_data = data + native.glob(["**/testdata/**"], allow_empty = True)
    for file in files:
        settings = {
            "size": "medium",
            # 15 minutes: importing TensorFlow alone takes 5 s, and a machine
            # may be busy.
            "timeout": "long",
            "data": test_data,
        }
        if file.endswith("_timing_test.py"):
            settings["tags"] = ["exclusive"]
        settings.update(attributes.get(file, {}))
        py_test(
            name = file[:-len(".py")],
            srcs = [file],
            main = file,
            deps = deps,
            **settings
        )
