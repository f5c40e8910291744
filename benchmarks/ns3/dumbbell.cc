// Workloads of `pushout bench` in ns-3: TCP flows over a dumbbell, as scenarios/w1-packet.toml and w3-*.toml describe
// them. Prints one JSON line. `pushout bench` compiles it against the ns-3 that it finds.
//
//     dumbbell --flows=100 --access=100000000 --access_delay=1e-3 --rate=1000000000 --delay=3e-3 --buffer=1250000
//         --mss=1460 --spread=0.1 --duration=5 --scheduler=Map
//
// What is timed is the event loop alone. docs/performance.md lists what ns-3 models differently.

#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

struct Given {
    uint32_t flows = 10;
    uint64_t access = 155520000;
    double accessDelay = 5e-6;
    uint64_t rate = 155520000;
    double delay = 5e-6;
    uint32_t buffer = 159000;
    uint32_t mss = 2048;
    uint32_t window = 65536;
    double spread = 0.01;
    double duration = 20;
    std::string scheduler = "Map";

    void Read(int argc, char** argv) {
        CommandLine line;
        line.AddValue("flows", "TCP flows", flows);
        line.AddValue("access", "rate of access and egress lines, bit/s", access);
        line.AddValue("access_delay", "their delay, s", accessDelay);
        line.AddValue("rate", "rate of the bottleneck, bit/s", rate);
        line.AddValue("delay", "its delay, s", delay);
        line.AddValue("buffer", "its drop-tail queue, octets", buffer);
        line.AddValue("mss", "data in a segment, octets", mss);
        line.AddValue("window", "receive buffer, octets", window);
        line.AddValue("spread", "time over which flows start, s", spread);
        line.AddValue("duration", "simulated time, s", duration);
        line.AddValue("scheduler", "event queue: Map, Heap, Calendar, PriorityQueue or List", scheduler);
        line.Parse(argc, argv);
    }
};

// Reno with NewReno's partial ACKs, no options; the clocks of scenarios: ticks of 500 ms, at least 1 s, at first
// 6 s; a delayed ACK waits for 100 ms in the mean.
void ConfigureTcp(const Given& given) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(500)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(Seconds(6)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(given.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(given.window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * given.window));
}

class Dumbbell {
  public:
    explicit Dumbbell(const Given& given) : given(given) {
        access.SetDeviceAttribute("Mtu", UintegerValue(65535));
        access.SetDeviceAttribute("DataRate", DataRateValue(given.access));
        access.SetChannelAttribute("Delay", TimeValue(Seconds(given.accessDelay)));
        access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000000B"));
        internet.SetRoutingHelper(Ipv4NixVectorHelper()); // a route costs the same however many there are
        internet.SetIpv6StackInstall(false);
        addresses.SetBase("10.0.0.0", "255.255.255.252");
        switches.Create(2);
        internet.Install(switches);
        Bottleneck();
        for (uint32_t i = 0; i < given.flows; ++i) {
            Flow(i);
        }
    }

    // What applications received.
    uint64_t Octets() const {
        uint64_t octets = 0;
        for (uint32_t i = 0; i < sinks.GetN(); ++i) {
            octets += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        }
        return octets;
    }

    // Packets that lines took up, which the queues before them count anyway.
    uint64_t PacketHops() const {
        uint64_t hops = 0;
        for (uint32_t i = 0; i < devices.GetN(); ++i) {
            hops += DynamicCast<PointToPointNetDevice>(devices.Get(i))->GetQueue()->GetTotalReceivedPackets();
        }
        return hops;
    }

  private:
    void Bottleneck() {
        PointToPointHelper line = access;
        line.SetDeviceAttribute("DataRate", DataRateValue(given.rate));
        line.SetChannelAttribute("Delay", TimeValue(Seconds(given.delay)));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(given.buffer) + "B"));
        Connect(line, switches.Get(0), switches.Get(1));
    }

    void Flow(uint32_t index) {
        const uint16_t port = 9;
        const char* tcp = "ns3::TcpSocketFactory";
        NodeContainer hosts(2);
        internet.Install(hosts);
        Connect(access, hosts.Get(0), switches.Get(0));
        Ipv4Address receiver = Connect(access, hosts.Get(1), switches.Get(1));
        sinks.Add(PacketSinkHelper(tcp, InetSocketAddress(Ipv4Address::GetAny(), port)).Install(hosts.Get(1)));
        BulkSendHelper greedy(tcp, InetSocketAddress(receiver, port));
        greedy.SetAttribute("SendSize", UintegerValue(given.mss));
        greedy.Install(hosts.Get(0)).Start(Seconds(index * given.spread / given.flows));
    }

    // A line between two nodes without a queue discipline above its queue; answers the first end's address.
    Ipv4Address Connect(PointToPointHelper& line, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer pair = line.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(pair);
        TrafficControlHelper().Uninstall(pair);
        addresses.NewNetwork();
        devices.Add(pair);
        return interfaces.GetAddress(0);
    }

    Given given;
    PointToPointHelper access;
    InternetStackHelper internet;
    Ipv4AddressHelper addresses;
    NodeContainer switches;
    NetDeviceContainer devices;
    ApplicationContainer sinks;
};

// The most memory that this process has had, in octets, where the system tells.
std::string Peak() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") {
            uint64_t kilobytes = 0;
            status >> kilobytes;
            return std::to_string(1024 * kilobytes);
        }
    }
    return "null";
}

int main(int argc, char** argv) {
    Given given;
    given.Read(argc, argv);
    GlobalValue::Bind("SchedulerType", StringValue("ns3::" + given.scheduler + "Scheduler"));
    ConfigureTcp(given);
    Dumbbell dumbbell(given);
    Simulator::Stop(Seconds(given.duration));
    auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    std::cout << std::fixed << std::setprecision(6) << "{\"wall_s\": " << wall.count()
              << ", \"goodput_bps\": " << 8.0 * dumbbell.Octets() / given.duration
              << ", \"packet_hops\": " << dumbbell.PacketHops() << ", \"rss_bytes\": " << Peak() << "}" << std::endl;
    Simulator::Destroy();
}
