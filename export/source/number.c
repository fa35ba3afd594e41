// NAME_thin returns the length of a mark between groups of digits, a blank or an apostrophe, before just three digits; 0: none.
static int NAME_thin(const unsigned char *s)
{
    static const char *const marks[6] = {" ", "\302\240", "\342\200\257", "\342\200\211", "'", "\342\200\231"};
    for (int m = 0; m < 6; m++) {
        int n = 0, digits = 0;
        while (marks[m][n] && s[n] == (unsigned char)marks[m][n])
            n++;
        while (digits < 4 && s[n + digits] >= '0' && s[n + digits] <= '9')
            digits++;
        if (!marks[m][n] && digits == 3)
            return n;
    }
    return 0;
}

// NAME_minus returns the text behind a minus, or the text if it doesn't begin with one.
static const unsigned char *NAME_minus(const unsigned char *s)
{
    if (*s == '-')
        return s + 1;
    return s[0] == 0xe2 && s[1] == 0x88 && s[2] == 0x92 ? s + 3 : s;
}

// NAME_number returns the number that a text is, such as 1,234.5, 1'234.5, $3.50, (3.50), 1.5k or 5 %; NaN: none. point is the decimal mark.
static double NAME_number(const char *text, char point)
{
    const unsigned char *s = (const unsigned char *)text, *first, *mark;
    const char *letter, *const letters = "kKMBT";
    double value, power = 1;
    uint64_t digits = 0;
    int negative, open, plus, closed = 0, percent = 0, scale = 0, any = 0, width = 0, grouped = 0, thin = 0, fraction = 0, exponent = 0, scaled = 0, down;
    if (!s)
        return NAN;
    s = NAME_skip(s, 1);
    first = NAME_minus(s);
    negative = first != s;
    open = !negative && *s == '(';
    s = NAME_skip(first + open, 1);
    plus = *s == '+';
    if (plus && open)
        return NAN;
    width = plus, s += plus;
    for (first = mark = s;; s++) {
        if (*s >= '0' && *s <= '9') {
            if (digits < 1000000000000000000)
                digits = 10 * digits + (uint64_t)(*s - '0'), scale -= fraction;
            else
                scale += !fraction;
            any = 1, width++;
        } else if (*s == (point == '.' ? ',' : '.') && !fraction && !thin) {
            if (grouped ? width != 3 : width < 1 || width > 3)
                return NAN;
            grouped = 1, width = 0;
        } else if (*s == (unsigned char)point && !fraction) {
            if (grouped && width != 3)
                return NAN;
            fraction = 1;
        } else if (NAME_thin(s) && !plus && !grouped && !fraction && s > first && *first != '0' && (thin ? s - mark == thin + 3 && !memcmp(s, mark, (size_t)thin) : s - first <= 3)) {
            thin = NAME_thin(s);
            mark = s;
            s += thin - 1;
        } else
            break;
    }
    if (any && !thin && (*s == 'e' || *s == 'E')) {
        down = *++s == '-';
        width += 1 + (*s == '-' || *s == '+');
        s += *s == '-' || *s == '+';
        if (*s < '0' || *s > '9')
            return NAN;
        for (; *s >= '0' && *s <= '9'; s++, width++)
            exponent = exponent < 10000 ? 10 * exponent + *s - '0' : exponent;
        scale += down ? -exponent : exponent;
        scaled = 1;
    }
    if (!any || (grouped && !fraction && width != 3))
        return NAN;
    letter = strchr(letters, *NAME_skip(s, 0));
    if (letter && *letter && !scaled) {
        s = NAME_skip(s, 0) + 1;
        scale += letter == letters ? 3 : 3 * (int)(letter - letters);
    }
    if (!negative && !open) {
        mark = NAME_minus(s);
        negative = mark != s;
        s = mark;
    }
    for (;; s++) {
        s = NAME_skip(s, !percent);
        if (*s == '%' && !percent)
            percent = 1;
        else if (*s == ')' && open && !closed)
            closed = 1;
        else
            break;
    }
    if (*s || open != closed)
        return NAN;
    value = (double)digits;
    for (down = scale < 0, scale = down ? -scale : scale; scale > 0 && power < 1e308; scale--) {
        if (power == 1e22) // a greater power of ten is not exact
            value = down ? value / power : value * power, power = 1;
        power *= 10;
    }
    value = digits == 0 ? 0 : down ? value / power : value * power;
    return value - value == 0 ? (negative || open ? -value : value) : NAN;
}

