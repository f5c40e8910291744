// Workload W6 in htsim: a permutation of files on a fat-tree. See fat_tree.py for what differs from ours.
//
//     fat_tree HOSTS DURATION_MS FILE_BYTES BUFFER_BYTES SPREAD_US
//
// Each host sends one file over TCP to the host at the same place of the next pod, on a route drawn for the flow, and
// receives its acknowledgements over another. One JSON line goes to the standard error, for the library itself prints to
// the standard output. The processor time is that of the event loop.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "config.h"
#include "network.h"
#include "eventlist.h"
#include "tcp.h"
#include "fat_tree_topology.h"

namespace {

struct Flow {
    TcpSrc* source;
    TcpSink* sink;
    size_t links_out, links_back;
};

double processor_s() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// Draw one of the equally short routes; the others are freed, for in a large tree they take more memory than the run.
Route* drawn(FatTreeTopology& tree, uint32_t from, uint32_t to) {
    std::vector<const Route*>* paths = tree.get_bidir_paths(from, to, false);
    size_t choice = random() % paths->size();
    Route* chosen = new Route(*(*paths)[choice]);
    for (const Route* each : *paths) delete each;
    delete paths;
    return chosen;
}

long peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, 6, "VmHWM:") == 0) return 1024 * std::atol(line.c_str() + 6);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "fat_tree HOSTS DURATION_MS FILE_BYTES BUFFER_BYTES SPREAD_US\n");
        return 2;
    }
    const uint32_t hosts = std::atoi(argv[1]);
    const double duration_ms = std::atof(argv[2]);
    const uint64_t file = std::atoll(argv[3]);
    const mem_b buffer = std::atoll(argv[4]);
    const double spread_us = std::atof(argv[5]);

    srandom(1);
    Packet::set_packet_size(1500);
    EventList events;
    events.setEndtime(timeFromMs(duration_ms));
    // A queue that marks is one that drops at its end, for this TCP does not react to marks.
    FatTreeTopology tree(hosts, speedFromMbps(10000.0), buffer, nullptr, &events, nullptr, ECN, timeFromUs(1.0), 0);
    TcpRtxTimerScanner timers(timeFromMs(1.0), events);

    std::cout.setstate(std::ios::failbit);
    const uint32_t radix = std::lround(std::cbrt(4.0 * hosts)), pod = radix * radix / 4;
    std::vector<Flow> flows;
    for (uint32_t from = 0; from < hosts; from++) {
        const uint32_t to = (from + pod) % hosts;
        Flow flow{new TcpSrc(nullptr, nullptr, events), new TcpSink(), 0, 0};
        flow.source->set_flowsize(file);
        timers.registerTcp(*flow.source);
        Route *out = drawn(tree, from, to), *back = drawn(tree, to, from);
        flow.links_out = out->size() / 2;  // a queue and a pipe each
        flow.links_back = back->size() / 2;
        out->push_back(flow.sink);
        back->push_back(flow.source);
        flow.source->connect(*out, *back, *flow.sink, timeFromUs(spread_us * (random() / (RAND_MAX + 1.0))));
        flows.push_back(flow);
    }

    const double start = processor_s();
    while (events.doNextEvent()) {
    }
    const double spent = processor_s() - start;

    // Packets lost on their way count as if they had gone the whole of it, which ours do not.
    uint64_t hops = 0, octets = 0, finished = 0;
    for (const Flow& flow : flows) {
        hops += flow.source->_packets_sent / Packet::data_packet_size() * flow.links_out + flow.sink->_packets / Packet::data_packet_size() * flow.links_back;
        const uint64_t delivered = std::min<uint64_t>(flow.sink->_cumulative_ack, file);
        octets += delivered;
        finished += delivered == file;
    }
    std::fprintf(stderr,
                 "{\"cpu_s\": %.6f, \"packet_hops\": %llu, \"goodput_bps\": %.0f, \"finished\": %llu, \"rss_bytes\": %ld}\n",
                 spent, (unsigned long long)hops, octets * 8e3 / duration_ms, (unsigned long long)finished, peak_bytes());
    return 0;
}
