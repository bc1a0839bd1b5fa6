"""Mixed text out of what Debian's packages ship on this machine: catalogues in all languages, documentation, sources, HTML,
JSON, and some base64."""
import base64
import gettext
import pathlib
import random

PLACES = ["usr/share/doc/**/*", "usr/include/**/*.h", "usr/lib/python3*/**/*.py", "usr/share/perl/**/*.p[lmo]*", "usr/share/vim/**/*",
          "usr/share/**/*.json", "usr/share/**/*.html", "usr/share/**/*.xml", "usr/share/unicode/**/*.txt", "etc/**/*", "usr/share/**/*.sh"]
CHUNK = 4000


def catalogues():
    for path in sorted(pathlib.Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo")):
        try:
            with path.open("rb") as file:
                yield "\n".join(t for t in gettext.GNUTranslations(file)._catalog.values() if isinstance(t, str))
        except (OSError, ValueError, IndexError):
            continue


def files():
    for place in PLACES:
        for path in sorted(pathlib.Path("/").glob(place)):
            try:
                if path.is_file() and path.stat().st_size < 400_000:
                    yield path.read_bytes()
            except OSError:
                continue


def chunks(megabytes, seed):
    rng = random.Random(seed)
    texts = list(catalogues())
    for data in files():
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:
            texts.append(base64.encodebytes(data[:2000]).decode())
    rng.shuffle(texts)
    left, out = megabytes * 1_000_000, []
    for text in texts:
        for at in range(0, len(text), CHUNK):
            part = text[at:at + CHUNK].replace("\0", "")
            out.append(part)
            left -= len(part.encode())
        if left < 0:
            break
    return out
