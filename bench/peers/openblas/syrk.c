// syrk N D float|double: makes N x D numbers, then for each line on standard input computes the lower triangle of X X' once
// with OpenBLAS, on as many threads as it likes, and prints the seconds.
//
//	cc -O2 -o syrk syrk.c -lopenblas
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// number i, in [-0.5, 0.5)
static double number(size_t i) { return (i * 2654435761u % 65536) / 65536.0 - 0.5; }

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: syrk N D float|double\n");
		return 2;
	}
	size_t n = atol(argv[1]), d = atol(argv[2]);
	int wide = !strcmp(argv[3], "double");
	size_t size = wide ? sizeof(double) : sizeof(float);
	void *x = malloc(n * d * size), *c = malloc(n * n * size);
	if (!x || !c) {
		fprintf(stderr, "syrk: no memory for %zu x %zu\n", n, n);
		return 1;
	}
	memset(c, 0, n * n * size); // so that no page is new to the first run
	for (size_t i = 0; i < n * d; i++)
		if (wide)
			((double *)x)[i] = number(i);
		else
			((float *)x)[i] = number(i);
	printf("%s\n", openblas_get_config());
	fflush(stdout);
	char line[16];
	while (fgets(line, sizeof line, stdin)) {
		double start = now();
		if (wide)
			cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, 1, x, d, 0, c, n);
		else
			cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, 1, x, d, 0, c, n);
		printf("%.9f\n", now() - start);
		fflush(stdout);
	}
	return 0;
}
