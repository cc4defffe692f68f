"""Layers the hand-written models are made of, one layer a file.

They are functions and small objects over plain graph ops, since the graph is
placed op by op: no Keras layer, no tf.function, nothing hidden in a loop. The
op's scope says where it is in time and depth (`step_3/layer_2/lstm/MatMul`),
the weight's name only where it is in depth (`layer_2/lstm/kernel`).
"""
