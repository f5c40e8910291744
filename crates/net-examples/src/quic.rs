//! A transfer over QUIC: quinn-proto at both ends of a flow.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use pushout_net::{Delivery, Ecn, Fate, Flow, Handle, Host, Path, Time};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
};
use quinn_proto::{ServerConfig, StreamId, TransportConfig};

use crate::picture::Picture;

/// One end of the connection: an endpoint, its connection once there is one, and the stream.
struct End {
    host: Host,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
}

/// A transfer that has ended.
#[derive(Debug)]
pub struct Transfer {
    /// The client's connection, with its statistics.
    pub client: Connection,
    /// The flow.
    pub flow: Flow,
    /// What became of each packet of the client, in the order of time.
    pub packets: Vec<Delivery>,
}

/// Send `octets` octets from the client to the server over a flow of the path, and draw the queue, until the server has received all
/// of them. `echo` is what the server's stack makes of the ECN field of a packet, [`as_received`] in a right one.
pub fn transfer(
    path: &mut Path,
    [client, server]: [Host; 2],
    octets: usize,
    config: TransportConfig,
    echo: fn(Option<EcnCodepoint>) -> Option<EcnCodepoint>,
    picture: &mut Picture,
) -> Transfer {
    let (epoch, flow) = (Instant::now(), path.open(client, server).expect("two hosts"));
    let address = |host: u8| ([10, 0, 0, host], 443).into();
    let (mut roots, certificate) = (
        rustls::RootCertStore::empty(),
        rustls::pki_types::CertificateDer::from(&include_bytes!("server.der")[..]),
    );
    roots.add(certificate.clone()).expect("a certificate");
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(&include_bytes!("server.key")[..]).into();
    let server_config = Arc::new(ServerConfig::with_single_cert(vec![certificate], key).expect("a key"));
    let end = |host, config| {
        let mut seeded = EndpointConfig::default();
        seeded.rng_seed(Some([7; 32])); // connection identifiers, and with them the lengths of packets
        End {
            host,
            endpoint: Endpoint::new(Arc::new(seeded), config, true, None),
            connection: None,
            stream: None,
        }
    };
    let mut ends = [end(client, None), end(server, Some(server_config))];
    let mut trust = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a certificate");
    trust.transport_config(Arc::new(config));
    ends[0].connection = Some(ends[0].endpoint.connect(epoch, trust, address(2), "server1").expect("a name"));
    let (mut now, mut contents, mut unsent, mut received) = (Time::ZERO, HashMap::new(), octets, 0);
    let mut packets = Vec::new();
    while received < octets {
        for end in &mut ends {
            let Some((_, connection)) = &mut end.connection else { continue };
            while let Some(event) = connection.poll() {
                assert!(
                    !matches!(event, quinn_proto::Event::ConnectionLost { .. }),
                    "{event:?}\n{}",
                    path.explain()
                );
            }
            if end.host == client {
                end.stream = end.stream.or_else(|| connection.streams().open(Dir::Uni));
                let write = end
                    .stream
                    .filter(|_| unsent > 0) // an empty write would be sent as well
                    .map(|stream| connection.send_stream(stream).write(&vec![0; unsent.min(1 << 16)]));
                unsent -= write.and_then(Result::ok).unwrap_or(0);
            } else {
                end.stream = end.stream.or_else(|| connection.streams().accept(Dir::Uni));
                received += end.stream.map_or(0, |stream| read(connection, stream));
            }
            send(end, path, flow, epoch + now.duration(), now, &mut contents);
        }
        let timer = |end: &mut End| {
            Some(Time::from(end.connection.as_mut()?.1.poll_timeout()?.duration_since(epoch)))
        };
        now = ends
            .iter_mut()
            .filter_map(timer)
            .chain(path.next())
            .min()
            .expect("something will happen")
            .max(now);
        for packet in path.take(now) {
            let (content, ecn): (BytesMut, Option<EcnCodepoint>) =
                contents.remove(&packet.handle).expect("each ends once");
            let ecn = if matches!(packet.fate, Fate::Marked(_)) { Some(EcnCodepoint::Ce) } else { ecn };
            let (end, from, ecn) =
                if packet.to == server { (&mut ends[1], 1, echo(ecn)) } else { (&mut ends[0], 2, ecn) };
            packets.extend((packet.to == server).then_some(packet));
            let data = packet.arrived().then_some(content);
            let event = data.and_then(|data| {
                end.endpoint.handle(epoch + now.duration(), address(from), None, ecn, data, &mut Vec::new())
            });
            match (event, &mut end.connection) {
                (Some(DatagramEvent::NewConnection(new)), _) => {
                    let accepted = end.endpoint.accept(new, epoch + now.duration(), &mut Vec::new(), None);
                    end.connection = Some(accepted.unwrap_or_else(|why| panic!("{:?}", why.cause)));
                }
                (Some(DatagramEvent::ConnectionEvent(_, event)), Some((_, connection))) => {
                    connection.handle_event(event)
                }
                _ => {}
            }
        }
        ends.iter_mut()
            .filter_map(|end| end.connection.as_mut())
            .for_each(|(_, it)| it.handle_timeout(epoch + now.duration()));
        picture.see(path);
    }
    Transfer { client: ends[0].connection.take().expect("it has sent").1, flow, packets }
}

/// Return the ECN field of a packet as it was received.
pub fn as_received(ecn: Option<EcnCodepoint>) -> Option<EcnCodepoint> {
    ecn
}

/// Read what a stream has; returns its octets.
fn read(connection: &mut Connection, stream: StreamId) -> usize {
    let (mut octets, mut stream) = (0, connection.recv_stream(stream));
    let Ok(mut chunks) = stream.read(true) else { return 0 };
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        octets += chunk.bytes.len();
    }
    let _ = chunks.finalize();
    octets
}

/// Offer the datagrams that a connection has to send, with 28 octets of headers, and keep their contents.
fn send(
    end: &mut End,
    path: &mut Path,
    flow: Flow,
    instant: Instant,
    now: Time,
    contents: &mut HashMap<Handle, (BytesMut, Option<EcnCodepoint>)>,
) {
    let Some((number, connection)) = &mut end.connection else { return };
    while let Some(event) = connection.poll_endpoint_events() {
        if let Some(event) = end.endpoint.handle_event(*number, event) {
            connection.handle_event(event);
        }
    }
    let mut buffer = Vec::new();
    while let Some(transmit) = connection.poll_transmit(instant, 1, &mut buffer) {
        let ecn = if transmit.ecn == Some(EcnCodepoint::Ect0) { Ecn::Ect0 } else { Ecn::NotEct };
        let handle = path.offer(now, end.host, transmit.size + 28, flow, ecn).expect("a packet of the path");
        contents.insert(handle, (BytesMut::from(&buffer[..transmit.size]), transmit.ecn));
        buffer.clear();
    }
}
