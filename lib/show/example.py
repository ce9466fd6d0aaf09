"""The running example of the whole book: one small shelf and one short sentence. Data only, nothing is computed here.

The numbers are made by hand, so that the arithmetic fits on paper and every column has a name. A trained model
learns its numbers, and its columns have no names. Rows are tokens (or books), as everywhere in the book.
"""

import numpy as np

from lib.show.words import words

# The shelf: five books, each with a key in the plane (science, people) and ten pages of value.

BOOKS = words("book.star_atlas", "book.astronomers", "book.rome", "book.garden", "book.fairy_tales")
KEY_AXES = words("axis.science", "axis.people")
VALUE_AXES = words("axis.facts", "axis.stories", "axis.pictures")

SHELF_KEYS = np.array(  # (5 books, d_k = 2): where each book stands
    [
        [2.0, -0.5],
        [1.5, 1.5],
        [-0.5, 2.0],
        [0.5, -1.5],
        [-2.0, 1.0],
    ]
)
SHELF_VALUES = np.array(  # (5 books, d_v = 3): of ten pages, how many hold facts, stories, pictures
    [
        [4.0, 0.0, 6.0],
        [4.0, 5.0, 1.0],
        [5.0, 4.0, 1.0],
        [5.0, 1.0, 4.0],
        [0.0, 8.0, 2.0],
    ]
)
SHELF_QUERY = np.array([[1.5, 1.0]])  # (1 query, d_k = 2): "Who first mapped the stars?"

# The sentence: "if you forget a word look it up". Its last three tokens, "look it up", are worked by hand.

TOKENS = words(
    "token.if", "token.you", "token.forget", "token.a", "token.word", "token.look", "token.it", "token.up"
)
FEATURES = words("feature.action", "feature.thing", "feature.direction", "feature.pointer", "feature.partner")
TOPICS = FEATURES[:4]  # what a query can look for and a key can be found by, the d_k = 4 columns of Q and K
CONTENT = words("content.happens", "content.about")  # what a value tells, the d_v = 2 columns of V

X = np.array(  # (8 tokens, d_model = 5): action, thing, direction, pointer, wants a partner
    [
        [0.0, 0.0, 1.0, 0.0, 0.0],  # if
        [0.0, 1.0, 0.0, 1.0, 0.0],  # you
        [2.0, 0.0, 0.0, 0.0, 0.0],  # forget
        [0.0, 0.0, 0.0, 1.0, 0.0],  # a
        [0.0, 2.0, 0.0, 0.0, 0.0],  # word
        [2.0, 0.0, 0.0, 0.0, 1.0],  # look
        [0.0, 0.0, 0.0, 2.0, 0.0],  # it
        [0.0, 0.0, 2.0, 0.0, 0.0],  # up
    ]
)
W_Q = np.array(  # (d_model = 5, d_k = 4): what each feature makes a token look for
    [
        [0.0, 1.0, 0.0, 1.0],  # an action looks for its object, a thing or a pointer
        [1.0, 0.0, 0.0, 0.0],  # a thing looks for the action that it belongs to
        [1.0, 0.0, 0.0, 1.0],  # a direction looks for its action, and for what is moved
        [1.0, 2.0, 0.0, 0.0],  # a pointer looks for the thing that it stands for, and for its action
        [0.0, 0.0, 4.0, 0.0],  # a word that wants a partner looks for a direction
    ]
)
W_K = np.array(  # (d_model = 5, d_k = 4): what each feature lets a token be found by
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
    ]
)
W_V = np.array(  # (d_model = 5, d_v = 2): what each feature makes a token hand over
    [
        [1.0, 0.0],
        [0.0, 2.0],
        [1.0, 1.0],
        [0.0, 1.0],
        [1.0, 0.0],
    ]
)

for _array in (SHELF_KEYS, SHELF_VALUES, SHELF_QUERY, X, W_Q, W_K, W_V):
    _array.flags.writeable = False  # a cell that changes the example by accident is told so; copy() first
