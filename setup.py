"""Packaging of placer: `pip install -e '.[test]'`."""

import pathlib

import setuptools

_README = pathlib.Path(__file__).parent / 'README.md'

setuptools.setup(
  name='placer',
  version='0.1.0',
  description='Finds the fastest placement of a TensorFlow graph on devices.',
  long_description=(
    _README.read_text(encoding='utf-8') if _README.exists() else ''
  ),
  long_description_content_type='text/markdown',
  author='The placer authors',
  license='Apache-2.0',
  python_requires='>=3.11',
  packages=setuptools.find_packages(
    include=['placer', 'placer.*', 'benchmarks', 'benchmarks.*'],
    exclude=['*.testdata', '*.testdata.*'],
  ),
  package_data={'': ['*.css', '*.html', '*.js', '*.json', '*.svg']},
  install_requires=[
    # Flags, logging and the program's entry point.
    'absl-py>=2.1',
    # Modules and checkpoints of the learned policies.
    'dm-sonnet>=2.0.2',
    # The graph networks of the learned policies.
    'graph_nets>=1.1.0',
    # Compiles the simulator's inner loop.
    'numba>=0.63',
    # Arrays of the core, which does without TensorFlow.
    'numpy>=1.26',
    # CP-SAT and GLOP of the planners `exact` and `m_sct`. Releases from 9.10 on
    # allow one release of protobuf each, older than TensorFlow's newest; 9.9
    # takes any, but has no wheel for Python 3.13.
    'ortools>=9.9,<9.10; python_version < "3.13"',
    'ortools>=9.12; python_version >= "3.13"',
    # The papers' baselines: minimum cut by METIS, mapping by Scotch.
    'pymetis>=2025.2',
    'pyscotch>=7.0.5',
    # TensorFlow Probability 0.25 imports distutils, which Python 3.12
    # dropped and setuptools carries on.
    'setuptools; python_version >= "3.12"',
    # What is placed and measured; kernels, Grappler and sessions.
    'tensorflow>=2.21,<2.22',
    # Distributions over placements; sonnet's and graph_nets' companion.
    'tensorflow-probability>=0.25,<0.26',
    # TensorFlow Probability needs Keras 2, which TensorFlow dropped.
    'tf-keras>=2.21,<2.22',
  ],
  extras_require={
    # absltest needs neither; pytest is the way without Bazel.
    'test': ['hypothesis', 'pytest'],
    'lint': ['ruff'],
  },
  entry_points={
    'console_scripts': ['placer = placer.cli.main:main_entry'],
  },
)
