/* A verifier and a generator over the command protocol, version 1 (harness/samplers/PROTOCOL.md).
 * cc -O2 -o verifier verifier.c
 * With an argument it is wrong on purpose: "target" replaces a rejected token by a draw from p
 * in place of the residual, "draft" generates from q; the others break the protocol (see main). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;

/* splitmix64, as a double in [0, 1) */
static double uniform(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static long long number(const char *header, const char *key) {
    const char *found = strstr(header, key);
    return found ? strtoll(found + strlen(key), NULL, 10) : 0;
}

static void *taken(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory || fread(memory, 1, bytes, stdin) != bytes) exit(3);
    return memory;
}

/* One token from unnormalised weights. */
static int32_t draw(const double *weights, long V) {
    double sum = 0, u;
    int32_t last = 0;
    for (long x = 0; x < V; x++) sum += weights[x];
    u = uniform() * sum;
    for (long x = 0; x < V; x++) {
        if (weights[x] <= 0) continue;
        last = x;
        if ((u -= weights[x]) < 0) break;
    }
    return last;
}

static void verify(const int32_t *draft, const double *q, const double *p, int32_t *out, long k, long V,
                   double *weights, int from_target) {
    for (long j = 0; j <= k; j++) out[j] = -1;
    for (long j = 0; j < k; j++, q += V, p += V) {
        if (uniform() * q[draft[j]] < p[draft[j]]) {
            out[j] = draft[j];
            continue;
        }
        for (long x = 0; x < V; x++)
            weights[x] = from_target ? p[x] : (p[x] > q[x] ? p[x] - q[x] : 0);
        out[j] = draw(weights, V);
        return;
    }
    out[k] = draw(p, V);
}

/* What a setup message brings, for a generator: laws by context, and where a token leads. */
static struct { long V; double *p, *q; int32_t *successor, *starts; } laws;

static void setup(const char *header) {
    const char *starts = strstr(header, "\"name\":\"starts\"");
    long C = number(strstr(header, "\"name\":\"p\""), "\"shape\":["), V = number(header, "\"vocabulary\":");
    free(laws.p); free(laws.q); free(laws.successor); free(laws.starts);
    laws.V = V;
    laws.p = taken(C * V * 8);
    laws.q = taken(C * V * 8);
    laws.successor = taken(C * V * 4);
    laws.starts = taken(4 * number(starts, "\"shape\":["));
    printf("{\"ok\":true,\"versions\":{\"verifier.c\":\"1\"}}\n");
    fflush(stdout);
}

static void generate(const char *header, const double *law) {
    long n = number(header, "\"n\":"), horizon = number(header, "\"horizon\":");
    int32_t *out = malloc(n * horizon * 4);
    state = number(header, "\"seed\":");
    for (long i = 0; i < n; i++)
        for (long j = 0, context = laws.starts[0]; j < horizon; j++) {
            int32_t x = out[i * horizon + j] = draw(law + context * laws.V, laws.V);
            context = laws.successor[context * laws.V + x];
        }
    printf("{\"ok\":true,\"arrays\":[{\"name\":\"tokens\",\"dtype\":\"<i4\",\"shape\":[%ld,%ld]}]}\n", n, horizon);
    fwrite(out, 4, n * horizon, stdout);
    fflush(stdout);
    free(out);
}

int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    char *header = NULL;
    size_t room = 0;
    while (getline(&header, &room, stdin) > 0) {
        if (strstr(header, "\"do\":\"setup\"")) {
            setup(header);
            continue;
        }
        if (strstr(header, "\"do\":\"generate\"")) {
            generate(header, strcmp(fault, "draft") ? laws.p : laws.q);
            continue;
        }
        long n = number(header, "\"n\":"), k = number(header, "\"k\":"), V = number(header, "\"vocabulary\":");
        int32_t *draft = taken(n * k * 4), *out = malloc(n * (k + 1) * 4);
        double *q = taken(n * k * V * 8), *p = taken(n * (k + 1) * V * 8), *weights = malloc(V * 8);
        state = number(header, "\"seed\":");
        for (long i = 0; i < n; i++)
            verify(draft + i * k, q + i * k * V, p + i * (k + 1) * V, out + i * (k + 1), k, V, weights,
                   !strcmp(fault, "target"));
        if (!strcmp(fault, "crash")) { fprintf(stderr, "about to crash\n"); abort(); }
        if (!strcmp(fault, "exit")) return 7;
        if (!strcmp(fault, "hang")) for (;;) pause();
        if (!strcmp(fault, "print")) printf("verifying %ld drafts\n", n);
        if (!strcmp(fault, "refuse")) {
            printf("{\"ok\":false,\"error\":\"no such kernel\"}\n");
            fflush(stdout);
            continue;
        }
        if (!strcmp(fault, "range")) out[0] = V;
        printf("{\"ok\":true,\"arrays\":[{\"name\":\"tokens\",\"dtype\":\"<i4\",\"shape\":[%ld,%ld]}]}\n", n, k + 1);
        if (!strcmp(fault, "short")) { fwrite(out, 4, 1, stdout); fflush(stdout); return 0; }
        fwrite(out, 4, n * (k + 1), stdout);
        if (!strcmp(fault, "long")) fwrite(out, 4, 1, stdout);
        fflush(stdout);
        free(draft); free(out); free(q); free(p); free(weights);
    }
    return 0;
}
