"""Every fault that users of TensorFlow meet has a test, by name.

The kinds are those of the table in `../shared/cases.md`, which lies beside the
checkout; where it is there, its rows and this table must agree.
"""

import ast
import os
import pathlib
import re

from absl.testing import absltest

from placer.testing import shared_inputs

# First words of a row -> tests of it, 'module:Class.method'.
_COVERED = {
  'explicit device that is absent': (
    'importers.load_test:OptionsTest.'
    'test_devices_are_stripped_everywhere_and_remembered',
    'policies.heuristics.original_test:OriginalTest.test_nothing_and_a_note_when_no_device_exists',
  ),
  'resource/ref consumers': (
    'problems.build_test:BuildTest.'
    'test_resources_stay_with_their_readers_and_slots',
    'problems.build_test:BuildTest.'
    'test_tables_queues_and_tensor_arrays_stay_with_their_handle',
  ),
  '`_class` conflict': (
    'problems.build_test:BuildTest.test_class_conflict_is_one_group',
    'importers.repair_test:RepairTest.'
    'test_class_of_a_node_that_is_gone_is_dropped_with_a_note',
  ),
  'an unfetched bad node': (
    'importers.load_test:OptionsTest.test_pruned_to_the_fetches_before_anything',
  ),
  'devices in function bodies': (
    'rewriters.annotate_test:AnnotateTest.test_bodies_are_stripped_too',
    'rewriters.export_test:ExportTest.test_only_devices_change',
  ),
  'v1 while loop across devices': (
    'importers.load_test:OptionsTest.test_a_v1_loop_is_imported',
    'problems.build_test:BuildTest.'
    'test_loops_stay_on_one_device_and_branches_need_not',
  ),
  'names starting with `_`': (
    'importers.repair_test:RepairTest.'
    'test_names_with_underscore_are_renamed_everywhere',
    'rewriters.export_test:ExportTest.'
    'test_text_stays_text_and_old_names_come_back',
  ),
  'text proto named `.pb`': (
    'importers.content_test:ContentTest.test_kind_is_told_by_content',
    'importers.content_test:ContentTest.test_a_truncated_graph',
  ),
  'ops not registered': (
    'importers.repair_test:RepairTest.test_all_missing_ops_are_listed_at_once',
  ),
  'Grappler removes the split': (
    'measurers.session_measurer_test:InputsTest.test_removed_ops_and_duplicates',
  ),
  '`jit_compile=True` function': (
    'importers.inline_test:InlineTest.test_jit_compiled_calls_are_said',
    'rewriters.export_test:ExportTest.'
    'test_a_function_with_jit_compile_is_un_jitted',
  ),
  'gradients on one device': (
    'problems.build_test:BuildTest.'
    'test_gradients_have_the_device_of_their_forward_op',
  ),
  'int32, string, table, queue, iterator ops on a GPU': (
    'problems.build_test:BuildTest.test_host_only_ops_may_not_use_a_gpu',
  ),
  'NCHW op on CPU': (
    'measurers.session_failures_test:FailuresTest.'
    'test_a_kernel_that_refuses_its_format',
    'search.learned_constraints_test:LearnedConstraintsTest.'
    'test_a_search_learns_from_one_failed_run',
  ),
  '`Virtual devices cannot be modified after being initialized`': (
    'measurers.session_measurer_test:InputsTest.test_this_process_never_makes_a_device',
  ),
  'job/task forms': (
    'core.device_test:CanonicalTest.test_forms',
    'core.device_test:TopologyTest.test_index_names_what_exists',
  ),
  'worker dies in mid-run': (
    'measurers.session_failures_test:FailuresTest.test_a_killed_worker_costs_one_candidate',
  ),
  'a step that never ends': (
    'measurers.session_failures_test:FailuresTest.test_an_endless_step_is_a_timeout_and_the_next_runs',
  ),
  'out of memory on one device': (
    'measurers.session_failures_test:FailuresTest.test_out_of_memory_names_the_device',
  ),
  'one device is best': (
    'search.final_choice_test:FinalChoiceTest.test_what_only_looked_faster_does_not_win',
  ),
}


def _tests(file: pathlib.Path) -> set[str]:
  """'Class.method' of every test in a file."""
  return {
    f'{kind.name}.{method.name}'
    for kind in ast.parse(file.read_text()).body
    if isinstance(kind, ast.ClassDef)
    for method in kind.body
    if isinstance(method, ast.FunctionDef)
  }


class CasesTest(absltest.TestCase):
  def test_every_row_has_a_test_and_every_test_exists(self):
    folder = pathlib.Path(__file__).parent
    for row, tests in _COVERED.items():
      self.assertNotEmpty(tests, row)
      for test in tests:
        with self.subTest(test):
          module, _, name = test.partition(':')
          file = folder / (module.replace('.', '/') + '.py')
          self.assertIn(name, _tests(file))

  def test_the_table_is_the_one_beside_the_checkout(self):
    path = shared_inputs.graphs().parent / 'cases.md'
    if not os.path.exists(path):
      self.skipTest('No cases.md beside the checkout.')
    rows = re.findall(r'^\| ([^|]+?) \|', path.read_text(), re.MULTILINE)
    rows = [row for row in rows if row not in ('kind', '---')]
    self.assertLen(rows, len(_COVERED))
    for row in rows:
      self.assertTrue(any(row.startswith(start) for start in _COVERED), row)


if __name__ == '__main__':
  absltest.main()
