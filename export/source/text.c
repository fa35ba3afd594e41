static long NAME_text(const char *text, const char *const *of, long n)
{
    for (long i = 0; text && i < n; i++)
        if (of[i] && strcmp(text, of[i]) == 0)
            return i;
    return -1;
}

