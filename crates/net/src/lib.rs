//! The network in a test: hosts of a stack under test exchange packets over queues with policies, ECN, shared memories and
//! losses, in virtual time. Every packet has a fate: delivered, marked, cut or lost, where, when and by which rule; and
//! [`Path::why`] says which other packet's admission cost it.
//!
//! Like the stacks that it serves, the crate is *sans-I/O*: it opens no socket, starts no thread and reads no clock. The same calls
//! give the same fates on every machine.
//!
//! # A test
//!
//! A [`Path`] is a network, a [`Flow`] a connection between two of its [`Host`]s. The loop is that of every sans-I/O stack:
//! [offer](Path::offer) what the stack wants to send, go on to the earlier of its timer and [`Path::next`], and hand over what the
//! path [has delivered](Path::take).
//!
//! ```
//! use std::collections::HashMap;
//! use pushout_net::{Ecn, Path, Time};
//!
//! let mut path = Path::builder().rate("20 Mb/s").delay("10 ms").policy("fq-codel").build()?;
//! let (client, server) = (path.host("client1")?, path.host("server1")?);
//! let flow = path.open(client, server)?;
//!
//! let mut contents = HashMap::new(); // what travels stays with the caller
//! let request = vec![0; 1200];
//! contents.insert(path.offer(Time::ZERO, client, request.len(), flow, Ecn::Ect0)?, request);
//! while let Some(now) = path.next() {
//!     for packet in path.take(now) {
//!         let content = contents.remove(&packet.handle).expect("every packet ends once");
//!         if packet.to == server && packet.arrived() {
//!             assert_eq!(content.len(), 1200);
//!             contents.insert(path.offer(now, server, 40, flow, Ecn::NotEct)?, vec![1; 40]); // the answer
//!         }
//!     }
//! }
//! assert_eq!((path.offered(), contents.len()), (2, 0));
//! # Ok::<(), pushout_net::Error>(())
//! ```
//!
//! # What stacks give and take
//!
//! The path moves lengths, not contents: [`Path::offer`] takes the octets of the IP packet, headers included, and returns a [`Handle`],
//! under which the caller keeps what it likes. Add the headers that the stack does not write: 28 octets for UDP over IPv4.
//!
//! | stack | sends | receives |
//! |---|---|---|
//! | quinn-proto | `Connection::poll_transmit` writes into a buffer: offer `transmit.size + 28` octets with `transmit.ecn`, each segment for itself if there is a `segment_size` | `Endpoint::handle` with the octets, and the mark of the delivery as `EcnCodepoint::Ce` |
//! | smoltcp | a `Device` whose `TxToken` puts frames into a queue: offer each frame of `Medium::Ip` with its length | frames of deliveries go into the queue of its `RxToken` |
//! | aioquic | `datagrams_to_send(now)`: offer each with 28 octets more | `receive_datagram` |
//!
//! Time is a [`Time`] in picoseconds; [`std::time::Duration`] converts into it. For stacks with [`std::time::Instant`], add
//! [`Time::duration`] to an instant of your own: it rounds up to nanoseconds, so that no timer is early.
//!
//! # Several hosts, flows that come and go
//!
//! A builder makes [`hosts`](Builder::hosts) clients and servers around one bottleneck; [`Path::from_toml`] takes any network of packets that
//! `pushout` runs, with shared memories, pauses and traffic of its own. [`Path::open`] and [`Path::close`] connect hosts at
//! any time: a network has a number of circuits between two hosts that is fixed at the first packet ([`Path::reserve`]), and an open flow takes one. A host without
//! flows sends nothing. The clock ends after 50 days.
//!
//! A [`Path`] can be cloned at any time: both go on alike, and separately.
//!
//! # A failed test
//!
//! [`assert_goodput!`] and [`Path::explain`] print what the network did; [`Path::scenario_file`] is a scenario that repeats the run in
//! [Pushout](https://crates.io/crates/pushout-core), the simulator behind this crate.

mod builder;
mod delivery;
mod error;
mod goodput;
mod path;
mod repeat;
mod time;
mod tree;
mod why;

pub use builder::Builder;
pub use delivery::{Counts, Decision, Delivery, Ecn, Fate, Flow, Handle, Host, Port, Queue};
pub use error::Error;
pub use path::Path;
pub use time::Time;
pub use why::{Cause, Why};
