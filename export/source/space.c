// NAME_skip returns the text behind white space, and behind currency signs too if currency is 1.
static const unsigned char *NAME_skip(const unsigned char *s, int currency)
{
    for (;;) {
        int bytes = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4, found = 0;
        long code = bytes == 1 ? *s : *s & 0xff >> (bytes + 1);
        for (int i = 1; i < bytes; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return s;
            code = code << 6 | (s[i] & 0x3f);
        }
        for (int i = 0; i < NAME_spaces + currency * NAME_currencies; i++)
            found = found || (code >= NAME_marks[i][0] && code <= NAME_marks[i][1]);
        if (!found)
            return s;
        s += bytes;
    }
}

