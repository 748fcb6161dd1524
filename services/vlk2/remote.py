"""A team server, spoken to with the standard library alone: a hook has no time for more.

The token comes from `VLK2_TOKEN`, from a file or from the keyring, as the user file says in `token_from`; it is
sent to that server and to nobody else, and never over an unencrypted connection to another machine.
"""

from __future__ import annotations

import json

from vlk2.errors import (
    ConfigError,
    InvalidInput,
    NotAllowed,
    NotFound,
    StoreBusy,
    StoreUnavailable,
    Vlk2Error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

ERA = "2026-07-28"
KEYRING_SERVICE = "vlk2"
_LARGEST_ANSWER = 64 * 1024 * 1024
_CLIENT = {"name": "vlk2", "version": "1"}


def is_remote(store: str) -> bool:
    """Whether a `VLK2_STORE` names a team server."""
    return store.startswith(("https://", "http://"))


class Server:
    """The team server at `address` (`https://HOST[:PORT][/PATH]`), for one project of one token's agent.

    Every method raises StoreUnavailable where the server cannot be reached or cannot answer within `timeout`
    seconds, NotAllowed where it refuses the token, and otherwise the error that the server names.
    """

    def __init__(self, address: str, token: str, *, project: str = "", timeout: float = 30.0) -> None:
        scheme, _, rest = address.partition("://")
        authority, _, path = rest.partition("/")
        self._tls = scheme == "https"
        self._host, self._port = _host_and_port(authority, 443 if self._tls else 80)
        if not self._tls and self._host not in ("127.0.0.1", "localhost", "::1"):
            raise ConfigError(f"{address} is not encrypted: a team server elsewhere needs https://.")
        self._authority = authority
        self._path = f"/{path}".rstrip("/")
        self._token = token
        self._project = project
        self._timeout = timeout
        self.address = address.rstrip("/")

    def events(self, events: Sequence[Mapping[str, object]]) -> list[tuple[str, str]]:
        """Hands events in; for each what to say (`tell`, `hold` or "") and its text."""
        found = self._post("/v1/events", list(events))
        return [(str(one["say"]), str(one["text"])) for one in found["answers"]]

    def verb(self, name: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """A verb of `vlk2.team`, carried out by the server."""
        return self._post(f"/v1/verbs/{name}", dict(arguments))

    def tool(
        self, name: str, arguments: Mapping[str, object], *, stamps: str = "", root: str = ""
    ) -> dict[str, Any]:
        """The structured answer of an MCP tool; its error is raised as Vlk2Error with the tool's own words."""
        headers = {"Vlk2-Stamps": stamps, "Vlk2-Root": root}
        result = self._rpc("tools/call", name, {"name": name, "arguments": dict(arguments)}, headers)
        if result.get("isError"):
            raise Vlk2Error(str(result["content"][0]["text"]))
        return result["structuredContent"]

    def resource(self, uri: str) -> str:
        """The text of an MCP resource."""
        return str(self._rpc("resources/read", uri, {"uri": uri}, {})["contents"][0]["text"])

    def _rpc(
        self, method: str, name: str, params: dict[str, object], headers: dict[str, str]
    ) -> dict[str, Any]:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": ERA,
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        told = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": ERA,
            "Mcp-Method": method,
            "Mcp-Name": name,
            **{key: value for key, value in headers.items() if value},
        }
        found = self._post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, told)
        if "error" in found:
            raise Vlk2Error(str(found["error"].get("message", "the server refused the request")))
        return found["result"]

    def _post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        data = json.dumps(body).encode()
        told = {
            "Host": self._authority,
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            "Connection": "close",
            **(headers or {}),
        }
        if self._project:
            told["Vlk2-Project"] = self._project
        head = f"POST {self._path}{path} HTTP/1.1\r\n" + "".join(
            f"{name}: {_header_text(value)}\r\n" for name, value in told.items()
        )
        try:
            status, answer = self._exchange(head.encode("utf-8", "replace") + b"\r\n" + data)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self.address} did not answer within {self._timeout:g} s.") from error
        except (OSError, ValueError) as error:
            raise StoreUnavailable(f"{self.address} cannot be reached: {error}") from error
        return self._understood(status, answer)

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        import socket

        with socket.create_connection((self._host, self._port), self._timeout) as plain:
            plain.settimeout(self._timeout)
            wire = self._encrypted(plain) if self._tls else plain
            with wire:
                wire.sendall(request)
                return _answer(wire)

    def _encrypted(self, plain: socket.socket) -> socket.socket:
        import ssl

        return ssl.create_default_context().wrap_socket(plain, server_hostname=self._host)

    def _understood(self, status: int, answer: bytes) -> dict[str, Any]:
        try:
            found: object = json.loads(answer) if answer else {}
        except ValueError:
            found = {}
        told: dict[str, Any] = found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
        if status == 200 or "jsonrpc" in told:
            return told
        message = str(told.get("message") or f"{self.address} answered {status}.")
        match status:
            case 401:
                raise NotAllowed(
                    f"{self.address} does not take the token: it is missing, wrong, expired or revoked. Ask an "
                    "admin of the team for a new one and run `vlk2 join` again."
                )
            case 403 | 421:
                raise NotAllowed(message)
            case 404:
                raise NotFound(message)
            case 400 | 413:
                raise InvalidInput(message)
            case 429:
                raise StoreBusy(message)
            case _:
                raise StoreUnavailable(message)


def connect(store: str, environ: Mapping[str, str], *, project: str = "", timeout: float = 30.0) -> Server:
    """The server that `store` names, with this user's token for it."""
    return Server(store, token_of(store, environ), project=project, timeout=timeout)


def token_of(store: str, environ: Mapping[str, str]) -> str:
    """The user's token for the server. ConfigError, with what to do, where there is none."""
    if environ.get("VLK2_TOKEN"):
        return environ["VLK2_TOKEN"].strip()
    from vlk2.userfile import config_path, read_user_file

    held = read_user_file(config_path(environ))
    source = held.get("token_from")
    kind, _, name = source.partition(":") if isinstance(source, str) else ("", "", "")
    token = ""
    if kind == "file":
        try:
            with open(name, encoding="utf-8") as file:
                token = file.read(1_000).strip()
        except OSError as error:
            raise ConfigError(f"the token's file {name} cannot be read: {error.strerror}") from error
    elif kind == "keyring":
        token = _from_keyring(name)
    if not token:
        raise ConfigError(f"there is no token for {store}: run `vlk2 join {store}`, or set VLK2_TOKEN.")
    return token


def _from_keyring(name: str) -> str:
    import importlib

    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError as error:
        raise ConfigError("the token is in the keyring, and the package keyring is not installed.") from error
    return keyring.get_password(KEYRING_SERVICE, name) or ""


def _answer(wire: socket.socket) -> tuple[int, bytes]:
    """Status and body of the one answer on a connection that the server then closes. ValueError where it is no
    HTTP."""
    data = bytearray()
    while chunk := wire.recv(65_536):
        data += chunk
        if len(data) > _LARGEST_ANSWER:
            raise ValueError("the answer is too large")
        whole = _complete(data)
        if whole is not None:
            return whole
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    return _status(head), body


def _complete(data: bytearray) -> tuple[int, bytes] | None:
    """The answer, where its length is told and all of it is there."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(data[:end])
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }
    body = bytes(data[end + 4 :])
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        joined = _joined(body)
        return None if joined is None else (_status(head), joined)
    length = int(headers.get(b"content-length", b"-1"))
    return (_status(head), body[:length]) if 0 <= length <= len(body) else None


def _joined(body: bytes) -> bytes | None:
    """A chunked body as one, None where its end has not come."""
    parts: list[bytes] = []
    at = 0
    while True:
        line = body.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(body[at:line].partition(b";")[0], 16)
        if size == 0:
            return b"".join(parts)
        start = line + 2
        if len(body) < start + size + 2:
            return None
        parts.append(body[start : start + size])
        at = start + size + 2


def _status(head: bytes) -> int:
    version, _, rest = head.partition(b" ")
    if not version.startswith(b"HTTP/"):
        raise ValueError("the answer is no HTTP")
    return int(rest[:3])


def _header_text(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


def _host_and_port(authority: str, usual: int) -> tuple[str, int]:
    host, _, port = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    if not host:
        host, port = authority, ""
    try:
        return host.strip("[]").lower(), int(port) if port else usual
    except ValueError:
        raise ConfigError(f"{authority!r} names no host and port.") from None
