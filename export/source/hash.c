// XXH3-64 without a seed, by Yann Collet.
static const unsigned char NAME_secret[192] = {
    184, 254, 108, 57, 35, 164, 75, 190, 124, 1, 129, 44, 247, 33, 173, 28, 222, 212, 109, 233, 131, 144, 151, 219,
    114, 64, 164, 164, 183, 179, 103, 31, 203, 121, 230, 78, 204, 192, 229, 120, 130, 90, 208, 125, 204, 255, 114, 33,
    184, 8, 70, 116, 247, 67, 36, 142, 224, 53, 144, 230, 129, 58, 38, 76, 60, 40, 82, 187, 145, 195, 0, 203,
    136, 208, 101, 139, 27, 83, 46, 163, 113, 100, 72, 151, 162, 13, 249, 78, 56, 25, 239, 70, 169, 222, 172, 216,
    168, 250, 118, 63, 227, 156, 52, 63, 249, 220, 187, 199, 199, 11, 79, 29, 138, 81, 224, 75, 205, 180, 89, 49,
    200, 159, 126, 201, 217, 120, 115, 100, 234, 197, 172, 131, 52, 211, 235, 195, 197, 129, 160, 255, 250, 19, 99, 235,
    23, 13, 221, 81, 183, 240, 218, 73, 211, 22, 85, 38, 41, 212, 104, 158, 43, 22, 190, 88, 125, 71, 161, 252,
    143, 248, 184, 209, 122, 208, 49, 206, 69, 203, 58, 143, 149, 22, 4, 40, 175, 215, 251, 202, 187, 75, 64, 126,
};

static uint64_t NAME_word(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0)
        v = v << 8 | p[bytes];
    return v;
}

static uint64_t NAME_key(const unsigned char *p, size_t at)
{
    return NAME_word(p, 8) ^ NAME_word(NAME_secret + at, 8);
}

static uint64_t NAME_fold(uint64_t a, uint64_t b)
{
    uint64_t low = (a & 0xffffffff) * (b & 0xffffffff), x = (a >> 32) * (b & 0xffffffff), y = (a & 0xffffffff) * (b >> 32);
    uint64_t sum = (low >> 32) + (x & 0xffffffff) + y;
    return (sum << 32 | (low & 0xffffffff)) ^ ((a >> 32) * (b >> 32) + (x >> 32) + (sum >> 32));
}

static uint64_t NAME_mix(const unsigned char *p, size_t at)
{
    return NAME_fold(NAME_key(p, at), NAME_key(p + 8, at + 8));
}

static uint64_t NAME_spread(uint64_t h)
{
    h = (h ^ h >> 37) * 0x165667919e3779f9;
    return h ^ h >> 32;
}

static uint64_t NAME_spread_short(uint64_t h)
{
    h = (h ^ h >> 33) * 0xc2b2ae3d27d4eb4f;
    h = (h ^ h >> 29) * 0x165667b19e3779f9;
    return h ^ h >> 32;
}

static void NAME_stripe(uint64_t *sums, const unsigned char *p, size_t at)
{
    for (size_t i = 0; i < 8; i++) {
        uint64_t v = NAME_word(p + 8 * i, 8), key = NAME_key(p + 8 * i, at + 8 * i);
        sums[i ^ 1] += v;
        sums[i] += (key & 0xffffffff) * (key >> 32);
    }
}

static uint64_t NAME_hash_long(const unsigned char *p, size_t n)
{
    uint64_t sums[8] = {0xc2b2ae3d, 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                        0x85ebca77c2b2ae63, 0x85ebca77, 0x27d4eb2f165667c5, 0x9e3779b1};
    for (size_t at = 0; at + 64 < n; at += 64) {
        NAME_stripe(sums, p + at, at / 64 % 16 * 8);
        if (at % 1024 == 960)
            for (size_t i = 0; i < 8; i++)
                sums[i] = (sums[i] ^ sums[i] >> 47 ^ NAME_word(NAME_secret + 128 + 8 * i, 8)) * 0x9e3779b1;
    }
    NAME_stripe(sums, p + n - 64, 121);
    uint64_t h = n * 0x9e3779b185ebca87;
    for (size_t i = 0; i < 8; i += 2)
        h += NAME_fold(sums[i] ^ NAME_word(NAME_secret + 11 + 8 * i, 8), sums[i + 1] ^ NAME_word(NAME_secret + 19 + 8 * i, 8));
    return NAME_spread(h);
}

static uint64_t NAME_hash_bytes(const unsigned char *p, size_t n)
{
    uint64_t h = n * 0x9e3779b185ebca87, a, b;
    if (n > 240)
        return NAME_hash_long(p, n);
    if (n > 128) {
        for (size_t i = 0; i < 8; i++)
            h += NAME_mix(p + 16 * i, 16 * i);
        h = NAME_spread(h);
        for (size_t i = 8; i < n / 16; i++)
            h += NAME_mix(p + 16 * i, 16 * i - 125);
        return NAME_spread(h + NAME_mix(p + n - 16, 119));
    }
    if (n > 16) {
        for (size_t i = (n - 1) / 32 + 1; i-- > 0;)
            h += NAME_mix(p + 16 * i, 32 * i) + NAME_mix(p + n - 16 * (i + 1), 32 * i + 16);
        return NAME_spread(h);
    }
    if (n > 8) {
        a = NAME_word(p, 8) ^ NAME_word(NAME_secret + 24, 8) ^ NAME_word(NAME_secret + 32, 8);
        b = NAME_word(p + n - 8, 8) ^ NAME_word(NAME_secret + 40, 8) ^ NAME_word(NAME_secret + 48, 8);
        h = n + b + NAME_fold(a, b);
        for (int i = 0; i < 8; i++)
            h += (a >> 8 * i & 0xff) << (56 - 8 * i);
        return NAME_spread(h);
    }
    if (n > 3) {
        h = NAME_word(p + n - 4, 4) + (NAME_word(p, 4) << 32);
        h ^= NAME_word(NAME_secret + 8, 8) ^ NAME_word(NAME_secret + 16, 8);
        h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);
        h *= 0x9fb21c651e98df25;
        h = (h ^ ((h >> 35) + n)) * 0x9fb21c651e98df25;
        return h ^ h >> 28;
    }
    if (n == 0)
        return NAME_spread_short(NAME_word(NAME_secret + 56, 8) ^ NAME_word(NAME_secret + 64, 8));
    h = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 24 | p[n - 1] | n << 8;
    return NAME_spread_short(h ^ NAME_word(NAME_secret, 4) ^ NAME_word(NAME_secret + 4, 4));
}

