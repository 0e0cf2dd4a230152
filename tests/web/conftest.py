"""A real browser, without a network; and what a page must not do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from requirements import require, require_module

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    require_module("playwright")
    chromium, playwright = require("chromium"), require_module("playwright.sync_api")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=as_root)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser) -> Open:
    """Opens a file as a page: ``with visit(path, "#game-3") as page``.

    At the end there was no word on the console, no error, and no request but for files of that folder.
    """

    @contextmanager
    def visiting(path: Path, hash_: str = "", **settings: Any) -> Iterator[Page]:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        trouble: list[str] = []
        page = context.new_page()
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        home = path.resolve().parent.as_uri()

        def refuse(dialog: Dialog) -> None:
            trouble.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        def look(request: Request) -> None:
            if not request.url.startswith(home):
                trouble.append(f"request: {request.url}")

        page.on("dialog", refuse)
        page.on("request", look)
        page.goto(path.resolve().as_uri() + hash_)
        yield page
        context.close()
        assert trouble == []

    return visiting
