double NAME_score(const double *x)
{
    double score = NAME_bias[0];
    for (long i = 0; i < WIDTH; i++)
        score += NAME_weights[0][i] * VALUE;
    return score;
}

int NAME_predict(const double *x)
{
    double score = NAME_score(x);
    if (score - score != 0)
        return -1;
    return score > THRESHOLD ? POSITIVE : OTHER;
}
