// A bottleneck and a constant delay between two TUN devices in two network namespaces, for kernels without netem:
//
//     wire FROM TO RATE DELAY_US QUEUE LIMIT SEED WARMUP SECONDS
//
// What device `wire` of namespace FROM sends waits in a queue of at most LIMIT packets for a line of RATE bit/s, and reaches
// `wire` of namespace TO after DELAY_US more; what comes back is only delayed. QUEUE is tail-drop, codel (RFC 8289, 5 ms and
// 100 ms) or red (Floyd and Jacobson 1993: thresholds LIMIT / 4 and 3 LIMIT / 4, max_p 0.1, weight 0.002, drop). With QUEUE patterns
// each connection has a line of its own, and bit n of its source port less 20000 says whether the first sending of its n-th segment is
// lost; it prints a JSON list of port and time, in us, from the SYN until the ACK of LIMIT octets has come back.
//
// The line has a clock of its own: a packet leaves it one packet time after the one before, however late this process runs.
// It counts from WARMUP to SECONDS and runs on for a second. So a late process moves deliveries, and cannot change the rate. It prints its counts and how late deliveries were as JSON.

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 8192, OCTETS = 2048, BINS = 20000 };
static const int64_t SECOND = 1000000000, TARGET = 5000000, INTERVAL = 100000000;

typedef struct {
    int64_t at;
    int octets;
    char bytes[OCTETS];
} Packet;

// Packets in order, each with a time: of arrival in the queue, of delivery on a way.
typedef struct {
    Packet* slots;
    unsigned head, tail;
} Ring;

static Ring queue, there, back;
static int64_t rate, delay, begin, warm, stop, idle_from, free_at, counted_to;
static int limit, from, to;
static int64_t late[BINS], deliveries, late_max;  // lateness in bins of 10 us
static double occupancy_ns;
static long arrived, dropped, overflowed;

// Of each connection, by its port: when its line is free, its first SYN, its last ACK; its first sequence number and the next one.
enum { PORTS = 65536, FIRST_PORT = 20000, SEGMENTS = 10 };
static int64_t line_free[PORTS], opened[PORTS], closed[PORTS];
static uint32_t origin[PORTS], highest[PORTS], segment[PORTS];

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static unsigned waiting(const Ring* ring) { return ring->tail - ring->head; }
static Packet* first(Ring* ring) { return &ring->slots[ring->head % SLOTS]; }

static void append(Ring* ring, int64_t at, const char* bytes, int octets) {
    if (waiting(ring) == SLOTS) {
        overflowed++;
        return;
    }
    Packet* packet = &ring->slots[ring->tail++ % SLOTS];
    packet->at = at;
    packet->octets = octets;
    memcpy(packet->bytes, bytes, octets);
}

// Count the packets of the port, the one in transmission included, up to an instant; instants only grow.
static void count(int64_t until) {
    int64_t start = counted_to > warm ? counted_to : warm;
    until = until < stop ? until : stop;
    if (until > start) {
        int64_t sending = free_at < until ? free_at : until;
        occupancy_ns += (double)(until - start) * waiting(&queue);
        occupancy_ns += sending > start ? sending - start : 0;
    }
    counted_to = until > counted_to ? until : counted_to;
}

// RED by the average number of packets that arrivals meet.
static double average;
static int since = -1;

static int red(int64_t at, int held) {
    if (held > 0) {
        average += 0.002 * (held - average);
    } else {
        average *= pow(1 - 0.002, (at - idle_from) / (1500.0 * 8 * SECOND / rate));
        idle_from = at;
    }
    double low = limit / 4.0, high = 3 * low;
    if (average < low) {
        since = -1;
        return 0;
    }
    since++;
    double base = 0.1 * (average - low) / (high - low), p = base * since < 1 ? base / (1 - since * base) : 1;
    if (average < high && drand48() >= p) return 0;
    since = 0;
    return 1;
}

// CoDel: RFC 8289, section 5, where `drop_next` is when the next packet is due.
static int64_t first_above, drop_next;
static long drops, last_drops;
static int dropping;
static const char* kind;

static int above(int64_t at) {
    int octets = 0;
    for (unsigned i = queue.head; i != queue.tail && octets <= 1500; i++) octets += queue.slots[i % SLOTS].octets;
    octets -= first(&queue)->octets;
    if (at - first(&queue)->at < TARGET || octets < 1) {
        first_above = 0;
        return 0;
    }
    if (first_above == 0) first_above = at + INTERVAL;
    return at >= first_above;
}

static void lose_first(void) {
    queue.head++;
    dropped++;
}

static void codel(int64_t at) {
    int bad = above(at);
    if (dropping) {
        while (bad && at >= drop_next) {
            lose_first();
            drops++;
            bad = waiting(&queue) > 0 && above(at);
            drop_next += bad ? (int64_t)(INTERVAL / sqrt(drops)) : 0;
        }
        dropping = bad;
    } else if (bad) {
        lose_first();
        if (waiting(&queue) > 0) above(at);
        long delta = drops - last_drops;
        drops = delta > 1 && at - drop_next < 16 * INTERVAL ? delta : 1;
        drop_next = at + (int64_t)(INTERVAL / sqrt(drops));
        last_drops = drops;
        dropping = 1;
    }
    if (waiting(&queue) == 0) first_above = 0;
}

// Begin every transmission that is due before an instant.
static void serve(int64_t until) {
    while (waiting(&queue) > 0) {
        int64_t at = first(&queue)->at > free_at ? first(&queue)->at : free_at;
        if (at >= until) break;
        count(at);
        if (strcmp(kind, "codel") == 0) codel(at);
        if (waiting(&queue) == 0) break;
        Packet* packet = first(&queue);
        free_at = idle_from = at + packet->octets * 8 * SECOND / rate;
        append(&there, free_at + delay, packet->bytes, packet->octets);
        queue.head++;
    }
}

static uint32_t word(const unsigned char* at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
static const unsigned char* header(const char* bytes) { return (const unsigned char*)bytes + 4 * (bytes[0] & 15); }

// Return whether the pattern of its connection loses a packet of the sender.
static int in_pattern(int64_t at, const char* bytes, int octets) {
    const unsigned char* tcp = header(bytes);
    int port = tcp[0] << 8 | tcp[1], data = octets - (int)(tcp - (const unsigned char*)bytes) - 4 * (tcp[12] >> 4);
    uint32_t start = word(tcp + 4);
    if (tcp[13] & 2) {
        opened[port] = opened[port] ? opened[port] : at;
        origin[port] = highest[port] = start + 1;
    }
    if (data <= 0 || (int32_t)(start - highest[port]) < 0) return 0;
    segment[port] = segment[port] ? segment[port] : (uint32_t)data;
    highest[port] = start + data;
    uint32_t number = (start - origin[port]) / segment[port];
    return number < SEGMENTS && ((port - FIRST_PORT) >> number & 1);
}

// Put a packet on the line of its connection, and into the order of arrivals.
static void pass_alone(int64_t at, const char* bytes, int octets) {
    const unsigned char* tcp = header(bytes);
    int64_t* line = &line_free[tcp[0] << 8 | tcp[1]];
    *line = (*line > at ? *line : at) + octets * 8 * SECOND / rate;
    append(&there, *line + delay, bytes, octets);
    for (unsigned place = there.tail - 1; place != there.head; place--) {
        Packet *own = &there.slots[place % SLOTS], *before = &there.slots[(place - 1) % SLOTS];
        if (before->at <= own->at) break;
        Packet other = *before;
        *before = *own;
        *own = other;
    }
}

// Record the end of a connection: LIMIT octets are acknowledged.
static void acknowledged(int64_t at, const char* bytes) {
    const unsigned char* tcp = header(bytes);
    int port = tcp[2] << 8 | tcp[3];
    int is_last = !(tcp[13] & 2) && origin[port] && word(tcp + 8) - origin[port] == (uint32_t)limit;
    if (is_last && !closed[port]) closed[port] = at;
}

static void arrive(int64_t at, const char* bytes, int octets) {
    if (strcmp(kind, "patterns") == 0) {
        if (!in_pattern(at, bytes, octets)) pass_alone(at, bytes, octets);
        return;
    }
    serve(at);
    count(at);
    int held = waiting(&queue) + (free_at > at);
    int refuse = strcmp(kind, "red") == 0 && red(at, held);
    arrived++;
    if (refuse || held >= limit) {
        dropped++;
    } else {
        append(&queue, at, bytes, octets);
    }
}

static void deliver(Ring* way, int device) {
    for (int64_t at = now(); waiting(way) > 0 && first(way)->at <= at; way->head++, at = now()) {
        int64_t lateness = at > warm ? at - first(way)->at : 0;
        int64_t bin = lateness / 10000;
        late[bin < BINS ? bin : BINS - 1]++;
        late_max = lateness > late_max ? lateness : late_max;
        deliveries++;
        if (way == &back && strcmp(kind, "patterns") == 0) acknowledged(at, first(way)->bytes);
        if (write(device, first(way)->bytes, first(way)->octets) < 0) overflowed++;
    }
}

static int64_t next(void) {
    int64_t at = waiting(&there) > 0 ? first(&there)->at : INT64_MAX;
    if (waiting(&back) > 0 && first(&back)->at < at) at = first(&back)->at;
    if (waiting(&queue) > 0 && free_at < at) at = free_at;
    return at;
}

static void run(int64_t end) {
    char bytes[OCTETS];
    struct pollfd devices[] = {{from, POLLIN, 0}, {to, POLLIN, 0}};
    for (int64_t at = now(); at < end; at = now()) {
        int octets;
        while ((octets = read(from, bytes, OCTETS)) > 0) arrive(now(), bytes, octets);
        while ((octets = read(to, bytes, OCTETS)) > 0) append(&back, now() + delay, bytes, octets);
        serve(now());
        deliver(&there, to);
        deliver(&back, from);
        int64_t wait = next() < end ? next() - now() : SECOND / 10;
        struct timespec pause = {wait > 0 ? wait / SECOND : 0, wait > 0 ? wait % SECOND : 0};
        ppoll(devices, 2, &pause, NULL);
    }
    count(now());
}

static int open_device(const char* namespace) {
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int place = open(path, O_RDONLY);
    if (place < 0 || setns(place, CLONE_NEWNET) < 0) fail(namespace);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);  // belongs to the namespace in which it is opened
    if (device < 0) fail("/dev/net/tun");
    struct ifreq request = {.ifr_name = "wire"};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(device, TUNSETIFF, &request) < 0) fail("TUNSETIFF");
    close(place);
    return device;
}

static double percentile(double share) {
    int64_t seen = 0;
    for (int bin = 0; bin < BINS; bin++) {
        if ((seen += late[bin]) >= share * deliveries) return (bin + 1) / 100.0;
    }
    return BINS / 100.0;
}

int main(int argc, char** argv) {
    if (argc != 10) return 2;
    from = open_device(argv[1]);
    to = open_device(argv[2]);
    rate = atoll(argv[3]);
    delay = atoll(argv[4]) * 1000;
    kind = argv[5];
    limit = atoi(argv[6]);
    srand48(atol(argv[7]));
    queue.slots = calloc(SLOTS, sizeof(Packet));
    there.slots = calloc(SLOTS, sizeof(Packet));
    back.slots = calloc(SLOTS, sizeof(Packet));
    if (!queue.slots || !there.slots || !back.slots) fail("memory");
    struct sched_param ahead = {.sched_priority = 50};
    if (sched_setscheduler(0, SCHED_FIFO, &ahead) < 0) fail("SCHED_FIFO");
    prctl(PR_SET_TIMERSLACK, 1);
    begin = now();
    warm = begin + atoll(argv[8]) * SECOND;
    stop = begin + atoll(argv[9]) * SECOND;
    printf("ready\n");
    fflush(stdout);
    run(stop + SECOND);
    if (strcmp(kind, "patterns") == 0) {
        int some = 0;
        for (int port = FIRST_PORT; port < FIRST_PORT + (1 << SEGMENTS); port++) {
            if (closed[port]) printf("%s[%d, %ld]", some++ ? ", " : "[", port, (long)(closed[port] - opened[port]) / 1000);
        }
        printf(some ? "]\n" : "[]\n");
        return 0;
    }
    printf("{\"queue_packets\": %.3f, \"arrived\": %ld, \"dropped\": %ld, \"overflowed\": %ld, \"late_p99_ms\": %.2f, "
           "\"late_p999_ms\": %.2f, \"late_max_ms\": %.2f}\n",
           occupancy_ns / (stop - warm), arrived, dropped, overflowed, percentile(0.99), percentile(0.999), late_max / 1e6);
}
