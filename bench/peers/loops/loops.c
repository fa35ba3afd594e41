// loops DIR ROWS FEATURES: reads x.f32 and y.f32, float32 rows and their labels, -1 or 1, and runs an online learner over
// them for each line "NAME EPOCHS" on standard input: all epochs, then a pass that counts the errors, and for a logistic
// loss adds the losses. It answers a line of JSON: the seconds, the updates and the errors. The names logistic, svm and lda
// make EPOCHS passes of a batch learner at the weights that follow on the line, and answer the seconds of one and the loss.
//
// These are the loops that one writes in an hour: the weights in registers, no blocks, no checks, one core.
//
//	cc -O3 -march=native -fno-math-errno -fno-trapping-math -DSTRIDE=32 -o loops loops.c -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VECTORS (STRIDE / 8)
typedef float vec __attribute__((vector_size(32)));

static float *x, *y;
static long rows;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static inline float sum(vec a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

static inline float dot(const vec *a, const vec *b) {
	vec s[4] = {0};
	for (int k = 0; k < VECTORS; k++)
		s[k % 4] += a[k] * b[k];
	return sum((s[0] + s[2]) + (s[1] + s[3]));
}

static inline const vec *row(long r) { return (const vec *)(x + r * STRIDE); }

static long errors(const vec *w) {
	long n = 0;
	for (long r = 0; r < rows; r++)
		n += y[r] * dot(row(r), w) <= 0;
	return n;
}

static long perceptron(int epochs, vec *out) {
	vec w[VECTORS] = {0};
	long updates = 0;
	for (int e = 0; e < epochs; e++)
		for (long r = 0; r < rows; r++)
			if (y[r] * dot(row(r), w) <= 0) {
				for (int k = 0; k < VECTORS; k++)
					w[k] += y[r] * row(r)[k];
				updates++;
			}
	memcpy(out, w, sizeof w);
	return updates;
}

// averaged keeps the sum of the changes, each times the visits before it.
static long averaged(int epochs, vec *out) {
	vec w[VECTORS] = {0};
	double u[STRIDE] = {0};
	long updates = 0, visits = 0;
	for (int e = 0; e < epochs; e++)
		for (long r = 0; r < rows; r++, visits++)
			if (y[r] * dot(row(r), w) <= 0) {
				for (int k = 0; k < VECTORS; k++)
					w[k] += y[r] * row(r)[k];
				for (int c = 0; c < STRIDE; c++)
					u[c] += (double)visits * y[r] * x[r * STRIDE + c];
				updates++;
			}
	float *mean = (float *)out, *last = (float *)w;
	for (int c = 0; c < STRIDE; c++)
		mean[c] = last[c] - u[c] / visits;
	return updates;
}

static long passive(int epochs, vec *out) {
	vec w[VECTORS] = {0};
	long updates = 0;
	for (int e = 0; e < epochs; e++)
		for (long r = 0; r < rows; r++) {
			double loss = 1 - (double)y[r] * dot(row(r), w);
			if (loss > 0) {
				float t = fmin(1, loss / dot(row(r), row(r))) * y[r];
				for (int k = 0; k < VECTORS; k++)
					w[k] += t * row(r)[k];
				updates++;
			}
		}
	memcpy(out, w, sizeof w);
	return updates;
}

// adaptive is FTRL-Proximal without penalties. With a beta near 0 it is AdaGrad.
static long adaptive(int epochs, vec *out, double alpha, double beta, int hinge) {
	double z[STRIDE] = {0}, n[STRIDE] = {0}, root[STRIDE] = {0}, inverse = 1 / alpha;
	float w[STRIDE] __attribute__((aligned(32))) = {0};
	long updates = 0;
	for (int e = 0; e < epochs; e++)
		for (long r = 0; r < rows; r++) {
			double score = dot(row(r), (vec *)w), slope;
			if (hinge)
				slope = y[r] * score < 1 ? -y[r] : 0;
			else
				slope = -y[r] / (1 + exp(y[r] * score));
			if (slope == 0)
				continue;
			for (int c = 0; c < STRIDE; c++) {
				double g = slope * x[r * STRIDE + c], m = n[c] + g * g, s = sqrt(m);
				z[c] += g - (s - root[c]) * inverse * w[c];
				n[c] = m, root[c] = s;
				w[c] = -z[c] / ((beta + s) * inverse);
			}
			updates++;
		}
	memcpy(out, w, sizeof w);
	return updates;
}

static double logistic(const vec *w) {
	double loss = 0;
	for (long r = 0; r < rows; r++) {
		double m = y[r] * dot(row(r), w);
		loss += log1p(exp(-fabs(m))) + (m < 0 ? -m : 0);
	}
	return loss;
}

// PANEL rows are widened to double, and their products are summed while they are in the first-level cache.
#define PANEL 32
typedef double wide __attribute__((vector_size(64)));

static double hessian[STRIDE * STRIDE], gradient[STRIDE];

// products adds s[r] times the products of the columns of n rows to the blocks of 8 x 8 of the lower triangle.
static void products(const double *v, const double *s, int n) {
	double u[PANEL * STRIDE] __attribute__((aligned(64)));
	for (int r = 0; r < n; r++)
		for (int c = 0; c < STRIDE; c++)
			u[r * STRIDE + c] = s[r] * v[r * STRIDE + c];
	for (int i = 0; i < STRIDE; i += 8)
		for (int j = 0; j <= i; j += 8) {
			wide sum[8] = {0};
			for (int r = 0; r < n; r++)
				for (int k = 0; k < 8; k++)
					sum[k] += u[r * STRIDE + i + k] * *(const wide *)(v + r * STRIDE + j);
			for (int k = 0; k < 8; k++)
				for (int l = 0; l < 8; l++)
					hessian[(i + k) * STRIDE + j + l] += sum[k][l];
		}
}

#ifdef __x86_64__ // the vector functions of the C library
__attribute__((simd("notinbranch"))) double exp(double);
__attribute__((simd("notinbranch"))) double log1p(double);
#endif

// pass makes the pass of a learner that solves for an optimum: a sum of losses at w, its gradient and its Hessian. For
// lda these are the difference of the classes' sums, and the products, among them with the bias the sum of the rows.
static double pass(const char *name, const double *w) {
	double v[PANEL * STRIDE] __attribute__((aligned(64))), s[PANEL], m[PANEL], slope[PANEL], part[PANEL], loss = 0;
	int svm = !strcmp(name, "svm"), lda = !strcmp(name, "lda");
	memset(hessian, 0, sizeof hessian), memset(gradient, 0, sizeof gradient);
	for (long first = 0; first < rows; first += PANEL) {
		const float *label = y + first;
		int n = rows - first < PANEL ? rows - first : PANEL, active = 0;
		for (int r = 0; r < n; r++) {
			wide z = {0};
			for (int c = 0; c < STRIDE; c++)
				v[r * STRIDE + c] = x[(first + r) * STRIDE + c];
			for (int c = 0; c < STRIDE; c += 8)
				z += *(wide *)(v + r * STRIDE + c) * *(const wide *)(w + c);
			m[r] = label[r] * (((z[0] + z[4]) + (z[2] + z[6])) + ((z[1] + z[5]) + (z[3] + z[7])));
			s[r] = 1, slope[r] = label[r];
		}
		if (svm)
			for (int r = 0; r < n; r++) {
				double u = 1 - m[r];
				if (u > 0) {
					loss += u * u, slope[active] = -2 * label[r] * u, s[active] = 2;
					memmove(v + active++ * STRIDE, v + r * STRIDE, STRIDE * sizeof *v);
				}
			}
		else if (!lda) {
			for (int r = 0; r < n; r++) {
				double e = exp(-fabs(m[r])), p = 1 / (1 + e);
				part[r] = log1p(e) + (m[r] < 0 ? -m[r] : 0);
				slope[r] = -label[r] * (m[r] < 0 ? p : e * p), s[r] = e * p * p;
			}
			for (int r = 0; r < n; r++)
				loss += part[r];
		}
		n = svm ? active : n;
		for (int r = 0; r < n; r++)
			for (int c = 0; c < STRIDE; c++)
				gradient[c] += slope[r] * v[r * STRIDE + c];
		products(v, s, n);
	}
	return loss;
}

static void *numbers(const char *dir, const char *name, long n) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	float *v = malloc(n * sizeof *v);
	if (!f || !v || fread(v, sizeof *v, n, f) != (size_t)n) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return v;
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: loops DIR ROWS FEATURES\n");
		return 2;
	}
	rows = atol(argv[2]);
	long features = atol(argv[3]);
	float *plain = numbers(argv[1], "x.f32", rows * features);
	y = numbers(argv[1], "y.f32", rows);
	if (features >= STRIDE || posix_memalign((void **)&x, 1 << 21, rows * STRIDE * sizeof *x)) {
		fprintf(stderr, "loops: no room\n");
		return 1;
	}
	for (long r = 0; r < rows; r++) {
		memcpy(x + r * STRIDE, plain + r * features, features * sizeof *x);
		memset(x + r * STRIDE + features, 0, (STRIDE - features) * sizeof *x);
		x[r * STRIDE + features] = 1;
	}
	free(plain);
	char name[32];
	int epochs;
	while (scanf("%31s %d", name, &epochs) == 2) {
		vec w[VECTORS] = {0};
		double begin = now(), loss = 0;
		long updates = 0;
		if (!strcmp(name, "logistic") || !strcmp(name, "svm") || !strcmp(name, "lda")) {
			double point[STRIDE] __attribute__((aligned(64))) = {0};
			for (int c = 0; c <= features; c++)
				if (scanf("%lf", point + c) != 1)
					return 2;
			begin = now();
			for (int e = 0; e < epochs; e++)
				loss = pass(name, point);
			printf("{\"Seconds\": %.9f, \"Loss\": %.17g}\n", (now() - begin) / epochs, loss);
			fflush(stdout);
			continue;
		}
		if (!strcmp(name, "perceptron"))
			updates = perceptron(epochs, w);
		else if (!strcmp(name, "averaged"))
			updates = averaged(epochs, w);
		else if (!strcmp(name, "passive-aggressive"))
			updates = passive(epochs, w);
		else if (!strcmp(name, "ftrl"))
			updates = adaptive(epochs, w, 0.1, 1, 0);
		else if (!strcmp(name, "adagrad"))
			updates = adaptive(epochs, w, 0.1, 1e-10, 0);
		else if (!strcmp(name, "adagrad-hinge"))
			updates = adaptive(epochs, w, 0.1, 1e-10, 1);
		else
			return 2;
		long wrong = errors(w);
		if (!strcmp(name, "ftrl") || !strcmp(name, "adagrad"))
			loss = logistic(w);
		printf("{\"Seconds\": %.9f, \"Updates\": %ld, \"Errors\": %ld, \"Loss\": %.17g}\n", now() - begin, updates, wrong, loss);
		fflush(stdout);
	}
	return 0;
}
