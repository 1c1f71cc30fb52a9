"""Settings, tasks and mail stay on this machine: few modules can open a connection, each with its reason."""

import ast

import pytest

from tests.house.source import Modules, package, sample

CLIENTS = (
    "http",
    "urllib",
    "smtplib",
    "ftplib",
    "socketserver",
    "uvicorn",
    "websockets",
    "requests",
    "httpx",
    "aiohttp",
)
REACHES = {
    "pro0.agents.opencode.server": "OpenCode's own server, on 127.0.0.1",
    "pro0.engine.background.notifying": "the URL of the setting `notify`, which only the person gives",
    "pro0.scripted_model.server": "a stand-in for a provider, on 127.0.0.1",
    "pro0.web.serve": "the page, which the person starts and gives its address",
}


def reaching(modules: Modules) -> set[str]:
    """Return the modules that import what opens connections to other machines, or listens to them."""
    return {
        name
        for name, tree in modules.items()
        for node in ast.walk(tree)
        for imported in _imported(node)
        if imported.partition(".")[0] in CLIENTS and imported not in ("http", "urllib.parse", "http.cookies")
    }


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0, names=names):
            return [module] if module != "urllib" else [f"urllib.{alias.name}" for alias in names]
        case ast.Attribute(attr="AF_INET" | "AF_INET6" | "create_connection"):
            return ["socketserver"]
    return []


def test_settings_tasks_and_mail_stay_on_this_machine() -> None:
    """S004-067."""
    assert reaching(package()) == set(REACHES)


@pytest.mark.parametrize(
    "source", ["import http.client", "from urllib import request", "import socket\nsocket.AF_INET"]
)
def test_a_module_that_reaches_out_is_noticed(source: str) -> None:
    assert reaching(sample(store__files=source)) == {"pro0.store.files"}
    assert not reaching(sample(store__files="from http import HTTPStatus\nfrom urllib import parse"))
