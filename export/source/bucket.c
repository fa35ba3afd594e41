static long NAME_bucket(const char *text, uint64_t mask, const long *of, long n)
{
    long bucket = text ? (long)(NAME_hash_bytes((const unsigned char *)text, strlen(text)) & mask) : -1;
    if (!of)
        return bucket;
    for (long i = 0; i < n; i++)
        if (of[i] == bucket)
            return i;
    return -1;
}

