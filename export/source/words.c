static long NAME_class(long c)
{
    long lo = 0, hi = sizeof NAME_codes / sizeof *NAME_codes / 3;
    while (lo < hi) {
        long at = (lo + hi) / 2;
        if (NAME_codes[3 * at + 1] < c)
            lo = at + 1;
        else
            hi = at;
    }
    return lo < (long)(sizeof NAME_codes / sizeof *NAME_codes / 3) && NAME_codes[3 * lo] <= c ? NAME_codes[3 * lo + 2] : 0;
}

static long NAME_folded(long c)
{
    const long *r = NAME_folds, *end = NAME_folds + sizeof NAME_folds / sizeof *NAME_folds;
    if (c < 128)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    while (r < end && r[1] < c)
        r += 4;
    return r < end && r[0] <= c && (c - r[0]) % r[2] == 0 ? c + r[3] : c;
}

// NAME_rune returns the code point at p, and its length. Bytes that are no UTF-8 are code points -1.
static long NAME_rune(const unsigned char *p, int *length)
{
    long c = *p;
    int n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n > 1)
        c &= 0xff >> (n + 1);
    *length = 1;
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return -1;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (n == 0 || (n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return -1;
    *length = n;
    return c;
}

static int NAME_put(char *to, long c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (n == 1)
        to[0] = (char)c;
    for (int i = n; n > 1 && i-- > 0; c >>= 6)
        to[i] = (char)(i > 0 ? 0x80 | (c & 0x3f) : (0xf00 >> n & 0xff) | c);
    return n;
}

static int NAME_isletter(long class) { return class == 'a' || class == 'h' || class == 'e'; }

// NAME_skip returns the end of the marks of a character.
static const unsigned char *NAME_skip(const unsigned char *p, int *joins)
{
    for (*joins = 0; *p;) {
        int n;
        long class = NAME_class(NAME_rune(p, &n));
        if (class != 'x' && class != 'z')
            break;
        *joins = class == 'z';
        p += n;
    }
    return p;
}

// NAME_segment returns the end of a segment whose first character ends at p, by Unicode Standard Annex 29.
static const unsigned char *NAME_segment(const unsigned char *p, long class, int *isword)
{
    int flags = 1, joins, n, m;
    *isword = class != '_';
    for (;;) {
        p = NAME_skip(p, &joins);
        if (!*p)
            return p;
        long next = NAME_class(NAME_rune(p, &n));
        int letter = NAME_isletter(class), number = class == 'n';
        if (joins && (next == 'p' || next == 'e'))
            ;
        else if ((letter || number) && (NAME_isletter(next) || next == 'n' || next == '_'))
            ;
        else if (class == 'k' && (next == 'k' || next == '_'))
            ;
        else if (class == '_' && (NAME_isletter(next) || next == 'n' || next == 'k' || next == '_'))
            ;
        else if (class == 'r' && next == 'r' && flags == 1)
            flags = 2;
        else if ((letter && (next == ':' || next == '.' || next == '\'')) || (class == 'h' && next == '"') ||
                 (number && (next == ',' || next == '.' || next == '\''))) {
            const unsigned char *behind = NAME_skip(p + n, &joins);
            long third = *behind ? NAME_class(NAME_rune(behind, &m)) : 0;
            if (next == '"' ? third == 'h' : letter ? NAME_isletter(third) : third == 'n') {
                p = behind;
                n = m;
                next = third;
            } else if (class == 'h' && next == '\'')
                return NAME_skip(p + n, &joins);
            else
                return p;
        } else
            return p;
        p += n;
        class = next;
        *isword |= class != '_';
    }
}

// NAME_next returns the next word from p on, or NULL.
static const unsigned char *NAME_next(const unsigned char *p, const unsigned char **end, int *single)
{
    while (*p) {
        int n, isword;
        long class = NAME_class(NAME_rune(p, &n));
        if (class && strchr("ahenk_rps", (int)class)) {
            *end = NAME_segment(p + n, class, &isword);
            *single = class == 's';
            if (isword)
                return p;
            p = *end;
        } else
            p += n;
    }
    return NULL;
}

static void NAME_count(double *x, const char *word, size_t n, uint64_t mask, const long *buckets, long count)
{
    long bucket = (long)(NAME_hash_bytes((const unsigned char *)word, n) & mask), lo = 0, hi = count;
    if (!buckets) {
        x[bucket]++;
        return;
    }
    while (lo < hi) {
        long at = (lo + hi) / 2;
        if (buckets[at] < bucket)
            lo = at + 1;
        else
            hi = at;
    }
    if (lo < count && buckets[lo] == bucket)
        x[lo]++;
}

// NAME_root returns the square root of a number of 1 or more or of 0, rounded as IEEE 754 says, without the library of mathematics.
static double NAME_root(double v)
{
    uint64_t bits, root = 0, rest = 0;
    memcpy(&bits, &v, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    uint64_t digits = (bits & 0xfffffffffffff) | 0x10000000000000;
    if (bits == 0)
        return 0;
    digits <<= exponent % 2;         // the number is digits / 2^52 x 4^(exponent / 2)
    for (int i = 53; i >= 0; i--) {  // 54 digits of the root
        rest = rest << 2 | (i > 26 ? digits >> (2 * (i - 27)) & 3 : 0);
        root <<= 1;
        if (rest > 2 * root) {
            rest -= 2 * root + 1;
            root++;
        }
    }
    root = (root >> 1) + (root & 1);
    bits = root - 0x10000000000000 + ((uint64_t)(exponent / 2 + 1023) << 52);
    memcpy(&v, &bits, sizeof v);
    return v;
}

// NAME_words sets the features of the words of a text. form: 1 for pairs of words too, 2 for characters of words.
static void NAME_words(double *x, const char *text, int form, uint64_t mask, const long *buckets, const double *weights, long count)
{
    char word[260], last[260], pair[524];
    size_t size = 0, before = 0;
    int single = 0, alone = 0, n;
    const unsigned char *p = (const unsigned char *)text, *end = NULL, *to, *after;
    if (!text) {
        x[0] = NAN;
        return;
    }
    for (; (p = NAME_next(p, &to, &single)) != NULL; p = to) {
        if (form == 2) {
            long runes[5] = {0}, length = 0;
            int more;
            while (single && NAME_next(to, &after, &more) == to && more)
                to = after;
            for (int edge = 0; edge < 3; edge += edge != 1 || p == to) {
                long c = edge == 0 ? '<' : '>';
                if (edge == 1) {
                    c = NAME_folded(NAME_rune(p, &n));
                    p += n;
                }
                memmove(runes, runes + 1, sizeof runes - sizeof *runes);
                runes[4] = c;
                length++;
                for (int k = 3; k <= 5 && k <= length; k++) {
                    size = 0;
                    for (int i = 5 - k; i < 5; i++)
                        size += NAME_put(pair + size, runes[i]);
                    NAME_count(x, pair, size, mask, buckets, count);
                }
            }
            continue;
        }
        const unsigned char *start = p;
        size = 0;
        for (int i = 0; i < 64 && p < to; i++, p += n)
            size += NAME_put(word + size, NAME_folded(NAME_rune(p, &n)));
        NAME_count(x, word, size, mask, buckets, count);
        int adjacent = single && alone && start == end;
        if (adjacent || (form == 1 && end)) {
            memcpy(pair, last, before);
            if (!adjacent)
                pair[before++] = ' ';
            memcpy(pair + before, word, size);
            NAME_count(x, pair, before + size, mask, buckets, count);
        }
        memcpy(last, word, size);
        before = size;
        end = to;
        alone = single;
    }
    double sum = 0;
    for (long i = 0; i < count; i++) {
        if (x[i] > 0) {
            double times = x[i], halved = 0;
            for (; times >= 256; times = (double)(long long)(times / 2))
                halved++;
            volatile double more = halved * 0.6931471805599453, square; // volatile: rounded
            x[i] = 1 + (NAME_logarithms[(int)times] + more);
            if (weights)
                x[i] *= weights[i];
            square = x[i] * x[i];
            sum += square;
        }
    }
    sum = NAME_root(sum);
    for (long i = 0; i < count; i++)
        if (x[i] > 0)
            x[i] = (float)(x[i] / sum);
}

