# Workloads of `pushout bench` in ns-2: flows over a dumbbell, as scenarios/w1-packet.toml and w3-*.toml describe them
# for TCP, and with `load` periodic datagrams of 53 octets as in scenarios/mux-periodic.toml. Prints one JSON line.
#
#     ns dumbbell.tcl flows=100 access=100e6 access_delay=1e-3 rate=1e9 delay=3e-3 buffer=1250000 mss=1460 \
#        spread=0.1 duration=5 scheduler=List
#
# What is timed is the event loop alone: topology and routes are ready when the first event starts the clock.
# docs/performance.md lists what ns-2 models differently.

array set given {
    flows 10 access 155.52e6 access_delay 5e-6 rate 155.52e6 delay 5e-6
    buffer 159000 mss 2048 window 65536 spread 0.01 duration 20 load 0 scheduler Calendar
}
foreach argument $argv {
    lassign [split $argument =] key value
    if {![info exists given($key)]} { error "no parameter is called $key" }
    set given($key) $value
}

# Our lines count whole packets: 40 octets of TCP and IP headers, nothing else. A cell is 53 octets.
set header 40
set cell 53
set ns [new Simulator]
$ns use-scheduler $given(scheduler)
$ns rtproto Manual

# The clocks of scenarios: ticks of 500 ms, at least 1 s, at first 6 s; a delayed ACK waits for 100 ms in the mean.
Agent/TCP set packetSize_ $given(mss)
Agent/TCP set window_ [expr {int($given(window) / $given(mss))}]
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.5
Agent/TCP set minrto_ 1.0
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set tcpip_base_hdr_size_ $header
Agent/TCPSink set packetSize_ $header
Agent/TCPSink/DelAck set interval_ 100ms
# A queue in octets: `limit` times a mean packet of one octet.
Queue/DropTail set queue_in_bytes_ true
Queue/DropTail set mean_pktsize_ 1
Queue set limit_ 1000000000

proc route {node via args} {
    set module [$node get-module "Manual"]
    foreach destination $args {
        if {$destination eq "default"} {
            $module add-route-to-adj-node -default $via
        } else {
            $module add-route-to-adj-node $via
        }
    }
}

proc host {switch} {
    global ns given
    set node [$ns node]
    $ns duplex-link $node $switch $given(access) $given(access_delay) DropTail
    route $node $switch default
    route $switch $node adjacent
    return $node
}

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $given(rate) $given(delay) DropTail
$ns queue-limit $left $right $given(buffer)
route $left $right default
route $right $left default

$ns at 0.0 {set begin [clock microseconds]}
for {set i 0} {$i < $given(flows)} {incr i} {
    if {$given(load) > 0} {
        set source($i) [new Agent/UDP]
        set sink($i) [new Agent/LossMonitor]
        set application [new Application/Traffic/CBR]
        $source($i) set packetSize_ $cell
        $application set packetSize_ $cell
        $application set rate_ [expr {$given(load) * $given(rate) / $given(flows)}]
    } else {
        set source($i) [new Agent/TCP/Reno]
        set sink($i) [new Agent/TCPSink/DelAck]
        set application [new Application/FTP]
    }
    $ns attach-agent [host $left] $source($i)
    $ns attach-agent [host $right] $sink($i)
    $ns connect $source($i) $sink($i)
    $application attach-agent $source($i)
    $ns at [expr {$i * $given(spread) / $given(flows)}] "$application start"
}

# Octets of data that sinks have in order (they count headers too), and packets that lines took up: three lines each
# way, and what had to be sent again was lost before the second.
proc tcp_done {i} {
    global given header source sink
    set octets [expr {[$sink($i) set bytes_] * double($given(mss)) / ($given(mss) + $header)}]
    set data [expr {3 * [$source($i) set ndatapack_] - 2 * [$source($i) set nrexmitpack_]}]
    return [list $octets [expr {$data + 3 * [$source($i) set nackpack_]}]]
}

# The same for cells, each of which carries 48 octets.
proc cells_done {i} {
    global given cell sink
    set received [$sink($i) set npkts_]
    set sent [expr {int($given(duration) * $given(load) * $given(rate) / $given(flows) / (8 * $cell))}]
    return [list [expr {48.0 * $received}] [expr {$sent + 2 * $received}]]
}

# The most memory that this process has had, in octets, where the system tells.
proc peak {} {
    if {[catch {open /proc/self/status} status]} { return null }
    regexp {VmHWM:\s+(\d+) kB} [read $status] -> kilobytes
    return [expr {1024 * $kilobytes}]
}

proc finish {} {
    global given begin
    set wall [expr {([clock microseconds] - $begin) / 1e6}]
    set octets 0.0
    set hops 0
    for {set i 0} {$i < $given(flows)} {incr i} {
        lassign [expr {$given(load) > 0 ? [cells_done $i] : [tcp_done $i]}] more count
        set octets [expr {$octets + $more}]
        set hops [expr {$hops + $count}]
    }
    set goodput [expr {8 * $octets / $given(duration)}]
    set form {{"wall_s": %.6f, "goodput_bps": %.1f, "packet_hops": %d, "rss_bytes": %s}}
    puts [format $form $wall $goodput $hops [peak]]
    exit 0
}

$ns at $given(duration) finish
$ns run
