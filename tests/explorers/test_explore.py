"""`explore`: what it refuses, what it draws, and what it puts into a page or gives to a kernel."""

import asyncio
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lib.show import explore as module
from lib.show.explore import FRAMES_FOLDER, choice, explore, slider, switch
from lib.show.frames import DrawError, Frame, draw_frame, pack, unpack


def draw(fig, n, loud=False):
    fig.subplots().bar([0], [n])
    return f"A bar of {n}{', loud' if loud else ''}."


N = slider("how many", [1, 2, 3], 2)


def refused(function, *arguments, **named):
    with pytest.raises((TypeError, ValueError, DrawError)) as error:
        function(*arguments, **named)
    assert "\n" not in str(error.value), "one line"
    return str(error.value)


# What is refused, at once and in one line that says which


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: slider("n", []), "slider 'n' must have at least 2 options, got 0: nothing would move"),
        (lambda: choice("n", ["a"]), "choice 'n' must have at least 2 options, got 1: nothing would move"),
        (lambda: slider("n", [1, 2, 1]), "slider 'n' has the option '1' twice: leave one out"),
        (lambda: slider("n", {"one": 1, "uno": 1}), "slider 'n' has the option 'uno' twice: leave one out"),
        (lambda: choice("n", [1, "1"]), "choice 'n' has the option '1' twice: leave one out"),
        (lambda: slider("n", [1, 2], 3), "the default of slider 'n' must be one of 1, 2; got 3"),
        (
            lambda: choice("n", "abc"),
            "the options of choice 'n' must be a list or a dictionary, got 'abc': list them",
        ),
        (
            lambda: slider("n", 3),
            "the options of slider 'n' must be a list or a dictionary, got 3: list them",
        ),
        (
            lambda: slider("", [1, 2]),
            "the label of a slider must be words, got '': a reader has to know what it moves",
        ),
        (lambda: switch("s", 1), "the default of switch 's' must be True or False, got 1: it is on or off"),
    ],
)
def test_a_control_that_cannot_be_used_is_refused(make, said):
    assert refused(make) == said


@pytest.mark.parametrize(
    "arguments, named, said",
    [
        ((3,), {"n": N}, "draw must be a function, got int: pass it without calling it"),
        (
            (draw,),
            {},
            "explore needs at least one control: give a slider, a choice or a switch by draw's name for it",
        ),
        ((draw,), {"n": [1, 2]}, "n must be a slider, a choice or a switch, got list: wrap its options"),
        (
            (draw,),
            {"m": N},
            "draw does not take (fig, m): missing a required argument: 'n'; name each control as draw does",
        ),
        (
            (draw,),
            {"n": N, "question": N},
            "question must be a sentence, got Control: give the control another name",
        ),
        (
            (draw,),
            {"n": N, "height": N},
            f"height must be a number of inches from 0.5 to 12, got {N!r}: the picture is 5 wide",
        ),
        (
            (draw,),
            {"n": slider("n", range(250)), "loud": switch("loud")},
            "500 combinations (250 n × 2 loud) are more than 400: give a control fewer options",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, named, said):
    assert refused(explore, *arguments, **named) == said


def test_too_many_combinations_are_refused_before_anything_is_drawn():
    drawn = []
    refused(explore, lambda fig, n: drawn.append(n), n=slider("n", range(401)))
    assert drawn == []


def test_a_draw_that_fails_says_at_which_setting():
    def one_over(fig, n, loud):
        return f"{1 / n}"

    said = refused(explore, one_over, n=slider("n", [0, 1]), loud=switch("loud"))
    assert said == "one_over at n=0, loud=False failed with ZeroDivisionError: division by zero"


def test_a_setting_that_fails_later_is_found_when_the_page_is_made():
    def one_over(fig, n):
        return f"{1 / n}"

    explorer = explore(one_over, n=slider("n", [0, 1], 1))
    assert "one_over at n=0 failed" in refused(explorer.page)


@pytest.mark.parametrize("returned", [None, "", "  ", 3])
def test_a_draw_without_a_sentence_is_refused(returned):
    said = refused(explore, lambda fig, n: returned, n=N)
    assert said == (
        f"<lambda> at n=2 returned {returned!r}: end it with 'return' and one sentence on what the picture shows"
    )


def test_a_label_that_would_be_cut_is_refused_with_the_remedy():
    def cut(fig, n):
        fig.text(0.9, 0.5, "a long label at the edge")
        return "Cut."

    assert "cut at n=2 failed with ValueError: the text 'a long label at the edge' leaves" in refused(
        explore, cut, n=N
    )


# What it draws


def test_draw_gets_the_values_and_a_figure_in_the_books_style():
    got = {}

    def spy(fig, **values):
        got.update(values, size=tuple(fig.get_size_inches()))
        return "Seen."

    kinds = {"one": 1, "array": np.eye(2)}
    explorer = explore(
        spy, height=2, n=slider("n", [1, 4], 4), kind=choice("kind", kinds), loud=switch("loud", True)
    )
    assert got == {"n": 4, "kind": 1, "loud": True, "size": (5.0, 2.0)}
    explorer.frame((0, 1, 0))
    assert got["n"] == 1 and got["kind"] is kinds["array"] and got["loud"] is False


def test_a_frame_is_drawn_once():
    count = []
    explorer = explore(lambda fig, n: count.append(n) or "Drawn.", n=N)
    for _ in range(3):
        explorer.frame((0,))
    assert count == [2, 1]


def test_packed_frames_come_out_as_they_went_in():
    frames = [draw_frame(draw, 2.6, {"n": n}) for n in (1, 2, 3)]
    data = json.loads(json.dumps(pack(frames)))
    assert [unpack(data, i) for i in range(3)] == frames
    assert len(data["lines"]) < 0.6 * sum(frame.svg.count("\n") for frame in frames), (
        "what they share is there once"
    )


# What it puts into a page


def page_of(**named):
    return explore(
        draw, **({"question": "How <high>?"} | named), n=N, loud=switch("loud & clear", True)
    ).page()


def test_the_page_has_the_frame_of_the_start_and_all_the_others():
    page = page_of()
    data = json.loads(re.search(r'<script type="application/json">(.*)</script>', page)[1])
    assert data["options"] == [["1", "2", "3"], ["off", "on"]] and len(data["frames"]) == 6
    assert data["sentences"][3] == "A bar of 2, loud." and ">A bar of 2, loud.</p>" in page
    assert unpack(data, 3).svg in page
    assert 'id="lu-explorer-' in page and "How &lt;high&gt;?" in page and "loud &amp; clear" in page
    assert "style=" not in page and not re.search(r"\son\w+=", page), "a strict policy would refuse them"


def test_two_explorers_share_no_id():
    one, other = (set(re.findall(r'\bid="([^"]+)"', page_of())) for _ in range(2))
    assert one and other and not one & other


def test_a_sentence_cannot_end_the_data_that_it_stands_in():
    nasty = "</script><!-- <script> & so on."
    page = explore(lambda fig, n: nasty, n=N).page()
    assert page.count("</script>") == 1 and "<!--" not in page
    assert json.loads(re.search(r'json">(.*)</script>', page)[1])["sentences"] == [nasty] * 3


def test_on_a_page_there_is_html_and_elsewhere_a_widget(monkeypatch, tmp_path):
    explorer = explore(draw, n=N)
    live = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in live and "text/html" not in live
    monkeypatch.setenv(FRAMES_FOLDER, str(tmp_path))
    built = explorer._repr_mimebundle_()
    assert set(built) == {"text/html", "text/plain"}
    assert built["text/plain"] == live["text/plain"] == "draw (a picture to be moved by: how many)"
    assert len(list(tmp_path.glob("*.json"))) == 1


# What it gives to a kernel


def handles(box):
    return [w for w in box.children if hasattr(w, "options") or isinstance(getattr(w, "value", None), bool)]


def test_widgets_show_the_frame_that_they_are_set_to():
    box = explore(draw, question="How high?", n=N, loud=switch("loud")).widget()
    n, loud = handles(box)
    question, *_, view, says = box.children
    assert "How high?" in question.value and "A bar of 2." in says.value
    before = view.value
    n.value = 2  # the third option
    assert "A bar of 3." in says.value and "<svg" in view.value and view.value != before
    loud.value = True
    assert "A bar of 3, loud." in says.value


def test_a_draw_that_fails_is_told_where_the_sentence_stands():
    def one_over(fig, n):
        return f"One over {n} is {1 / n}."

    box = explore(one_over, n=slider("n", [0, 1], 1)).widget()
    (n,), says = handles(box), box.children[-1]
    n.value = 0
    assert 'role="alert"' in says.value and "one_over at n=0 failed" in says.value
    n.value = 1
    assert "One over 1 is 1.0." in says.value


def test_the_next_moves_are_drawn_while_the_kernel_is_idle(monkeypatch):
    monkeypatch.setattr(module.Ahead, "PAUSE", 0)

    def fails_at_three(fig, n, loud):
        if n == 3:
            raise ValueError("no")
        return "Drawn."

    async def idle():
        explorer = explore(fails_at_three, n=slider("n", [1, 2, 3, 4, 5], 2), loud=switch("loud"))
        explorer.widget()
        assert set(explorer.seen) == {(1, 0)}
        while len(explorer.seen) < 5:
            await asyncio.sleep(0.001)
        return list(explorer.seen)

    with ThreadPoolExecutor() as thread:  # with a loop of its own, whatever runs in this one
        seen = thread.submit(asyncio.run, asyncio.wait_for(idle(), 20)).result()
    assert set(seen[:3]) == {(1, 0), (0, 0), (1, 1)}, "the nearest first; the one that fails is passed over"
    assert seen[3:] == [(3, 0), (4, 0)]


def test_without_a_kernels_loop_nothing_is_drawn_ahead():
    explorer = explore(draw, n=N)
    explorer.widget()
    assert set(explorer.seen) == {(1,)}


def test_frames_of_the_start_have_the_setting_of_the_defaults():
    assert explore(draw, n=N, loud=switch("loud", True)).frame((1, 1)) == draw_frame(
        draw, 2.6, {"n": 2, "loud": True}
    )
    assert isinstance(explore(draw, n=N).frame((0,)), Frame)
    assert FRAMES_FOLDER not in os.environ
