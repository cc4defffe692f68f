"""For pytest: absl's flags have their default values, as under absltest.main().

absltest's temporary folders and every flag that a test reads need this.
"""

from absl import flags

flags.FLAGS.mark_as_parsed()
