"""Built-in models, graph families and suites that placer is measured on."""
