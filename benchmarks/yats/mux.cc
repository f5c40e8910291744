// Cells of clocked sources through one multiplexer, in YATS: see mux.py.
//
//     mux SOURCE SOURCES GAP SLOTS BUFFER [INCREMENT]
//
// SOURCE is cbr (one cell in GAP slots) or geo (gaps with this mean). With INCREMENT each source has a leaky bucket,
// to which a cell adds INCREMENT and from which a slot takes 1; the bucket holds two cells.

#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <vector>

#include "cbr.h"
#include "data.h"
#include "geosrc.h"
#include "leakyb.h"
#include "mux.h"
#include "sim.h"
#include "sink.h"

void data_classes(void);
void fill_type_check_table(void);

// The kernel reports errors to Lua; here they end the program.
static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    exit(1);
}
void errm0(const char *m) { fail("%s\n", m); }
void errm1s(const char *m, char *a) { fail(m, a); }
void errm2s(const char *m, char *a, char *b) { fail(m, a, b); }
void errm3s(const char *m, char *a, char *b, char *c) { fail(m, a, b, c); }
void errm4s(const char *m, char *a, char *b, char *c, char *d) { fail(m, a, b, c, d); }
void errm5s(const char *m, char *a, char *b, char *c, char *d, char *e) { fail(m, a, b, c, d, e); }
void errm1d(const char *m, int a) { fail(m, a); }
void errm2d(const char *m, int a, int b) { fail(m, a, b); }
void errm1s1d(const char *m, char *a, int b) { fail(m, a, b); }
void errm1d1s(const char *m, int a, char *b) { fail(m, a, b); }
void errm1s2d(const char *m, char *a, int b, int c) { fail(m, a, b, c); }
void errm2s1d(const char *m, char *a, char *b, int c) { fail(m, a, b, c); }
void errm2s2d(const char *m, char *a, char *b, int c, int d) { fail(m, a, b, c, d); }

char *strsave(char *text) { return strdup(text); }

static char *text(const char *word) { return strdup(word); }

// Lead what `from` sends to input `input` of `to`.
static void connect(in1out *from, root *to, int input) {
    from->suc = to;
    from->shand = input;
}

int main(int count, char **words) {
    if (count < 6) fail("usage: mux SOURCE SOURCES GAP SLOTS BUFFER [INCREMENT]\n");
    const bool periodic = !strcmp(words[1], "cbr");
    const int sources = atoi(words[2]), slots = atoi(words[4]), buffer = atoi(words[5]);
    const int increment = count > 6 ? atoi(words[6]) : 0;
    data_classes();
    fill_type_check_table();
    my_srand(1);
    sink end;
    end.name = text("sink");
    mux port;
    port.name = text("mux");
    port.ninp = port.max_vci = sources;
    port.q.setmax(buffer);
    connect(&port, &end, 0);
    port.act();
    std::vector<in1out *> senders;
    for (int i = 0; i < sources; i++) {
        in1out *next = &port;
        in1out *sender;
        if (periodic) {
            cbrsrc *source = new cbrsrc;
            source->delta = atoi(words[3]);
            sender = source;
        } else {
            geosrc *source = new geosrc;
            source->ed = atof(words[3]);
            sender = source;
        }
        sender->name = text("source");
        sender->vci = i;
        if (increment) {
            lb *bucket = new lb;
            bucket->name = text("bucket");
            bucket->vci = NILVCI;
            bucket->SetPrivateParams(increment, 1, 2 * increment);
            connect(bucket, &port, i);
            next = bucket;
        }
        connect(sender, next, i);
        sender->act();
        senders.push_back(sender);
    }
    const clock_t begin = clock();
    _sim.run(slots, slots + 1); // without dots of progress
    const double spent = double(clock() - begin) / CLOCKS_PER_SEC;
    unsigned long sent = 0;
    for (in1out *sender : senders) sent += sender->counter;
    printf("{\"cpu_s\": %.6f, \"sent\": %lu, \"received\": %u, \"lost\": %u}\n", spent, sent, end.counter, port.lossTot);
    return 0;
}
