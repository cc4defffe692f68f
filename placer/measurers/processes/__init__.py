"""The process tree in which everything that runs TensorFlow lives.

    the user's process      never initialises TensorFlow
     └─ nursery             in a network namespace; TensorFlow imported, idle
         ├─ lane            one client and its sessions: the candidates
         │   ├─ worker 0    one `tf.distribute.Server` on cores of its own
         │   └─ worker 1
         ├─ lane            the reference placement, workers of its own
         └─ lane            the whole host: one process, all cores

The nursery imports TensorFlow once, starts no thread, and forks the lanes, so
that a lane with its workers is there within 0.2 s, also after a crash, where
a new interpreter with TensorFlow takes seconds. Each process dies with the
one above it. Lanes share nothing: a candidate that runs out of memory or
kills its worker leaves the reference's session as it was.
"""
