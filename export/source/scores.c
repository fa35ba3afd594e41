void NAME_scores(const double *x, double *scores)
{
    for (int k = 0; k < CLASSES; k++) {
        scores[k] = NAME_bias[k];
        for (long i = 0; i < WIDTH; i++)
            scores[k] += NAME_weights[k][i] * VALUE;
    }
}

int NAME_predict(const double *x)
{
    double scores[CLASSES];
    int best = 0;
    NAME_scores(x, scores);
    for (int k = 0; k < CLASSES; k++) {
        if (scores[k] - scores[k] != 0)
            return -1;
        if (scores[k] > scores[best])
            best = k;
    }
    return best;
}
