//! A transfer over TCP: smoltcp at both ends of a flow.

use std::collections::{HashMap, VecDeque};

use pushout_net::{Ecn, Host, Path, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

use crate::picture::Picture;

/// The interface of a host: packets that it has to send, and that have reached it.
#[derive(Default)]
struct Nic {
    outgoing: VecDeque<Vec<u8>>,
    incoming: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sending<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl phy::TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, octets: usize, write: F) -> R {
        self.0.push_back(vec![0; octets]);
        write(self.0.back_mut().expect("it was just added"))
    }
}

impl Device for Nic {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending<'_>)> {
        self.incoming.pop_front().map(|packet| (Received(packet), Sending(&mut self.outgoing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending<'_>> {
        Some(Sending(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, 1500);
        capabilities
    }
}

/// A host with one socket.
struct End {
    host: Host,
    nic: Nic,
    stack: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl End {
    fn new(host: Host, number: u8, window: usize) -> End {
        let mut nic = Nic::default();
        let mut stack = Interface::new(Config::new(HardwareAddress::Ip), &mut nic, Instant::ZERO);
        stack.update_ip_addrs(|list| {
            list.push(IpCidr::new(IpAddress::v4(10, 0, 0, number), 24)).expect("there is room")
        });
        let mut socket = Socket::new(SocketBuffer::new(vec![0; window]), SocketBuffer::new(vec![0; window]));
        socket.set_congestion_control(CongestionControl::Cubic);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        End { host, nic, stack, sockets, socket }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }
}

/// Return the instant of a stack, whose clock has whole microseconds, not before `now`.
fn instant(now: Time) -> Instant {
    Instant::from_micros(now.picos().div_ceil(1_000_000) as i64)
}

/// Send `octets` octets from the client to the server with buffers of `window` octets at both, and draw the queue; returns when the server
/// has received all of them.
pub fn transfer(
    path: &mut Path,
    [client, server]: [Host; 2],
    octets: usize,
    window: usize,
    picture: &mut Picture,
) {
    let flow = path.open(client, server).expect("two hosts");
    let mut ends = [End::new(client, 1, window), End::new(server, 2, window)];
    ends[1].socket().listen(80).expect("a free port");
    let End { stack, sockets, socket, .. } = &mut ends[0];
    let connected =
        sockets.get_mut::<Socket>(*socket).connect(stack.context(), (IpAddress::v4(10, 0, 0, 2), 80), 49152);
    connected.expect("an address");
    let (mut now, mut contents, mut unsent, mut received) = (Time::ZERO, HashMap::new(), octets, 0);
    while received < octets {
        for end in &mut ends {
            end.stack.poll(instant(now), &mut end.nic, &mut end.sockets);
            while end.host == client && unsent > 0 && end.socket().can_send() {
                unsent -= end.socket().send_slice(&vec![0; unsent.min(1 << 14)]).expect("an open socket");
            }
            while end.host == server && end.socket().can_recv() {
                received += end.socket().recv(|data| (data.len(), data.len())).expect("an open socket");
            }
            end.stack.poll(instant(now), &mut end.nic, &mut end.sockets);
            for packet in std::mem::take(&mut end.nic.outgoing) {
                let handle =
                    path.offer(now, end.host, packet.len(), flow, Ecn::NotEct).expect("a packet of the path");
                contents.insert(handle, packet);
            }
        }
        let timer = |end: &mut End| {
            Some(end.stack.poll_at(instant(now), &end.sockets)?.total_micros() as u64 * 1_000_000)
        };
        let timers = ends.iter_mut().filter_map(timer).map(Time::from_picos).filter(|timer| *timer > now);
        now = timers.chain(path.next()).min().expect("something will happen");
        for packet in path.take(now) {
            let content = contents.remove(&packet.handle).expect("each ends once");
            if packet.arrived() {
                ends[usize::from(packet.to == server)].nic.incoming.push_back(content);
            }
        }
        picture.see(path);
    }
}
