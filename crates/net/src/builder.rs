//! A path with one bottleneck, from a few numbers.

use pushout_core::discipline;
#[cfg(feature = "scenario")]
use pushout_core::language::tree::TextPlace;
use pushout_core::language::tree::{Node, Value};

use crate::error::Error;
#[cfg(feature = "scenario")]
use crate::path::SECTIONS;
use crate::path::{LONGEST, Path};
use crate::tree::{self, table};

/// Describes a path with one bottleneck between clients and servers: see [`Path::builder`].
///
/// Quantities are texts with units, as in scenarios: `"20 Mb/s"`, `"10 ms"`, `"64 kB"`.
#[derive(Clone, Debug)]
pub struct Builder {
    hosts: usize,
    rate: String,
    rate_back: Option<String>,
    delay: String,
    access: String,
    buffer: Option<String>,
    policy: String,
    loss: f64,
    mtu: u32,
    seed: u64,
    flows: usize,
    more: String,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            hosts: 1,
            rate: "10 Mb/s".to_string(),
            rate_back: None,
            delay: "10 ms".to_string(),
            access: "10 Gb/s".to_string(),
            buffer: None,
            policy: "tail-drop".to_string(),
            loss: 0.0,
            mtu: 1500,
            seed: 1,
            flows: 8,
            more: String::new(),
        }
    }
}

impl Path {
    /// Describe a path with one bottleneck.
    ///
    /// ```
    /// use pushout_net::Path;
    ///
    /// let path = Path::builder().rate("20 Mb/s").delay("10 ms").buffer("100 kB").policy("codel").build()?;
    /// assert_eq!(path.hosts(), ["client1", "server1"]);
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Set the number of clients, and of servers; by default 1 each.
    #[must_use]
    pub fn hosts(self, hosts: usize) -> Builder {
        Builder { hosts, ..self }
    }

    /// Set the rate of the bottleneck in both directions; by default 10 Mb/s.
    #[must_use]
    pub fn rate(self, rate: impl Into<String>) -> Builder {
        Builder { rate: rate.into(), ..self }
    }

    /// Set the rate of the bottleneck from servers to clients where it differs.
    #[must_use]
    pub fn rate_back(self, rate: impl Into<String>) -> Builder {
        Builder { rate_back: Some(rate.into()), ..self }
    }

    /// Set the propagation delay of the bottleneck, one way; by default 10 ms. Hosts are next to it.
    #[must_use]
    pub fn delay(self, delay: impl Into<String>) -> Builder {
        Builder { delay: delay.into(), ..self }
    }

    /// Set the rate of the lines between hosts and bottleneck; by default 10 Gb/s, at which 1500 octets take 1.2 µs.
    #[must_use]
    pub fn access(self, rate: impl Into<String>) -> Builder {
        Builder { access: rate.into(), ..self }
    }

    /// Set the buffer of the bottleneck in each direction: octets, packets, a time at its rate, or `unlimited`; by default
    /// `50 ms`, or that of a queue discipline.
    #[must_use]
    pub fn buffer(self, buffer: impl Into<String>) -> Builder {
        Builder { buffer: Some(buffer.into()), ..self }
    }

    /// Set what the bottleneck does with packets: the name of a queue discipline (`fq-codel`, `fq-pie`, `dualpi2`) or of an
    /// admission policy (`tail-drop`, `codel`, `pie`, `red`, `step`, …), or with the feature `scenario` a table of a scenario,
    /// `{ policy = "codel", action = "mark" }`. By default `tail-drop`. `pushout list schemes` has all of them.
    #[must_use]
    pub fn policy(self, policy: impl Into<String>) -> Builder {
        Builder { policy: policy.into(), ..self }
    }

    /// Lose this share of packets at random before the bottleneck, in each direction; by default 0.
    #[must_use]
    pub fn loss(self, share: f64) -> Builder {
        Builder { loss: share, ..self }
    }

    /// Set the octets of the longest packet, IP header included; by default 1500.
    #[must_use]
    pub fn mtu(self, octets: u32) -> Builder {
        Builder { mtu: octets, ..self }
    }

    /// Set the seed of all random draws; by default 1.
    #[must_use]
    pub fn seed(self, seed: u64) -> Builder {
        Builder { seed, ..self }
    }

    /// Set how many flows each client has at a time with the server of its number; by default 8. With 0 the first
    /// [`Path::open`] makes room for 8.
    #[must_use]
    pub fn flows(self, flows: usize) -> Builder {
        Builder { flows, ..self }
    }

    /// Add sections of a scenario, as `[[flow]]` for background traffic or `[[loss]]` for a packet of a number. The nodes are
    /// `client1`, …, `left`, `right`, `server1`, …, the link is `bottleneck`, its other direction `bottleneck.back`.
    #[cfg(feature = "scenario")]
    #[must_use]
    pub fn toml(mut self, sections: &str) -> Builder {
        self.more.push_str(sections);
        self.more.push('\n');
        self
    }

    /// Build the path.
    pub fn build(self) -> Result<Path, Error> {
        if self.hosts == 0 || self.hosts > MOST_HOSTS {
            let why = format!("hosts must be from 1 to {MOST_HOSTS}, not {}", self.hosts);
            return Err(Error::Scenario(why));
        }
        if !(0.0..1.0).contains(&self.loss) {
            return Err(Error::Scenario(format!(
                "loss must be at least 0 and less than 1, not {}",
                self.loss
            )));
        }
        let mut path = Path::of(self.tree()?, &self.more)?;
        path.set_mtu(self.mtu)?;
        for number in 1..=self.hosts {
            let (client, server) =
                (path.host(&format!("client{number}"))?, path.host(&format!("server{number}"))?);
            path.reserve(client, server, self.flows)?;
        }
        Ok(path)
    }

    /// Return the scenario.
    fn tree(&self) -> Result<Node, Error> {
        let mut root = table([
            ("name", "path".into()),
            ("duration", LONGEST.into()),
            ("seed", self.seed.into()),
            ("adaptation", table([("kind", "packet".into())]).into()),
        ]);
        for name in ["left", "right"] {
            node(&mut root, name, "router");
        }
        let mut bottleneck = link(["bottleneck", "left", "right"], &self.rate, &self.delay);
        if let Some(rate) = &self.rate_back {
            tree::set(&mut bottleneck, "back", table([("rate", rate.as_str().into())]).into());
        }
        tree::add(&mut root, "link", bottleneck);
        for number in 1..=self.hosts {
            let [client, server] = ["client", "server"].map(|side| format!("{side}{number}"));
            for (name, ends) in [(&client, [&client, "left"]), (&server, ["right", &server])] {
                node(&mut root, name, "host");
                tree::add(&mut root, "link", link([name, ends[0], ends[1]], &self.access, "0 s"));
            }
        }
        let queue = self.queue()?;
        tree::set(&mut root, "port", table(PORTS.map(|port| (port, queue.value.clone()))).into());
        for port in PORTS.into_iter().filter(|_| self.loss > 0.0) {
            let gilbert = table([("to_bad", self.loss.into()), ("to_good", (1.0 - self.loss).into())]);
            tree::add(&mut root, "loss", table([("link", port.into()), ("gilbert", gilbert.into())]));
        }
        self.join_sections(&mut root)?;
        Ok(root)
    }

    /// Return the keys of the bottleneck's port.
    fn queue(&self) -> Result<Node, Error> {
        let policy = self.policy.trim();
        let is_discipline = discipline::CATALOGUE.iter().any(|entry| entry.name == policy);
        let mut queue = match policy {
            written if written.starts_with('{') => table([("admission", self.rule(written)?)]),
            name if is_discipline => table([("discipline", name.into())]),
            name => table([("admission", table([("policy", name.into())]).into())]),
        };
        if let Some(buffer) = self.buffer.as_deref().or((!is_discipline).then_some("50 ms")) {
            tree::set(&mut queue, "buffer", buffer.into());
        }
        Ok(queue)
    }

    /// Read an admission policy that is written as a table of TOML.
    #[cfg(feature = "scenario")]
    fn rule(&self, written: &str) -> Result<Value, Error> {
        let read = read(&format!("policy = {written}\n"), "policy")?;
        let mut rule = read.get("policy").cloned().expect("it was read");
        forget_places(&mut rule);
        Ok(rule.value)
    }

    #[cfg(not(feature = "scenario"))]
    fn rule(&self, written: &str) -> Result<Value, Error> {
        Err(Error::Scenario(format!(
            "policy must be a name, not {written:?}: pushout-net reads tables with its feature \"scenario\""
        )))
    }

    /// Add the sections that are given as TOML.
    #[cfg(feature = "scenario")]
    fn join_sections(&self, root: &mut Node) -> Result<(), Error> {
        let more = read(&self.more, SECTIONS)?;
        let twice = |path| Error::Scenario(format!("{path} must not be set twice: the builder sets it"));
        tree::join(root, more).map_err(twice)
    }

    #[cfg(not(feature = "scenario"))]
    fn join_sections(&self, _: &mut Node) -> Result<(), Error> {
        Ok(())
    }
}

/// The ports of the bottleneck.
const PORTS: [&str; 2] = ["bottleneck", "bottleneck.back"];

fn node(root: &mut Node, name: &str, kind: &str) {
    tree::add(root, "node", table([("name", name.into()), ("kind", kind.into())]));
}

fn link([name, from, to]: [&str; 3], rate: &str, delay: &str) -> Node {
    let keys = [("name", name), ("from", from), ("to", to), ("rate", rate), ("delay", delay)];
    table(keys.map(|(key, text)| (key, text.into())))
}

#[cfg(feature = "scenario")]
fn read(text: &str, name: &str) -> Result<Node, Error> {
    let file = pushout_core::scenario::File::read(text, name).map_err(Error::Scenario)?;
    Ok(file.root().clone())
}

/// Forget where values stand: their text is not the one whose lines messages show.
#[cfg(feature = "scenario")]
fn forget_places(node: &mut Node) {
    node.place = TextPlace::NONE;
    match &mut node.value {
        Value::Table(entries) => entries.iter_mut().for_each(|(key, node)| {
            key.place = TextPlace::NONE;
            forget_places(node);
        }),
        Value::List(items) => items.iter_mut().for_each(forget_places),
        _ => {}
    }
}

/// The most clients of a builder.
const MOST_HOSTS: usize = 256;
