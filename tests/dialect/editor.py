"""A YAML language server, asked as an editor asks it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any


class Editor:
    """One session with `yaml-language-server`; all files lie in `folder`."""

    def __init__(self, server: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [server, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
        )
        self._folder = folder
        self._number = 0
        self._said: dict[str, list[dict[str, Any]]] = {}
        self._ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self._tell("initialized", {})
        settings = {"yaml": {"validate": True, "hover": True, "schemaStore": {"enable": False}}}
        self._tell("workspace/didChangeConfiguration", {"settings": settings})

    def __enter__(self) -> Editor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def faults(self, name: str, text: str) -> list[str]:
        """The messages that the editor would underline in a file of this text."""
        uri = self._open(name, text)
        while uri not in self._said:
            self._take(self._read())
        return [item["message"] for item in self._said[uri]]

    def hover(self, name: str, text: str, line: int, character: int) -> str:
        """What is shown with the pointer on a place (both counted from 0)."""
        place = {"line": line, "character": character}
        document = {"uri": self._open(name, text)}
        answer = self._ask("textDocument/hover", {"textDocument": document, "position": place})
        contents = (answer or {}).get("contents", "")
        return contents if isinstance(contents, str) else contents.get("value", "")

    def _open(self, name: str, text: str) -> str:
        uri = (self._folder / name).as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def _tell(self, method: str, parameters: dict[str, Any]) -> None:
        self._write({"method": method, "params": parameters})

    def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        number = self._number
        self._write({"id": number, "method": method, "params": parameters})
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        """What the server says or asks by itself."""
        if message.get("method") == "textDocument/publishDiagnostics":
            self._said[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "id" in message and "method" in message:
            items = (message.get("params") or {}).get("items", [])
            self._write({"id": message["id"], "result": [None for _ in items] or None})

    def _write(self, body: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **body}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        return json.loads(self._process.stdout.read(length))
