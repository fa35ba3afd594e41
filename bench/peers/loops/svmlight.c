// svmlight FILE EPOCHS: parses a file of svmlight into compressed sparse rows, trains a perceptron with a bias, and
// answers a line of JSON for each line on standard input: the seconds of the parsing and of the training, the rows, the
// pairs, a sum over the rows, and the updates.
//
// This is the parser that one writes in an hour: one pass, one core, growing arrays, no checks.
//
//	cc -O3 -march=native -o svmlight svmlight.c
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *room(void *p, size_t bytes) {
	if (!(p = realloc(p, bytes))) {
		perror("svmlight");
		exit(1);
	}
	return p;
}

static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

// number reads -12.5 or 1e-3 at *at.
static double number(const char **at) {
	const char *p = *at;
	int negative = *p == '-', places = 0;
	p += *p == '-' || *p == '+';
	int64_t digits = 0;
	for (; (unsigned char)(*p - '0') < 10; p++)
		digits = digits * 10 + (*p - '0');
	if (*p == '.')
		for (p++; (unsigned char)(*p - '0') < 10; p++, places++)
			digits = digits * 10 + (*p - '0');
	double v = digits / tens[places];
	if ((*p | 32) == 'e') {
		int exponent = atoi(++p);
		for (p += *p == '-' || *p == '+'; (unsigned char)(*p - '0') < 10; p++)
			;
		v = exponent < 0 ? v / tens[-exponent] : v * tens[exponent];
	}
	*at = p;
	return negative ? -v : v;
}

typedef struct {
	long rows, pairs, width;
	int64_t *ptr;
	uint32_t *index;
	float *value, *label;
} matrix;

static matrix parse(const char *text, size_t bytes) {
	matrix m = {0};
	long most_rows = 0, most_pairs = 0;
	const char *p = text, *end = text + bytes;
	while (p < end) {
		if (*p == '\n') {
			p++;
			continue;
		}
		if (m.rows == most_rows) {
			most_rows = most_rows ? 2 * most_rows : 1 << 16;
			m.ptr = room(m.ptr, (most_rows + 1) * sizeof *m.ptr);
			m.label = room(m.label, most_rows * sizeof *m.label);
		}
		m.ptr[m.rows] = m.pairs;
		m.label[m.rows++] = number(&p);
		while (*p == ' ')
			p++;
		while (*p != '\n') {
			if (m.pairs == most_pairs) {
				most_pairs = most_pairs ? 2 * most_pairs : 1 << 20;
				m.index = room(m.index, most_pairs * sizeof *m.index);
				m.value = room(m.value, most_pairs * sizeof *m.value);
			}
			uint32_t index = 0;
			for (; *p != ':'; p++)
				index = index * 10 + (*p - '0');
			p++;
			m.index[m.pairs] = index;
			m.value[m.pairs++] = number(&p);
			if (index >= m.width)
				m.width = index + 1;
			while (*p == ' ')
				p++;
		}
		p++;
	}
	m.ptr[m.rows] = m.pairs;
	return m;
}

// train returns the updates of a perceptron whose bias is weight 0, which no pair has.
static long train(const matrix *m, int epochs) {
	float *w = calloc(m->width, sizeof *w);
	long updates = 0;
	for (int e = 0; e < epochs; e++)
		for (long r = 0; r < m->rows; r++) {
			float score = w[0];
			for (int64_t i = m->ptr[r]; i < m->ptr[r + 1]; i++)
				score += m->value[i] * w[m->index[i]];
			if (m->label[r] * score <= 0) {
				w[0] += m->label[r];
				for (int64_t i = m->ptr[r]; i < m->ptr[r + 1]; i++)
					w[m->index[i]] += m->label[r] * m->value[i];
				updates++;
			}
		}
	free(w);
	return updates;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: svmlight FILE EPOCHS\n");
		return 2;
	}
	while (getchar() != EOF) {
		double begin = now();
		struct stat s;
		int f = open(argv[1], O_RDONLY);
		if (f < 0 || fstat(f, &s)) {
			perror(argv[1]);
			return 1;
		}
		char *text = room(NULL, s.st_size + 1);
		for (ssize_t at = 0, n; at < s.st_size; at += n)
			if ((n = read(f, text + at, s.st_size - at)) <= 0) {
				perror(argv[1]);
				return 1;
			}
		close(f);
		text[s.st_size] = '\n';
		matrix m = parse(text, s.st_size);
		double parsed = now(), sum = 0;
		long updates = train(&m, atoi(argv[2]));
		double trained = now();
		for (long i = 0; i < m.pairs; i++)
			sum += m.value[i] * m.index[i];
		printf("{\"Load\": %.9f, \"Train\": %.9f, \"Rows\": %ld, \"Pairs\": %ld, \"Sum\": %.17g, \"Updates\": %ld}\n", parsed - begin,
			trained - parsed, m.rows, m.pairs, sum, updates);
		fflush(stdout);
		free(text), free(m.ptr), free(m.index), free(m.value), free(m.label);
	}
	return 0;
}
