"""philox.py: Philox4x32-10 once more, from its paper, and the elements that dropout keeps by it."""
MASK = 2**32 - 1


def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & MASK, (a >> 32) ^ c3 ^ k1, a & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def kept_elements(state, count, rate):
    """One truth value for each of `count` elements; state: seed in words 0 and 1, counter in words 2 and 3."""
    numbers = []
    for block in range((count + 3) // 4):
        numbers += philox((block & MASK, block >> 32, state[2], state[3]), state[:2])
    return [rate < 1 and number >= min(int(rate * 2**32), MASK) for number in numbers[:count]]


# The generator's known answer for zeros.
assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
