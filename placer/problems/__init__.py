"""Problems: an ImportedGraph and devices -> PlacementProblem."""
