# XXH3-64 without a seed, the hash of columns of the kind hash.
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
MASK = (1 << 64) - 1
P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

def read(b, at, size=8):
    return int.from_bytes(b[at:at + size], "little")

def secret(at, size=8):
    return read(SECRET, at, size)

def fold(a, b):  # the two halves of the 128-bit product
    return (a * b & MASK) ^ (a * b >> 64)

def mix(b, at, s):
    return fold(read(b, at) ^ secret(s), read(b, at + 8) ^ secret(s + 8))

def shuffle(h, first, factor, second, more=1, last=0):
    h = (h ^ h >> first) * factor & MASK
    h = (h ^ h >> second) * more & MASK
    return h ^ h >> last if last else h

def avalanche(h):
    return shuffle(h & MASK, 37, 0x165667919E3779F9, 32)

def short(b, n):
    if n > 8:
        lo, hi = read(b, 0) ^ secret(24) ^ secret(32), read(b, n - 8) ^ secret(40) ^ secret(48)
        return avalanche(n + int.from_bytes(lo.to_bytes(8, "big"), "little") + hi + fold(lo, hi))
    if n > 3:
        h = (read(b, n - 4, 4) + (read(b, 0, 4) << 32)) ^ secret(8) ^ secret(16)
        h ^= ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & MASK
        h = h * 0x9FB21C651E98DF25 & MASK
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & MASK
        return h ^ h >> 28
    h = secret(56) ^ secret(64)
    if n > 0:
        h = (b[0] << 16 | b[n >> 1] << 24 | b[n - 1] | n << 8) ^ secret(0, 4) ^ secret(4, 4)
    return shuffle(h, 33, P64[1], 29, P64[2], 32)

def medium(b, n):
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix(b, 16 * i, 32 * i) + mix(b, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h)
    h = avalanche(h + sum(mix(b, 16 * i, 16 * i) for i in range(8)))
    h += sum(mix(b, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return avalanche(h + mix(b, n - 16, 136 - 17))

def long(b, n):
    h = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    stripes = (n - 1) // 64
    for stripe in range(stripes + 1):
        at, s = (64 * stripe, 8 * (stripe % 16)) if stripe < stripes else (n - 64, 192 - 64 - 7)
        for i in range(8):
            v = read(b, at + 8 * i)
            key = v ^ secret(s + 8 * i)
            h[i ^ 1] += v
            h[i] += (key & 0xFFFFFFFF) * (key >> 32)
        if stripe % 16 == 15 and stripe < stripes:
            for i in range(8):
                v = h[i] & MASK
                h[i] = (v ^ v >> 47 ^ secret(128 + 8 * i)) * P32[0] & MASK
    h = [v & MASK for v in h]
    return avalanche(n * P64[0] + sum(fold(h[i] ^ secret(11 + 8 * i), h[i + 1] ^ secret(19 + 8 * i)) for i in range(0, 8, 2)))

def xxh3(text):
    b = text if isinstance(text, bytes) else text.encode()
    return (short if len(b) <= 16 else medium if len(b) <= 240 else long)(b, len(b))
