"""Importers: a file or folder -> ImportedGraph."""
