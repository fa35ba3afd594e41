// syrk N D float|double: makes N x D numbers, computes the lower triangle of X X' with OpenBLAS, on as many threads as it
// likes, and prints the library's name and the sum of the triangle. Then for each line on standard input it computes the
// triangle once more, and prints the seconds.
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

static void product(int wide, size_t n, size_t d, void *x, void *c) {
	if (wide)
		cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, 1, x, d, 0, c, n);
	else
		cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, 1, x, d, 0, c, n);
}

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
	product(wide, n, d, x, c);
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			sum += wide ? ((double *)c)[i * n + j] : ((float *)c)[i * n + j];
	printf("%s\n%.17g\n", openblas_get_config(), sum);
	fflush(stdout);
	char line[16];
	while (fgets(line, sizeof line, stdin)) {
		double start = now();
		product(wide, n, d, x, c);
		printf("%.9f\n", now() - start);
		fflush(stdout);
	}
	return 0;
}
