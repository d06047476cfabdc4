"""A project's source distribution from the package index that pip uses, unpacked without trust in what it holds."""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import subprocess
import tarfile
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import httpx
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from tests.demo.refusal import Refusal

if TYPE_CHECKING:
    from pathlib import Path

PIN = re.compile(r"pypi:([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([A-Za-z0-9.!+_-]+)")
"""What ``REPO=`` takes: a name and one version, since a demo that changes by itself proves nothing."""
DEFAULT_INDEX = "https://pypi.org/simple"
JSON_FORM = "application/vnd.pypi.simple.v1+json"
"""The simple repository API as JSON (packaging.python.org, "Simple repository API")."""
TIMEOUT = 60.0
"""Seconds for one request to the index."""
LARGEST_ARCHIVE = 100_000_000
LARGEST_TREE = 1_000_000_000
"""Bytes of an archive, and of what is in it; a demo needs no more."""


def parse_pin(text: str) -> tuple[str, str]:
    """Return name and version; raises :class:`Refusal`."""
    found = PIN.fullmatch(text)
    try:
        if found is not None:
            return found[1], str(Version(found[2]))
    except InvalidVersion:
        pass
    raise Refusal(f"{text!r} names no release: write REPO=pypi:NAME==VERSION, for instance pypi:toolz==1.2.0.")


def index_url(python: Path) -> str:
    """Return the index that pip is set up with; ``python`` has pip."""
    if set_here := os.environ.get("PIP_INDEX_URL"):
        return set_here
    asked = subprocess.run(
        [python, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or DEFAULT_INDEX


def download(index: str, name: str, version: str, folder: Path) -> Path:
    """Download the archive of a release and check its hash; raises :class:`Refusal`."""
    page = f"{index.rstrip('/')}/{canonicalize_name(name)}/"
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)
    try:
        with httpx.Client(verify=context, timeout=TIMEOUT, follow_redirects=True) as client:
            answer = client.get(page, headers={"Accept": JSON_FORM})
            answer.raise_for_status()
            file = _choose(answer.json()["files"], name, version)
            data = _limited(client, urljoin(page, file["url"]))
    except httpx.HTTPStatusError as error:
        raise Refusal(f"{page} answered {error.response.status_code}. Is there a project of that name?") from None
    except httpx.TransportError as error:
        raise Refusal(f"The package index {index} can't be reached ({error}). Is there a network?") from None
    except (ValueError, KeyError, TypeError):
        raise Refusal(f"{page} did not answer in the JSON form of the simple API; set PIP_INDEX_URL.") from None
    expected = file.get("hashes", {}).get("sha256")
    if expected and hashlib.sha256(data).hexdigest() != expected:
        raise Refusal(f"{file['filename']} does not have the hash that the index gives for it; nothing was unpacked.")
    archive = folder / "sdist.tar.gz"
    archive.write_bytes(data)
    return archive


def _choose(files: list[dict], name: str, version: str) -> dict:
    for file in files:
        try:
            found = parse_sdist_filename(file["filename"])
        except InvalidSdistFilename:
            continue
        if found == (canonicalize_name(name), Version(version)) and file["filename"].endswith(".tar.gz"):
            return file
    raise Refusal(f"The index has no source distribution (.tar.gz) of {name} {version}; name another version.")


def _limited(client: httpx.Client, url: str) -> bytes:
    data = bytearray()
    with client.stream("GET", url) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_bytes():
            data += chunk
            if len(data) > LARGEST_ARCHIVE:
                raise Refusal(
                    f"The source distribution is larger than {LARGEST_ARCHIVE} bytes; name a smaller project."
                )
    return bytes(data)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive below ``folder`` and return the project's folder; raises :class:`Refusal`.

    Links and names that lead out, devices and special permissions are refused by the ``data`` filter of tarfile; a
    ``.git`` folder, whose configuration git would obey, is left out.
    """
    if not hasattr(tarfile, "data_filter"):
        raise Refusal("This Python can't unpack archives safely; 3.11.4 or newer can.")
    try:
        with tarfile.open(archive, "r:gz") as tar:
            members = [member for member in tar.getmembers() if not _is_gits(member.name)]
            if sum(member.size for member in members) > LARGEST_TREE:
                raise Refusal(f"The archive holds more than {LARGEST_TREE} bytes; name a smaller project.")
            tar.extractall(folder, members, filter="data")
    except tarfile.TarError as error:
        raise Refusal(f"The source distribution can't be unpacked: {error}") from None
    roots = [path for path in folder.iterdir() if path.is_dir()]
    if len(roots) != 1:
        raise Refusal(f"The source distribution holds {len(roots)} folders where one is expected.")
    return roots[0]


def _is_gits(name: str) -> bool:
    return any(part.casefold() == ".git" for part in name.split("/"))
