"""Stands for the trainer of your framework; says what it was started with."""

import sys

print("trainer:", *sys.argv[1:])
