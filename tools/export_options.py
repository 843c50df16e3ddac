# SPDX-License-Identifier: BSL-1.0
"""The options of layers, for tools/export: as the user writes them, norm_first<true>, and as a file has them for load, one
text (umbel/weights/stored_options.hpp)."""
from __future__ import annotations

import fractions
import re

WORD = r"(?:[a-z]\w*|\d[\d']*)"
OPTION = re.compile(rf"([a-z]\w*)<{WORD}(?:, *{WORD})*>")
FLAGS = ("norm_first", "gated")
WORDS = ("activation", "norm_by", "empty_rows", "query_key_norm")
RATIOS = ("norm_epsilon", "score_scale", "softcap")
OF_ROPE = ("rope", "rope_base", "rope_width")
# In types only: shapes show them in a file.
OF_SHAPES = ("bias", "bias_on", "feed_forward_bias", "norm_bias", "head_dim", "kv_heads", "value_dim")
MEANT = {"gelu": "gelu_exact or gelu_tanh", "swish": "silu"}


def by_name(text: str) -> dict[str, str]:
    return {option[1]: option[0] for option in OPTION.finditer(text)}


def values_of(option: str) -> list[str]:
    return re.sub(r"[' ]", "", option[option.index("<") + 1:-1]).split(",")


def complaint(text: str) -> str | None:
    """What is wrong with a list of options."""
    if not re.fullmatch(rf"({OPTION.pattern}(, *(?!$)|$))*", text):
        return f"--options {text}: not a list as \"norm_first<true>, activation<gelu_exact>\""
    known = (*FLAGS, *WORDS, *RATIOS, "rope", *OF_SHAPES)
    for name, option in by_name(text).items():
        value = values_of(option)[0]
        if name not in known:
            return f"--options {option}: there is no option {name}; there are {', '.join(known)}"
        if name in FLAGS and value not in ("true", "false"):
            return f"--options {option}: {name} is true or false"
        if name in WORDS and value in MEANT:
            return f"--options {option}: there is no {value}; write {MEANT[value]}"
        if name in RATIOS and not all(number.isdigit() for number in values_of(option)):
            return f"--options {option}: {name} is a number, or two of a ratio"
    return None


def as_stored(text: str) -> dict[str, str]:
    """A list of options as a file has them: name and value. Of shapes, none."""
    stored = {}
    for name, option in by_name(text).items():
        values = values_of(option)
        if name == "rope":
            stored |= dict(zip(OF_ROPE, values))
        elif name in RATIOS:
            stored[name] = f"{int(values[0]) / max(int((values + ['1'])[1]), 1):.9g}"
        elif name in FLAGS + WORDS:
            stored[name] = values[0]
    return stored


def count(stored: dict[str, str], name: str) -> int:
    """0 if it isn't there, or no number."""
    value = stored.get(name, "")
    return int(value) if re.fullmatch(r"[1-9]\d{0,8}", value) else 0


def ratio(value: str) -> str:
    exact = fractions.Fraction(value)
    return f"{exact.numerator}" if exact.denominator == 1 else f"{exact.numerator}, {exact.denominator}"


def as_written(stored: dict[str, str]) -> str:
    """The same as a list of options. What is `none`, or not a value of this option, is left out."""
    made = []
    for name, value in stored.items():
        if value == "none":
            continue
        if name in RATIOS and re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d{1,2})?", value):
            made.append(f"{name}<{ratio(value)}>")
        elif name in FLAGS + WORDS and re.fullmatch(r"[a-z]\w*", value):
            made.append(f"{name}<{value}>")
    rope = [stored[name] for name in OF_ROPE if stored.get(name, "none") != "none"]
    if rope and all(re.fullmatch(WORD, value) for value in rope):
        made.append(f"rope<{', '.join(rope)}>")
    return ", ".join(made)


def read_text(text: str) -> dict[str, dict[str, str]]:
    """The options of a file: by path, then by name. Malformed entries are left out: load refuses them."""
    found: dict[str, dict[str, str]] = {}
    for entry in text.split(";"):
        path, colon, options = entry.partition(":")
        pairs = [option.split("=") for option in options.split(",")]
        if colon and all(len(pair) == 2 for pair in pairs):
            found.setdefault(path.strip(), {}).update({name.strip(): value.strip() for name, value in pairs})
    return found


def write_text(options: dict[str, dict[str, str]]) -> str:
    return "; ".join(f"{path}: {', '.join(f'{name}={value}' for name, value in of_path.items())}"
                     for path, of_path in options.items() if path and of_path and not set(path) & set(":;,="))
