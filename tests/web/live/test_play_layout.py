"""The page of the playground at usual sizes, with deep nets, with two runs, and without its server."""

from __future__ import annotations

import itertools

import pytest

from web.live.play_process import at, full_speed, scores, status
from web.live.test_play_tables import too_wide

DEEP = "data=circles&n=100&epochs=30&layers=8sigmoid,8sigmoid,8sigmoid,8sigmoid,8sigmoid"


@pytest.mark.parametrize(("size", "link"), [((1280, 800), DEEP), ((390, 844), "n=100&epochs=30")])
def test_nothing_overlaps_or_is_cut_off(open_page, size, link):
    page = open_page(f"{link}&at=35", size)
    at(page, 35)
    page.locator("#layers td").first.wait_for()
    assert too_wide(page, "html, .panel, .transport, #net, #layers, #doctor, #scores dd") == []
    boxes = page.locator("#net .head").evaluate_all("all => all.map(each => each.getBoundingClientRect().toJSON())")
    assert all(left["right"] <= right["left"] + 1 for left, right in itertools.pairwise(boxes))


def test_units_can_be_typed_and_the_list_of_inputs_closes(open_page):
    page = open_page("n=100")
    page.get_by_role("spinbutton", name="Units of hidden layer 1").fill("20")
    page.get_by_role("spinbutton", name="Units of hidden layer 1").press("Enter")
    page.wait_for_function("() => location.hash.includes('layers=20tanh,4tanh')")
    for shut in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        page.get_by_text("Inputs", exact=True).click()
        assert page.get_by_label("x₁x₂").is_visible()
        shut()
        assert page.get_by_label("x₁x₂").is_hidden()


def test_a_moment_that_was_looked_back_to_is_in_the_link(open_page):
    page = open_page("data=xor&n=60&layers=3relu&epochs=40&at=120")
    at(page, 120)
    page.locator("#timeline").fill("10")
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '10'")
    page.wait_for_function("() => location.hash.includes('at=30')")
    shown = scores(page)
    page.reload()
    at(page, 30)
    assert scores(page) == shown


def test_a_longer_run_is_trained_at_once(open_page):
    page = open_page("data=xor&n=60&layers=3relu&epochs=5")
    full_speed(page)
    page.get_by_role("button", name="Train").click()
    status(page, "finished")
    page.get_by_role("spinbutton", name="Epochs").fill("8")
    page.get_by_role("spinbutton", name="Epochs").press("Enter")
    at(page, 24)


def test_a_lesson_can_be_closed(open_page):
    page = open_page()
    page.select_option("#lesson", "xor")
    lesson = page.get_by_role("region", name="Lesson")
    lesson.wait_for()
    assert lesson.locator("p").inner_text().count(". ") == 2
    page.get_by_role("button", name="Close the lesson").click()
    assert lesson.is_hidden()
    page.select_option("#lesson", "rate")
    lesson.wait_for()


CLOSE = """
async runs => {
  const { RemoteEngine } = await import("/page/engine.js");
  for (const run of runs) await new RemoteEngine().close(run);
}
"""


def test_the_kept_run_says_how_it_differs_and_comes_back_if_the_server_closed_it(open_page):
    page = open_page("data=xor&n=60&layers=3relu&epochs=40&at=30")
    at(page, 30)
    page.get_by_role("button", name="Compare").click()
    page.get_by_label("Optimizer").select_option("sgd")
    caption = page.locator("#surfaces figcaption").nth(1)
    page.wait_for_function("() => /optimizer=sgd.*at=30/.test(location.hash)")
    caption.get_by_text("Kept run: Optimizer adam. Epoch 10, test loss").wait_for()
    shown, text = scores(page), caption.inner_text()
    newest = int(page.evaluate("document.body.dataset.run"))
    page.evaluate(CLOSE, list(range(newest + 1)))
    page.wait_for_function("old => Number(document.body.dataset.run) > old", arg=newest)
    at(page, 30)
    page.wait_for_function("text => document.querySelectorAll('#surfaces figcaption')[1].innerText === text", arg=text)
    assert scores(page) == shown


def test_a_server_that_does_not_answer_is_told_until_it_does(open_page):
    page = open_page("data=xor&n=60&layers=3relu&epochs=2000")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function("() => Number(document.body.dataset.step) > 5")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_text("The server does not answer.").wait_for()
    page.unroute("**/api/**")
    page.locator("#message").wait_for(state="hidden")
    page.wait_for_function(
        "step => Number(document.body.dataset.step) > step", arg=int(page.evaluate("document.body.dataset.step"))
    )
