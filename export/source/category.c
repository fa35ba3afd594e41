static void NAME_one(double *x, int known, long i)
{
    if (!known)
        x[0] = NAN;
    else if (i >= 0)
        x[i] = 1;
}

