static long NAME_value(double value, const double *of, long n)
{
    for (long i = 0; i < n; i++)
        if (of[i] == value)
            return i;
    return -1;
}

