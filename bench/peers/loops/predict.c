// predict COLUMNS ROWS FEATURES WEIGHTS OUT: reads columns of float32 from a file, one after the other, and writes the class
// of each row, -1 or 1: as lines of text under a heading if OUT ends in .csv, as bytes otherwise. WEIGHTS has a float32 for
// each column, and the bias.
//
// This is the loop that one writes in an hour: columns of 1,024 rows at a time, no checks, one core.
//
//	cc -O3 -march=native -o predict predict.c
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP 1024

static void get(int f, void *to, size_t n, off_t at) {
	if (pread(f, to, n, at) != (ssize_t)n) {
		perror("pread");
		exit(1);
	}
}

int main(int argc, char **argv) {
	if (argc != 6)
		return 2;
	long rows = atol(argv[2]), features = atol(argv[3]);
	int f = open(argv[1], O_RDONLY), weights = open(argv[4], O_RDONLY), text = strstr(argv[5], ".csv") != NULL;
	FILE *out = fopen(argv[5], "wb");
	float *w = malloc((features + 1) * sizeof *w);
	if (f < 0 || weights < 0 || !out || !w)
		return 1;
	get(weights, w, (features + 1) * sizeof *w, 0);
	static float column[STEP], score[STEP];
	static char lines[3 * STEP];
	if (text)
		fputs("prediction\n", out);
	for (long r = 0; r < rows; r += STEP) {
		long n = rows - r < STEP ? rows - r : STEP;
		for (long i = 0; i < n; i++)
			score[i] = w[features];
		for (long c = 0; c < features; c++) {
			get(f, column, n * sizeof *column, (c * rows + r) * sizeof *column);
			for (long i = 0; i < n; i++)
				score[i] += w[c] * column[i];
		}
		char *p = lines;
		for (long i = 0; i < n; i++) {
			if (!text) {
				*p++ = score[i] > 0 ? 1 : -1;
				continue;
			}
			*p = '-', p += !(score[i] > 0);
			*p++ = '1', *p++ = '\n';
		}
		if (fwrite(lines, 1, p - lines, out) != (size_t)(p - lines))
			return 1;
	}
	return fclose(out) != 0;
}
