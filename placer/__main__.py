"""The program: `python -m placer`, and the main file of //placer."""

from placer.cli import main

if __name__ == '__main__':
  main.main_entry()
