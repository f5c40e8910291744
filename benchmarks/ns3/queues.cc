// Flows of one congestion control through one queue in ns-3, as benchmarks/ns3/queues.py describes them for Pushout. Prints one
// JSON line: goodput, mean queue in packets with the one in transmission, and the drops and marks of the queue. `red` waits between
// drops as ns-2 does (`--wait=true`, the default of ns-3) or not.
//
//     queues --flows=2 --congestion=TcpLinuxReno --queue=codel --rate=50000000 --delay=10e-3 --limit=84 --duration=60
//
// The queue discipline lies above a device queue of one packet, so that two packets are beyond its reach.

#include <iomanip>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include "mends.h"

using namespace ns3;

struct Given {
    uint32_t flows = 1;
    std::string congestion = "TcpCubic";
    std::string queue = "tail-drop";
    uint64_t rate = 50000000;
    double delay = 10e-3;
    uint32_t limit = 84;
    double warmup = 10;
    double duration = 60;
    double spread = 0.1;
    bool wait = true;
    std::string mend = "none";
    std::string trace;

    void Read(int argc, char** argv) {
        CommandLine line;
        line.AddValue("flows", "TCP flows", flows);
        line.AddValue("congestion", "congestion control, a type of ns-3", congestion);
        line.AddValue("queue", "tail-drop, step, red, codel, pie or fq-codel", queue);
        line.AddValue("rate", "rate of the bottleneck, bit/s", rate);
        line.AddValue("delay", "its delay, s", delay);
        line.AddValue("limit", "packets in its queue discipline; with step the threshold", limit);
        line.AddValue("warmup", "time that no figure counts, s", warmup);
        line.AddValue("duration", "simulated time, s", duration);
        line.AddValue("spread", "time in which the flows start one after the other, s", spread);
        line.AddValue("wait", "red waits between drops", wait);
        line.AddValue("mend", "what of TCP is mended: none, prr, exit or both (mends.h)", mend);
        line.AddValue("trace", "list congestion windows of the first flow: any word", trace);
        line.Parse(argc, argv);
    }
};

void ConfigureTcp(const Given& given) {
    const bool quiet = (given.mend == "exit" || given.mend == "both") && given.congestion != "TcpDctcp";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName((quiet ? "ns3::Quiet" : "ns3::") + given.congestion)));
    if (given.mend == "prr" || given.mend == "both") {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(OncePrrRecovery::GetTypeId()));
    }
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6 << 20));
}

class Dumbbell {
  public:
    explicit Dumbbell(const Given& given) : given(given) {
        internet.SetIpv6StackInstall(false);
        addresses.SetBase("10.0.0.0", "255.255.255.252");
        switches.Create(2);
        internet.Install(switches);
        Bottleneck();
        for (uint32_t i = 0; i < given.flows; ++i) {
            Flow(i);
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        Simulator::Schedule(Seconds(given.warmup), &Dumbbell::Begin, this);
    }

    void Print() const {
        const auto& stats = discipline->GetStats();
        std::cout << std::fixed << std::setprecision(6) << "{\"goodput_bps\": "
                  << 8.0 * (Octets() - before) / (given.duration - given.warmup)
                  << ", \"queue_packets\": " << waiting / samples
                  << ", \"dropped\": " << stats.nTotalDroppedPackets << ", \"marked\": " << stats.nTotalMarkedPackets
                  << "}" << std::endl;
    }

  private:
    void Begin() {
        before = Octets();
        Sample();
    }

    void Sample() {
        waiting += discipline->GetNPackets() + device->GetQueue()->GetNPackets() + (sending ? 1 : 0);
        ++samples;
        Simulator::Schedule(MicroSeconds(997), &Dumbbell::Sample, this);
    }

    uint64_t Octets() const {
        uint64_t octets = 0;
        for (uint32_t i = 0; i < sinks.GetN(); ++i) {
            octets += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        }
        return octets;
    }

    void Bottleneck() {
        PointToPointHelper line;
        line.SetDeviceAttribute("DataRate", DataRateValue(given.rate));
        line.SetChannelAttribute("Delay", TimeValue(Seconds(given.delay)));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
        NetDeviceContainer pair = line.Install(switches.Get(0), switches.Get(1));
        device = DynamicCast<PointToPointNetDevice>(pair.Get(0));
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Dumbbell::TxBegin, this));
        device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Dumbbell::TxEnd, this));
        addresses.Assign(pair);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(pair);
        discipline = Discipline().Install(pair.Get(0)).Get(0);
    }

    TrafficControlHelper Discipline() const {
        TrafficControlHelper control;
        const std::string limit = std::to_string(given.limit);
        const QueueSizeValue size(QueueSize(limit + "p"));
        if (given.queue == "step") {
            control.SetRootQueueDisc("ns3::RedQueueDisc", "UseEcn", BooleanValue(true), "UseHardDrop",
                                     BooleanValue(false), "QW", DoubleValue(1), "MinTh", DoubleValue(given.limit),
                                     "MaxTh", DoubleValue(given.limit), "MaxSize", StringValue("1000p"), "MeanPktSize",
                                     UintegerValue(1500), "Gentle", BooleanValue(false));
        } else if (given.queue == "red") {
            control.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(given.limit), "MaxTh",
                                     DoubleValue(3 * given.limit), "LInterm", DoubleValue(10), "QW", DoubleValue(0.002),
                                     "MaxSize", StringValue("1000p"), "MeanPktSize", UintegerValue(1500), "Gentle",
                                     BooleanValue(false), "Wait", BooleanValue(given.wait), "LinkBandwidth",
                                     DataRateValue(given.rate));
        } else if (given.queue == "codel") {
            control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue("1000p"));
        } else if (given.queue == "pie") {
            control.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", StringValue("1000p"));
        } else if (given.queue == "fq-codel") {
            control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue("10240p"));
        } else {
            control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", size);
        }
        return control;
    }

    void Flow(uint32_t index) {
        const uint16_t port = 9;
        const char* tcp = "ns3::TcpSocketFactory";
        NodeContainer hosts(2);
        internet.Install(hosts);
        Connect(hosts.Get(0), switches.Get(0));
        Ipv4Address receiver = Connect(hosts.Get(1), switches.Get(1));
        sinks.Add(PacketSinkHelper(tcp, InetSocketAddress(Ipv4Address::GetAny(), port)).Install(hosts.Get(1)));
        BulkSendHelper greedy(tcp, InetSocketAddress(receiver, port));
        greedy.SetAttribute("SendSize", UintegerValue(1448));
        ApplicationContainer sender = greedy.Install(hosts.Get(0));
        sender.Start(Seconds(given.spread * (index + 1) / given.flows));
        if (index == 0 && !given.trace.empty()) {
            Simulator::Schedule(Seconds(0.2), &Dumbbell::Trace, this, sender.Get(0));
        }
    }

    void Trace(Ptr<Application> sender) {
        DynamicCast<BulkSendApplication>(sender)->GetSocket()->TraceConnectWithoutContext(
            "CongestionWindow", MakeCallback(&Dumbbell::Window, this));
    }

    void Window(uint32_t, uint32_t now) {
        std::cerr << Simulator::Now().GetSeconds() << " " << now / 1448.0 << " " << discipline->GetNPackets() << "\n";
    }

    Ipv4Address Connect(Ptr<Node> a, Ptr<Node> b) {
        PointToPointHelper line;
        line.SetDeviceAttribute("DataRate", StringValue("1Gb/s"));
        line.SetChannelAttribute("Delay", StringValue("10us"));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        NetDeviceContainer pair = line.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(pair);
        TrafficControlHelper().Uninstall(pair);
        addresses.NewNetwork();
        return interfaces.GetAddress(0);
    }

    void TxBegin(Ptr<const Packet>) { sending = true; }
    void TxEnd(Ptr<const Packet>) { sending = false; }

    Given given;
    InternetStackHelper internet;
    Ipv4AddressHelper addresses;
    NodeContainer switches;
    ApplicationContainer sinks;
    Ptr<PointToPointNetDevice> device;
    Ptr<QueueDisc> discipline;
    bool sending = false;
    uint64_t before = 0;
    double waiting = 0;
    double samples = 0;
};

int main(int argc, char** argv) {
    Given given;
    given.Read(argc, argv);
    // Registered only when they are named.
    QuietTcpLinuxReno::GetTypeId();
    QuietTcpCubic::GetTypeId();
    ConfigureTcp(given);
    if (given.queue == "step") {
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    }
    Dumbbell dumbbell(given);
    Simulator::Stop(Seconds(given.duration));
    Simulator::Run();
    dumbbell.Print();
    Simulator::Destroy();
}
