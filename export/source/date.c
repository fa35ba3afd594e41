// NAME_part returns an element of a table: of the month, the weekday from Sunday, or the hour of a time in days since
// 1970-01-01.
static double NAME_part(double days, int part, const double *table)
{
    if (!(days > -1e8 && days < 1e8))
        return NAN;
    long whole = (long)days, era, year, day;
    whole -= whole > days;
    long hour = (long)((days - (double)whole) * 24 + 1e-9);
    if (hour == 24)
        whole++, hour = 0;
    if (part == 2)
        return table[hour];
    if (part == 1)
        return table[((whole + 4) % 7 + 7) % 7];
    day = whole + 719468; // since 0000-03-01
    era = (day >= 0 ? day : day - 146096) / 146097;
    day -= era * 146097;
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    return table[((5 * day + 2) / 153 + 2) % 12];
}

