//! A path with one bottleneck, from a few numbers.

use std::fmt::Write;

use pushout_core::discipline;

use crate::error::Error;
use crate::path::Path;
use crate::toml::quoted;

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
    /// admission policy (`tail-drop`, `codel`, `pie`, `red`, `step`, …), or a table of a scenario,
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
        let mut path = Path::from_toml(&self.text())?;
        path.set_mtu(self.mtu)?;
        for number in 1..=self.hosts {
            let (client, server) =
                (path.host(&format!("client{number}"))?, path.host(&format!("server{number}"))?);
            path.reserve(client, server, self.flows)?;
        }
        Ok(path)
    }

    /// Return the scenario.
    fn text(&self) -> String {
        let mut text = format!(
            "name = \"path\"\nduration = \"{}\"\nseed = {}\nadaptation = {{ kind = \"packet\" }}\n",
            crate::path::LONGEST,
            self.seed
        );
        let node = |text: &mut String, name: &str, kind: &str| {
            let _ = write!(text, "\n[[node]]\nname = {}\nkind = \"{kind}\"\n", quoted(name));
        };
        let link = |text: &mut String, ends: [&str; 3], rate: &str, delay: &str| {
            let [name, from, to] = ends.map(quoted);
            let (rate, delay) = (quoted(rate), quoted(delay));
            let _ = write!(
                text,
                "\n[[link]]\nname = {name}\nfrom = {from}\nto = {to}\nrate = {rate}\ndelay = {delay}\n"
            );
        };
        node(&mut text, "left", "router");
        node(&mut text, "right", "router");
        link(&mut text, ["bottleneck", "left", "right"], &self.rate, &self.delay);
        if let Some(rate) = &self.rate_back {
            let _ = writeln!(text, "back = {{ rate = {} }}", quoted(rate));
        }
        for number in 1..=self.hosts {
            let [client, server] = ["client", "server"].map(|side| format!("{side}{number}"));
            node(&mut text, &client, "host");
            node(&mut text, &server, "host");
            link(&mut text, [&client, &client, "left"], &self.access, "0 s");
            link(&mut text, [&server, "right", &server], &self.access, "0 s");
        }
        for port in ["bottleneck", "bottleneck.back"] {
            let _ = write!(text, "\n[port.{}]\n{}", quoted(port), self.queue());
            if self.loss > 0.0 {
                let (to_bad, to_good) = (self.loss, 1.0 - self.loss);
                let gilbert = format!("gilbert = {{ to_bad = {to_bad:?}, to_good = {to_good:?} }}");
                let _ = write!(text, "\n[[loss]]\nlink = {}\n{gilbert}\n", quoted(port));
            }
        }
        text + "\n" + &self.more
    }

    /// Return the keys of the bottleneck's port.
    fn queue(&self) -> String {
        let policy = self.policy.trim();
        let (is_discipline, rule) = match policy {
            table if table.starts_with('{') => (false, format!("admission = {table}\n")),
            name if discipline::CATALOGUE.iter().any(|entry| entry.name == name) => {
                (true, format!("discipline = {}\n", quoted(name)))
            }
            name => (false, format!("admission = {{ policy = {} }}\n", quoted(name))),
        };
        let buffer = self.buffer.as_deref().or((!is_discipline).then_some("50 ms"));
        let buffer = buffer.map(|buffer| format!("buffer = {}\n", quoted(buffer)));
        rule + &buffer.unwrap_or_default()
    }
}

/// The most clients of a builder.
const MOST_HOSTS: usize = 256;
