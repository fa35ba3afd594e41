// auc SCORES LABELS ROWS: computes the area under the ROC curve of rows of two classes, for each line of standard input: it
// copies the scores of either class, sorts them by radix, and merges them. It answers a line of JSON: the seconds and the area.
// Equal scores of both classes count half.
//
// This is the loop that one writes in an hour: one core, no NaN.
//
//	cc -O3 -march=native -o auc auc.c
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static float *get(const char *path, long n) {
	float *x = malloc(n * sizeof *x);
	FILE *f = fopen(path, "rb");
	if (!x || !f || fread(x, sizeof *x, n, f) != (size_t)n) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return x;
}

// sort sorts keys in three passes of eleven bits, and returns the array that has them: keys or spare.
static uint32_t *sort(uint32_t *keys, uint32_t *spare, long n) {
	static long counts[3][2048];
	memset(counts, 0, sizeof counts);
	for (long i = 0; i < n; i++) {
		uint32_t k = keys[i];
		counts[0][k & 2047]++, counts[1][k >> 11 & 2047]++, counts[2][k >> 22]++;
	}
	for (int pass = 0; pass < 3; pass++) {
		long at = 0, *c = counts[pass];
		for (int d = 0; d < 2048; d++) {
			long n = c[d];
			c[d] = at, at += n;
		}
		for (long i = 0; i < n; i++)
			spare[c[keys[i] >> 11 * pass & 2047]++] = keys[i];
		uint32_t *swap = keys;
		keys = spare, spare = swap;
	}
	return keys;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	long rows = atol(argv[3]);
	float *scores = get(argv[1], rows), *labels = get(argv[2], rows);
	char line[8];
	while (fgets(line, sizeof line, stdin)) {
		double begin = now();
		uint32_t *all[2], *spare[2], *sorted[2];
		long n[2] = {0, 0};
		for (int side = 0; side < 2; side++)
			if (!(all[side] = malloc(rows * sizeof(uint32_t))) || !(spare[side] = malloc(rows * sizeof(uint32_t))))
				return 1;
		for (long i = 0; i < rows; i++) {
			float score = scores[i] + 0; // -0 is 0
			uint32_t bits;
			memcpy(&bits, &score, sizeof bits);
			int side = labels[i] > 0;
			all[side][n[side]++] = bits ^ ((uint32_t)((int32_t)bits >> 31) | 1u << 31);
		}
		for (int side = 0; side < 2; side++)
			sorted[side] = sort(all[side], spare[side], n[side]);
		// below and equal are negative rows: with a lower score than the positive row, and with the same.
		long below = 0, equal = 0;
		double area = 0;
		for (long i = 0; i < n[1]; i++) {
			if (i > 0 && sorted[1][i] != sorted[1][i - 1])
				below += equal, equal = 0;
			while (below + equal < n[0] && sorted[0][below + equal] < sorted[1][i])
				below++;
			while (below + equal < n[0] && sorted[0][below + equal] == sorted[1][i])
				equal++;
			area += below + 0.5 * equal;
		}
		double seconds = now() - begin;
		for (int side = 0; side < 2; side++)
			free(all[side]), free(spare[side]);
		printf("{\"Seconds\": %.9f, \"Area\": %.17g}\n", seconds, area / n[0] / n[1]);
		fflush(stdout);
	}
	return 0;
}
