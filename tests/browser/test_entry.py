"""Who is let in: the address with the token, a link on another site, and a page that says what is missing."""

from __future__ import annotations

from urllib.parse import quote

import pytest

pytestmark = pytest.mark.browser

LINK = "#/ask?example=trumping"


def test_without_the_token_a_page_asks_for_it_and_then_opens_the_link(browser, server):
    context = browser.new_stranger()
    page = context.new_page()
    page.goto(f"{server.url}{LINK}")
    assert "needs its token" in page.locator("h1").inner_text()
    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Open").click()
    page.wait_for_selector(".overview")
    assert page.url == f"{server.url}{LINK}"
    context.close()


def test_the_address_that_is_printed_opens_the_page_and_hides_the_token(browser, server):
    context = browser.new_stranger()
    page = context.new_page()
    page.goto(f"{server.url}?token={server.token}")
    page.wait_for_selector(".overview")
    assert server.token not in page.url
    context.close()


def test_a_link_on_another_site_opens_the_question(browser, server):
    context = browser.new_context()
    page = context.new_page()
    elsewhere = f'<a href="{server.url}{LINK}">what caused it</a>'
    page.goto(f"data:text/html,{quote(elsewhere)}")
    page.get_by_text("what caused it").click()
    page.wait_for_selector(".overview")
    assert page.url == f"{server.url}{LINK}"
    context.close()
