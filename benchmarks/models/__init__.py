"""Built-in models as MetaGraphDefs; see `base` for what one holds."""
