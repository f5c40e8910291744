//! How many packets a path takes in a second of this machine: 1500 octets back to back through one port.

#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use pushout_net::{Ecn, Path, Time};

fn main() {
    for policy in ["tail-drop", "codel", "fq-codel"] {
        let (packets, mut ended) = (1_000_000_u64, 0);
        let path =
            Path::builder().rate("1 Gb/s").access("10 Gb/s").delay("1 ms").buffer("200 kB").policy(policy);
        let mut path = path.build().expect("a path");
        let (client, server) = (path.host("client1").expect("a host"), path.host("server1").expect("a host"));
        let flow = path.open(client, server).expect("two hosts");
        let begun = Instant::now();
        for number in 0..packets {
            let now = Time::from_picos(number * 11_000_000); // 1.09 times what the port can send
            path.offer(now, client, 1500, flow, Ecn::NotEct).expect("a packet of the path");
            if number % 8 == 7 {
                ended += path.take(now).len();
            }
        }
        ended += path.take(path.now() + Duration::from_secs(1)).len();
        let million = packets as f64 / begun.elapsed().as_secs_f64() / 1e6;
        println!("{policy}: {million:.2} million offers a second, {ended} packets ended");
    }
}
