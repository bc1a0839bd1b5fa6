"""Random strings that tokenizers find hard: words, digits, white space, marks, letters of all scripts, halves of control tokens."""

SPECIAL = "\uf8ff"  # where a text is made for many tokenizers, this stands for an added token of each
WORDS = ("the and of to in that is was he for it with as his on be at by had not are but from or have an they which one you "
         "were all her she there would their we him been has when who will no more if out so what up said its about than "
         "into them can only other time new some could these two may first then do any like my now over such our man me "
         "even most made after also did many off before must well back through years much where your way down should "
         "isn't we'll they've I'M DON'T y'all's naïve café Straße Ελλάδα Москва привет 日本語 テスト 中文 한국어 สวัสดี "
         "العربية עברית हिन्दी int main() { return 0; } def f(x): x+=1 != == -> :: // /* */ #include <vector> "
         "https://example.com/a?b=c&d=%20 1e-5 3.14159 0xDEADBEEF 1,234,567.89 12:34:56 2026-11-21").split(" ")
RANGES = [(0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0x80, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x3FF),
          (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF),
          (0x2000, 0x206F), (0x2070, 0x21FF), (0x2C00, 0x2DFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xA640, 0xA7FF),
          (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFD), (0x10000, 0x107FF),
          (0x11000, 0x11FFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0x2EBF0, 0x323AF),
          (0xE0000, 0xE01EF), (0x10FF00, 0x10FFFF)]
SPACES = ["\x20", "\x20", "\x20\x20", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u3000", "\u200b", "\u180e", "\u0085", "\v", "\f",
          "\u2028", "\u1680"]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "1️⃣", "☃", "\U0001fadc"]
SUFFIXES = ["'s", "'T", "'re", "'VE", "'m", "'Ll", "'d", "'\u017f", "\u2019s", "''s", "'", " 's"]
DIGITS = ["1", "12", "123", "1234", "12345678", "٣", "२४", "Ⅷ", "½", "²", "①", "〇", "1.5", " 7", "\U0001d7d8"]


def random_character(rng):
    low, high = rng.choice(RANGES)
    return chr(rng.randint(low, high))


def random_text(rng, specials):
    parts = []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 21, 40))):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(("", " ", " ", " ", "  ")) + rng.choice(WORDS))
        elif kind < 0.50:
            parts.append(rng.choice(SPACES) * rng.choice((1, 1, 2, 3, 7, 30)))
        elif kind < 0.62:
            parts.append("".join(random_character(rng) for _ in range(rng.randint(1, 8))))
        elif kind < 0.70:
            low, high = rng.choice(RANGES)
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 12))))
        elif kind < 0.76:
            parts.append(rng.choice(DIGITS))
        elif kind < 0.82:
            parts.append(rng.choice(SUFFIXES))
        elif kind < 0.87:
            parts.append(rng.choice(EMOJI))
        elif kind < 0.92:
            parts.append(rng.choice("aZ .,!?-_=*#/<>|▁\n\té가") * rng.randint(1, 40))
        elif kind < 0.96:
            parts.append(rng.choice(("<|", "|>", "<", ">", "</s", "<0x0A>", "<s", "▁", "Ġ", "Ċ", "[INST]", "<|im_", "_end|>")))
        elif specials:
            parts.append(rng.choice(specials))
    return "".join(parts).replace("\0", "")
