"""Calls the Compliance Platform Public API. Python 3.9 or newer on Linux or macOS; no other package.

api = Api()  # BASE_URL, CLIENT_ID and CLIENT_SECRET of the environment
for asset in api.items("/v1/inventory/assets", categoryKey="CLOUD", hasOwner=False):
    print(asset["id"], asset["name"])
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import http.client
import io
import json
import os
import pathlib
import random
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Union

Json = dict[str, Any]
# None leaves a parameter out. A list is sent as values separated by commas.
Parameter = Union[None, bool, int, str, Sequence[str]]
PathLike = Union[str, "os.PathLike[str]"]

# Lost connections, refused tokens and 5xx of one request.
ATTEMPTS = 5
# Waiting of one request, such as for a 429.
LONGEST_WAIT_SECONDS = 900
TIMEOUT_SECONDS = 60
RENEW_BEFORE_SECONDS = 60
ENTRIES_OF_A_BULK = 100
REFUSED_TOKEN = ("token_superseded", "token_expired", "token_invalid")
BUSY = ("rate_limited", "idempotency_in_progress", "export_in_progress")
LOST = (OSError, EOFError, http.client.HTTPException, zlib.error)


class ApiError(Exception):
    """The API refused a request. Decide by `code`."""

    def __init__(self, status: int, body: bytes, headers: Any) -> None:
        try:
            problem: Json = json.loads(body)
            self.code: str = problem["code"]
        except (ValueError, KeyError, TypeError):
            problem = {"detail": body[:200].decode(errors="replace")}
            self.code = "unexpected_answer"
        self.status = status
        self.detail: str = problem.get("detail") or ""
        self.errors: list[Json] = problem.get("errors") or []
        self.request_id: str | None = headers.get("X-Request-Id")
        # Another stream's place is free five seconds after its end.
        self.retry_after = int(headers.get("Retry-After") or (5 if self.code == "export_in_progress" else 0))
        places = "".join(f"; {e.get('pointer') or e.get('parameter')}: {e.get('detail')}" for e in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail}{places} (request {self.request_id})")


class Api:
    """Each request renews the token, waits for limits, and is sent again after a lost connection.

    A new token ends the previous one. So all programs of a user on one machine share the token of a client,
    through a locked file in `token_directory`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        token_directory: PathLike = "~/.compliance-api",
    ) -> None:
        self._base_url = (base_url or os.environ["BASE_URL"]).rstrip("/")
        self._client_id = client_id or os.environ["CLIENT_ID"]
        self._client_secret = client_secret or os.environ["CLIENT_SECRET"]
        self._opener = urllib.request.build_opener(_NoRedirect)
        directory = pathlib.Path(token_directory).expanduser()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        client = hashlib.sha256(f"{self._base_url} {self._client_id}".encode()).hexdigest()
        self._token_file = directory / f"{client[:16]}.json"

    def get(self, path: str, **parameters: Parameter) -> Json:
        """Returns one object or one page."""
        return self.call("GET", path, parameters)[0]

    def items(self, path: str, **parameters: Parameter) -> Iterator[Json]:
        """Yields each item of a list, page by page."""
        query: dict[str, Parameter] = {"pageSize": 100, **parameters}
        while True:
            page = self.get(path, **query)
            yield from page["results"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            query["pageCursor"] = page["pageInfo"]["endCursor"]

    def stream(self, path: str, cursor_file: PathLike | None = None, **parameters: Parameter) -> Iterator[Json]:
        """Yields each item of a list once, from one response. After a cut the response is resumed.

        When all items are handled, `cursor_file` gets the cursor from which `changes` follows the list.
        """
        query = dict(parameters)
        feed_cursor: str | None = None
        cuts = 0
        while True:
            # Items after the last checkpoint come again after a cut.
            pending: list[Json] = []
            reason: Exception = EOFError("The response ended without its end line.")
            accept = {"Accept": "application/x-ndjson"}
            content, _ = self._send("GET", self._url(path, query), None, accept, streamed=True)
            lines = _lines(content)
            while True:
                try:
                    line = next(lines, None)
                except LOST as lost:
                    reason, line = lost, None
                if line is None:
                    break
                if line["type"] == "start":
                    feed_cursor = line.get("resumeCursor", feed_cursor)
                elif line["type"] in line:
                    pending.append(line[line["type"]])
                elif line["type"] in ("checkpoint", "end"):
                    yield from pending
                    pending, cuts = [], 0
                    query.update(pageCursor=line.get("pageCursor"), since=None)
                if line["type"] == "end":
                    if cursor_file and feed_cursor:
                        _write(cursor_file, feed_cursor)
                    return
            cuts += 1
            if cuts == ATTEMPTS:
                raise reason
            time.sleep(_pause(cuts))

    def changes(self, path: str, cursor_file: PathLike, **parameters: Parameter) -> Iterator[list[Json]]:
        """Yields pages of a feed from the cursor in `cursor_file` on, or from the beginning without that file.

        The cursor of a page is written when your loop asks for the next page. So after a crash a page comes again.
        """
        query: dict[str, Parameter] = {"pageSize": 1000, **parameters}
        while True:
            if os.path.exists(cursor_file):
                query.update(pageCursor=pathlib.Path(cursor_file).read_text(encoding="utf-8"), since=None)
            page = self.get(path, **query)
            yield page["results"]
            _write(cursor_file, page["resumeCursor"])
            if not page["pageInfo"]["hasNextPage"]:
                return

    def update(self, asset_id: str, patch: Json, if_match: str | None = None, **options: Any) -> Json:
        """Updates one asset. The options are those of `patch`."""
        headers = {"If-Match": if_match} if if_match else {}
        return self.patch(f"/v1/inventory/assets/{asset_id}", patch, headers=headers, **options)

    def update_many(self, ids: Iterable[str], patch: Json, **options: Any) -> Json:
        """Makes the same change to any number of assets. The options are those of `update_each`."""
        return self._bulk("ids", list(ids), patch=patch, **options)

    def update_each(self, patches: Mapping[str, Json], **options: Any) -> Json:
        """Makes a change of its own to each asset: patches by id, 100 in a request. Returns the sum of the summaries.

        `onlyIf={…}` says what an asset must be like, `dryRun=True` tries it; `key` and `clear` are those of `patch`.
        """
        return self._bulk("updates", [{"id": id, "patch": patch} for id, patch in patches.items()], **options)

    def _bulk(self, name: str, every: list[Any], key: str | None = None, clear: bool = False, **body: Any) -> Json:
        total: Json = {"successfulUpdates": 0, "failedUpdates": 0, "failures": [], "changes": []}
        for start in range(0, len(every), ENTRIES_OF_A_BULK):
            body[name] = every[start : start + ENTRIES_OF_A_BULK]
            summary = self.patch("/v1/inventory/assets", body, key=key and f"{key}/{start}", clear=clear)
            total = {member: total[member] + summary.get(member, []) for member in total}
        return total

    def patch(
        self, path: str, body: Json, key: str | None = None, clear: bool = False, headers: Mapping[str, str] = {}
    ) -> Json:
        """Sends an update, which is applied once for each `key`. With `clear` a None clears its field."""
        media_type = "application/merge-patch+json" if clear else "application/json"
        own = {"Content-Type": media_type, "Idempotency-Key": key or str(uuid.uuid4())}
        return self.call("PATCH", path, body=body, headers={**headers, **own})[0]

    def call(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Parameter] = {},
        body: Json | None = None,
        headers: Mapping[str, str] = {},
    ) -> tuple[Json, Mapping[str, str]]:
        """Sends any request. Returns the body and the headers of the response."""
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        content, answered = self._send(method, self._url(path, parameters), data, headers)
        return json.load(content), answered

    def _url(self, path: str, parameters: Mapping[str, Parameter]) -> str:
        texts = {name: _text(value) for name, value in parameters.items() if value is not None}
        return f"{self._base_url}{path}" + (f"?{urllib.parse.urlencode(texts)}" if texts else "")

    def _send(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], streamed: bool = False
    ) -> tuple[IO[bytes], Mapping[str, str]]:
        """Returns a response with its content: read to its end, unless it is streamed."""
        token = "" if url.endswith("/oauth/token") else self._token()
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        failures = 0
        while True:
            sent = {**headers, "Accept-Encoding": "gzip", **({"Authorization": f"Bearer {token}"} if token else {})}
            error: Exception
            try:
                request = urllib.request.Request(url, data, sent, method=method)
                response = self._opener.open(request, timeout=TIMEOUT_SECONDS)
                content: Any = response
                if response.headers.get("Content-Encoding") == "gzip":
                    content = gzip.GzipFile(fileobj=response)
                return (content if streamed else io.BytesIO(content.read())), response.headers
            except urllib.error.HTTPError as refusal:
                error = ApiError(refusal.code, refusal.read(), refusal.headers)
                failures += error.code not in BUSY
                if token and error.code in REFUSED_TOKEN and failures < ATTEMPTS:
                    token = self._token(refused=token)
                    continue
                if error.code not in BUSY and error.status not in (502, 503, 504):
                    raise error from None
                wait = error.retry_after + _pause(failures)
            except LOST as lost:
                error = lost
                failures += 1
                wait = _pause(failures)
            if failures == ATTEMPTS or time.monotonic() + wait > deadline:
                raise error
            time.sleep(wait)

    def _token(self, refused: str = "") -> str:
        """Returns the shared token. Gets a new one if there is none, or only the refused one."""
        if token := self._shared_token(refused):
            return token
        with open(self._token_file.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Another program may have been faster.
            return self._shared_token(refused) or self._new_token()

    def _shared_token(self, refused: str) -> str:
        try:
            shared = json.loads(self._token_file.read_text(encoding="utf-8"))
            usable = shared["token"] != refused and shared["renewAt"] > time.time()
            return str(shared["token"]) if usable else ""
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return ""

    def _new_token(self) -> str:
        form = {"grant_type": "client_credentials", "client_id": self._client_id, "client_secret": self._client_secret}
        asked_at = time.time()
        content, _ = self._send("POST", f"{self._base_url}/oauth/token", urllib.parse.urlencode(form).encode(), {})
        issued = json.load(content)
        lifetime = issued["expires_in"]
        renew_at = asked_at + max(lifetime - RENEW_BEFORE_SECONDS, lifetime / 2)
        _write(self._token_file, json.dumps({"token": issued["access_token"], "renewAt": renew_at}))
        return str(issued["access_token"])


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because a redirect could send the secret or the token elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _text(value: Parameter) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, str)) else ",".join(value or [])


def _lines(content: IO[bytes]) -> Iterator[Json]:
    """Yields the whole lines of a stream. A line without its end was cut."""
    for text in content:
        if text.endswith(b"\n"):
            yield json.loads(text)


def _pause(failures: int) -> float:
    """Seconds, at random, so that several workers do not come back together."""
    return random.uniform(0.5, 1) * (1 << failures)


def _write(path: PathLike, text: str) -> None:
    """Replaces a file, which only its owner may read. Whoever reads it sees the old text or the new one."""
    path = pathlib.Path(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(name, path)
