"""A picture with 256 colours at most, as pages of text need no more: a quarter of the bytes."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

SHRINK = """(async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paper = canvas.getContext("2d");
  paper.drawImage(image, 0, 0);
  const seen = new Uint32Array(paper.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const pixel of seen) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const near = (pixel) => { const [r, g, b] = parts(pixel); return (r >> 3) << 10 | (g >> 3) << 5 | b >> 3; };
  const palette = new Map();
  for (const [pixel] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (palette.size == 256) break;
    if (!palette.has(near(pixel))) palette.set(near(pixel), pixel);
  }
  const colours = [...palette.values()].map(parts), known = new Map();
  for (const pixel of counts.keys()) {
    const far = colours.map((colour) => parts(pixel).reduce((sum, part, at) => sum + (part - colour[at]) ** 2, 0));
    known.set(pixel, far.indexOf(Math.min(...far)));
  }
  const bytes = Uint8Array.from(seen, (pixel) => known.get(pixel));
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return { width: image.width, height: image.height, colours, pixels: btoa(text) };
})"""
"""Run in a browser with a picture as base64: its size, its palette, and a byte a pixel."""


def png(found: dict[str, Any]) -> bytes:
    """Write what ``SHRINK`` returned as a file."""
    width, height = found["width"], found["height"]
    pixels = base64.b64decode(found["pixels"])
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = b"".join(map(bytes, found["colours"]))
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
