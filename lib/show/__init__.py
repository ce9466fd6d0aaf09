"""What shows the mathematics: words, pictures, explorers. See the head of each module."""
