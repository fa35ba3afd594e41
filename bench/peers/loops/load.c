// load FILE ROWS FEATURES: reads columns of float32 from FILE, one after the other, and writes them as rows with a bias, for
// each line of standard input. A line "standardise" subtracts each column's mean and divides by its deviation, in float64,
// which takes a pass of its own. It answers a line of JSON: the seconds, and the sum of the elements of the last row.
//
// This is the loop that one writes in an hour: columns of 1,024 rows at a time, no checks, one core.
//
//	cc -O3 -march=native -o load load.c -lm
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STEP 1024

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void get(int f, void *to, size_t n, off_t at) {
	if (pread(f, to, n, at) != (ssize_t)n) {
		perror("pread");
		exit(1);
	}
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	long rows = atol(argv[2]), features = atol(argv[3]), stride = (features + 8) / 8 * 8;
	int f = open(argv[1], O_RDONLY);
	static float column[STEP];
	double *mean = calloc(features, sizeof *mean), *scale = calloc(features, sizeof *scale);
	char line[32];
	while (fgets(line, sizeof line, stdin)) {
		int standardise = !strcmp(line, "standardise\n");
		double begin = now();
		size_t size = rows * stride * sizeof(float);
		float *x = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (f < 0 || x == MAP_FAILED)
			return 1;
		madvise(x, size, MADV_HUGEPAGE);
		for (long c = 0; standardise && c < features; c++) {
			double sum = 0, squares = 0;
			for (long r = 0; r < rows; r += STEP) {
				long n = rows - r < STEP ? rows - r : STEP;
				get(f, column, n * sizeof(float), (c * rows + r) * sizeof(float));
				for (long i = 0; i < n; i++)
					sum += column[i], squares += (double)column[i] * column[i];
			}
			mean[c] = sum / rows, scale[c] = sqrt(squares / rows - mean[c] * mean[c]);
		}
		for (long r = 0; r < rows; r += STEP) {
			long n = rows - r < STEP ? rows - r : STEP;
			float *block = x + r * stride;
			for (long c = 0; c < features; c++) {
				get(f, column, n * sizeof(float), (c * rows + r) * sizeof(float));
				if (standardise)
					for (long i = 0; i < n; i++)
						column[i] = (column[i] - mean[c]) / scale[c];
				for (long i = 0; i < n; i++)
					block[i * stride + c] = column[i];
			}
			for (long i = 0; i < n; i++)
				block[i * stride + features] = 1;
		}
		double seconds = now() - begin, sum = 0;
		for (long c = 0; c < stride; c++)
			sum += x[(rows - 1) * stride + c];
		munmap(x, size);
		printf("{\"Seconds\": %.9f, \"Sum\": %.17g}\n", seconds, sum);
		fflush(stdout);
	}
	return 0;
}
