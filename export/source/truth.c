// NAME_truth returns 1 for yes, true, y, t or on, and 0 for no, false, n, f or off; NaN: none.
static double NAME_truth(const char *text)
{
    static const char *const words[10] = {"no", "false", "n", "f", "off", "yes", "true", "y", "t", "on"};
    const unsigned char *s = (const unsigned char *)text;
    if (!s)
        return NAN;
    s = NAME_skip(s, 0);
    for (int w = 0; w < 10; w++) {
        int i = 0;
        while (words[w][i] && (s[i] >= 'A' && s[i] <= 'Z' ? s[i] + 'a' - 'A' : s[i]) == words[w][i])
            i++;
        if (!words[w][i] && !*NAME_skip(s + i, 0))
            return w / 5;
    }
    return NAN;
}

