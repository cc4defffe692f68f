"""Side effects: ops that reach outside the process (DESIGN §3.15).

A GraphDef is a program: it can read and write files, open sockets, run Python
code. The table below was made by going through TensorFlow 2.21's registry of
1,910 ops; ops of a custom library are not in it.
"""

from collections.abc import Iterable

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.core import op_path
from placer.core import program as program_lib
from placer.rewriters import function_refs

# Nodes that placer's own importers add to the set-up graph.
OWN_PREFIX = 'placer_setup/'
ANY = '*'

_READS_FILES = """
    CSVDataset CSVDatasetV2 ExperimentalCSVDataset ExperimentalLMDBDataset
    ExperimentalMatchingFilesDataset ExperimentalSqlDataset
    FixedLengthRecordDataset FixedLengthRecordDatasetV2
    FixedLengthRecordReader FixedLengthRecordReaderV2
    GenerateVocabRemapping ImmutableConst InitializeTableFromTextFile
    InitializeTableFromTextFileV2 LMDBDataset LMDBReader
    ListSnapshotChunksDataset LoadAndRemapMatrix LoadDataset MatchingFiles
    MatchingFilesDataset ReadFile RecordInput Restore RestoreSlice RestoreV2
    DTensorRestoreV2 Skipgram SnapshotChunkDataset SnapshotDatasetReader
    SnapshotNestedDatasetReader SqlDataset TFRecordDataset TFRecordDatasetV2
    TFRecordReader TFRecordReaderV2 TextLineDataset TextLineReader
    TextLineReaderV2 WholeFileReader WholeFileReaderV2"""
_WRITES_FILES = """
    CalibrationStatisticsSaver CreateSummaryDbWriter CreateSummaryFileWriter
    DatasetToTFRecord DistributedSave DumpTensor ExperimentalDatasetToTFRecord
    FileSystemSetConfiguration ImportEvent MergeV2Checkpoints Save SaveDataset
    SaveDatasetV2 SaveSlices SaveV2 SnapshotDataset SnapshotDatasetV2
    WriteAudioSummary WriteFile WriteGraphSummary WriteHistogramSummary
    WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary"""
_USES_NETWORK = """
    DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3
    DataServiceDatasetV4 DebugIdentity DebugIdentityV2 DebugIdentityV3
    DebugNanCount DebugNumericSummary RegisterDataset RegisterDatasetV2
    RpcCall RpcClient RpcServer RpcServerRegister RpcServerStart
    WorkerHeartbeat"""
_RUNS_CODE = 'EagerPyFunc PyFunc PyFuncStateless'
_ENDS_PROCESS = 'Abort'

OP_TYPES = frozenset(
  ' '.join(
    (_READS_FILES, _WRITES_FILES, _USES_NETWORK, _RUNS_CODE, _ENDS_PROCESS)
  ).split()
)
# What gives variables and tables their values, and only reads.
RESTORES = frozenset((
  'InitializeTableFromTextFile', 'InitializeTableFromTextFileV2', 'Restore',
  'RestoreSlice', 'RestoreV2',
))  # fmt: skip
# Ops that reach outside only if this attribute is a text like that.
_FILE_ATTRIBUTES = {
  'PrintV2': ('output_stream', 'file://'),
  'FixedUnigramCandidateSampler': ('vocab_file', ''),
}


def side_effects(
  graph_def: graph_pb2.GraphDef,
) -> tuple[tuple[str, str], ...]:
  """Lists the ops of a graph that reach outside the process.

  Args:
    graph_def: any GraphDef.

  Returns:
    (op path, op type) of each, in bodies too. A function with several callers
    is listed under the first.
  """
  functions = {f.signature.name: f for f in graph_def.library.function}
  found: list[tuple[str, str]] = []
  visited: set[str] = set()
  stack = [('', graph_def.node)]
  while stack:
    prefix, nodes = stack.pop()
    for node in nodes:
      if _reaches_outside(node):
        found.append((prefix + node.name, node.op))
      if not functions:
        continue
      for label, name in function_refs.references(node, functions):
        if name not in visited:
          visited.add(name)
          body = op_path.enter(prefix + node.name, label)
          stack.append((body, functions[name].node_def))
  return tuple(found)


def refuse(
  graph_defs: Iterable[graph_pb2.GraphDef], allowed: Iterable[str]
) -> None:
  """Refuses graphs with side effects that nobody allowed.

  Args:
    graph_defs: what is to be run; nodes that placer added itself are fine.
    allowed: op types or op paths that may run; '*' for all.

  Raises:
    UsageError: some other op reaches outside; the message names it.
  """
  allowed = frozenset(allowed)
  if ANY in allowed:
    return
  found = [
    (path, kind)
    for graph_def in graph_defs
    for path, kind in side_effects(graph_def)
    if kind not in allowed
    and path not in allowed
    and not path.startswith(OWN_PREFIX)
  ]
  if not found:
    return
  listed = ', '.join(f'{path!r} ({kind})' for path, kind in found[:5])
  kinds = ','.join(sorted({kind for _, kind in found}))
  raise errors.UsageError(
    f'The graph has {len(found)} ops that reach outside the process, and '
    f'measuring would run them: {listed}{" ..." * (len(found) > 5)}. If you '
    f'trust this graph, pass --allow_side_effects={kinds}; else fetch '
    'something that does not need them.'
  )


def refuse_program(
  program: program_lib.Program, allowed: Iterable[str]
) -> None:
  """Refuses a program with side effects that nobody allowed.

  Args:
    program: its set-up graph may read initial values from the files that the
      user gave, too.
    allowed: op types or op paths that may run; '*' for all.

  Raises:
    UsageError: see `refuse`.
  """
  allowed = frozenset(allowed)
  if ANY in allowed:
    return
  for data, also in (
    (program.graph_def, frozenset()),
    (program.setup_graph_def, RESTORES),
  ):
    refuse([graph_pb2.GraphDef.FromString(data)], allowed | also)


def _reaches_outside(node: node_def_pb2.NodeDef) -> bool:
  if node.op in OP_TYPES:
    return True
  if node.op in ('CacheDataset', 'CacheDatasetV2'):
    return True  # an input names a file; '' for memory cannot be told here
  if node.op in _FILE_ATTRIBUTES:
    attribute, start = _FILE_ATTRIBUTES[node.op]
    value = node.attr[attribute].s.decode('utf-8', 'replace')
    return bool(value) and value.startswith(start)
  return False
