"""HTTP to one API server: JSON in, JSON out, and failures in the server's own words."""

from __future__ import annotations

import base64
import contextlib
import email.utils
import json
import os
import re
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from compiler.diagnostics import TargetUnreachable
from compiler.targets.kubernetes.deployer.foreign import no_api_server, strange_answer
from compiler.targets.kubernetes.deployer.kubeconfig import Access, access, credentials
from compiler.targets.kubernetes.deployer.refusals import ApiRefused

MANAGER = "triplane"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
_CONNECT_SECONDS, _READ_SECONDS = 10, 60
_PAGE = 500
_TRIES = 4
_BUSY = (429, 503, 504)


class Client:
    """Calls to the API server of one context; safe to be used by several threads."""

    def __init__(self, target: str, context: str, *, named: bool) -> None:
        self.target = target
        self._context, self._named = context, named
        self._guard = threading.RLock()
        self._access: Access | None = None
        self._pool: Any = None
        self._tls: ssl.SSLContext | None = None
        self._headers: dict[str, str] = {}
        # what the server's clock said in its last answer, in seconds since the epoch
        self.server_time: float | None = None

    @property
    def access(self) -> Access:
        with self._guard:
            if self._access is None:
                self._access = access(self.target, self._context, named=self._named)
            return self._access

    def close(self) -> None:
        with self._guard:
            if self._pool is not None:
                self._pool.clear()
            self._pool = None

    def get(self, path: str, **query: str) -> dict[str, Any]:
        return self.call("GET", path, None, **query)

    def version(self) -> str:
        """The server's version, as `v1.34.1`."""
        said = self.get("/version").get("gitVersion")
        if not said:
            raise no_api_server(self.target, self._server, "no version")
        return str(said)

    def find(self, path: str) -> dict[str, Any] | None:
        """The object, None where there is none."""
        try:
            return self.get(path)
        except ApiRefused as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        """All items of a collection, page by page."""
        found: list[dict[str, Any]] = []
        more = ""
        while True:
            page = self.get(path, limit=str(_PAGE), **({"continue": more} if more else {}), **query)
            if "items" not in page:
                raise no_api_server(self.target, self._server, "no list where one was asked for")
            found += page.get("items") or ()
            more = page.get("metadata", {}).get("continue") or ""
            if not more:
                return found

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        **query: str,
    ) -> dict[str, Any]:
        """The answer. Raise ApiRefused for a status from 400 on, TargetUnreachable for none."""
        answer = self._send(method, path, body, content_type, query, preload=True)
        try:
            found = json.loads(answer.data) if answer.data else {}
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise no_api_server(self.target, self._server, "no JSON object")
        return found

    @contextlib.contextmanager
    def stream(self, path: str, **query: str) -> Iterator[Iterator[bytes]]:
        """The pieces of an answer as they come."""
        answer = self._send("GET", path, None, "application/json", query, preload=False)
        try:
            yield self._pieces(answer)
        finally:
            answer.close()
            answer.release_conn()

    @contextlib.contextmanager
    def socket(
        self, path: str, protocols: Sequence[str], query: Sequence[tuple[str, str]]
    ) -> Iterator[Any]:
        """An open WebSocket (a connection of `websockets.sync`)."""
        import websockets.exceptions
        import websockets.sync.client

        _, headers = self._connection(renew=True)
        cluster = self.access.cluster
        server = str(cluster["server"]).rstrip("/")
        options: dict[str, Any] = {"proxy": cluster.get("proxy-url") or True}
        if self._tls is not None:
            options["ssl"] = self._tls
            if cluster.get("tls-server-name"):
                options["server_hostname"] = cluster["tls-server-name"]
        try:
            made = websockets.sync.client.connect(
                f"ws{server.removeprefix('http')}{path}?{urlencode(query)}",
                subprotocols=protocols,  # type: ignore[arg-type]
                additional_headers=headers,
                open_timeout=_READ_SECONDS,
                max_size=None,
                **options,
            )
        except websockets.exceptions.InvalidStatus as error:
            answer = error.response
            raise ApiRefused.of(
                self.target, "POST", path, answer.status_code, bytes(answer.body or b"")
            ) from None
        except (OSError, websockets.exceptions.WebSocketException) as error:
            raise TargetUnreachable(self.target, f"no WebSocket to {server}: {error}") from None
        with made:
            yield made

    def _pieces(self, answer: Any) -> Iterator[bytes]:
        import urllib3.exceptions

        try:
            yield from answer.stream(65536)
        except urllib3.exceptions.HTTPError as error:
            raise TargetUnreachable(self.target, f"the connection broke: {error}") from None

    def _send(self, method, path, body, content_type, query, *, preload: bool) -> Any:
        import urllib3.exceptions

        url = path + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else encoded(body)
        timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS if preload else None)
        for attempt in range(_TRIES):
            pool, headers = self._connection(renew=False)
            sent = {**headers, "Accept": "application/json"}
            if data is not None:
                sent["Content-Type"] = content_type
            try:
                answer = pool.request(
                    method,
                    self.access.cluster["server"].rstrip("/") + url,
                    body=data,
                    headers=sent,
                    timeout=timeout,
                    preload_content=preload,
                    retries=False,
                )
            except urllib3.exceptions.HTTPError as error:
                raise TargetUnreachable(self.target, self._reason(error)) from None
            self._note_time(answer.headers.get("Date"))
            if answer.status < 400:
                return self._of_a_server(answer, preload)
            if answer.status == 401 and attempt == 0:
                self._connection(renew=True)  # credentials that a plugin gave expire
            elif answer.status in _BUSY and attempt + 1 < _TRIES:
                time.sleep(min(5.0, float(answer.headers.get("Retry-After") or 0.3 * 2**attempt)))
            else:
                break
        self._of_a_server(answer, True)
        refused = ApiRefused.of(self.target, method, path, answer.status, answer.data)
        if answer.status in (401, 503, 504):
            raise TargetUnreachable(self.target, refused.words)
        raise refused

    @property
    def _server(self) -> str:
        return str(self.access.cluster["server"])

    def _of_a_server(self, answer: Any, preload: bool) -> Any:
        """The answer, if a Kubernetes API server may have given it; else TargetUnreachable."""
        kind = str(answer.headers.get("Content-Type") or "")
        strange = strange_answer(answer.status, kind, answer.data if preload else b"")
        if strange is not None:
            raise no_api_server(self.target, self._server, strange)
        return answer

    def _reason(self, error: Exception) -> str:
        server = self.access.cluster["server"]
        cause: BaseException = getattr(error, "reason", None) or error
        words = str(cause).rpartition("]: ")[2] or type(cause).__name__
        words = words.partition("object at ")[2].partition(": ")[2] or words
        return f"no answer from {server} (context {self.access.context}): {words}"

    def _note_time(self, date: str | None) -> None:
        if date:
            with contextlib.suppress(TypeError, ValueError):
                self.server_time = email.utils.parsedate_to_datetime(date).timestamp()

    def _connection(self, *, renew: bool) -> tuple[Any, dict[str, str]]:
        with self._guard:
            if self._pool is None or renew:
                user = credentials(self.target, self.access.user)
                self._headers = _authorization(self.target, user)
                self._tls = _tls_of(self.target, self.access.cluster, user)
                self._pool = _pool(self.access.cluster, self._tls)
            return self._pool, self._headers


def _authorization(target: str, user: Mapping[str, Any]) -> dict[str, str]:
    token = user.get("token")
    if user.get("tokenFile"):
        try:
            token = Path(str(user["tokenFile"])).read_text().strip()
        except OSError as error:
            raise TargetUnreachable(target, f"cannot read the token: {error}") from None
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _tls_of(
    target: str, cluster: Mapping[str, Any], user: Mapping[str, Any]
) -> ssl.SSLContext | None:
    """None for a server that speaks plain HTTP."""
    if not str(cluster["server"]).startswith("https:"):
        return None
    try:
        return _tls(cluster, user)
    except (OSError, ValueError) as error:
        raise TargetUnreachable(target, f"the kubeconfig's certificates: {error}") from None


def _pool(cluster: Mapping[str, Any], tls: ssl.SSLContext | None) -> Any:
    import urllib3

    options: dict[str, Any] = {"maxsize": 8, "block": True}
    if tls is not None:
        options["ssl_context"] = tls
        if cluster.get("insecure-skip-tls-verify"):
            options["cert_reqs"] = "CERT_NONE"
        if cluster.get("tls-server-name"):
            options["server_hostname"] = options["assert_hostname"] = cluster["tls-server-name"]
    proxy = cluster.get("proxy-url") or _proxy_for(str(cluster["server"]))
    if proxy:
        return urllib3.ProxyManager(str(proxy), **options)
    return urllib3.PoolManager(**options)


def _proxy_for(server: str) -> str | None:
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(server)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    text = cluster.get("certificate-authority-data")
    context = ssl.create_default_context(
        cafile=cluster.get("certificate-authority") if not text else None,
        cadata=base64.b64decode(text).decode() if text else None,
    )
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = _text_of(user, "client-certificate", "certificate-text")
    key = _text_of(user, "client-key", "key-text")
    if certificate and key:
        _load_chain(context, certificate + "\n" + key)
    return context


def _text_of(user: Mapping[str, Any], name: str, given: str) -> str:
    if user.get(given):
        return str(user[given])
    if user.get(f"{name}-data"):
        return base64.b64decode(user[f"{name}-data"]).decode()
    return Path(str(user[name])).read_text() if user.get(name) else ""


def _load_chain(context: ssl.SSLContext, text: str) -> None:
    """OpenSSL reads keys from files only: one that nobody else can read, gone at once."""
    handle, name = tempfile.mkstemp(prefix="triplane-", suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        context.load_cert_chain(name)
    finally:
        Path(name).unlink(missing_ok=True)


def encoded(body: object) -> bytes:
    """JSON that is YAML too: applies are read as such.

    Only YAML's printable characters may stand in it as they are, and beyond the first 65,536 it
    does not know JSON's pairs of escapes.
    """
    return _PAIR.sub(_unescaped, json.dumps(body)).encode()


_PAIR = re.compile(r"\\\\|(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})")


def _unescaped(match: re.Match[str]) -> str:
    return json.loads(f'"{match[1]}"') if match[1] else match[0]


def segment(name: str) -> str:
    return quote(name, safe="")
