from absl.testing import absltest
from hypothesis import given
from hypothesis import strategies as st

from placer.core import op_path

_NAMES = st.from_regex(r'[A-Za-z0-9.][A-Za-z0-9_>./-]{0,8}', fullmatch=True)
_LABELS = st.from_regex(r'[a-z_]{1,8}(\.[0-9]{1,2})?', fullmatch=True)


class OpPathTest(absltest.TestCase):
  @given(st.lists(st.tuples(_NAMES, _LABELS), max_size=3), _NAMES)
  def test_split_is_the_inverse_of_join(self, hops, name):
    path = op_path.join(tuple(hops), name)
    self.assertEqual(op_path.split(path), (tuple(hops), name))

  def test_a_node_of_the_main_graph_is_its_own_path(self):
    self.assertEqual(op_path.split('a/b'), ((), 'a/b'))

  def test_enter(self):
    self.assertEqual(op_path.enter('w', 'body') + 'add', 'w@body/add')


if __name__ == '__main__':
  absltest.main()
