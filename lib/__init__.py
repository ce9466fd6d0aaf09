"""The mathematics of the book: `attention.py` first of all; `show/` is what shows it."""
