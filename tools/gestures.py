# SPDX-License-Identifier: BSL-1.0
"""Drawn gestures, to train and test a small classifier (train_gestures.py): 64 readings of a sensor of acceleration, x y z,
in 16 tokens of 4 readings. A gesture is drawn from its number alone, by additions and multiplications that
examples/learn_on_device/gestures.hpp repeats in C++; its class is the last digit of the number:

    0, 1   a circle, either way            5      an eight
    2, 3   a shake along x, along y        6, 7   a circle that becomes faster, slower
    4, 8   a shake along x = y, x = -y     9      no gesture

each of another length, place, size, speed, tilt and noise. It needs numpy."""

from __future__ import annotations

import numpy as np

CLASSES, READINGS, TOKENS, FEATURES = 10, 64, 16, 12
FIRST_TEST = 1_000_000  # numbers from here on are for tests


def wave(p: np.ndarray) -> np.ndarray:
    """A sine of period 1, of two parabolas."""
    f = p - np.floor(p)
    g = np.where(f < 0.5, f, f - 0.5)
    y = 16 * g * (0.5 - g)
    return np.where(f < 0.5, y, -y)


def gestures(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples (count, TOKENS, FEATURES) and their classes."""
    number = np.arange(first, first + count, dtype=np.uint64)
    state = (number * 2654435761 + 12345) % 2**32

    def draw() -> np.ndarray:
        """In [0, 1)."""
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return (state >> 8).astype(np.float64) / 2**24

    for _ in range(4):
        draw()
    label = (number % CLASSES).astype(np.int64)
    start, length = 0.35 * draw(), 0.45 + 0.2 * draw()
    size, speed, phase = 0.4 + 0.6 * draw(), 1.2 + 1.3 * draw(), draw()
    tilt_x, tilt_y = 0.5 * draw() - 0.25, 0.5 * draw() - 0.25
    noise = 0.1 + 0.5 * draw()

    sample = np.zeros((count, READINGS, 3))
    for i in range(READINGS):
        t = (i / READINGS - start) / length
        inside = (t >= 0) & (t < 1) & (label != 9)
        p = phase + speed * t
        p = np.where(label == 6, phase + speed * (0.4 * t + 0.6 * t * t), p)
        p = np.where(label == 7, phase + speed * (1.6 * t - 0.6 * t * t), p)
        x, quarter = wave(p), np.where(label == 1, 0.75, 0.25)
        y = wave(p + quarter)
        y = np.where(label == 4, x, y)
        y = np.where(label == 8, -x, y)
        y = np.where(label == 5, wave(p + p), y)
        y = np.where(label == 2, 0, y)
        y, x = np.where(label == 3, x, y), np.where(label == 3, 0, x)
        clean = np.stack([x + tilt_y * y, y + tilt_x * x, tilt_x * x + tilt_y * y])
        for axis in range(3):
            hiss = draw() + draw() + draw() + draw() - 2
            sample[:, i, axis] = np.where(inside, size * clean[axis], 0) + noise * hiss
    return sample.astype(np.float32).reshape(count, TOKENS, FEATURES), label
