// NAME_number returns the number that a text is, such as 1,234.5, $3.50 or 5 %; NaN: none.
static double NAME_number(const char *text, char group, char point)
{
    const unsigned char *s = (const unsigned char *)text;
    double sign = 1, value, power = 1;
    uint64_t digits = 0;
    int scale = 0, any = 0, width = 0, grouped = 0, fraction = 0, exponent = 0, down;
    if (!s)
        return NAN;
    s = NAME_skip(s, 0);
    if (*s == '-')
        sign = -1, s++;
    s = NAME_skip(s, 1);
    if (*s == '+')
        width = 1, s++;
    for (;; s++) {
        if (*s >= '0' && *s <= '9') {
            if (digits < 1000000000000000000)
                digits = 10 * digits + (uint64_t)(*s - '0'), scale -= fraction;
            else
                scale += !fraction;
            any = 1, width++;
        } else if (*s == (unsigned char)group && !fraction) {
            if (grouped ? width != 3 : width < 1 || width > 3)
                return NAN;
            grouped = 1, width = 0;
        } else if (*s == (unsigned char)point && !fraction) {
            if (grouped && width != 3)
                return NAN;
            fraction = 1;
        } else
            break;
    }
    if (any && (*s == 'e' || *s == 'E')) {
        down = *++s == '-';
        width += 1 + (*s == '-' || *s == '+');
        s += *s == '-' || *s == '+';
        if (*s < '0' || *s > '9')
            return NAN;
        for (; *s >= '0' && *s <= '9'; s++, width++)
            exponent = exponent < 10000 ? 10 * exponent + *s - '0' : exponent;
        scale += down ? -exponent : exponent;
    }
    if (!any || (grouped && !fraction && width != 3))
        return NAN;
    s = NAME_skip(s, 1);
    s += *s == '%';
    if (*NAME_skip(s, 0))
        return NAN;
    value = (double)digits;
    for (down = scale < 0, scale = down ? -scale : scale; scale > 0 && power < 1e308; scale--) {
        if (power == 1e22) // a greater power of ten is not exact
            value = down ? value / power : value * power, power = 1;
        power *= 10;
    }
    value = digits == 0 ? 0 : down ? value / power : value * power;
    return value - value == 0 ? sign * value : NAN;
}

